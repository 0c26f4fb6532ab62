//! What to test, when, and on what.

use rocescope_diagnose::hostping::Rule;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of loopback tests.
#[derive(Clone, Debug)]
pub struct HostpingSettings {
    /// The topology.
    pub source: TopologySource,
    /// NICs to test; empty for all.
    pub nics: Vec<String>,
    /// Endpoints to test; empty for all.
    pub endpoints: Vec<String>,
    /// What runs the tests.
    pub backend: LoopbackBackend,
    /// Files to replay.
    pub replay: Vec<String>,
    /// Links of the simulated host.
    pub slow: Vec<SlowLink>,
    /// Maximum time of tests of a run.
    pub max_time: Duration,
    /// Maximum bytes of a run.
    pub max_bytes: u64,
    /// Test although others use the NICs.
    pub force: bool,
    /// Time between two runs.
    pub every: Option<Duration>,
    /// How long all NICs must be idle before a run.
    pub idle_for: Duration,
    /// Also test a busy host when a counter calls, at most once in this time.
    pub on_alarm: Option<Duration>,
    /// Read the counters of the NICs below this directory instead of `/sys`.
    pub counters_root: Option<PathBuf>,
    /// File of a healthy host; `None` compares the host with itself.
    pub baseline: Option<String>,
    /// The threshold.
    pub rule: Rule,
}

/// Where the topology comes from; without both, from `/sys` of this host.
#[derive(Clone, Debug, Default)]
pub struct TopologySource {
    /// A file.
    pub topology: Option<PathBuf>,
    /// A directory instead of `/sys`.
    pub sysfs_root: Option<PathBuf>,
}

/// What runs loopback tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopbackBackend {
    /// Queue pairs of the RDMA devices.
    Verbs,
    /// Others' measurements.
    Replay,
    /// A simulated host with the topology.
    Simulated,
}

/// A link of a simulated host, and what it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowLink {
    /// Its ends.
    pub ends: [String; 2],
    /// As a share of the rate of the NICs.
    pub share: f64,
}
