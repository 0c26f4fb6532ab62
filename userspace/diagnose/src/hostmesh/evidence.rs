//! Evidence from the probes over a suspicious place, beside their number.

use super::analyzer::Analyzer;
use super::cells::Cell;
use super::count::Count;
use super::place::{Crossing, FaultLocation};
use super::record::ProbeOutcome;
use super::shape::{Shape, is_split};
use super::suspects::Symptom;
use super::tuples::Key;
use super::verdict::Judge;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Evidence from the probes over a place, beside their number.
#[derive(Debug, Default)]
pub(super) struct PlaceEvidence {
    /// Drops of the cells that show how the place loses packets, and those of them that arrived corrupted.
    pub(super) shown: u64,
    pub(super) corrupt: u64,
    pub(super) unsent: u64,
    /// Unsent probes whose sender is at fault itself.
    pub(super) stuck: u64,
    /// Drops on paths at whose end a switch calls the destination unreachable.
    pub(super) refused: u64,
    pub(super) first_ns: Option<i64>,
    pub(super) shape: Shape,
    /// Whether some 5-tuples lose every probe and others none.
    pub(super) is_split: bool,
    late: Count,
    /// Late compared with the reverse direction.
    pub(super) slower: Count,
    /// The most affected 5-tuples.
    pub(super) tuples: String,
    /// By DSCP.
    classes: BTreeMap<u8, Count>,
}

/// The maximum number of 5-tuples that a row names.
const MAX_TUPLES: usize = 8;

/// The fewest drops of probes over no other lossy place that show how a place loses packets.
const MIN_SHOWN: u64 = 5;

/// How likely chance spares the other classes, at most, where a sentence states that one class alone is affected.
const CHANCE: f64 = 1e-4;

impl PlaceEvidence {
    /// States which classes of service alone are affected, if probes of others cross the place and chance would not have
    /// spared all of those; empty otherwise.
    pub(super) fn only_class(&self) -> String {
        let of = |affected: bool| {
            let classes = self.classes.iter().filter(move |(_, count)| count.probes > 0);
            classes.filter(move |(_, count)| (count.anomalous > 0) == affected)
        };
        let probes = |affected: bool| of(affected).map(|(_, count)| count.probes).sum::<u64>();
        let anomalous: u64 = of(true).map(|(_, count)| count.anomalous).sum();
        let (some, spared) = (probes(true), probes(false));
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let chance = libm::pow(some as f64 / (some + spared).max(1) as f64, anomalous as f64);
        if anomalous == 0 || spared == 0 || chance > CHANCE {
            return String::new();
        }
        let names = |affected: bool| {
            let names: Vec<String> = of(affected).map(|(dscp, _)| format!("{dscp}")).collect();
            names.join(" and ")
        };
        format!(
            "; only those with DSCP {}, and none of {spared} with DSCP {}: look at the queue, buffer and PFC settings of that \
             class",
            names(true),
            names(false)
        )
    }
}

