//! Sends probes and traces paths.

use crate::fault::{Fault, FaultKind};
use crate::random::Draws;
use crate::route::{FiveTuple, Route};
use crate::timing::{Clocks, Timing};
use crate::topology::{LinkDirection, LinkId, Topology};
use alloc::vec::Vec;
use core::net::IpAddr;

/// A topology with its faults, delays and clocks.
#[derive(Debug, Clone)]
pub struct Fabric {
    /// Nodes and links.
    pub topology: Topology,
    /// Seed of ECMP.
    pub seed: u64,
    /// Delays without faults.
    pub timing: Timing,
    /// Clocks of the NICs.
    pub clocks: Clocks,
    /// Faults.
    pub faults: Vec<Fault>,
}

/// The fate of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived.
    Received,
    /// It was lost.
    Lost,
    /// It arrived corrupted.
    Corrupt,
    /// The host had no route to send it.
    Unsent,
}

/// The fate and the times of a probe. Times (2) and (3) are on the clocks of their NICs, (1) and (4) on the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// Its fate.
    pub outcome: Outcome,
    /// When its NIC sent it (2).
    pub nic_send_ns: Option<i64>,
    /// When the other NIC received it (3).
    pub nic_receive_ns: Option<i64>,
    /// When the agent received it (4).
    pub app_receive_ns: Option<i64>,
    /// True time from NIC to NIC.
    pub network_ns: i64,
    /// The link direction on which it was lost or corrupted.
    pub where_lost: Option<LinkDirection>,
}

impl Fabric {
    /// Creates a fabric without faults and with correct clocks.
    #[must_use]
    pub fn new(topology: Topology, seed: u64) -> Self {
        Self {
            topology,
            seed,
            timing: Timing::default(),
            clocks: Clocks::RIGHT,
            faults: Vec::new(),
        }
    }

    /// Returns the route of a 5-tuple at a time. It ends early at a switch without a usable link.
    #[must_use]
    pub fn route(&self, tuple: FiveTuple, at_ns: i64) -> Route {
        let topology = &self.topology;
        let diverted = |way| {
            let mut faults = self.faults.iter();
            faults.any(|fault| fault.diverts(tuple.dst, way, at_ns, topology))
        };
        topology.route(tuple, self.seed, |way| !self.is_down(way.link, at_ns) && !diverted(way))
    }

    /// Returns the result of a traceroute on this 5-tuple at a time: the address of each hop, `None` beyond a fault
    /// that drops every packet. The last is the destination.
    #[must_use]
    pub fn trace(&self, tuple: FiveTuple, at_ns: i64) -> Vec<Option<IpAddr>> {
        let route = self.route(tuple, at_ns);
        let from = self.host_stops(tuple, at_ns);
        let mut alive = !from;
        let mut hops: Vec<Option<IpAddr>> = Vec::with_capacity(route.ways().len());
        for way in route.ways() {
            let mut faults = self.faults.iter();
            alive &= !faults.any(|fault| fault.stops(tuple, *way, at_ns, &self.topology));
            hops.push(alive.then(|| self.topology.ingress(*way)));
        }
        let arrives = route.ways().last().is_some_and(|way| *way == last_way(tuple));
        if !arrives {
            hops.push(None);
        }
        hops
    }

    /// Returns the fate of a probe that the agent sends at `sent_ns` (1).
    #[must_use]
    pub fn send(&self, tuple: FiveTuple, sent_ns: i64, draws: &mut Draws) -> Passage {
        let mut passage = Passage {
            outcome: Outcome::Unsent,
            nic_send_ns: None,
            nic_receive_ns: None,
            app_receive_ns: None,
            network_ns: 0,
            where_lost: None,
        };
        if self.host_stops(tuple, sent_ns) {
            return passage;
        }
        let left = sent_ns + self.host_delay_ns(tuple, sent_ns, draws);
        passage.nic_send_ns = Some(self.clocks.reads_ns(tuple.src, left));
        passage.outcome = Outcome::Received;
        let route = self.route(tuple, left);
        let mut network = draws.exponential_ns(self.timing.queues_ns);
        for way in route.ways() {
            network += self.timing.link_ns;
            let before = passage.outcome;
            for fault in &self.faults {
                let (outcome, delay) = self.meet(fault, tuple, *way, left, draws);
                network += delay;
                match outcome {
                    Outcome::Received => {}
                    outcome => passage.outcome = outcome,
                }
                if outcome == Outcome::Lost {
                    break;
                }
            }
            if passage.outcome != before && passage.where_lost.is_none() {
                passage.where_lost = Some(*way);
            }
            if passage.outcome == Outcome::Lost {
                return passage;
            }
        }
        let arrives = route.ways().last().is_some_and(|way| *way == last_way(tuple));
        if !arrives {
            passage.outcome = Outcome::Lost;
            passage.where_lost = route.ways().last().copied();
            return passage;
        }
        let arrived = left + network;
        passage.network_ns = network;
        passage.nic_receive_ns = Some(self.clocks.reads_ns(tuple.dst, arrived));
        passage.app_receive_ns = Some(arrived + self.host_delay_ns(tuple, arrived, draws));
        passage
    }

