//! The set of places that explains anomalous probes best.
//!
//! A scan that takes the best place first names a switch when two of its links lose packets: the switch has the probes
//! of both. So the places that share anomalous probes with the best one are weighed together, as sets: a set is as good
//! as the likelihood that its rates ([`Fit`]) give to what was seen, less a penalty for each place. The penalty is the
//! score that a single verdict needs, so that a place joins only if chance cannot explain what it adds. A further link of a
//! switch needs less: a line card, or a batch of transceivers, takes several links of one switch.
//!
//! The search adds the place that gains most while one gains enough. Then it takes away each place in turn and adds
//! others instead, until no set is better: a switch, which explains most at first, leaves for two of its links.

use super::cells::Cell;
use super::count::Count;
use super::names::{End, Names};
use super::noisy_or::{Fit, Group, bits};
use super::place::{Crossing, FaultLocation, rank, size};
use super::suspects::{Suspect, Symptom};
use super::tuples::Tuples;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Candidates of each size, so that the many of one size do not push out those of another: 63 bits of a group, and one
/// for the place itself.
const MAX_NICS: usize = 15;
const MAX_LINKS: usize = 24;
const MAX_SWITCHES: usize = 8;
const MAX_FINE: usize = 16;

/// Places of each size that are tried as the next of a set: those with the most anomalous probes beyond what the set
/// explains. The many small ones over the same probes do not push out a link.
const TRIED: usize = 4;

/// By how much less a further link of a switch needs: ten thousand times as likely as a further place anywhere.
const BESIDE: f64 = 9.2;

/// A gain that is not rounding.
const TINY: f64 = 1e-6;

/// Candidates and the probes over them.
#[derive(Debug)]
pub(crate) struct Joint {
    /// The smaller ones first.
    places: Vec<FaultLocation>,
    groups: Vec<Group>,
    /// For each candidate, those that the same probes cross.
    twins: Vec<Vec<FaultLocation>>,
    /// For each candidate that is a link, the switches at its ends.
    ends: Vec<Vec<u32>>,
    background: f64,
    penalty: f64,
}

impl Joint {
    /// Prepares a choice among at most 64 candidates.
    pub(crate) fn new(
        mut places: Vec<FaultLocation>,
        cells: &[&Cell],
        (tuples, names): (&Tuples, &Names),
        symptom: Symptom,
        (background, penalty): (f64, f64),
    ) -> Self {
        places.sort_by_key(|place| (rank(*place), *place));
        places.dedup();
        places.truncate(64);
        let crossed = Crossed::new(&places, names);
        let mut counts: BTreeMap<u64, Count> = BTreeMap::new();
        for cell in cells {
            let of_cell = crossed.by(Crossing::of(cell, tuples), names);
            let evidence = symptom.evidence(cell);
            for (crossed, count) in [
                (of_cell.all, evidence.path),
                // Probes that were not sent crossed nothing but NICs.
                (of_cell.nics, evidence.unsent),
                (of_cell.sender, evidence.stuck),
            ] {
                if crossed != 0 && count.probes > 0 {
                    counts.entry(crossed).or_default().add(count.probes, count.anomalous);
                }
            }
        }
        let groups = counts.into_iter().map(|(crossed, count)| Group { crossed, count });
        let mut joint = Self {
            twins: places.iter().map(|_| Vec::new()).collect(),
            ends: places.iter().map(|place| ends(*place, names)).collect(),
            places,
            groups: groups.collect(),
            background,
            penalty,
        };
        joint.join_twins();
        joint
    }

    /// Leaves one of the candidates that the same probes cross: the smallest.
    fn join_twins(&mut self) {
        let mut kept = 0_u64;
        for at in 0..self.places.len() {
            let same = |one: &usize| {
                let differs = |group: &Group| (group.crossed >> *one ^ group.crossed >> at) & 1 == 1;
                !self.groups.iter().any(differs)
            };
            match bits(kept).find(same) {
                Some(smaller) if are_apart(self.places[smaller], self.places[at]) => {
                    self.twins[smaller].push(self.places[at]);
                }
                Some(_) => {}
                None => kept |= 1 << at,
            }
        }
        for group in &mut self.groups {
            group.crossed &= kept;
        }
    }

