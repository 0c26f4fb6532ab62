//! The places that explain what was seen: a scan over every place, the likeliest first.
//!
//! The paper's rules name the link with the most votes. That finds one fault at a time, and a fault of a
//! link that carries a tenth of the probes to a NIC passes for one of the NIC. So verdicts rest on a second
//! look at the same counts: of the `n` probes that crossed a place `k` suffered, where the share `q` was to
//! be expected. The place explains that with
//!
//! ```text
//! score = k ln(k / n q) + (n - k) ln((n - k) / n (1 - q))
//! ```
//!
//! the logarithm of the likelihood ratio of "its own rate" against "as everywhere" (the scan statistic of
//! Kulldorff, 1997, for binomial counts). It is also Chernoff's bound: by chance a place gets a score of `s` with a
//! probability of at most `exp(-s)`, so with `m` places to choose from a verdict needs a score of
//! `ln(m / chance)`. The best place is named, its probes are taken out, and the rest is scanned again.

use super::cells::{Cell, Cells, Crossing, Place};
use super::count::Count;
use super::names::{End, Names};
use super::settings::Settings;
use super::tuples::{Key, Tuples};
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Symptom {
    /// Drops.
    Loss,
    /// Network latency above the usual.
    Latency,
    /// Delay in the host above the usual.
    Delay,
}

/// A place that explains a share of what was seen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Suspect {
    pub(crate) place: Place,
    /// Places that the same probes crossed: the evidence cannot part them.
    pub(crate) also: Vec<Place>,
    pub(crate) probes: u64,
    pub(crate) anomalous: u64,
    pub(crate) score: f64,
}