    fn is_down(&self, link: LinkId, at_ns: i64) -> bool {
        let mut faults = self.faults.iter();
        faults.any(|fault| fault.takes_down(link, at_ns, &self.topology))
    }

    fn host_stops(&self, tuple: FiveTuple, at_ns: i64) -> bool {
        let mut faults = self.faults.iter();
        faults.any(|fault| fault.prevents_sending(tuple.src, at_ns, &self.topology))
    }

    fn host_delay_ns(&self, tuple: FiveTuple, at_ns: i64, draws: &mut Draws) -> i64 {
        let slow: i64 = (self.faults.iter())
            .map(|fault| fault.host_delay_ns(tuple.src, at_ns, &self.topology))
            .sum();
        let usual = self.timing.host_ns + draws.exponential_ns(self.timing.host_noise_ns);
        if slow == 0 {
            usual
        } else {
            usual + draws.exponential_ns(slow)
        }
    }

    /// Returns the effect of one fault on a packet on one link direction, and the delay it adds.
    fn meet(
        &self,
        fault: &Fault,
        tuple: FiveTuple,
        way: LinkDirection,
        at_ns: i64,
        draws: &mut Draws,
    ) -> (Outcome, i64) {
        let topology = &self.topology;
        if fault.stops(tuple, way, at_ns, topology) {
            return (Outcome::Lost, 0);
        }
        if !fault.is_active(at_ns) || !fault.affects(way, topology) {
            return (Outcome::Received, 0);
        }
        match fault.kind {
            FaultKind::Loss { probability } if draws.happens(probability) => (Outcome::Lost, 0),
            FaultKind::Corruption { probability } if draws.happens(probability) => (Outcome::Corrupt, 0),
            FaultKind::Congestion { loss, .. } if draws.happens(loss) => (Outcome::Lost, 0),
            FaultKind::Detour { to, delay_ns } if to == tuple.dst => (Outcome::Received, delay_ns),
            FaultKind::Congestion { delay_ns, .. } => (Outcome::Received, draws.exponential_ns(delay_ns)),
            _ => (Outcome::Received, 0),
        }
    }
}