    /// Returns the set that explains the probes best.
    pub(crate) fn choose(&self) -> Vec<Chosen> {
        let mut best = self.grown(self.fit(0), 0);
        while let Some(better) = self.exchanged(&best) {
            best = better;
        }
        let of = |at: usize| Chosen {
            place: self.places[at],
            also: self.twins[at].clone(),
            score: best.likelihood - self.fit(best.places & !(1 << at)).likelihood,
        };
        bits(best.places).map(of).collect()
    }

    /// Adds places other than the banned ones for as long as the set becomes better.
    fn grown(&self, mut set: Fit, banned: u64) -> Fit {
        loop {
            let mut best: Option<Fit> = None;
            for fit in self
                .next(&set, banned)
                .into_iter()
                .map(|at| self.fit(set.places | 1 << at))
            {
                if self.is_better(&fit, best.as_ref().unwrap_or(&set)) {
                    best = Some(fit);
                }
            }
            match best {
                Some(best) => set = best,
                None => return set,
            }
        }
    }

    /// A better set without one of the places: what it explained, others may explain, one or several.
    fn exchanged(&self, set: &Fit) -> Option<Fit> {
        let mut best: Option<Fit> = None;
        for at in bits(set.places) {
            let without = self.grown(self.fit(set.places & !(1 << at)), 1 << at);
            if self.is_better(&without, best.as_ref().unwrap_or(set)) {
                best = Some(without);
            }
        }
        best
    }

    fn fit(&self, places: u64) -> Fit {
        Fit::of(places, &self.groups, self.places.len(), self.background)
    }

    fn value(&self, fit: &Fit) -> f64 {
        let mut switches: Vec<u32> = Vec::new();
        let penalties = bits(fit.places).map(|at| {
            let is_beside = self.ends[at].iter().any(|switch| switches.contains(switch));
            switches.extend(&self.ends[at]);
            match is_beside {
                true => self.penalty - BESIDE,
                false => self.penalty,
            }
        });
        fit.likelihood - penalties.sum::<f64>()
    }

    /// Whether a set is better than another; of equal ones, the first stays.
    fn is_better(&self, one: &Fit, other: &Fit) -> bool {
        let needed = self.value(other);
        self.value(one) > needed + TINY * (1.0 + needed.abs())
    }

    /// The places to try next.
    fn next(&self, set: &Fit, banned: u64) -> Vec<usize> {
        let mut rest: Vec<(usize, f64)> = (0..self.places.len())
            .filter(|at| (set.places | banned) >> at & 1 == 0)
            .map(|at| (at, set.unexplained(at, &self.groups, self.background)))
            .filter(|(_, unexplained)| *unexplained > 0.0)
            .collect();
        rest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut left = [TRIED; 4];
        rest.retain(|(at, _)| {
            let left = &mut left[size(self.places[*at]) as usize];
            let is_tried = *left > 0;
            *left -= usize::from(is_tried);
            is_tried
        });
        rest.into_iter().map(|(at, _)| at).collect()
    }
}

/// A place of the best set.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) place: FaultLocation,
    /// Places that the same probes crossed: the evidence cannot separate them.
    pub(crate) also: Vec<FaultLocation>,
    /// What the set explains better with the place than without it, as the logarithm of a likelihood ratio.
    pub(crate) score: f64,
}

impl Chosen {
    /// The suspect, with the probes over the place.
    pub(crate) fn suspect(self, count: Count) -> Suspect {
        Suspect {
            also: self.also,
            ..Suspect::new(self.place, count, self.score)
        }
    }
}

/// The switches at the ends of a link.
pub(crate) fn ends(place: FaultLocation, names: &Names) -> Vec<u32> {
    let (FaultLocation::Link(link) | FaultLocation::Cable(link, _)) = place else {
        return Vec::new();
    };
    let Some(link) = names.links.get(link as usize) else {
        return Vec::new();
    };
    let switch = |end: &End| match end {
        End::Switch(switch) => Some(*switch),
        End::Nic(_) | End::Unknown => None,
    };
    [link.from, link.to].iter().filter_map(switch).collect()
}

/// Whether an operator would look at two places separately: links and switches, but not a link and its own cable.
fn are_apart(one: FaultLocation, other: FaultLocation) -> bool {
    let is_coarse = |place| {
        matches!(
            place,
            FaultLocation::Link(_) | FaultLocation::Cable(..) | FaultLocation::Ports(_) | FaultLocation::Switch(_)
        )
    };
    let is_part = match (one, other) {
        (FaultLocation::Link(link), FaultLocation::Cable(there, back)) => link == there || link == back,
        _ => false,
    };
    is_coarse(one) && is_coarse(other) && !is_part
}

