//! Places that may be at fault, and which of them a probe crosses.

use super::cells::Cell;
use super::names::{End, Names};
use super::tuples::{Key, Tuples};

/// A place that may be at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FaultLocation {
    /// A NIC, its link, or its switch port; both directions.
    Nic(u32),
    /// The same, towards the NIC.
    ToNic(u32),
    /// The same, away from the NIC.
    FromNic(u32),
    /// A link between switches, in one direction.
    Link(u32),
    /// Both directions of one.
    Cable(u32, u32),
    /// Ports of a switch that fail together.
    Ports(u32),
    /// A switch.
    Switch(u32),
    /// A switch or its next hops, for the 5-tuples of which no trace came further.
    Onward(u32),
    /// The route of a switch to a NIC.
    Route { switch: u32, nic: u32 },
    /// Two NICs, in one direction.
    Pair { src: u32, dst: u32 },
    /// Two NICs, in one direction, at a switch.
    PairAt { switch: u32, src: u32, dst: u32 },
    /// A 5-tuple.
    Tuple {
        src: u32,
        dst: u32,
        udp_src_port: u16,
        udp_dst_port: u16,
    },
    /// A host.
    Host(u32),
    /// The collector, or what all agents need to reach it.
    Collector,
    /// The mesh as a whole: somewhere in it.
    Mesh,
}

/// What a cell crosses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crossing<'a> {
    pub(crate) key: Key,
    pub(crate) links: &'a [u32],
    /// The switch that no trace came further than.
    pub(crate) cut_at: Option<u32>,
    /// It does not come to the link of its destination.
    pub(crate) is_short: bool,
}

impl<'a> Crossing<'a> {
    pub(crate) fn of(cell: &Cell, tuples: &'a Tuples) -> Self {
        Self {
            key: tuples.all[cell.tuple as usize].key,
            links: cell.path.map_or(&[], |path| tuples.links(path)),
            cut_at: cell.path.and_then(|path| path.cut_at),
            is_short: cell.path.is_some_and(|path| path.is_short),
        }
    }

    /// The links between switches; the others belong to NICs.
    pub(crate) fn inner<'b>(self, names: &'b Names) -> impl Iterator<Item = u32> + 'b
    where
        'a: 'b,
    {
        self.links.iter().copied().filter(|link| {
            let link = &names.links[*link as usize];
            !matches!(link.from, End::Nic(_)) && !matches!(link.to, End::Nic(_))
        })
    }

    /// The switches.
    pub(crate) fn switches<'b>(self, names: &'b Names) -> impl Iterator<Item = u32> + 'b
    where
        'a: 'b,
    {
        self.links
            .iter()
            .filter_map(|link| match names.links[*link as usize].to {
                End::Switch(switch) => Some(switch),
                End::Nic(_) | End::Unknown => None,
            })
    }

    /// Whether it crosses a place.
    pub(crate) fn meets(self, place: FaultLocation, names: &Names) -> bool {
        let Key {
            src,
            dst,
            udp_src_port,
            udp_dst_port,
        } = self.key;
        let through = |switch: u32| self.switches(names).any(|crossed| crossed == switch);
        match place {
            FaultLocation::Nic(nic) => src == nic || dst == nic && !self.is_short,
            FaultLocation::ToNic(nic) => dst == nic && !self.is_short,
            FaultLocation::FromNic(nic) => src == nic,
            FaultLocation::Link(link) => self.links.contains(&link),
            FaultLocation::Cable(one, other) => self.links.contains(&one) || self.links.contains(&other),
            FaultLocation::Ports(set) => self.links.iter().any(|link| names.port_sets.of(*link).contains(&set)),
            FaultLocation::Switch(switch) => through(switch),
            FaultLocation::Onward(switch) => self.cut_at == Some(switch),
            FaultLocation::Route { switch, nic } => dst == nic && through(switch),
            FaultLocation::Pair { src: from, dst: to } => (src, dst) == (from, to),
            FaultLocation::PairAt {
                switch,
                src: from,
                dst: to,
            } => (src, dst) == (from, to) && through(switch),
            FaultLocation::Tuple {
                src: a,
                dst: b,
                udp_src_port: c,
                udp_dst_port: d,
            } => (src, dst, udp_src_port, udp_dst_port) == (a, b, c, d),
            FaultLocation::Host(host) => names.nics[src as usize].host == host,
            FaultLocation::Collector => false,
            FaultLocation::Mesh => true,
        }
    }
}

/// The places finer than links and NICs that a cell crosses.
pub(crate) fn fine<'a>(crossing: Crossing<'a>, names: &'a Names) -> impl Iterator<Item = FaultLocation> + 'a {
    let Key {
        src,
        dst,
        udp_src_port,
        udp_dst_port,
    } = crossing.key;
    // Where no trace comes further, the next hop is as likely the reason as this switch.
    let passed = move |switch: &u32| crossing.cut_at != Some(*switch);
    let at = crossing.switches(names).filter(passed).flat_map(move |switch| {
        [
            FaultLocation::Route { switch, nic: dst },
            FaultLocation::PairAt { switch, src, dst },
        ]
    });
    let tuple = FaultLocation::Tuple {
        src,
        dst,
        udp_src_port,
        udp_dst_port,
    };
    let tuple = Some(tuple).filter(|_| crossing.cut_at.is_none());
    [FaultLocation::Pair { src, dst }].into_iter().chain(tuple).chain(at)
}

/// The order of preference among places with the same evidence. Where all probes over a link are cut behind it, a trace has
/// crossed it, so that what comes next is at fault.
pub(crate) const fn rank(place: FaultLocation) -> u8 {
    match place {
        FaultLocation::Nic(_) | FaultLocation::ToNic(_) | FaultLocation::FromNic(_) => 0,
        FaultLocation::Onward(_) => 1,
        FaultLocation::Link(_) | FaultLocation::Cable(..) => 2,
        FaultLocation::Ports(_) => 3,
        FaultLocation::Switch(_) | FaultLocation::Host(_) | FaultLocation::Collector | FaultLocation::Mesh => 4,
        FaultLocation::Pair { .. } => 5,
        FaultLocation::Route { .. } => 6,
        FaultLocation::Tuple { .. } => 7,
        FaultLocation::PairAt { .. } => 8,
    }
}

/// How much of the fabric a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Nic,
    Link,
    /// A switch, several ports of one, or a host as a whole.
    Switch,
    /// A route, a pair of NICs or a 5-tuple.
    Fine,
}

pub(crate) const fn size(place: FaultLocation) -> Size {
    match rank(place) {
        0 => Size::Nic,
        2 => Size::Link,
        1 | 3 | 4 => Size::Switch,
        _ => Size::Fine,
    }
}
