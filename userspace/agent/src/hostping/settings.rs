//! What to test.

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
    /// Maximum time of tests of a run.
    pub max_time: Duration,
    /// Maximum bytes of a run.
    pub max_bytes: u64,
    /// Test although others use the NICs.
    pub force: bool,
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
