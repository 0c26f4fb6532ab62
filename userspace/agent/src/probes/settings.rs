//! What to probe, and where the rows go.

use crate::error::{Result, ensure};
use crate::settings::ProbePace;
use rocescope_probe::peers::list::PeerRails;
use rocescope_runtime::storage::Storage;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a prober.
#[derive(Clone, Debug)]
pub struct ProbeSettings {
    /// The NICs.
    pub interfaces: Vec<String>,
    /// All Ethernet interfaces that are up and have an address, instead.
    pub all: bool,
    /// Name of this host in every row; `None` for its host name.
    pub observer: Option<String>,
    /// When to stop.
    pub duration: Option<Duration>,
    /// Report no windows.
    pub quiet: bool,
    /// How probes are sent and received.
    pub backend: ProbeBackend,
    /// How fast to probe.
    pub pace: ProbePace,
    /// UDP destination port; `None` for one that the NICs pass to the kernel.
    pub port: Option<u16>,
    /// Number of random UDP source ports of a NIC.
    pub source_ports: u16,
    /// When a source port is replaced.
    pub renew: Duration,
    /// Seed of the random numbers; `None` for a different one each time.
    pub seed: Option<u64>,
    /// RDMA operations, if they are measured.
    pub operations: Option<OperationSettings>,
    /// NICs of other hosts, if they are probed.
    pub peers: Option<PeerFile>,
    /// Interval between two status lines.
    pub window: Duration,
    /// The dataset, if there is one.
    pub out: Option<Storage>,
}

impl ProbeSettings {
    /// Checks what no single setting shows.
    ///
    /// # Errors
    /// A class of service would have no source port.
    pub fn check(&self) -> Result<()> {
        let classes = self.pace.dscps.len();
        ensure!(
            classes <= self.source_ports.into(),
            "{classes} classes of service need at least as many source ports: set --source-ports {classes} or more"
        );
        Ok(())
    }
}

/// How probes are sent and received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeBackend {
    /// Frames over packet sockets.
    Raw,
    /// UD queue pairs of RDMA NICs.
    Verbs,
}

/// RDMA operations.
#[derive(Clone, Debug)]
pub struct OperationSettings {
    /// Time between two measurements.
    pub interval: Duration,
    /// Agents whose NICs answer; without them the next NIC of this host does.
    pub peers: Vec<String>,
}

/// Which NICs of other hosts are probed.
#[derive(Clone, Debug)]
pub struct PeerFile {
    /// The list of hosts.
    pub file: PathBuf,
    /// Which of their NICs a NIC probes.
    pub rails: PeerRails,
    /// How many of them at a time.
    pub at_once: u16,
    /// UDP source ports for each of them.
    pub ports: u16,
    /// When one of them is replaced by the next.
    pub period: Duration,
}
