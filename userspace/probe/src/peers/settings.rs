//! How a NIC probes NICs of other hosts from a list.

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
    /// For how long it has a peer: 10 minutes.
    pub period: Nanos,
}
