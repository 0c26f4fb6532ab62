//! The kinds of cases: one fault, two or three together, and one right after another.

/// What a fault is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    /// The link is down.
    Down,
    /// It is down for half of every four seconds.
    Flapping,
    /// A share of frames is lost, both ways.
    Loss(f64),
    /// The same, one way: which is drawn.
    LossOneWay(f64),
    /// A share of frames has a byte flipped.
    Corruption(f64),
    /// A queue on the way up, in milliseconds.
    Congestion(u64),
    /// The host has no route out of the NIC.
    NoRouteOut,
    /// The NIC's switch has no route to it.
    NoRouteTo,
    /// A switch above that has no route to the NIC.
    NoRouteAbove,
    /// A pair of NICs of one host is refused at the switch of the receiver.
    Acl,
    /// One 5-tuple that the NIC sends is lost.
    Blackhole,
    /// The host has a tenth of a core.
    SlowHost,
    /// The agent of the host is killed, and starts again afterwards.
    Silence,
}

/// Where, seen from the first fault of the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// At any NIC.
    Nic,
    /// At any link between switches.
    Uplink,
    /// At the same link.
    Same,
    /// At another NIC of the same host.
    SiblingNic,
    /// At a NIC of another host and another switch.
    OtherNic,
    /// At an uplink of the NIC's switch.
    ItsUplink,
    /// At another link up from the same switch.
    SameLower,
    /// At another link up to the same switch.
    SameUpper,
    /// At a link between two other switches.
    OtherUplink,
}

/// A fault of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) what: What,
    pub(super) at: At,
    /// Windows from the start of the case: each fault is there from the first half of a window to the end of the next.
    pub(super) after: u64,
}

/// A kind of cases.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) parts: &'static [Part],
}

const fn first(what: What, at: At) -> Part {
    Part { what, at, after: 0 }
}

/// After the earlier fault has ended.
const fn then(what: What, at: At) -> Part {
    Part { what, at, after: 2 }
}

const fn kind(name: &'static str, parts: &'static [Part]) -> Kind {
    Kind { name, parts }
}

use At::{ItsUplink, Nic, OtherNic, OtherUplink, Same, SameLower, SameUpper, SiblingNic, Uplink};
use What::{
    Acl, Blackhole, Congestion, Corruption, Down, Flapping, Loss, LossOneWay, NoRouteAbove, NoRouteOut, NoRouteTo,
    Silence, SlowHost,
};

