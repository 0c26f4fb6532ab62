//! The class of a suspect: the eight problems of Hostmesh, section 5, and ours.

use super::place::FaultLocation;
use super::shape::Shape;
use super::suspects::Symptom;

/// What the analysis measured about a suspect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence {
    pub(crate) place: FaultLocation,
    pub(crate) symptom: Symptom,
    pub(crate) probes: u64,
    pub(crate) anomalous: u64,
    /// The drops that show how the place loses packets, and those of them that arrived corrupted.
    pub(crate) shown: u64,
    pub(crate) corrupt: u64,
    pub(crate) unsent: u64,
    pub(crate) shape: Shape,
    /// Whether some 5-tuples lose every probe and others none.
    pub(crate) is_split: bool,
    /// Episodes in this window and the last ones.
    pub(crate) episodes: u32,
    /// Whether probes over the place are late too.
    pub(crate) late_too: bool,
    /// For one direction of a NIC: whether the other direction works.
    pub(crate) other_direction_works: bool,
    /// Whether probes over the place are also late compared with the reverse direction.
    pub(crate) is_one_way: bool,
    /// For a link: whether all 5-tuples of the NICs on its two sides cross it, and none comes back over it.
    pub(crate) is_only_way: bool,
    /// The windows that the counts are of.
    pub(crate) windows: usize,
}

impl Evidence {
    /// Whether no probe was dropped: all anomalous ones could not be sent.
    pub(crate) const fn is_unsent(&self) -> bool {
        self.unsent > 0 && self.unsent >= self.anomalous
    }
}

/// A class of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    LinkDown,
    /// For some 5-tuples it is down.
    PartlyDown,
    Flapping,
    Loss,
    Corruption,
    NoRoute,
    Acl,
    Blackhole,
    CongestionDrops,
    Congestion,
    SlowReceiver,
    Asymmetric,
    SlowHost,
    Unsent,
    Silent,
    /// Lost at an unknown place.
    Unlocated,
}

impl Class {
    /// The class of a suspect.
    pub(crate) fn of(evidence: &Evidence) -> Self {
        let &Evidence {
            place,
            symptom,
            anomalous,
            shape,
            ..
        } = evidence;
        match (symptom, place) {
            (Symptom::Delay, _) => return Self::SlowHost,
            (Symptom::Silence, _) => return Self::Silent,
            (Symptom::Latency | Symptom::Asymmetry, _) => return Self::of_latency(evidence),
            (Symptom::Loss, FaultLocation::Mesh) => return Self::Unlocated,
            (Symptom::Loss, _) => {}
        }
        if evidence.corrupt > 0 && evidence.corrupt * 2 >= evidence.shown {
            return Self::Corruption;
        }
        let dead = shape.is_clear || anomalous == evidence.probes;
        // Traces of other 5-tuples end at a switch from window to window.
        if dead && evidence.episodes >= 2 && !matches!(place, FaultLocation::Onward(_)) {
            return Self::Flapping;
        }
        // Probes that were not sent were not dropped either, by whatever.
        if evidence.unsent * 2 > anomalous {
            return match place {
                FaultLocation::ToNic(_) | FaultLocation::FromNic(_) if dead && evidence.other_direction_works => {
                    Self::NoRoute
                }
                FaultLocation::Nic(_) | FaultLocation::ToNic(_) | FaultLocation::FromNic(_) if dead => Self::LinkDown,
                _ => Self::Unsent,
            };
        }
        match place {
            FaultLocation::Tuple { .. } if dead => Self::Blackhole,
            FaultLocation::Pair { .. } | FaultLocation::PairAt { .. } if dead => Self::Acl,
            FaultLocation::Route { .. } if dead => Self::NoRoute,
            FaultLocation::ToNic(_) | FaultLocation::FromNic(_) if dead && evidence.other_direction_works => {
                Self::NoRoute
            }
            _ if dead => Self::LinkDown,
            FaultLocation::Link(_) | FaultLocation::Cable(..) if evidence.is_split => Self::PartlyDown,
            _ if evidence.late_too => Self::CongestionDrops,
            _ => Self::Loss,
        }
    }

