//! Why a capture does not start, or ends early.

use crate::request::SocketReason;
use rocescope_capture::file::FileError;
use rocescope_capture::sniffer::SnifferError;
use rocescope_capture::{af_packet, xdp};
use rocescope_model::Time;
use rocescope_model::human::plural;
use rocescope_pipeline::settings::SettingsError;
use rocescope_runtime::RuntimeError;
use std::collections::TryReserveError;
use std::io;
use std::path::PathBuf;

/// The result of a step of a capture.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// Why a capture does not start, or ends early. The cause is in `source`, not in the message.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The consumer of the rows ended the capture.
    #[error("ended by the consumer of the rows")]
    Stopped,
    /// Signals, standard input or the endpoint of metrics.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The pipeline refuses the settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The capture file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A capture file without frames.
    #[error("{0} has no frames")]
    NoFrames(String),
    /// The dataset cannot be opened.
    #[error(transparent)]
    Store(rocescope_store::Error),
    /// A capture file that the dataset has already.
    #[error(
        "{} already has the window of {observer} at {start:.3} with the same counts: stored again, these frames would \
         count twice; write them to another directory, or give another tap a name of its own with --observer{}",
        .root.display(), stored_before(*.new)
    )]
    StoredBefore {
        /// The dataset.
        root: PathBuf,
        /// Name of the observer.
        observer: String,
        /// Start of the window.
        start: Time,
        /// Windows that were stored before this one.
        new: u64,
    },
    /// The dataset cannot be written, for another reason than a full disk.
    #[error("the dataset")]
    Dataset(#[source] rocescope_store::Error),
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// There is no such interface.
    #[error("{0}: no such interface (`ip link` lists them)")]
    NoInterface(String, #[source] io::Error),
    /// The name by which other tools mean all interfaces.
    #[error("`any` is no interface: name interfaces, as `-i eth2 -i eth3` (`rocescope capture -D` lists them)")]
    AnyInterface,
    /// An interface is named more than once.
    #[error("{0} is given more than once")]
    RepeatedInterface(String),
    /// An interface does not enter promiscuous mode.
    #[error("{0}: cannot enter promiscuous mode")]
    Promiscuous(String, #[source] io::Error),
    /// XDP as a whole.
    #[error(transparent)]
    Xdp(Box<xdp::Error>),
    /// Nothing is left to capture on.
    #[error("{0}: removed, so the capture has ended; start it again when the interface is back")]
    Removed(String),
    /// XDP without the capability that some kernels require.
    #[error("this kernel refuses the XDP program, perhaps because cap_perfmon is missing; `{grant}` grants it")]
    Untrusted {
        /// The command that grants the capabilities.
        grant: String,
        /// The error of the kernel.
        #[source]
        source: Box<xdp::Error>,
    },
    /// XDP on one interface.
    #[error("{0}")]
    Attach(String, #[source] Box<xdp::Error>),
    /// A packet socket cannot be opened on an interface.
    #[error("{0}")]
    OpenSocket(String, #[source] Box<af_packet::Error>),
    /// An RDMA device.
    #[error(transparent)]
    Sniffer(#[from] SnifferError),
    /// A packet socket cannot be read.
    #[error("cannot read the packet socket")]
    Socket(#[source] io::Error),
    /// The process lacks capabilities.
    #[error(
        "{needed_by} requires {}, which this process lacks; `{grant}` grants it", .missing.join(", ")
    )]
    Privileges {
        /// What needs them.
        needed_by: &'static str,
        /// The capabilities that are missing.
        missing: Vec<&'static str>,
        /// The command that grants them.
        grant: String,
    },
    /// Capabilities cannot be read or dropped.
    #[error("cannot read or drop capabilities")]
    Capabilities(#[source] io::Error),
    /// A request that the source of frames cannot fulfil.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// The VLAN offload cannot be switched off.
    #[error("{0}: cannot disable the VLAN offload; try `ethtool -K {0} rxvlan off`")]
    VlanOffload(String, #[source] io::Error),
    /// The VLAN offload cannot be restored.
    #[error("cannot restore the VLAN offload")]
    RestoreVlanOffload(#[source] io::Error),
    /// The process that restores the VLAN offload does not start.
    #[error("{}", crate::live::vlan::RESTORE)]
    RestoreProcess(#[source] io::Error),
    /// The command of the capture.
    #[error("{0}")]
    Command(String, #[source] io::Error),
    /// The file for the frames.
    #[error("{}", .0.display())]
    FrameFile(PathBuf, #[source] io::Error),
    /// The directory of the flight recorder.
    #[error("{}", .0.display())]
    RecorderFolder(PathBuf, #[source] io::Error),
    /// The memory of the flight recorder.
    #[error("cannot allocate --keep-frames-memory")]
    RecorderMemory(#[source] TryReserveError),
    /// Runs are missing without a count of their loss.
    #[error("{read} packets read from the rings, {delivered} written: this is a defect, please report it")]
    Rings {
        /// Packets in the runs read from the rings.
        read: u64,
        /// Packets in the runs that the kernel wrote.
        delivered: u64,
    },
}

fn stored_before(windows: u64) -> String {
    match windows {
        0 => String::new(),
        windows => format!(" ({} before it were new and are stored)", plural(windows, "window")),
    }
}

impl From<xdp::Error> for EngineError {
    fn from(error: xdp::Error) -> Self {
        Self::Xdp(Box::new(error))
    }
}

impl EngineError {
    /// The message with those of its causes.
    pub(crate) fn whole(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    }
}

/// A request that contradicts itself, or that the source of frames does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Packet sockets see copies of frames.
    #[error("only XDP can drop frames: --verdict drop requires it")]
    DropBySocket,
    /// XDP and packet sockets see nothing of RDMA.
    #[error("an RDMA device has a way of its own: omit --mode")]
    DeviceMode,
    /// RDMA devices and interfaces in one capture.
    #[error("RDMA devices and network interfaces in one capture: run one for each")]
    DevicesAndInterfaces,
    /// XDP cannot do what is requested.
    #[error("{0}: use --mode af-packet")]
    OnlyBySocket(SocketReason),
    /// The frames have their original addresses.
    #[error("--write writes frames with their original addresses and cannot be combined with --anonymize")]
    WriteAnonymized,
    /// The flight recorder would write the original addresses.
    #[error("--keep-frames writes frames with their original addresses and cannot be combined with --anonymize")]
    RecorderAnonymized,
    /// The flight recorder has no directory.
    #[error("--keep-frames requires a directory: set --keep-frames-dir or --out")]
    RecorderNowhere,
    /// More ports than the kernel program compares.
    #[error("--udp-port: at most four ports are possible")]
    Ports,
    /// Port 0.
    #[error("--udp-port 0 is not a port: use one from 1 to 65535")]
    PortZero,
}