/// Returns the candidates with the highest scores of each size, the best first; as many as fit for each of `places`.
pub(crate) fn strongest(mut candidates: Vec<(FaultLocation, f64)>, places: usize) -> Vec<FaultLocation> {
    candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then((rank(a.0), a.0).cmp(&(rank(b.0), b.0))));
    // A place itself takes a bit, too.
    let each = |most: usize| (most / places.max(1)).saturating_sub(usize::from(places > 1)).max(1);
    let mut left = [MAX_NICS, MAX_LINKS, MAX_SWITCHES, MAX_FINE].map(each);
    let fits = |place: &FaultLocation| {
        let left = &mut left[size(*place) as usize];
        let fits = *left > 0;
        *left -= usize::from(fits);
        fits
    };
    candidates.into_iter().map(|(place, _)| place).filter(fits).collect()
}

/// Which candidates a cell crosses.
#[derive(Debug, Default)]
struct Crossed {
    to: Vec<u64>,
    from: Vec<u64>,
    links: Vec<u64>,
    switches: Vec<u64>,
    onward: Vec<u64>,
    /// The finer ones, by number.
    fine: Vec<(u64, FaultLocation)>,
    /// Destinations of the finer ones; most cells have another.
    fine_to: Vec<u64>,
}

/// The candidates that a cell crosses, as bits.
#[derive(Debug, Clone, Copy)]
struct OfCell {
    all: u64,
    nics: u64,
    sender: u64,
}

impl Crossed {
    fn new(places: &[FaultLocation], names: &Names) -> Self {
        let mut crossed = Self::default();
        for (at, place) in places.iter().enumerate() {
            let bit = 1 << at;
            let mark = |set: &mut Vec<u64>, number: u32| {
                let number = number as usize;
                if set.len() <= number {
                    set.resize(number + 1, 0);
                }
                set[number] |= bit;
            };
            match *place {
                FaultLocation::Nic(nic) => {
                    mark(&mut crossed.to, nic);
                    mark(&mut crossed.from, nic);
                }
                FaultLocation::ToNic(nic) => mark(&mut crossed.to, nic),
                FaultLocation::FromNic(nic) => mark(&mut crossed.from, nic),
                FaultLocation::Link(link) => mark(&mut crossed.links, link),
                FaultLocation::Cable(one, other) => {
                    mark(&mut crossed.links, one);
                    mark(&mut crossed.links, other);
                }
                FaultLocation::Ports(set) => {
                    let links = names.port_sets.links.get(set as usize);
                    links
                        .into_iter()
                        .flatten()
                        .for_each(|link| mark(&mut crossed.links, *link));
                }
                FaultLocation::Switch(switch) => mark(&mut crossed.switches, switch),
                FaultLocation::Onward(switch) => mark(&mut crossed.onward, switch),
                FaultLocation::Route { nic: dst, .. }
                | FaultLocation::Pair { dst, .. }
                | FaultLocation::PairAt { dst, .. }
                | FaultLocation::Tuple { dst, .. } => {
                    mark(&mut crossed.fine_to, dst);
                    crossed.fine.push((bit, *place));
                }
                FaultLocation::Host(_) | FaultLocation::Collector | FaultLocation::Mesh => {}
            }
        }
        crossed
    }

    fn by(&self, crossing: Crossing<'_>, names: &Names) -> OfCell {
        let of = |set: &[u64], number: u32| set.get(number as usize).copied().unwrap_or(0);
        let (src, dst) = (crossing.key.src, crossing.key.dst);
        let sender = of(&self.from, src);
        let nics = sender | if crossing.is_short { 0 } else { of(&self.to, dst) };
        let links = crossing.links.iter().fold(0, |all, link| all | of(&self.links, *link));
        let switches = crossing
            .switches(names)
            .fold(0, |all, switch| all | of(&self.switches, switch));
        let onward = crossing.cut_at.map_or(0, |switch| of(&self.onward, switch));
        let near = of(&self.fine_to, dst);
        let fine = self.fine.iter().filter(|(bit, _)| near & bit != 0);
        let fine = fine
            .filter(|(_, place)| crossing.meets(*place, names))
            .fold(0, |all, (bit, _)| all | bit);
        OfCell {
            all: nics | links | switches | onward | fine,
            nics,
            sender,
        }
    }
}
