//! The request for a capture.

use crate::error::Conflict;
use rocescope_capture::af_packet::Direction;
use rocescope_pipeline::Settings;
use rocescope_pipeline::filter::RunFilter;
use rocescope_pipeline::spray::FlowKeyMode;
use rocescope_record::{Config, PacketFilter};
use rocescope_runtime::metrics::OpenIncidents;
use rocescope_runtime::retention::KeepRollups;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// A capture on interfaces.
#[derive(Clone, Debug)]
pub struct CaptureRequest {
    /// Names of the interfaces.
    pub interfaces: Vec<String>,
    /// How frames are captured.
    pub mode: Mode,
    /// Frames of which direction are captured.
    pub direction: Direction,
    /// What happens to frames after XDP.
    pub verdict: VerdictPolicy,
    /// Whether NICs leave VLAN tags in the frames until the capture ends.
    pub keeps_vlan_tags: bool,
    /// Duration of the capture; `None`: until a signal.
    pub duration: Option<Duration>,
    /// Total memory of the XDP rings, in bytes.
    pub ring_bytes: u64,
    /// The endpoint that Prometheus reads.
    pub metrics: Option<MetricsRequest>,
    /// A command to run; the capture ends when it exits.
    pub command: Vec<OsString>,
    /// The processing of the frames.
    pub intake: IntakeRequest,
}

impl CaptureRequest {
    /// Why only packet sockets can do it; none if XDP can too.
    #[must_use]
    pub const fn needs_socket(&self) -> Option<SocketReason> {
        match (self.direction, self.intake.needs_frames()) {
            (_, Some(option)) => Some(SocketReason::Frames(option)),
            (Direction::Out, _) => Some(SocketReason::Leaving("--direction out")),
            (Direction::Both, _) => Some(SocketReason::Leaving("--direction both")),
            (Direction::In, None) => None,
        }
    }
}

/// Why a capture needs packet sockets, with the option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocketReason {
    /// XDP delivers run records.
    #[error("{0} requires frames, which XDP does not deliver")]
    Frames(&'static str),
    /// XDP runs when a frame arrives.
    #[error("{0} requires leaving frames, which XDP does not see")]
    Leaving(&'static str),
}

/// How frames are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Native XDP, else generic XDP, else packet sockets.
    Auto,
    /// XDP in the driver.
    Native,
    /// XDP after the driver.
    Generic,
    /// Packet sockets.
    AfPacket,
}

/// What happens to a frame after XDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictPolicy {
    /// Drop if the interface has no address, no master and no default route.
    Auto,
    /// Pass frames to the kernel.
    Pass,
    /// Drop frames.
    Drop,
}

/// The endpoint that Prometheus reads.
#[derive(Clone, Debug)]
pub struct MetricsRequest {
    /// The address to listen on.
    pub address: SocketAddr,
    /// Maximum number of flows in the metrics.
    pub flows: usize,
    /// The open incidents, which the judge of the rows sets.
    pub incidents: OpenIncidents,
}

/// The processing of frames from any source.
#[derive(Clone, Debug)]
pub struct IntakeRequest {
    /// Windows, thresholds, filter, and measurements.
    pub settings: Settings,
    /// UDP destination ports that carry RoCEv2; 0 is unused.
    pub udp_ports: [u16; 4],
    /// The dataset to write.
    pub dataset: Option<DatasetRequest>,
    /// The flight recorder.
    pub recorder: Option<RecorderRequest>,
    /// Stop after this many frames that match the filter.
    pub count: Option<u64>,
    /// The pcapng file for the frames that match the filter; `-` for standard output.
    pub write: Option<PathBuf>,
    /// Whether these go into several files.
    pub write_set: FileSet,
    /// Whether rows of connections and events stay in memory until the end.
    pub keeps_connections: bool,
}

impl IntakeRequest {
    /// The option that requires single frames, which XDP does not deliver.
    #[must_use]
    pub const fn needs_frames(&self) -> Option<&'static str> {
        if self.recorder.is_some() {
            Some("--keep-frames")
        } else if self.settings.verify_icrc {
            Some("--verify-icrc")
        } else if self.write.is_some() {
            Some("--write")
        } else if self.count.is_some() {
            Some("--count")
        } else {
            None
        }
    }

    /// The configuration of the observer that turns frames into runs.
    #[must_use]
    pub fn config(&self) -> Config {
        let filter = self.settings.filter.as_ref();
        Config {
            udp_ports: self.udp_ports,
            key_mask: Config::port_mask(self.settings.effective_flow_key() != FlowKeyMode::Direction),
            filter: filter.map_or(PacketFilter::NONE, RunFilter::packet_filter),
            ..Config::exact(self.settings.window_ns)
        }
    }
}

/// The UDP ports in the form that the observer needs.
///
/// # Errors
/// There are more than four, or one is 0.
pub fn udp_ports(given: &[u16]) -> Result<[u16; 4], Conflict> {
    let mut ports = [0; 4];
    if given.len() > ports.len() {
        return Err(Conflict::Ports);
    }
    if given.contains(&0) {
        return Err(Conflict::PortZero);
    }
    ports[..given.len()].copy_from_slice(given);
    Ok(ports)
}

/// When frames go into another file. Without `bytes` and `age` there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSet {
    /// Before a file has more bytes.
    pub bytes: Option<u64>,
    /// When a frame is this much later than the first of the file.
    pub age: Option<Duration>,
    /// Keep as many of the newest files; `None` for all.
    pub files: Option<NonZeroUsize>,
}

impl FileSet {
    /// Whether all frames go into one file.
    #[must_use]
    pub const fn is_one(&self) -> bool {
        self.bytes.is_none() && self.age.is_none()
    }
}

/// The dataset that a capture writes.
#[derive(Clone, Debug)]
pub struct DatasetRequest {
    /// Its directory.
    pub root: PathBuf,
    /// Seal a segment when its first rows are older.
    pub segment_age: Duration,
    /// Seal a segment when it reaches this size before compression.
    pub segment_bytes: u64,
    /// Delete segments whose hour ended longer ago.
    pub keep_age: Option<Duration>,
    /// Delete the oldest segments above this total.
    pub keep_bytes: Option<u64>,
    /// The rollups; `None` for none.
    pub keep_rollups: Option<KeepRollups>,
    /// Bytes of the file system to keep free; `None` for the default of [`Reserve`](rocescope_runtime::reserve::Reserve).
    pub keep_free: Option<u64>,
}

/// The flight recorder.
#[derive(Clone, Debug)]
pub struct RecorderRequest {
    /// How much time before an event is kept.
    pub before: Duration,
    /// Directory of the recordings; `None`: in the dataset.
    pub folder: Option<PathBuf>,
    /// Memory for headers, in bytes.
    pub memory_bytes: u64,
    /// Maximum total size of the recordings, in bytes.
    pub disk_bytes: u64,
    /// Maximum number of recordings per hour.
    pub files_per_hour: usize,
    /// Delete recordings older than this.
    pub keep_age: Option<Duration>,
}