/// The last link, into the destination.
const fn last_way(tuple: FiveTuple) -> LinkDirection {
    LinkDirection {
        link: LinkId(tuple.dst.0),
        up: false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Fabric, Outcome};
    use crate::random::Draws;
    use crate::{FaultKind, FaultLocation, FiveTuple, Rails, Role};
    use rocescope_model::ROCE_UDP_PORT;

    const SECOND: i64 = 1_000_000_000;

    fn fabric() -> Fabric {
        Fabric::new(Rails::two_tiers(2, 4, 2).build().unwrap(), 11)
    }

    fn tuple(fabric: &Fabric, from: u32, to: u32, port: u16) -> FiveTuple {
        FiveTuple {
            src: fabric.topology.nic(0, from),
            dst: fabric.topology.nic(0, to),
            udp_src_port: port,
            udp_dst_port: ROCE_UDP_PORT,
        }
    }

    fn with(kind: FaultKind, place: FaultLocation) -> Fabric {
        let mut fabric = fabric();
        fabric.faults.push(crate::Fault {
            kind,
            place,
            from_ns: 0,
            until_ns: SECOND,
        });
        fabric
    }

    fn lost(fabric: &Fabric, from: u32, to: u32) -> usize {
        let mut draws = Draws::new(2);
        let fates = (0..1_000).map(|port| {
            let tuple = tuple(fabric, from, to, port);
            fabric.send(tuple, 0, &mut draws).outcome
        });
        fates.filter(|outcome| *outcome == Outcome::Lost).count()
    }

    #[test]
    fn a_healthy_fabric_delivers_and_its_traces_match_its_routes() {
        let fabric = fabric();
        let mut draws = Draws::new(1);
        let tuple = tuple(&fabric, 0, 3, 0xC001);
        let passage = fabric.send(tuple, 5, &mut draws);
        assert_eq!(passage.outcome, Outcome::Received);
        let on_wire = passage.nic_receive_ns.unwrap() - passage.nic_send_ns.unwrap();
        assert_eq!(on_wire, passage.network_ns);
        assert!(passage.network_ns >= 4 * fabric.timing.link_ns);
        let hops = fabric.trace(tuple, 5);
        let route = fabric.route(tuple, 5);
        let addresses = route.ways().iter().map(|way| Some(fabric.topology.ingress(*way)));
        assert!(hops.iter().copied().eq(addresses));
        assert_eq!(hops[3], Some(fabric.topology.nic_address(tuple.dst)));
    }

    #[test]
    fn a_link_that_is_down_loses_only_packets_without_another_route() {
        let plain = fabric();
        let topology = &plain.topology;
        let leaf = topology.node(Role::Rail { group: 0, rail: 0 });
        let spine = topology.node(Role::Spine(0));
        let link = topology.between(leaf, spine).unwrap();
        let fabric = with(FaultKind::LinkDown, FaultLocation::Link(link));
        // Out of rail 0 the rail switch uses the other spine; into it the spine has a single link.
        assert_eq!(lost(&fabric, 0, 1), 0);
        assert!((400..600).contains(&lost(&fabric, 1, 0)));
        assert_eq!(lost(&fabric, 1, 2), 0);
        let nic = with(FaultKind::LinkDown, FaultLocation::Nic(topology.nic(0, 1)));
        assert_eq!(
            (lost(&nic, 0, 1), lost(&nic, 1, 0), lost(&nic, 0, 2)),
            (1_000, 1_000, 0)
        );
    }

    #[test]
    fn each_kind_of_fault_has_its_effect() {
        let plain = fabric();
        let nic = plain.topology.nic(0, 1);
        let spine = plain.topology.node(Role::Spine(0));
        let grey = with(FaultKind::Loss { probability: 0.2 }, FaultLocation::Nic(nic));
        assert!((150..250).contains(&lost(&grey, 0, 1)));
        let route = with(FaultKind::MissingRoute { to: nic }, FaultLocation::Node(spine));
        assert!((400..600).contains(&lost(&route, 0, 1)));
        assert_eq!(lost(&route, 1, 0), 0);
        let acl = with(
            FaultKind::Acl {
                src: Some(plain.topology.nic(0, 0)),
                dst: Some(nic),
            },
            FaultLocation::Node(plain.topology.ends(crate::LinkId(nic.0)).1),
        );
        assert_eq!((lost(&acl, 0, 1), lost(&acl, 2, 1)), (1_000, 0));
        let hole = tuple(&plain, 0, 1, 7);
        let way = plain.route(hole, 0).ways()[2];
        let hole = with(FaultKind::Blackhole { tuple: hole }, FaultLocation::Direction(way));
        assert_eq!(lost(&hole, 0, 1), 1);
        assert_eq!(hole.trace(tuple(&plain, 0, 1, 7), 0)[2..], [None, None]);

        let mut draws = Draws::new(3);
        let bent = with(FaultKind::Corruption { probability: 1.0 }, FaultLocation::Nic(nic));
        let sent = tuple(&plain, 0, 1, 1);
        assert_eq!(bent.send(sent, 0, &mut draws).outcome, Outcome::Corrupt);
        let unrouted = with(FaultKind::MissingRoute { to: nic }, FaultLocation::Nic(nic));
        let back = tuple(&plain, 1, 0, 1);
        assert_eq!(unrouted.send(back, 0, &mut draws).outcome, Outcome::Unsent);
        assert_eq!(unrouted.send(sent, 0, &mut draws).outcome, Outcome::Received);
        let queue = FaultKind::Congestion {
            delay_ns: 1_000_000,
            loss: 0.0,
        };
        let queue = with(queue, FaultLocation::Nic(nic));
        let mean = |fabric: &Fabric, draws: &mut Draws| {
            (0..1_000).map(|_| fabric.send(sent, 0, draws).network_ns).sum::<i64>() / 1_000
        };
        assert!(mean(&queue, &mut draws) > 900_000);
        let leaf = plain.topology.node(Role::Rail { group: 0, rail: 0 });
        let longer = crate::LinkDirection {
            link: plain.topology.between(leaf, spine).unwrap(),
            up: true,
        };
        let detour = FaultKind::Detour {
            to: nic,
            delay_ns: 1_000_000,
        };
        let detour = with(detour, FaultLocation::Direction(longer));
        assert!(mean(&detour, &mut draws) > 1_000_000);
        for port in 0..100 {
            let to = |rail| detour.route(tuple(&plain, 0, rail, port), 0);
            assert_eq!(to(1).ways()[1], longer);
            let other = tuple(&plain, 0, 2, port);
            assert_eq!(to(2), plain.route(other, 0));
        }
        let host = plain.topology.node(Role::Host(0));
        let slow = with(FaultKind::SlowHost { delay_ns: 1_000_000 }, FaultLocation::Node(host));
        assert!(mean(&slow, &mut draws) < 10_000);
        let taken = slow.send(sent, 0, &mut draws);
        assert!(taken.app_receive_ns.unwrap() - taken.network_ns > 100_000);
        // After the end of a fault all packets arrive.
        assert_eq!(bent.send(sent, SECOND, &mut draws).outcome, Outcome::Received);
    }
}
