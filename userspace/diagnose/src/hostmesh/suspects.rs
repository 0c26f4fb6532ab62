//! The places that explain the anomalous probes: a scan over all places, most likely first.
//!
//! The paper's rules name the link with the most votes. That finds one fault at a time, and blames a NIC for a fault of
//! a link that carries a tenth of the probes to it. So verdicts rest on another evaluation of the same counts: of the
//! `n` probes that crossed a place `k` are anomalous, and the expected share is `q`. The place explains them with
//!
//! ```text
//! score = k ln(k / n q) + (n - k) ln((n - k) / n (1 - q))
//! ```
//!
//! the logarithm of the likelihood ratio of "its own rate" against "the same rate everywhere" (the scan statistic of
//! Kulldorff, 1997, for binomial counts). It is also Chernoff's bound: a healthy place reaches a score of `s` with a
//! probability of at most `exp(-s)`, so with `m` places a verdict needs a score of `ln(m / chance)`. The scan reports
//! the best place, removes its probes, and repeats with the rest.

use super::cells::{Cell, Cells};
use super::count::Count;
use super::faint::{Earlier, Unexplained};
use super::joint::{Chosen, Joint, strongest};
use super::names::Names;
use super::place::{Crossing, FaultLocation, Size, size};
use super::settings::Settings;
use super::shared::Shared;
use super::tally::{Evidence, Tally};
use super::tuples::Tuples;
use alloc::vec::Vec;

/// What makes a probe anomalous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Symptom {
    /// Drops.
    Loss,
    /// Network latency above the baseline.
    Latency,
    /// Network latency above that of the reverse direction.
    Asymmetry,
    /// Delay in the host above the baseline.
    Delay,
    /// No probes of a host.
    Silence,
}

/// A place that explains a share of the anomalous probes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Suspect {
    pub(crate) place: FaultLocation,
    /// Places that the same probes crossed: the evidence cannot separate them.
    pub(crate) also: Vec<FaultLocation>,
    pub(crate) probes: u64,
    pub(crate) anomalous: u64,
    pub(crate) score: f64,
    /// Where one window alone is no evidence: what the last ones add. The counts are of all of them.
    pub(crate) earlier: Option<Earlier>,
}

