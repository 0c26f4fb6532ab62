//! Places that may be at fault, and which of them a probe crosses.

use super::cells::Cell;
use super::names::{End, Names};
use super::tuples::{Key, Tuples};

/// A place that may be at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
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
    /// A switch.
    Switch(u32),
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
}

/// What a cell crosses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crossing<'a> {
    pub(crate) key: Key,
    pub(crate) links: &'a [u32],
}

impl<'a> Crossing<'a> {
    pub(crate) fn of(cell: &Cell, tuples: &'a Tuples) -> Self {
        Self {
            key: tuples.all[cell.tuple as usize].key,
            links: cell.path.map_or(&[], |path| tuples.links(path)),
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
    pub(crate) fn meets(self, place: Place, names: &Names) -> bool {
        let Key {
            src,
            dst,
            udp_src_port,
            udp_dst_port,
        } = self.key;
        let through = |switch: u32| self.switches(names).any(|crossed| crossed == switch);
        match place {
            Place::Nic(nic) => src == nic || dst == nic,
            Place::ToNic(nic) => dst == nic,
            Place::FromNic(nic) => src == nic,
            Place::Link(link) => self.links.contains(&link),
            Place::Cable(one, other) => self.links.contains(&one) || self.links.contains(&other),
            Place::Switch(switch) => through(switch),
            Place::Route { switch, nic } => dst == nic && through(switch),
            Place::Pair { src: from, dst: to } => (src, dst) == (from, to),
            Place::PairAt {
                switch,
                src: from,
                dst: to,
            } => (src, dst) == (from, to) && through(switch),
            Place::Tuple {
                src: a,
                dst: b,
                udp_src_port: c,
                udp_dst_port: d,
            } => (src, dst, udp_src_port, udp_dst_port) == (a, b, c, d),
            Place::Host(host) => names.nics[src as usize].host == host,
        }
    }
}

/// The places finer than links and NICs that a cell crosses.
pub(crate) fn fine<'a>(
    crossing: Crossing<'a>,
    names: &'a Names,
) -> impl Iterator<Item = Place> + 'a {
    let Key {
        src,
        dst,
        udp_src_port,
        udp_dst_port,
    } = crossing.key;
    let at = crossing.switches(names).flat_map(move |switch| {
        [
            Place::Route { switch, nic: dst },
            Place::PairAt { switch, src, dst },
        ]
    });
    [
        Place::Pair { src, dst },
        Place::Tuple {
            src,
            dst,
            udp_src_port,
            udp_dst_port,
        },
    ]
    .into_iter()
    .chain(at)
}

/// The order of preference among places with the same evidence.
pub(crate) const fn rank(place: Place) -> u8 {
    match place {
        Place::Nic(_) | Place::ToNic(_) | Place::FromNic(_) => 0,
        Place::Link(_) | Place::Cable(..) => 1,
        Place::Switch(_) | Place::Host(_) => 2,
        Place::Pair { .. } => 3,
        Place::Route { .. } => 4,
        Place::Tuple { .. } => 5,
        Place::PairAt { .. } => 6,
    }
}
