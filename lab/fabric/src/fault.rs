//! Faults: kind, place and time.

use crate::route::FiveTuple;
use crate::topology::{LinkDirection, LinkId, Nic, NodeId, Topology};

/// A fault that holds from `from_ns` until before `until_ns`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// Where.
    pub place: FaultLocation,
    /// Start.
    pub from_ns: i64,
    /// End.
    pub until_ns: i64,
}

/// The kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FaultKind {
    /// The link has no carrier: its two nodes choose another path if they have one; no other node knows.
    LinkDown,
    /// Down for the first half of each period, up for the second.
    Flapping {
        /// Length of a period.
        period_ns: i64,
    },
    /// Each packet is lost with this probability.
    Loss {
        /// From 0 to 1.
        probability: f64,
    },
    /// Each packet arrives corrupted with this probability.
    Corruption {
        /// From 0 to 1.
        probability: f64,
    },
    /// At a switch: no route to this NIC. At a host or NIC: no route out of it.
    MissingRoute {
        /// The destination of the route.
        to: Nic,
    },
    /// All packets of one 5-tuple are lost.
    Blackhole {
        /// The 5-tuple.
        tuple: FiveTuple,
    },
    /// A persistent queue in front of the link.
    Congestion {
        /// Mean of the exponentially distributed delay.
        delay_ns: i64,
        /// Share of packets that find the queue full, from 0 to 1.
        loss: f64,
    },
    /// The switch in front of the link sends all packets for a NIC over it, which takes longer.
    Detour {
        /// The NIC.
        to: Nic,
        /// The extra delay.
        delay_ns: i64,
    },
    /// The host is slow to send and receive.
    SlowHost {
        /// Mean of the exponentially distributed delay.
        delay_ns: i64,
    },
    /// An access list that drops packets from one NIC (from any if `None`) to another.
    Acl {
        /// Source.
        src: Option<Nic>,
        /// Destination.
        dst: Option<Nic>,
    },
}

/// The place of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultLocation {
    /// Both directions of a link.
    Link(LinkId),
    /// One direction of a link.
    Direction(LinkDirection),
    /// A NIC: both directions of its link.
    Nic(Nic),
    /// A switch, or a host with all its NICs: all packets that cross it.
    Node(NodeId),
}

impl Fault {
    /// Whether the fault is active at a time; not in the up phases of a flapping link.
    #[must_use]
    pub const fn is_active(&self, at_ns: i64) -> bool {
        let within = at_ns >= self.from_ns && at_ns < self.until_ns;
        match self.kind {
            FaultKind::Flapping { period_ns } if period_ns > 0 => {
                within && (at_ns - self.from_ns) % period_ns < period_ns / 2
            }
            _ => within,
        }
    }

    /// Whether the fault affects this link direction, or the node that it leads to. A packet crosses exactly one link
    /// into a switch, so a fault of a node affects it once.
    #[must_use]
    pub fn affects(&self, way: LinkDirection, topology: &Topology) -> bool {
        match self.place {
            FaultLocation::Link(link) => link == way.link,
            FaultLocation::Direction(only) => only == way,
            FaultLocation::Nic(nic) => LinkId(nic.0) == way.link,
            FaultLocation::Node(node) => topology.from_to(way).1 == node,
        }
    }

    /// Whether the fault takes the carrier of a link.
    #[must_use]
    pub fn takes_down(&self, link: LinkId, at_ns: i64, topology: &Topology) -> bool {
        if !matches!(self.kind, FaultKind::LinkDown | FaultKind::Flapping { .. }) || !self.is_active(at_ns) {
            return false;
        }
        match self.place {
            FaultLocation::Link(down) => down == link,
            FaultLocation::Direction(way) => way.link == link,
            FaultLocation::Nic(nic) => LinkId(nic.0) == link,
            FaultLocation::Node(node) => {
                let (lower, upper) = topology.ends(link);
                lower == node || upper == node
            }
        }
    }

