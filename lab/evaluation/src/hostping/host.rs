//! A host in numbers: what loopback tests measure if each link has a capacity.

use rocescope_diagnose::hostping::topology::{LinkKind, NodeKind, Path, Reach, Topology};
use std::sync::Arc;

/// The line rate of a NIC whose topology does not have it, in Gbit/s.
const RATE_GBPS: f64 = 200.0;

/// A host and the capacity of its links.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// Its links.
    pub topology: Topology,
    /// The capacity of each link, in Gbit/s.
    pub capacity: Vec<f64>,
    /// All pairs of a NIC and an endpoint, and the path between them.
    pub paths: Arc<Vec<(usize, usize, Path)>>,
    /// The line rate of its fastest NIC, in Gbit/s.
    pub rate_gbps: f64,
}

impl Host {
    /// A healthy host: PCIe links carry a little more than the NICs, the links between sockets twice as much, memory
    /// six times as much.
    #[must_use]
    pub fn healthy(topology: Topology) -> Self {
        let rates = topology.nodes.iter().filter_map(|node| node.rate_gbps);
        let rate_gbps = rates.max_by(f64::total_cmp).unwrap_or(RATE_GBPS);
        let capacity = topology.links.iter().map(|link| {
            let share = match link.kind {
                LinkKind::Memory => 6.0,
                LinkKind::InterSocket => 2.0,
                _ => 1.075,
            };
            share * rate_gbps
        });
        let capacity = capacity.collect();
        let mut paths = Vec::new();
        for nic in topology.of_kind(NodeKind::Nic) {
            let from = topology.paths(nic);
            let to = topology.endpoints().into_iter();
            paths.extend(to.filter_map(|to| Some((nic, to, from.to(to)?))));
        }
        Self {
            topology,
            capacity,
            paths: Arc::new(paths),
            rate_gbps,
        }
    }

    /// The host with this capacity of a link, as a share of the NICs' rate.
    #[must_use]
    pub fn with(&self, link: usize, share: f64) -> Self {
        let mut host = self.clone();
        host.capacity[link] = share * host.rate_gbps;
        host
    }

    /// What a path carries, in Gbit/s: requests between two devices over a processor are slower, as on Hostping's
    /// slides.
    #[must_use]
    pub fn bandwidth(&self, path: &Path) -> f64 {
        let share = match path.reach {
            Reach::NearMemory | Reach::FarMemory => 0.985,
            Reach::LocalGpu => 0.96,
            Reach::NearGpu => 0.46,
            Reach::FarGpu => 0.36,
        };
        let links = path.links.iter().map(|link| self.capacity[*link]);
        links.fold(share * self.rate_gbps, f64::min)
    }

    /// `T_proc + Lat_host` of a path in microseconds, as on the slides.
    #[must_use]
    pub const fn base_us(path: &Path) -> f64 {
        match path.reach {
            Reach::NearMemory => 2.5,
            Reach::FarMemory => 2.6,
            Reach::LocalGpu => 2.8,
            Reach::NearGpu => 3.5,
            Reach::FarGpu => 3.6,
        }
    }

    /// The path between a NIC and an endpoint of these names.
    #[must_use]
    pub fn path(&self, nic: &str, endpoint: &str) -> Option<&Path> {
        let (nic, endpoint) = (self.topology.find(nic)?, self.topology.find(endpoint)?);
        let found = self.paths.iter().find(|(from, to, _)| (*from, *to) == (nic, endpoint));
        found.map(|(.., path)| path)
    }
}