    /// A cable is equally long in both directions, so a link that is slow in only one of them has a queue; so has one that slows
    /// some 5-tuples of a pair, while others of it take other links. If a pair, a route or a 5-tuple is slow as a whole, the two
    /// directions take different paths.
    const fn of_latency(evidence: &Evidence) -> Self {
        let one_way = evidence.is_one_way;
        match evidence.place {
            FaultLocation::ToNic(_) => Self::SlowReceiver,
            FaultLocation::Link(_) if one_way && evidence.is_only_way => Self::Asymmetric,
            FaultLocation::Pair { .. }
            | FaultLocation::PairAt { .. }
            | FaultLocation::Route { .. }
            | FaultLocation::Tuple { .. }
                if one_way =>
            {
                Self::Asymmetric
            }
            _ => Self::Congestion,
        }
    }

    /// Name in the dataset.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::LinkDown | Self::PartlyDown => "link_down",
            Self::Flapping => "flapping",
            Self::Loss => "loss",
            Self::Corruption => "corruption",
            Self::NoRoute => "no_route",
            Self::Acl => "acl",
            Self::Blackhole => "blackhole",
            Self::CongestionDrops => "congestion_drops",
            Self::Congestion => "congestion",
            Self::SlowReceiver => "slow_receiver",
            Self::Asymmetric => "asymmetric_path",
            Self::SlowHost => "slow_host",
            Self::Unsent => "unsent",
            Self::Silent => "silent",
            Self::Unlocated => "unlocated_loss",
        }
    }

    /// Number of the problem in Hostmesh, section 5.
    pub(crate) const fn problem(self) -> Option<u8> {
        Some(match self {
            Self::Flapping => 1,
            Self::Corruption => 2,
            Self::NoRoute => 3,
            Self::Acl => 4,
            Self::CongestionDrops => 5,
            Self::Congestion => 6,
            Self::SlowHost => 7,
            Self::SlowReceiver => 8,
            Self::LinkDown
            | Self::PartlyDown
            | Self::Loss
            | Self::Blackhole
            | Self::Asymmetric
            | Self::Unsent
            | Self::Silent
            | Self::Unlocated => {
                return None;
            }
        })
    }

    /// The meaning, as the last part of the sentence of a verdict. It names possible causes where only the counters of
    /// hosts or switches can decide.
    pub(crate) const fn meaning(self, place: FaultLocation) -> &'static str {
        let nic = matches!(
            place,
            FaultLocation::Nic(_) | FaultLocation::ToNic(_) | FaultLocation::FromNic(_)
        );
        match self {
            Self::LinkDown if nic => "the NIC, its link or its switch port is down",
            Self::LinkDown => "no packets get through",
            Self::PartlyDown => {
                "some 5-tuples lose all packets and others none: the link is down and the others were routed around it, or a member of a port channel is dead"
            }
            Self::Flapping if nic => "the NIC, its link or its switch port repeatedly goes down",
            Self::Flapping => "it repeatedly goes down",
            Self::Loss => "random packet loss",
            Self::Corruption => "packets arrive corrupted",
            Self::NoRoute => {
                "all packets in this direction are lost, the other direction works: a route is missing, or an access list drops them"
            }
            Self::Acl => {
                "all packets of this pair are lost while both NICs reach others: an access list drops them, or one switch has no route"
            }
            Self::Blackhole => "all packets of this 5-tuple are lost while others over the same links arrive",
            Self::CongestionDrops => {
                "packets are dropped while the queue is long: PFC may be off, or its headroom too small"
            }
            Self::Congestion => "packets wait in a queue: the load is uneven, or something blocks the queue",
            Self::SlowReceiver => {
                "packets to it wait and packets from it do not: high load, or pause frames from the NIC (a PCIe link below its rated speed or width can cause them)"
            }
            Self::Asymmetric => {
                "packets take longer than in the other direction, while others over the same links do not: the two directions take different routes"
            }
            Self::SlowHost => {
                "the host is slow to send or receive packets, the network is not: its CPU may be overloaded"
            }
            Self::Unsent => {
                "the host cannot send: its NIC is down, it has no route, or the next hop does not answer; no packet was dropped"
            }
            Self::Silent if matches!(place, FaultLocation::Collector) => {
                "most of the mesh is silent at once, so the cause is what its agents share: the collector, its network or its certificates"
            }
            Self::Silent => "the host, its agent, or its connection to the collector is down",
            Self::Unlocated => "no NIC, link or switch explains it",
        }
    }

    /// The next step for an operator.
    pub(crate) const fn action(self, place: FaultLocation) -> &'static str {
        let (is_link, is_ports, is_nic) = (
            matches!(place, FaultLocation::Link(_) | FaultLocation::Cable(..)),
            matches!(place, FaultLocation::Ports(_)),
            matches!(
                place,
                FaultLocation::Nic(_) | FaultLocation::ToNic(_) | FaultLocation::FromNic(_)
            ),
        );
        match self {
            Self::LinkDown if matches!(place, FaultLocation::Onward(_)) => {
                "compare its routes to these destinations with those of its neighbors, and check its links on these routes and the switches at their other ends"
            }
            Self::LinkDown if matches!(place, FaultLocation::Switch(_)) => {
                "check that the switch runs and forwards: its log, its power, its line cards"
            }
            Self::LinkDown | Self::PartlyDown | Self::Flapping if is_ports => {
                "check what these ports share: the line card or the transceiver, in the switch log, before the cables"
            }
            Self::LinkDown | Self::PartlyDown => {
                "check the carrier and the optics at both ends (`ip link`, `ethtool -m`), then the switch log"
            }
            Self::Flapping => {
                "count the carrier changes (`ip -s -d link`, the switch log); replace the cable or the transceiver"
            }
            Self::Loss if is_ports => {
                "check the error and discard counters of these ports, then what they share: the line card or the transceiver"
            }
            Self::Loss if is_link => {
                "check the error and discard counters at both ends; if they do not explain the loss, take the link out of ECMP"
            }
            Self::Loss if is_nic => {
                "check the error and discard counters of the NIC and of its switch port; then the cable and the optics"
            }
            Self::Loss if matches!(place, FaultLocation::Switch(_)) => {
                "check the error and discard counters of all its ports; if they do not explain the loss, drain the switch"
            }
            Self::Loss => {
                "trace the 5-tuples that suffer hop by hop, and check the discard counters of the switches on the way"
            }
            Self::Corruption => {
                "check the FCS and symbol error counters; clean or replace the fibre and the optical module"
            }
            Self::NoRoute => {
                "compare the routes to and from this address on the host (`ip route get`) and on its switches"
            }
            Self::Acl => "check the access lists of the switches on the path, and their hit counters",
            Self::Blackhole => {
                "trace the same 5-tuple hop by hop; dump the forwarding entry of the switch that drops it"
            }
            Self::CongestionDrops => {
                "check the PFC settings, the headroom and the drop counters of this port, then its load"
            }
            Self::Congestion => {
                "check the load and the queue of the port; if ECMP is uneven, spread the flows (PXN, more QPs per connection)"
            }
            Self::SlowReceiver => {
                "check the NIC's tx pause counters, then the speed and width of its PCIe link and its GPU's (`lspci -vv`: LnkSta)"
            }
            Self::Asymmetric => {
                "compare the routes of both directions, switch by switch (`ip route get` with the ports, or the switch's ECMP and policy routes)"
            }
            Self::SlowHost => "check CPU load, interrupts and CPU frequency on the host",
            Self::Unsent => {
                "check the NIC, its route and its next hop on the host (`ip link`, `ip route get`, `ip neigh`)"
            }
            Self::Silent if matches!(place, FaultLocation::Collector) => {
                "check the collector's log for refused agents, then its network, before any host"
            }
            Self::Silent => {
                "check that the host answers (`ping`), then its agent and the agent's log (`systemctl status rocescope-agent`); rows in its spool come when it reaches the collector again"
            }
            Self::Unlocated => {
                "trace one of these 5-tuples hop by hop from its host, and compare the routes to its destination on the switches at that tier; with `--topology` switches have names, and hops that did not answer follow from the others"
            }
        }
    }
}