/// The cells that no suspect explains yet, and the counts of all places over them.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    cells: Vec<&'a Cell>,
    tuples: &'a Tuples,
    names: &'a Names,
    settings: &'a Settings,
    symptom: Symptom,
    /// The share of probes that is lost without a fault of a place.
    background: f64,
    tally: Tally<'a>,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(
        cells: &'a Cells,
        tuples: &'a Tuples,
        names: &'a Names,
        settings: &'a Settings,
        symptom: Symptom,
    ) -> Self {
        // Drops without a path vote for nothing; `untraced` handles them.
        let votes = |cell: &&Cell| cell.path.is_some() || symptom != Symptom::Loss;
        let cells: Vec<&Cell> = cells.all.iter().filter(votes).collect();
        let tally = tally(&cells, (tuples, names), settings, symptom);
        Self {
            cells,
            tuples,
            names,
            settings,
            symptom,
            background: settings.background,
            tally,
        }
    }

    /// Counts other cells, among which another share of the probes is lost without a fault of a place.
    fn over(&self, cells: Vec<&'a Cell>, background: f64) -> Self {
        let tally = tally(&cells, (self.tuples, self.names), self.settings, self.symptom);
        Self {
            cells,
            background,
            tally,
            ..*self
        }
    }

    /// Returns the places that explain the drops, most likely first; the probes over none of them; and how many of their drops
    /// say nothing, because a part of their path is unknown.
    ///
    /// Where a link or a switch loses packets, a path with an unknown hop may cross it. Traces suffer too, so that of paths
    /// over it, hops are missing more often than elsewhere. Then the other places are judged by the paths that are known
    /// entirely, and the rest is evidence only of what these links and switches together cannot explain.
    pub(crate) fn lossy(mut self, cells: &'a Cells, start_ns: i64) -> (Vec<Suspect>, Unexplained, u64) {
        let max = self.settings.max_verdicts;
        let is_part = |cell: &&Cell| cell.path.is_some_and(|path| !path.is_whole);
        let hides = |suspect: &&Suspect| matches!(size(suspect.place), Size::Link | Size::Switch);
        let found = self.run(max);
        if !found.iter().any(|suspect| hides(&suspect))
            || !cells.all.iter().any(|cell| cell.drops > 0 && is_part(&cell))
        {
            return (found, self.unexplained(start_ns), 0);
        }
        let whole = cells
            .all
            .iter()
            .filter(|cell| cell.path.is_some_and(|path| path.is_whole));
        let mut scan = self.over(whole.collect(), self.settings.background);
        let mut found = scan.run(max);
        let unexplained = scan.unexplained(start_ns);
        let arrives = found.iter().filter(hides).map(|suspect| 1.0 - suspect.count().share());
        let background = 1.0 - (1.0 - self.settings.background) * arrives.product::<f64>();
        let is_met = |cell: &&Cell| {
            let crossing = Crossing::of(cell, self.tuples);
            found.iter().any(|suspect| crossing.meets(suspect.place, self.names))
        };
        let parts = cells.all.iter().filter(is_part).filter(|cell| !is_met(cell));
        let mut rest = scan.over(scan.cells.iter().copied().chain(parts).collect(), background);
        found.extend(rest.run(max.saturating_sub(found.len())));
        let unknown = rest.cells.iter().filter(|cell| is_part(cell));
        let unknown = unknown.map(|cell| u64::from(cell.drops)).sum();
        (found, unexplained, unknown)
    }

    /// Removes the probes that cross a place.
    pub(crate) fn without(&mut self, place: FaultLocation) {
        let Self {
            cells,
            tuples,
            names,
            symptom,
            tally,
            ..
        } = self;
        cells.retain(|cell| {
            let gone = Crossing::of(cell, tuples).meets(place, names);
            if gone {
                let evidence = symptom.evidence(cell);
                tally.change(cell, evidence, Count::take);
                tally.change_fine(cell, evidence.path, Count::take);
            }
            !gone
        });
    }

    /// Returns the places that explain the remaining cells, most likely first.
    pub(crate) fn run(&mut self, max: usize) -> Vec<Suspect> {
        let mut found = Vec::new();
        while found.len() < max {
            let Some(first) = self.best() else { break };
            let together = self.together(first);
            for suspect in &together {
                self.without(suspect.place);
            }
            found.extend(together);
        }
        found
    }

    /// Returns the set of places that explains the probes over a suspect best: often the suspect alone.
    fn together(&self, first: Suspect) -> Vec<Suspect> {
        if self.symptom != Symptom::Loss {
            return Vec::from([first]);
        }
        let graph = (self.tuples, self.names);
        let rates = (self.background, self.needed());
        let mut set = Vec::from([first.place]);
        let mut best = Vec::new();
        for _ in 0..ROUNDS {
            let candidates = self.candidates(&set);
            best = Joint::new(candidates, &self.cells, graph, self.symptom, rates).choose();
            let mut next: Vec<FaultLocation> = best.iter().map(|chosen| chosen.place).collect();
            next.sort_unstable();
            // A place that joined may have candidates of its own.
            if next == set {
                break;
            }
            set = next;
        }
        if best.is_empty() {
            return Vec::from([first]);
        }
        let of = |chosen: Chosen| {
            let count = self.tally.get(chosen.place);
            chosen.suspect(count)
        };
        best.into_iter().map(of).collect()
    }

    /// Returns what may explain the probes over each place of a set: places that share anomalous probes with it, by their
    /// scores without the probes that the rest of the set explains.
    fn candidates(&self, set: &[FaultLocation]) -> Vec<FaultLocation> {
        let graph = (self.tuples, self.names);
        let mut all = Vec::new();
        for place in set {
            let others = || set.iter().filter(|other| *other != place);
            let is_left = |cell: &&&Cell| {
                let crossing = Crossing::of(cell, self.tuples);
                !others().any(|other| crossing.meets(*other, self.names))
            };
            let cells: Vec<&Cell> = self.cells.iter().filter(is_left).copied().collect();
            let tally = match set.len() {
                1 => &self.tally,
                _ => &tally(&cells, graph, self.settings, self.symptom),
            };
            let shared = Shared::with(*place, &cells, graph, self.symptom);
            let candidates = tally.above(self.settings.max_ignored).filter_map(|(place, count)| {
                let score = self.significant(count)?;
                shared.holds(place).then_some((place, score))
            });
            all.push(*place);
            all.extend(strongest(candidates.collect(), set.len()));
        }
        all
    }

    /// The probes that no suspect explains.
    fn unexplained(&self, start_ns: i64) -> Unexplained {
        Unexplained::of(start_ns, &self.cells, self.tuples, self.names)
    }

    /// The score that a verdict needs.
    fn needed(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "places are far below 2^53")]
        let places = self.tally.places() as f64;
        libm::log(places / self.settings.chance)
    }

    fn best(&self) -> Option<Suspect> {
        let mut best: Option<Suspect> = None;
        for (place, count) in self.tally.above(self.settings.max_ignored.min(LEAST_DEAD - 1)) {
            let Some(score) = self.significant(count) else {
                continue;
            };
            match &mut best {
                // Equal within the rounding of sums of logarithms.
                Some(best) if score < best.score + 1e-9 * (1.0 + best.score) => {
                    let tied = (count.probes, count.anomalous) == (best.probes, best.anomalous);
                    if tied && matches!((best.place, place), (FaultLocation::Link(_), FaultLocation::Link(_))) {
                        best.also.push(place);
                    }
                }
                _ => best = Some(Suspect::new(place, count, score)),
            }
        }
        best
    }

    /// The score, if chance cannot explain it.
    fn significant(&self, count: Count) -> Option<f64> {
        let is_dead = self.symptom == Symptom::Loss && count.anomalous == count.probes && count.anomalous >= LEAST_DEAD;
        let enough = is_dead
            || count.anomalous > self.settings.max_ignored
                && count.probes >= self.settings.min_probes.min(count.anomalous);
        if !enough {
            return None;
        }
        let expected = match self.symptom {
            Symptom::Loss => self.background,
            // In a fabric that is slow as a whole no single place is slow.
            Symptom::Latency | Symptom::Asymmetry | Symptom::Delay | Symptom::Silence => {
                if count.share() < self.settings.late_share {
                    return None;
                }
                let total = self.tally.total;
                let others = Count {
                    probes: total.probes - count.probes.min(total.probes),
                    anomalous: total.anomalous - count.anomalous.min(total.anomalous),
                };
                others.share().max(USUALLY_LATE)
            }
        };
        let score = count.score(expected);
        (score > self.needed()).then_some(score)
    }
}

