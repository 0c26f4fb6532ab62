//! How a NIC probes NICs of other hosts.

use super::list::Plan;
use crate::types::Nanos;

/// Whom a NIC probes, and how often.
#[derive(Clone, Debug)]
pub struct PeerSettings {
    /// Whom it may probe.
    pub plan: Plan,
    /// How many peers it has at a time: 4.
    pub at_once: u16,
    /// Source ports for each peer: 4.
    pub ports: u16,
    /// Interval between two probes of a NIC to peers: 400 ms.
    pub interval: Nanos,
    /// For how long it has a peer: 10 minutes.
    pub period: Nanos,
}
