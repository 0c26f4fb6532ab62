//! Why a capture does not start, or ends early.

use rocescope_capture::file::FileError;
use rocescope_capture::{af_packet, xdp};
use rocescope_pipeline::settings::SettingsError;
use std::collections::TryReserveError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The result of a step of a capture.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// Why a capture does not start, or ends early. The cause is in `source`, not in the sentence.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The consumer of the rows asked for the end.
    #[error("ended by the consumer of the rows")]
    Stopped,
    /// The pipeline refuses the settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The capture file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The dataset cannot be opened.
    #[error(transparent)]
    Store(rocescope_store::Error),
    /// The dataset cannot be written, for another reason than a full disk.
    #[error("the dataset")]
    Dataset(#[source] rocescope_store::Error),
    /// The operating system refuses a signal handler.
    #[error("signals")]
    Signals(#[source] io::Error),
    /// Standard input cannot be read.
    #[error("standard input")]
    StandardInput(#[source] io::Error),
    /// There is no such interface.
    #[error("{0}: no such interface (`ip link` lists them)")]
    NoInterface(String, #[source] io::Error),
    /// An interface is named more than once.
    #[error("{0} is given twice")]
    RepeatedInterface(String),
    /// An interface does not enter promiscuous mode.
    #[error("{0}: promiscuous mode")]
    Promiscuous(String, #[source] io::Error),
    /// XDP as a whole.
    #[error(transparent)]
    Xdp(Box<xdp::Error>),
    /// XDP on one interface.
    #[error("{0}")]
    Attach(String, #[source] Box<xdp::Error>),
    /// A packet socket cannot be opened on an interface.
    #[error("{0}")]
    OpenSocket(String, #[source] Box<af_packet::Error>),
    /// A packet socket cannot be read.
    #[error("the packet socket")]
    Socket(#[source] io::Error),
    /// The process lacks capabilities.
    #[error(
        "{takes} takes {}, which this process does not have; `{grant}` grants it", .missing.join(", ")
    )]
    Privileges {
        /// What needs them.
        takes: &'static str,
        /// The capabilities that are missing.
        missing: Vec<&'static str>,
        /// The command that grants them.
        grant: String,
    },
    /// Capabilities cannot be read or given up.
    #[error("capabilities")]
    Capabilities(#[source] io::Error),
    /// A request that the chosen source of frames cannot meet.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// The VLAN offload cannot be switched off.
    #[error("{0}: its VLAN offload cannot be switched off (`ethtool -K {0} rxvlan off`)")]
    VlanOffload(String, #[source] io::Error),
    /// The VLAN offload cannot be restored.
    #[error("the VLAN offload")]
    RestoreVlanOffload(#[source] io::Error),
    /// The process that restores the VLAN offload does not start.
    #[error("{}", crate::live::vlan::RESTORE)]
    RestoreProcess(#[source] io::Error),
    /// The command beside the capture.
    #[error("{0}")]
    Command(String, #[source] io::Error),
    /// The directory of the flight recorder.
    #[error("{}", .0.display())]
    RecorderFolder(PathBuf, #[source] io::Error),
    /// The memory of the flight recorder.
    #[error("--keep-frames-memory")]
    RecorderMemory(#[source] TryReserveError),
    /// The address of the metrics cannot be taken.
    #[error("metrics at {0}: {1}")]
    Metrics(SocketAddr, io::Error),
    /// Runs are missing that no counter explains.
    #[error(
        "{taken} packets came out of the rings, {delivered} went in: this is a defect, please report it"
    )]
    Rings {
        /// Packets in the runs that came out of the rings.
        taken: u64,
        /// Packets in the runs that the kernel put in.
        delivered: u64,
    },
}

impl From<xdp::Error> for EngineError {
    fn from(error: xdp::Error) -> Self {
        Self::Xdp(Box::new(error))
    }
}

/// A request that contradicts itself, or asks of a source of frames what it cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Packet sockets see copies of frames.
    #[error("a packet socket cannot drop frames: --verdict drop takes XDP")]
    DropBySocket,
    /// XDP hands over run records, and no frames for the recorder.
    #[error("--keep-frames takes frames, which XDP does not hand over: use --mode af-packet")]
    RecorderByXdp,
    /// XDP hands over run records, and no payload for the ICRC.
    #[error("--verify-icrc takes whole frames, which XDP does not hand over: use --mode af-packet")]
    IcrcByXdp,
    /// The flight recorder writes addresses that are to be hidden.
    #[error(
        "--keep-frames writes frames with the addresses they have: not together with --anonymize"
    )]
    RecorderAnonymized,
    /// The flight recorder has no directory.
    #[error("--keep-frames writes files: name their place with --keep-frames-dir or --out")]
    RecorderNowhere,
    /// More ports than the kernel program compares.
    #[error("at most four UDP ports can carry RoCEv2")]
    Ports,
    /// Port 0.
    #[error("0 is no UDP port")]
    PortZero,
}