/// Counts of all places.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    cells: Vec<&'a Cell>,
    tuples: &'a Tuples,
    names: &'a Names,
    settings: &'a Settings,
    symptom: Symptom,
    nics: Vec<Count>,
    to: Vec<Count>,
    from: Vec<Count>,
    links: Vec<Count>,
    switches: Vec<Count>,
    /// Links with their other directions.
    cables: Vec<(u32, u32)>,
    /// Finer places, only where something suffered.
    fine: HashMap<Place, Count>,
    total: Count,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(
        cells: &'a Cells,
        tuples: &'a Tuples,
        names: &'a Names,
        settings: &'a Settings,
        symptom: Symptom,
    ) -> Self {
        let nics = vec![Count::default(); names.nics.len()];
        // What was lost nobody knows where votes for nothing; `untraced` looks at it.
        let votes = |cell: &&Cell| cell.path.is_some() || symptom != Symptom::Loss;
        let mut scan = Self {
            cells: cells.all.iter().filter(votes).collect(),
            tuples,
            names,
            settings,
            symptom,
            to: nics.clone(),
            from: nics.clone(),
            nics,
            links: vec![Count::default(); names.links.len()],
            switches: vec![Count::default(); names.switches.len()],
            cables: cables(names),
            fine: HashMap::new(),
            total: Count::default(),
        };
        for i in 0..scan.cells.len() {
            let cell = scan.cells[i];
            let (path, nic) = scan.evidence(cell);
            scan.count(cell, path, nic, Count::add);
            if path.anomalous > 0 && symptom == Symptom::Loss {
                for place in fine(Crossing::of(cell, tuples), names) {
                    scan.fine.entry(place).or_default();
                }
            }
        }
        if !scan.fine.is_empty() {
            for i in 0..scan.cells.len() {
                let cell = scan.cells[i];
                let (path, _) = scan.evidence(cell);
                scan.count_fine(cell, path, Count::add);
            }
        }
        scan
    }

    /// Takes out the probes to and from a NIC.
    pub(crate) fn without(&mut self, nic: u32) {
        self.remove(Place::Nic(nic));
    }

    /// The count of a NIC that is tested alone.
    pub(crate) fn of_nic(&self, nic: u32) -> Option<Suspect> {
        let places = [Place::Nic(nic), Place::ToNic(nic), Place::FromNic(nic)];
        let mut best: Option<Suspect> = None;
        for place in places {
            let count = self.get(place);
            if let Some(score) = self.significant(count)
                && best.as_ref().is_none_or(|best| score > best.score)
            {
                best = Some(Suspect {
                    place,
                    also: Vec::new(),
                    probes: count.probes,
                    anomalous: count.anomalous,
                    score,
                });
            }
        }
        best
    }

    /// The places that explain what is left, the likeliest first.
    pub(crate) fn run(&mut self, most: usize) -> Vec<Suspect> {
        let mut found = Vec::new();
        while found.len() < most {
            let Some(suspect) = self.best() else { break };
            self.remove(suspect.place);
            found.push(suspect);
        }
        found
    }

    fn best(&self) -> Option<Suspect> {
        let mut best: Option<Suspect> = None;
        for (place, count) in self.places() {
            let Some(score) = self.significant(count) else {
                continue;
            };
            match &mut best {
                // Within the rounding of sums of logarithms.
                Some(best) if score < best.score + 1e-9 * (1.0 + best.score) => {
                    let tied = (count.probes, count.anomalous) == (best.probes, best.anomalous);
                    if tied && matches!((best.place, place), (Place::Link(_), Place::Link(_))) {
                        best.also.push(place);
                    }
                }
                _ => {
                    best = Some(Suspect {
                        place,
                        also: Vec::new(),
                        probes: count.probes,
                        anomalous: count.anomalous,
                        score,
                    });
                }
            }
        }
        best
    }

    /// All places, those first that are named when the evidence is the same.
    fn places(&self) -> impl Iterator<Item = (Place, Count)> {
        let numbered = |place: fn(u32) -> Place| (0_u32..).map(place);
        numbered(Place::Nic)
            .zip(&self.nics)
            .chain(numbered(Place::ToNic).zip(&self.to))
            .chain(numbered(Place::FromNic).zip(&self.from))
            .chain(numbered(Place::Link).zip(&self.links))
            .chain(numbered(Place::Switch).zip(&self.switches))
            .map(|(place, count)| (place, *count))
            .chain(self.cables.iter().map(|(one, other)| {
                let place = Place::Cable(*one, *other);
                (place, self.get(place))
            }))
            .chain(self.sorted_fine())
    }

    /// In an order that does not depend on hashes.
    fn sorted_fine(&self) -> Vec<(Place, Count)> {
        let mut fine: Vec<(Place, Count)> = self
            .fine
            .iter()
            .map(|(place, count)| (*place, *count))
            .collect();
        fine.retain(|(_, count)| count.anomalous > self.settings.most_ignored);
        fine.sort_unstable_by_key(|(place, _)| (rank(*place), *place));
        fine
    }

    fn get(&self, place: Place) -> Count {
        let of = |counts: &[Count], number: u32| counts.get(number as usize).copied();
        match place {
            Place::Nic(nic) => of(&self.nics, nic),
            Place::ToNic(nic) => of(&self.to, nic),
            Place::FromNic(nic) => of(&self.from, nic),
            Place::Link(link) => of(&self.links, link),
            Place::Switch(switch) => of(&self.switches, switch),
            Place::Cable(one, other) => {
                let [mut both, other] =
                    [one, other].map(|link| of(&self.links, link).unwrap_or_default());
                both.add(other.probes, other.anomalous);
                Some(both)
            }
            _ => self.fine.get(&place).copied(),
        }
        .unwrap_or_default()
    }

    /// The score, if it is beyond chance.
    fn significant(&self, count: Count) -> Option<f64> {
        let enough = count.anomalous > self.settings.most_ignored
            && count.probes >= self.settings.least_probes.min(count.anomalous);
        if !enough {
            return None;
        }
        let expected = match self.symptom {
            Symptom::Loss => self.settings.background,
            // A fabric that is slow as a whole has no place that is.
            Symptom::Latency | Symptom::Delay => {
                if count.share() < self.settings.late_share {
                    return None;
                }
                let others = Count {
                    probes: self.total.probes - count.probes.min(self.total.probes),
                    anomalous: self.total.anomalous - count.anomalous.min(self.total.anomalous),
                };
                others.share().max(USUALLY_LATE)
            }
        };
        let score = count.score(expected);
        #[expect(clippy::cast_precision_loss, reason = "places are far below 2^53")]
        let places = (self.nics.len() * 3
            + self.links.len()
            + self.cables.len()
            + self.switches.len()
            + self.fine.len()) as f64;
        (score > libm::log(places / self.settings.chance)).then_some(score)
    }

    fn remove(&mut self, place: Place) {
        let cells = core::mem::take(&mut self.cells);
        let (gone, left): (Vec<&Cell>, Vec<&Cell>) = cells
            .into_iter()
            .partition(|cell| Crossing::of(cell, self.tuples).meets(place, self.names));
        self.cells = left;
        for cell in gone {
            let (path, nic) = self.evidence(cell);
            self.count(cell, path, nic, Count::take);
            self.count_fine(cell, path, Count::take);
        }
    }

    /// What a cell says of the places on its path, and of the NIC that sends: what was not sent says nothing of
    /// a path.
    fn evidence(&self, cell: &Cell) -> (Count, Count) {
        let (probes, anomalous) = match self.symptom {
            Symptom::Loss => (cell.sent, cell.drops),
            Symptom::Latency | Symptom::Delay => (cell.timed, cell.late),
        };
        let path = Count {
            probes: probes.into(),
            anomalous: anomalous.into(),
        };
        let unsent = match self.symptom {
            Symptom::Loss => u64::from(cell.unsent),
            Symptom::Latency | Symptom::Delay => 0,
        };
        let nic = Count {
            probes: path.probes + unsent,
            anomalous: path.anomalous + unsent,
        };
        (path, nic)
    }

    fn count(&mut self, cell: &Cell, path: Count, nic: Count, change: fn(&mut Count, u64, u64)) {
        let crossing = Crossing::of(cell, self.tuples);
        let Key { src, dst, .. } = crossing.key;
        change(&mut self.total, path.probes, path.anomalous);
        change(&mut self.from[src as usize], nic.probes, nic.anomalous);
        change(&mut self.nics[src as usize], nic.probes, nic.anomalous);
        change(&mut self.to[dst as usize], path.probes, path.anomalous);
        change(&mut self.nics[dst as usize], path.probes, path.anomalous);
        for link in crossing.inner(self.names) {
            change(&mut self.links[link as usize], path.probes, path.anomalous);
        }
        for switch in crossing.switches(self.names) {
            change(
                &mut self.switches[switch as usize],
                path.probes,
                path.anomalous,
            );
        }
    }

    fn count_fine(&mut self, cell: &Cell, path: Count, change: fn(&mut Count, u64, u64)) {
        if self.fine.is_empty() {
            return;
        }
        for place in fine(Crossing::of(cell, self.tuples), self.names) {
            if let Some(count) = self.fine.get_mut(&place) {
                change(count, path.probes, path.anomalous);
            }
        }
    }
}

/// Late probes that no place answers for; lateness is measured so that 1 % usually are.
const USUALLY_LATE: f64 = 0.02;

/// Links between switches, each with its other direction, where that was crossed too.
fn cables(names: &Names) -> Vec<(u32, u32)> {
    let links = (0_u32..)
        .zip(&names.links)
        .filter(|(_, link)| matches!((link.from, link.to), (End::Switch(_), End::Switch(_))));
    let both = links.filter_map(|(link, _)| Some((link, names.reverse(link)?)));
    both.filter(|(link, other)| link < other).collect()
}

/// The places finer than links and NICs that a cell crosses.
fn fine<'a>(crossing: Crossing<'a>, names: &'a Names) -> impl Iterator<Item = Place> + 'a {
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

/// Which of several places is named when all have the same evidence.
const fn rank(place: Place) -> u8 {
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
