//! Counts of all places: how many probes crossed each, and how many of them are anomalous.

use super::cells::Cell;
use super::count::Count;
use super::names::{End, Names};
use super::place::{Crossing, FaultLocation, fine, rank};
use super::tuples::{Key, Tuples};
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// The counts of a cell for the places on its path, and for its two NICs: probes that were not sent count for NICs
/// alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence {
    pub(crate) path: Count,
    /// Probes that were not sent, of which either NIC may be the reason.
    pub(crate) unsent: Count,
    /// Probes that were not sent because of the sender.
    pub(crate) stuck: Count,
}

impl Evidence {
    /// Whether a probe is anomalous.
    pub(crate) const fn is_anomalous(&self) -> bool {
        self.path.anomalous + self.unsent.anomalous + self.stuck.anomalous > 0
    }

    /// The counts for the sending and the receiving NIC.
    fn nics(&self) -> [Count; 2] {
        let [mut src, mut dst] = [self.path; 2];
        src.add(self.unsent.probes, self.unsent.anomalous);
        src.add(self.stuck.probes, self.stuck.anomalous);
        dst.add(self.unsent.probes, self.unsent.anomalous);
        [src, dst]
    }
}

/// Counts of all places.
#[derive(Debug)]
pub(crate) struct Tally<'a> {
    tuples: &'a Tuples,
    names: &'a Names,
    nics: Vec<Count>,
    to: Vec<Count>,
    from: Vec<Count>,
    links: Vec<Count>,
    ports: Vec<Count>,
    switches: Vec<Count>,
    /// By switch, what is behind it where traces end there.
    onward: Vec<Count>,
    /// Links with their other directions.
    cables: Vec<(u32, u32)>,
    /// Finer places, only the requested ones.
    fine: HashMap<FaultLocation, Count>,
    /// Destination NICs of the finer places; most cells have another destination.
    fine_to: Vec<bool>,
    pub(crate) total: Count,
}

impl<'a> Tally<'a> {
    /// An empty tally.
    pub(crate) fn new(tuples: &'a Tuples, names: &'a Names) -> Self {
        let nics = vec![Count::default(); names.nics.len()];
        Self {
            tuples,
            names,
            to: nics.clone(),
            from: nics.clone(),
            fine_to: vec![false; nics.len()],
            nics,
            links: vec![Count::default(); names.links.len()],
            ports: vec![Count::default(); names.port_sets.all.len()],
            switches: vec![Count::default(); names.switches.len()],
            onward: vec![Count::default(); names.switches.len()],
            cables: cables(names),
            fine: HashMap::new(),
            total: Count::default(),
        }
    }

    /// Requests counts for the finer places that a cell crosses.
    pub(crate) fn refine(&mut self, cell: &Cell) {
        let crossing = Crossing::of(cell, self.tuples);
        self.fine_to[crossing.key.dst as usize] = true;
        for place in fine(crossing, self.names) {
            self.fine.entry(place).or_default();
        }
    }

    /// Adds a cell to the places that it crosses, or removes it; [`change_fine`](Self::change_fine) does so for the
    /// finer places.
    pub(crate) fn change(&mut self, cell: &Cell, evidence: Evidence, change: fn(&mut Count, u64, u64)) {
        let crossing = Crossing::of(cell, self.tuples);
        let Key { src, dst, .. } = crossing.key;
        let (probes, anomalous) = (evidence.path.probes, evidence.path.anomalous);
        change(&mut self.total, probes, anomalous);
        let [of_src, of_dst] = evidence.nics();
        // What ends before the link of its destination is no evidence about that.
        let of_dst = if crossing.is_short { Count::default() } else { of_dst };
        for (counts, nic, count) in [(&mut self.from, src, of_src), (&mut self.to, dst, of_dst)] {
            change(&mut counts[nic as usize], count.probes, count.anomalous);
            change(&mut self.nics[nic as usize], count.probes, count.anomalous);
        }
        for link in crossing.inner(self.names) {
            change(&mut self.links[link as usize], probes, anomalous);
        }
        for set in self.names.port_sets.crossed(crossing.links) {
            change(&mut self.ports[set as usize], probes, anomalous);
        }
        for switch in crossing.switches(self.names) {
            change(&mut self.switches[switch as usize], probes, anomalous);
        }
        if let Some(switch) = crossing.cut_at {
            change(&mut self.onward[switch as usize], probes, anomalous);
        }
    }