impl Judge<'_> {
    /// Gathers the evidence about a place, beside which `others` lose packets. How it loses them, the probes show that cross
    /// none of the others, if enough of them are lost.
    pub(super) fn gather(&self, symptom: Symptom, place: FaultLocation, others: &[FaultLocation]) -> PlaceEvidence {
        let (names, tuples) = (&self.analyzer.names, &self.analyzer.tuples);
        let mut found = PlaceEvidence::default();
        let is_apart = |crossing: Crossing<'_>| !others.iter().any(|other| crossing.meets(*other, names));
        let drops_apart: u64 = match others {
            [] => 0,
            _ => {
                let cells = self.cells.all.iter().filter(|cell| cell.drops > 0);
                let crossings = cells.map(|cell| (Crossing::of(cell, tuples), u64::from(cell.drops)));
                let apart = crossings.filter(|(crossing, _)| crossing.meets(place, names) && is_apart(*crossing));
                apart.map(|(_, drops)| drops).sum()
            }
        };
        let shows_apart = drops_apart >= MIN_SHOWN;
        let mut affected: Vec<(u64, Key)> = Vec::new();
        let mut probes: Vec<(i64, bool)> = Vec::new();
        let mut by_tuple: Vec<(u32, i64, bool)> = Vec::new();
        for (number, cell) in (0_u32..).zip(&self.cells.all) {
            let crossing = Crossing::of(cell, tuples);
            if !crossing.meets(place, names) || !self.is_judged(place, number) {
                continue;
            }
            let shows = !shows_apart || is_apart(crossing);
            if shows {
                found.shown += u64::from(cell.drops);
                found.corrupt += u64::from(cell.corrupt);
            }
            if cell.path.is_some_and(|path| path.is_refused) {
                found.refused += u64::from(cell.drops);
            }
            let unsent = match symptom {
                Symptom::Loss => u64::from(cell.unsent_at(place, crossing.key)),
                _ => 0,
            };
            found.unsent += unsent;
            found.stuck += if unsent > 0 { u64::from(cell.stuck) } else { 0 };
            found.shown += if shows { unsent } else { 0 };
            found.late.add(cell.timed.into(), cell.late.into());
            found.slower.add(cell.compared.into(), cell.slower.into());
            let path = symptom.evidence(cell).path;
            let class = found.classes.entry(tuples.all[cell.tuple as usize].dscp);
            class.or_default().add(path.probes, path.anomalous);
            let anomalous = path.anomalous + unsent;
            if anomalous > 0 && symptom != Symptom::Delay {
                affected.push((anomalous, crossing.key));
            }
            if symptom != Symptom::Loss {
                continue;
            }
            let of_cell = self.of_cell.of(number).iter();
            for record in of_cell.filter_map(|at| self.records.get(*at as usize)) {
                let outcome = record.outcome();
                if outcome == ProbeOutcome::Unknown {
                    continue;
                }
                if let ProbeOutcome::Unsent(why) = outcome
                    && !cell.counts(why, place, crossing.key)
                {
                    continue;
                }
                let lost = outcome != ProbeOutcome::Received;
                if lost {
                    let first_ns = found.first_ns.unwrap_or(i64::MAX);
                    found.first_ns = Some(first_ns.min(self.start_ns + record.offset_ns()));
                }
                if shows {
                    probes.push((record.offset_ns(), lost));
                    by_tuple.push((cell.tuple, record.offset_ns(), lost));
                }
            }
        }
        found.shape = Shape::of(&probes, self.analyzer.settings.window_ns);
        found.is_split = is_split(&by_tuple);
        found.tuples = self.worst_tuples(affected);
        found
    }

    /// Whether a verdict on a place is about a cell: that on the mesh is about what no other is about.
    fn is_judged(&self, place: FaultLocation, cell: u32) -> bool {
        place != FaultLocation::Mesh || self.unlocated.is_some_and(|unlocated| unlocated.has(cell))
    }

    /// Formats the most affected 5-tuples for a row.
    fn worst_tuples(&self, mut affected: Vec<(u64, Key)>) -> String {
        affected.sort_by_key(|(anomalous, key)| (core::cmp::Reverse(*anomalous), key.src, key.dst, key.udp_src_port));
        let nics = &self.analyzer.names.nics;
        let named = affected.iter().take(MAX_TUPLES).filter_map(|(_, key)| {
            let (src, dst) = (nics.get(key.src as usize)?, nics.get(key.dst as usize)?);
            Some(format!("{}>{}:{}", src.address, dst.address, key.udp_src_port))
        });
        named.collect::<Vec<_>>().join(" ")
    }

    /// Whether probes of the window cross a link in the other direction; false for other places.
    pub(super) fn is_crossed_back(&self, place: FaultLocation) -> bool {
        let FaultLocation::Link(link) = place else {
            return false;
        };
        let Analyzer { names, tuples, .. } = self.analyzer;
        let Some(back) = names.reverse(link) else {
            return false;
        };
        let mut cells = self.cells.all.iter();
        cells.any(|cell| Crossing::of(cell, tuples).links.contains(&back))
    }

    /// Whether 5-tuples of the same NICs take other links than this one; false for other places.
    pub(super) fn has_way_around(&self, place: FaultLocation) -> bool {
        if !matches!(place, FaultLocation::Link(_)) {
            return false;
        }
        let Analyzer { names, tuples, .. } = self.analyzer;
        let traced = || self.cells.all.iter().filter(|cell| cell.path.is_some());
        let crosses = |cell: &Cell| Crossing::of(cell, tuples).meets(place, names);
        let pair = |cell: &Cell| tuples.all[cell.tuple as usize].pair;
        let pairs: BTreeSet<u32> = traced().filter(|cell| crosses(cell)).map(pair).collect();
        traced().any(|cell| !crosses(cell) && pairs.contains(&pair(cell)))
    }

    /// Whether the probes that cross the place are late, or the place is a suspect for late probes.
    pub(super) fn is_late_too(&self, place: FaultLocation, found: &PlaceEvidence) -> bool {
        found.late.share() >= self.analyzer.settings.late_share || self.late.iter().any(|late| late.place == place)
    }

    /// For one direction of a NIC: whether the other loses no more than a healthy NIC.
    pub(super) fn other_direction_works(&self, place: FaultLocation) -> bool {
        let other = match place {
            FaultLocation::ToNic(nic) => FaultLocation::FromNic(nic),
            FaultLocation::FromNic(nic) => FaultLocation::ToNic(nic),
            _ => return false,
        };
        let Analyzer {
            names,
            tuples,
            settings,
            ..
        } = self.analyzer;
        let (mut sent, mut bad) = (0, 0);
        for cell in &self.cells.all {
            let crossing = Crossing::of(cell, tuples);
            if crossing.meets(other, names) {
                let unsent = cell.unsent_at(other, crossing.key);
                sent += u64::from(cell.sent + unsent);
                bad += u64::from(cell.drops + unsent);
            }
        }
        sent > 0 && bad * 100 <= sent * settings.nic_percent
    }
}
