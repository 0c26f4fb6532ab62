//! What a capture is asked for.

use crate::error::Conflict;
use rocescope_pipeline::Settings;
use rocescope_pipeline::filter::RunFilter;
use rocescope_record::{Config, PacketFilter};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A capture on interfaces.
#[derive(Clone, Debug)]
pub struct CaptureRequest {
    /// Names of the interfaces.
    pub interfaces: Vec<String>,
    /// How frames are taken.
    pub mode: Mode,
    /// What happens to frames behind XDP.
    pub verdict: VerdictPolicy,
    /// Whether cards leave VLAN tags in the frames until the capture ends.
    pub keeps_vlan_tags: bool,
    /// Length of the capture; `None`: until a signal.
    pub duration: Option<Duration>,
    /// Memory of all rings of XDP together, in bytes.
    pub ring_bytes: u64,
    /// The endpoint that Prometheus reads.
    pub metrics: Option<MetricsRequest>,
    /// A command that runs beside the capture, which ends with it.
    pub command: Vec<OsString>,
    /// What becomes of the frames.
    pub intake: IntakeRequest,
}

/// How frames are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Native XDP, else generic XDP, else packet sockets.
    Auto,
    /// XDP in the driver.
    Native,
    /// XDP behind the driver.
    Generic,
    /// Packet sockets.
    AfPacket,
}

/// What happens to a frame when XDP has seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictPolicy {
    /// Dropped where the interface has no address, no master and no default route.
    Auto,
    /// It goes on to the kernel.
    Pass,
    /// It ends here.
    Drop,
}

/// The endpoint that Prometheus reads.
#[derive(Clone, Copy, Debug)]
pub struct MetricsRequest {
    /// Where it listens.
    pub address: SocketAddr,
    /// Flows of a window that it shows, at most.
    pub flows: usize,
}

/// What becomes of frames, wherever they come from.
#[derive(Clone, Debug)]
pub struct IntakeRequest {
    /// Windows, thresholds, filter, and what is measured.
    pub settings: Settings,
    /// UDP destination ports that carry RoCEv2; 0 is unused.
    pub udp_ports: [u16; 4],
    /// The dataset to write.
    pub dataset: Option<DatasetRequest>,
    /// The flight recorder.
    pub recorder: Option<RecorderRequest>,
    /// Whether rows of connections and events stay in memory until the end.
    pub keeps_connections: bool,
}

impl IntakeRequest {
    /// The configuration of the observer that makes runs of frames.
    #[must_use]
    pub fn config(&self) -> Config {
        let filter = self.settings.filter.as_ref();
        Config {
            udp_ports: self.udp_ports,
            filter: filter.map_or(PacketFilter::NONE, RunFilter::packet_filter),
            ..Config::exact(self.settings.window_ns)
        }
    }
}

/// UDP ports as the observer takes them.
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

/// The dataset that a capture writes.
#[derive(Clone, Debug)]
pub struct DatasetRequest {
    /// Its directory.
    pub root: PathBuf,
    /// A segment is sealed when its first rows are this old.
    pub segment_age: Duration,
    /// A segment is sealed when it has this many bytes before compression.
    pub segment_bytes: u64,
    /// Segments whose hour ended longer ago are deleted.
    pub keep_age: Option<Duration>,
    /// The oldest segments are deleted until no more bytes than these remain.
    pub keep_bytes: Option<u64>,
}

/// The flight recorder.
#[derive(Clone, Debug)]
pub struct RecorderRequest {
    /// How long before an event frames are kept.
    pub before: Duration,
    /// Where its files go; `None`: into the dataset.
    pub folder: Option<PathBuf>,
    /// Memory for headers, in bytes.
    pub memory_bytes: u64,
    /// Bytes of all its files together.
    pub disk_bytes: u64,
    /// Files that it begins in an hour, at most.
    pub files_per_hour: usize,
    /// Files written longer ago are deleted.
    pub keep_age: Option<Duration>,
}