    /// The same for the finer places, once all are requested.
    pub(crate) fn change_fine(&mut self, cell: &Cell, path: Count, change: fn(&mut Count, u64, u64)) {
        let crossing = Crossing::of(cell, self.tuples);
        if !self.fine_to[crossing.key.dst as usize] {
            return;
        }
        for place in fine(crossing, self.names) {
            if let Some(count) = self.fine.get_mut(&place) {
                change(count, path.probes, path.anomalous);
            }
        }
    }

    /// The count of a place.
    pub(crate) fn get(&self, place: FaultLocation) -> Count {
        let of = |counts: &[Count], number: u32| counts.get(number as usize).copied();
        match place {
            FaultLocation::Nic(nic) => of(&self.nics, nic),
            FaultLocation::ToNic(nic) => of(&self.to, nic),
            FaultLocation::FromNic(nic) => of(&self.from, nic),
            FaultLocation::Link(link) => of(&self.links, link),
            FaultLocation::Ports(set) => of(&self.ports, set),
            FaultLocation::Switch(switch) => of(&self.switches, switch),
            FaultLocation::Onward(switch) => of(&self.onward, switch),
            FaultLocation::Cable(one, other) => {
                let [mut both, other] = [one, other].map(|link| of(&self.links, link).unwrap_or_default());
                both.add(other.probes, other.anomalous);
                Some(both)
            }
            _ => self.fine.get(&place).copied(),
        }
        .unwrap_or_default()
    }

    /// The number of candidate places.
    pub(crate) fn places(&self) -> usize {
        let inner = self.links.len() + self.cables.len() + self.ports.len() + 2 * self.switches.len();
        self.nics.len() * 3 + inner + self.fine.len()
    }

    /// Returns all places with more than `threshold` anomalous probes, the preferred ones first.
    pub(crate) fn above(&self, threshold: u64) -> impl Iterator<Item = (FaultLocation, Count)> {
        let numbered = |place: fn(u32) -> FaultLocation| (0_u32..).map(place);
        numbered(FaultLocation::Nic)
            .zip(&self.nics)
            .chain(numbered(FaultLocation::ToNic).zip(&self.to))
            .chain(numbered(FaultLocation::FromNic).zip(&self.from))
            .chain(numbered(FaultLocation::Onward).zip(&self.onward))
            .chain(numbered(FaultLocation::Link).zip(&self.links))
            .chain(numbered(FaultLocation::Ports).zip(&self.ports))
            .chain(numbered(FaultLocation::Switch).zip(&self.switches))
            .map(|(place, count)| (place, *count))
            .chain(self.cables.iter().map(|(one, other)| {
                let place = FaultLocation::Cable(*one, *other);
                (place, self.get(place))
            }))
            .chain(self.sorted_fine(threshold))
            .filter(move |(_, count)| count.anomalous > threshold)
    }

    /// The finer ones, in an order that does not depend on hashes.
    fn sorted_fine(&self, threshold: u64) -> Vec<(FaultLocation, Count)> {
        let fine = self.fine.iter().map(|(place, count)| (*place, *count));
        let mut fine: Vec<(FaultLocation, Count)> = fine.filter(|(_, count)| count.anomalous > threshold).collect();
        fine.sort_unstable_by_key(|(place, _)| (rank(*place), *place));
        fine
    }
}

/// Returns the links between switches that were crossed in both directions, as pairs.
fn cables(names: &Names) -> Vec<(u32, u32)> {
    let links = (0_u32..)
        .zip(&names.links)
        .filter(|(_, link)| matches!((link.from, link.to), (End::Switch(_), End::Switch(_))));
    let both = links.filter_map(|(link, _)| Some((link, names.reverse(link)?)));
    both.filter(|(link, other)| link < other).collect()
}