/// The fewest probes of a place that are evidence, if all are lost.
const LEAST_DEAD: u64 = 3;

/// How often a set may change while candidates are added.
const ROUNDS: usize = 6;

/// Counts the probes over all places.
fn tally<'a>(
    cells: &[&Cell],
    (tuples, names): (&'a Tuples, &'a Names),
    settings: &Settings,
    symptom: Symptom,
) -> Tally<'a> {
    let mut tally = Tally::new(tuples, names);
    for cell in cells {
        let evidence = symptom.evidence(cell);
        tally.change(cell, evidence, Count::add);
        if symptom.is_telling(evidence.path, settings) {
            tally.refine(cell);
        }
    }
    for cell in cells {
        tally.change_fine(cell, symptom.evidence(cell).path, Count::add);
    }
    tally
}

/// The share of late probes that no place causes; the margin is set so that normally 1 % are late.
const USUALLY_LATE: f64 = 0.02;

impl Suspect {
    pub(crate) const fn new(place: FaultLocation, count: Count, score: f64) -> Self {
        Self {
            place,
            also: Vec::new(),
            probes: count.probes,
            anomalous: count.anomalous,
            score,
            earlier: None,
        }
    }

    pub(crate) const fn count(&self) -> Count {
        Count {
            probes: self.probes,
            anomalous: self.anomalous,
        }
    }
}

impl Symptom {
    /// Name in the dataset.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Latency => "latency",
            Self::Asymmetry => "asymmetry",
            Self::Delay => "delay",
            Self::Silence => "silence",
        }
    }

    /// Whether a 5-tuple with these probes is a reason to examine finer places. Any drop is; but one probe in a hundred
    /// is late anyway.
    fn is_telling(self, path: Count, settings: &Settings) -> bool {
        match self {
            Self::Loss => path.anomalous > 0,
            Self::Latency | Self::Asymmetry | Self::Delay => path.anomalous > 1 && path.share() >= settings.late_share,
            Self::Silence => false,
        }
    }

    /// The counts of a cell for this symptom.
    pub(crate) fn evidence(self, cell: &Cell) -> Evidence {
        let (probes, anomalous, stuck, silent) = match self {
            Self::Loss => (cell.sent, cell.drops, cell.stuck, cell.silent),
            Self::Latency | Self::Delay => (cell.timed, cell.late, 0, 0),
            Self::Asymmetry => (cell.compared, cell.slower, 0, 0),
            // The probes that did not come are in no cell.
            Self::Silence => (0, 0, 0, 0),
        };
        let path = Count {
            probes: probes.into(),
            anomalous: anomalous.into(),
        };
        let unsent = |count: u32| Count {
            probes: count.into(),
            anomalous: count.into(),
        };
        Evidence {
            path,
            unsent: unsent(silent),
            stuck: unsent(stuck),
        }
    }
}
