//! What a suspect looks like: the eight problems of Hostmesh, section 5, and ours.

use super::place::FaultLocation;
use super::shape::Shape;
use super::suspects::Symptom;

/// What was found out about a suspect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence {
    pub(crate) place: FaultLocation,
    pub(crate) symptom: Symptom,
    pub(crate) probes: u64,
    pub(crate) anomalous: u64,
    pub(crate) corrupt: u64,
    pub(crate) unsent: u64,
    pub(crate) shape: Shape,
    /// Episodes of the last windows and this one.
    pub(crate) episodes: u32,
    /// Whether probes over the place are late too.
    pub(crate) late_too: bool,
    /// Of a NIC: whether the other direction is well.
    pub(crate) other_way_well: bool,
    /// Whether probes over the place are late against the way back too.
    pub(crate) is_one_way: bool,
    /// Of a link: whether probes cross it the other way.
    pub(crate) is_crossed_back: bool,
}

/// A class of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    LinkDown,
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
            (Symptom::Latency | Symptom::Asymmetry, _) => return Self::of_latency(evidence),
            (Symptom::Loss, _) => {}
        }
        if evidence.corrupt * 2 >= anomalous {
            return Self::Corruption;
        }
        let dead = shape.is_clear || anomalous == evidence.probes;
        if dead && evidence.episodes >= 2 {
            return Self::Flapping;
        }
        match place {
            FaultLocation::Tuple { .. } if dead => Self::Blackhole,
            FaultLocation::Pair { .. } | FaultLocation::PairAt { .. } if dead => Self::Acl,
            FaultLocation::Route { .. } if dead => Self::NoRoute,
            FaultLocation::ToNic(_) | FaultLocation::FromNic(_)
                if dead && evidence.other_way_well =>
            {
                Self::NoRoute
            }
            _ if dead => Self::LinkDown,
            _ if evidence.late_too => Self::CongestionDrops,
            _ => Self::Loss,
        }
    }

    /// A cable is as long one way as the other: what is slow one way on a link, and not back, is a queue. What
    /// is slow for a pair, a route or a 5-tuple alone, or on a link that nobody comes back over, is another way.
    const fn of_latency(evidence: &Evidence) -> Self {
        let one_way = evidence.is_one_way;
        match evidence.place {
            FaultLocation::ToNic(_) => Self::SlowReceiver,
            FaultLocation::Link(_) if one_way && !evidence.is_crossed_back => Self::Asymmetric,
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
            Self::LinkDown => "link_down",
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
            Self::LinkDown | Self::Loss | Self::Blackhole | Self::Asymmetric => return None,
        })
    }

    /// What it means, in words that follow "…: ". Where only counters of hosts or switches can tell, it does
    /// not claim.
    pub(crate) const fn meaning(self, place: FaultLocation) -> &'static str {
        let nic = matches!(
            place,
            FaultLocation::Nic(_) | FaultLocation::ToNic(_) | FaultLocation::FromNic(_)
        );
        match self {
            Self::LinkDown if nic => "the NIC, its link or its switch port is down",
            Self::LinkDown => "nothing gets through",
            Self::Flapping if nic => "the NIC, its link or its switch port goes down and up again",
            Self::Flapping => "it goes down and up again",
            Self::Loss => "some packets are lost, at random",
            Self::Corruption => "packets arrive with changed bytes",
            Self::NoRoute => {
                "all are lost this way and none the other: a route is missing, or an access list drops them"
            }
            Self::Acl => {
                "this pair is dead while both talk to others: an access list drops it, or one switch has no route"
            }
            Self::Blackhole => {
                "this 5-tuple always vanishes while others over the same links do not"
            }
            Self::CongestionDrops => {
                "drops while the queue is long: PFC may be off, or its headroom too small"
            }
            Self::Congestion => {
                "packets wait in a queue: load is uneven, or something holds the queue up"
            }
            Self::SlowReceiver => {
                "packets to it wait and packets from it do not: load, or pause frames from the NIC (a PCIe link that runs below its speed or width would do that)"
            }
            Self::Asymmetric => {
                "packets take longer this way than back, while others over the same links do not: the two ways are routed apart"
            }
            Self::SlowHost => {
                "the host is slow to send or to take packets, the network is not: its CPU may be overloaded"
            }
        }
    }

    /// What an operator should do next.
    pub(crate) const fn action(self) -> &'static str {
        match self {
            Self::LinkDown => {
                "check carrier and optics at both ends (`ip link`, `ethtool -m`), then the switch's log"
            }
            Self::Flapping => {
                "count carrier changes (`ip -s -d link`, the switch's log); replace the cable or transceiver"
            }
            Self::Loss => {
                "read the error and discard counters at both ends; take the link out of ECMP if they do not explain it"
            }
            Self::Corruption => {
                "read FCS and symbol error counters; clean or replace fibre and optical module"
            }
            Self::NoRoute => {
                "compare the routes to and from this address on the host (`ip route get`) and on its switches"
            }
            Self::Acl => {
                "read the access lists of the switches on the way, with their hit counters"
            }
            Self::Blackhole => {
                "send the same 5-tuple hop by hop; have the switch that eats it dump its forwarding entry"
            }
            Self::CongestionDrops => {
                "read PFC settings, headroom and drop counters of this port, then its load"
            }
            Self::Congestion => {
                "read the port's load and queue; spread flows (PXN, more QPs a connection) if ECMP is uneven"
            }
            Self::SlowReceiver => {
                "read the NIC's tx pause counters, then speed and width of its PCIe link and its GPU's (`lspci -vv`: LnkSta)"
            }
            Self::Asymmetric => {
                "compare the routes of both ways, switch by switch (`ip route get` with the ports, or its ECMP and policy routes)"
            }
            Self::SlowHost => "look at CPU load, interrupts and frequency on the host",
        }
    }
}
