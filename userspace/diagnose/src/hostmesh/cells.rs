//! The probes of a window, grouped by 5-tuple and path: what everything else counts over.

use super::names::{End, Names};
use super::record::{Fate, Record};
use super::tuples::{Key, Tuples, Version};
use alloc::vec;
use alloc::vec::Vec;

/// Probes of one 5-tuple over one path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) tuple: u32,
    pub(crate) path: Option<Version>,
    /// Sent: received, timed out, or corrupt.
    pub(crate) sent: u32,
    pub(crate) corrupt: u32,
    /// Timed out or corrupt.
    pub(crate) drops: u32,
    /// Those drops that are switch problems by the paper's rules.
    pub(crate) switch_drops: u32,
    pub(crate) unsent: u32,
    /// Received, with a latency.
    pub(crate) timed: u32,
    /// Of those, much later than usual.
    pub(crate) late: u32,
}

/// The cells of a window, and which cell each record is in.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(crate) all: Vec<Cell>,
    of_record: Vec<u32>,
}

impl Cells {
    /// Groups the records of a window that starts at `start_ns`.
    pub(crate) fn group(records: &[Record], start_ns: i64, tuples: &Tuples) -> Self {
        let mut all: Vec<Cell> = Vec::new();
        let mut first = vec![u32::MAX; tuples.all.len()];
        let mut of_record = Vec::with_capacity(records.len());
        for record in records {
            let at_ns = start_ns + record.offset_ns();
            let changed = tuples.has_changed(record.tuple);
            let slot = first.get_mut(record.tuple as usize);
            let known = slot.as_deref().copied().filter(|cell| *cell != u32::MAX);
            let cell = match known {
                Some(cell) if !changed => cell,
                _ => {
                    let path = tuples.path_at(record.tuple, at_ns);
                    let same = |cell: &Cell| cell.tuple == record.tuple && cell.path == path;
                    // The cells of one changed 5-tuple are few, but may lie apart.
                    let found = known.and_then(|from| {
                        let later = all.iter().skip(from as usize);
                        later.clone().position(same).map(|i| from as usize + i)
                    });
                    let cell = found.unwrap_or(all.len());
                    if found.is_none() {
                        all.push(Cell::new(record.tuple, path));
                    }
                    let cell = u32::try_from(cell).unwrap_or(u32::MAX);
                    if let (None, Some(slot)) = (known, slot) {
                        *slot = cell;
                    }
                    cell
                }
            };
            of_record.push(cell);
            all[cell as usize].count(record.fate());
        }
        Self { all, of_record }
    }

    /// Goes through the records with their cells.
    pub(crate) fn update(&mut self, records: &[Record], mut each: impl FnMut(&mut Cell, &Record)) {
        for (cell, record) in self.of_record.iter().zip(records) {
            each(&mut self.all[*cell as usize], record);
        }
    }

    /// Records with the positions of their cells.
    pub(crate) fn with_records<'a>(
        &self,
        records: &'a [Record],
    ) -> impl Iterator<Item = (usize, &'a Record)> {
        let cells = self.of_record.iter().map(|cell| *cell as usize);
        cells.zip(records)
    }
}

impl Cell {
    const fn new(tuple: u32, path: Option<Version>) -> Self {
        Self {
            tuple,
            path,
            sent: 0,
            corrupt: 0,
            drops: 0,
            switch_drops: 0,
            unsent: 0,
            timed: 0,
            late: 0,
        }
    }

    const fn count(&mut self, fate: Fate) {
        match fate {
            Fate::Unsent => self.unsent += 1,
            Fate::Received => self.sent += 1,
            Fate::Timeout => {
                self.sent += 1;
                self.drops += 1;
            }
            Fate::Corrupt => {
                self.sent += 1;
                self.drops += 1;
                self.corrupt += 1;
            }
        }
    }
}

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
    /// Two NICs, one way.
    Pair { src: u32, dst: u32 },
    /// Two NICs, one way, at a switch.
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

    /// The links between switches: what is not part of a NIC's problem.
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