    /// The delay that the host adds on each side of a probe.
    #[must_use]
    pub fn host_delay_ns(&self, nic: Nic, at_ns: i64, topology: &Topology) -> i64 {
        let FaultKind::SlowHost { delay_ns } = self.kind else {
            return 0;
        };
        let here = match self.place {
            FaultLocation::Node(node) => node.0 == topology.host_of(nic),
            FaultLocation::Nic(only) => only == nic,
            FaultLocation::Link(_) | FaultLocation::Direction(_) => false,
        };
        if here && self.is_active(at_ns) { delay_ns } else { 0 }
    }

    /// Whether the sending host has no route for packets of this NIC.
    #[must_use]
    pub fn prevents_sending(&self, src: Nic, at_ns: i64, topology: &Topology) -> bool {
        let here = match self.place {
            FaultLocation::Nic(nic) => nic == src,
            FaultLocation::Node(node) => node.0 == topology.host_of(src),
            FaultLocation::Link(_) | FaultLocation::Direction(_) => false,
        };
        here && matches!(self.kind, FaultKind::MissingRoute { .. }) && self.is_active(at_ns)
    }

    /// Whether the fault forces a switch to use another link than this one towards a NIC.
    #[must_use]
    pub fn diverts(&self, to: Nic, way: LinkDirection, at_ns: i64, topology: &Topology) -> bool {
        match (self.kind, self.place) {
            (FaultKind::Detour { to: nic, .. }, FaultLocation::Direction(detour)) => {
                let is_here = topology.from_to(detour).0 == topology.from_to(way).0;
                nic == to && way != detour && is_here && self.is_active(at_ns)
            }
            _ => false,
        }
    }

    /// Whether this link direction drops every packet of a 5-tuple, including those of a traceroute.
    #[must_use]
    pub fn stops(&self, tuple: FiveTuple, way: LinkDirection, at_ns: i64, topology: &Topology) -> bool {
        if let FaultKind::LinkDown | FaultKind::Flapping { .. } = self.kind {
            return self.takes_down(way.link, at_ns, topology);
        }
        if !self.is_active(at_ns) || !self.affects(way, topology) {
            return false;
        }
        match self.kind {
            // A missing route at a NIC applies before the first link.
            FaultKind::MissingRoute { to } => to == tuple.dst && matches!(self.place, FaultLocation::Node(_)),
            FaultKind::Blackhole { tuple: one } => one == tuple,
            FaultKind::Acl { src, dst } => {
                src.is_none_or(|src| src == tuple.src) && dst.is_none_or(|dst| dst == tuple.dst)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, FaultKind, FaultLocation};
    use crate::{LinkId, Rails, Role};

    #[test]
    fn flapping_is_down_for_the_first_half_of_each_period() {
        let topology = Rails::two_tiers(2, 2, 2).build().unwrap();
        let fault = Fault {
            kind: FaultKind::Flapping { period_ns: 10 },
            place: FaultLocation::Nic(topology.nic(0, 1)),
            from_ns: 100,
            until_ns: 120,
        };
        let down = |at| fault.takes_down(LinkId(1), at, &topology);
        let seen: std::vec::Vec<i64> = (95..130).filter(|&at| down(at)).collect();
        assert_eq!(seen, [100, 101, 102, 103, 104, 110, 111, 112, 113, 114]);
        assert!(!fault.takes_down(LinkId(0), 100, &topology));
    }

    #[test]
    fn a_node_takes_all_its_links_down() {
        let topology = Rails::two_tiers(2, 2, 2).build().unwrap();
        let spine = topology.node(Role::Spine(1));
        let fault = Fault {
            kind: FaultKind::LinkDown,
            place: FaultLocation::Node(spine),
            from_ns: 0,
            until_ns: 1,
        };
        let down = (0..topology.links()).filter(|&link| fault.takes_down(LinkId(link), 0, &topology));
        assert_eq!(down.count(), 2);
    }
}
