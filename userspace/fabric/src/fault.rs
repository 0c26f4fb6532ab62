//! What breaks, where, and when.

use crate::route::FiveTuple;
use crate::topology::{LinkId, Nic, NodeId, Topology, Way};

/// A fault that holds from `from_ns` until before `until_ns`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fault {
    /// What breaks.
    pub kind: Kind,
    /// Where.
    pub place: Place,
    /// From when on.
    pub from_ns: i64,
    /// Until when.
    pub until_ns: i64,
}

/// What breaks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// The link has no carrier: its two nodes choose another way where they have one, nobody else knows.
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
    /// Each packet arrives with changed bytes with this probability.
    Corruption {
        /// From 0 to 1.
        probability: f64,
    },
    /// No route to this NIC at a switch; at a host or NIC: no route out of the place.
    MissingRoute {
        /// Where the route would lead.
        to: Nic,
    },
    /// Packets of one 5-tuple vanish.
    Blackhole {
        /// Which.
        tuple: FiveTuple,
    },
    /// A standing queue in front of the link.
    Congestion {
        /// Mean of the exponentially distributed delay.
        delay_ns: i64,
        /// Share of packets that find the queue full, from 0 to 1.
        loss: f64,
    },
    /// The switch in front of the link sends everything for a NIC over it alone, which takes longer.
    Detour {
        /// The NIC.
        to: Nic,
        /// How much longer.
        delay_ns: i64,
    },
    /// The host is slow to send and to take what arrived.
    SlowHost {
        /// Mean of the exponentially distributed delay.
        delay_ns: i64,
    },
    /// An access list: what comes from the one (anybody, if `None`) and goes to the other is dropped.
    Acl {
        /// Source.
        src: Option<Nic>,
        /// Destination.
        dst: Option<Nic>,
    },
}

/// Where a fault sits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Both directions of a link.
    Link(LinkId),
    /// One direction of a link.
    Way(Way),
    /// A NIC: both directions of its link.
    Nic(Nic),
    /// A switch, or a host with all its NICs: whatever crosses it.
    Node(NodeId),
}

impl Fault {
    /// Whether it holds at a time, a flapping link's up phases apart.
    #[must_use]
    pub const fn holds(&self, at_ns: i64) -> bool {
        let within = at_ns >= self.from_ns && at_ns < self.until_ns;
        match self.kind {
            Kind::Flapping { period_ns } if period_ns > 0 => {
                within && (at_ns - self.from_ns) % period_ns < period_ns / 2
            }
            _ => within,
        }
    }

    /// Whether the fault lies on this way, or in the node that it leads to. A packet that crosses a switch
    /// crosses one way into it, so a fault of a node is met once.
    #[must_use]
    pub fn lies_on(&self, way: Way, topology: &Topology) -> bool {
        match self.place {
            Place::Link(link) => link == way.link,
            Place::Way(only) => only == way,
            Place::Nic(nic) => LinkId(nic.0) == way.link,
            Place::Node(node) => topology.from_to(way).1 == node,
        }
    }

    /// Whether a link is without carrier for it.
    #[must_use]
    pub fn takes_down(&self, link: LinkId, at_ns: i64, topology: &Topology) -> bool {
        if !matches!(self.kind, Kind::LinkDown | Kind::Flapping { .. }) || !self.holds(at_ns) {
            return false;
        }
        match self.place {
            Place::Link(down) => down == link,
            Place::Way(way) => way.link == link,
            Place::Nic(nic) => LinkId(nic.0) == link,
            Place::Node(node) => {
                let (lower, upper) = topology.ends(link);
                lower == node || upper == node
            }
        }
    }

    /// Delay that the host adds on each side of a probe.
    #[must_use]
    pub fn host_delay_ns(&self, nic: Nic, at_ns: i64, topology: &Topology) -> i64 {
        let Kind::SlowHost { delay_ns } = self.kind else {
            return 0;
        };
        let here = match self.place {
            Place::Node(node) => node.0 == topology.host_of(nic),
            Place::Nic(only) => only == nic,
            Place::Link(_) | Place::Way(_) => false,
        };
        if here && self.holds(at_ns) {
            delay_ns
        } else {
            0
        }
    }

    /// Whether the sending host has no route for packets of this NIC.
    #[must_use]
    pub fn keeps_from_sending(&self, src: Nic, at_ns: i64, topology: &Topology) -> bool {
        let here = match self.place {
            Place::Nic(nic) => nic == src,
            Place::Node(node) => node.0 == topology.host_of(src),
            Place::Link(_) | Place::Way(_) => false,
        };
        here && matches!(self.kind, Kind::MissingRoute { .. }) && self.holds(at_ns)
    }

    /// Whether a switch has another way than this one for a NIC, and has to take it.
    #[must_use]
    pub fn diverts(&self, to: Nic, way: Way, at_ns: i64, topology: &Topology) -> bool {
        match (self.kind, self.place) {
            (Kind::Detour { to: nic, .. }, Place::Way(detour)) => {
                let is_here = topology.from_to(detour).0 == topology.from_to(way).0;
                nic == to && way != detour && is_here && self.holds(at_ns)
            }
            _ => false,
        }
    }

    /// Whether every packet of a tuple ends on this way, as a traceroute sees it too.
    #[must_use]
    pub fn stops(&self, tuple: FiveTuple, way: Way, at_ns: i64, topology: &Topology) -> bool {
        if let Kind::LinkDown | Kind::Flapping { .. } = self.kind {
            return self.takes_down(way.link, at_ns, topology);
        }
        if !self.holds(at_ns) || !self.lies_on(way, topology) {
            return false;
        }
        match self.kind {
            // A route that is missing at a NIC is met before the first way.
            Kind::MissingRoute { to } => to == tuple.dst && matches!(self.place, Place::Node(_)),
            Kind::Blackhole { tuple: one } => one == tuple,
            Kind::Acl { src, dst } => {
                src.is_none_or(|src| src == tuple.src) && dst.is_none_or(|dst| dst == tuple.dst)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Kind, Place};
    use crate::{LinkId, Rails, Role};

    #[test]
    fn flapping_is_down_for_the_first_half_of_each_period() {
        let topology = Rails::two_tiers(2, 2, 2).build().unwrap();
        let fault = Fault {
            kind: Kind::Flapping { period_ns: 10 },
            place: Place::Nic(topology.nic(0, 1)),
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
            kind: Kind::LinkDown,
            place: Place::Node(spine),
            from_ns: 0,
            until_ns: 1,
        };
        let down =
            (0..topology.links()).filter(|&link| fault.takes_down(LinkId(link), 0, &topology));
        assert_eq!(down.count(), 2);
    }
}