/// All kinds.
pub(super) const KINDS: [Kind; 48] = [
    kind("NIC down", &[first(Down, Nic)]),
    kind("NIC flapping", &[first(Flapping, Nic)]),
    kind("NIC, loss of 5 %", &[first(Loss(0.05), Nic)]),
    kind("NIC, loss of 20 %", &[first(Loss(0.2), Nic)]),
    kind("NIC, loss of 50 %", &[first(Loss(0.5), Nic)]),
    kind("NIC, loss of 10 % one way", &[first(LossOneWay(0.1), Nic)]),
    kind("NIC, corruption of 5 %", &[first(Corruption(0.05), Nic)]),
    kind("NIC, corruption of 50 %", &[first(Corruption(0.5), Nic)]),
    kind("link down", &[first(Down, Uplink)]),
    kind("link flapping", &[first(Flapping, Uplink)]),
    kind("link, loss of 5 %", &[first(Loss(0.05), Uplink)]),
    kind("link, loss of 20 %", &[first(Loss(0.2), Uplink)]),
    kind("link, loss of 50 %", &[first(Loss(0.5), Uplink)]),
    kind("link, loss of 20 % one way", &[first(LossOneWay(0.2), Uplink)]),
    kind("link, corruption of 5 %", &[first(Corruption(0.05), Uplink)]),
    kind("link, corruption of 50 %", &[first(Corruption(0.5), Uplink)]),
    kind("congestion, 40 ms", &[first(Congestion(40), Uplink)]),
    kind("congestion, 15 ms", &[first(Congestion(15), Uplink)]),
    kind("no route out of a NIC", &[first(NoRouteOut, Nic)]),
    kind("no route to a NIC", &[first(NoRouteTo, Nic)]),
    kind("no route to a NIC, higher up", &[first(NoRouteAbove, Nic)]),
    kind("access list", &[first(Acl, Nic)]),
    kind("blackhole", &[first(Blackhole, Nic)]),
    kind("slow host", &[first(SlowHost, Nic)]),
    kind("agent killed", &[first(Silence, Nic)]),
    kind(
        "one switch: two links down",
        &[first(Down, Uplink), first(Down, SameUpper)],
    ),
    kind(
        "one switch: 50 and 50 %",
        &[first(Loss(0.5), Uplink), first(Loss(0.5), SameLower)],
    ),
    kind(
        "one switch: 50 and 50 %, above",
        &[first(Loss(0.5), Uplink), first(Loss(0.5), SameUpper)],
    ),
    kind(
        "one switch: 10 and 10 %",
        &[first(Loss(0.1), Uplink), first(Loss(0.1), SameLower)],
    ),
    kind(
        "one switch: down and 10 %",
        &[first(Down, Uplink), first(Loss(0.1), SameUpper)],
    ),
    kind(
        "one switch: down and corrupt",
        &[first(Down, Uplink), first(Corruption(0.2), SameLower)],
    ),
    kind(
        "one switch: corrupt and lossy",
        &[first(Corruption(0.2), Uplink), first(Loss(0.2), SameUpper)],
    ),
    kind(
        "NIC flapping, its uplink lossy",
        &[first(Flapping, Nic), first(Loss(0.2), ItsUplink)],
    ),
    kind(
        "NIC down, its uplink lossy",
        &[first(Down, Nic), first(Loss(0.2), ItsUplink)],
    ),
    kind(
        "two links, 50 and 5 %",
        &[first(Loss(0.5), Uplink), first(Loss(0.05), OtherUplink)],
    ),
    kind(
        "three links, 50, 20 and 10 %",
        &[
            first(Loss(0.5), Uplink),
            first(Loss(0.2), OtherUplink),
            first(Loss(0.1), SameUpper),
        ],
    ),
    kind(
        "NIC down and link lossy",
        &[first(Down, Nic), first(Loss(0.2), OtherUplink)],
    ),
    kind("two NICs down", &[first(Down, Nic), first(Down, OtherNic)]),
    kind(
        "one host: two NICs lossy",
        &[first(Loss(0.3), Nic), first(Loss(0.3), SiblingNic)],
    ),
    kind(
        "NIC lossy and link congested",
        &[first(Loss(0.2), Nic), first(Congestion(40), OtherUplink)],
    ),
    kind(
        "link lossy and blackhole",
        &[first(Loss(0.2), Uplink), first(Blackhole, OtherNic)],
    ),
    kind("NIC down and access list", &[first(Down, Nic), first(Acl, OtherNic)]),
    kind(
        "link lossy and slow host",
        &[first(Loss(0.2), Uplink), first(SlowHost, OtherNic)],
    ),
    kind(
        "agent killed and link lossy",
        &[first(Silence, Nic), first(Loss(0.2), OtherUplink)],
    ),
    kind(
        "NIC down, then a blackhole of it",
        &[first(Down, Nic), then(Blackhole, Same)],
    ),
    kind(
        "NIC lossy, then an access list to it",
        &[first(Loss(0.3), Nic), then(Acl, Same)],
    ),
    kind(
        "NIC flapping, then its uplink lossy",
        &[first(Flapping, Nic), then(Loss(0.2), ItsUplink)],
    ),
    kind(
        "NIC down, then a sibling lossy",
        &[first(Down, Nic), then(Loss(0.2), SiblingNic)],
    ),
];
