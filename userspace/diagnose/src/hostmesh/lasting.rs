//! Loss that goes on where it was.
//!
//! A verdict on a place needs evidence that none of all places reaches at random. A place that lost packets in the window before
//! is one, not one of many, and most likely loses them still: a few drops are enough. Otherwise a fault of few 5-tuples would end
//! and begin again from window to window, whenever few probes cross it.

use super::cells::Cells;
use super::count::Count;
use super::names::Names;
use super::place::{Crossing, FaultLocation};
use super::settings::Settings;
use super::suspects::Suspect;
use super::tuples::Tuples;
use alloc::vec::Vec;

/// How likely a place that has recovered reaches as many drops at random, at most.
const CHANCE: f64 = 1e-3;

/// The places of `before` that still lose probes that cross none of those found already.
pub(super) fn lasting(
    before: Vec<FaultLocation>,
    found: &[Suspect],
    cells: &Cells,
    (tuples, names): (&Tuples, &Names),
    settings: &Settings,
) -> Vec<Suspect> {
    let mut left: Vec<(Crossing<'_>, Count)> = Vec::new();
    if !before.is_empty() {
        let crossings = cells.all.iter().map(|cell| {
            let count = Count {
                probes: cell.sent.into(),
                anomalous: cell.drops.into(),
            };
            (Crossing::of(cell, tuples), count)
        });
        let is_met = |crossing: Crossing<'_>| found.iter().any(|suspect| crossing.meets(suspect.place, names));
        left.extend(crossings.filter(|(crossing, _)| !is_met(*crossing)));
    }
    let mut lasting = Vec::new();
    for place in before {
        let mut count = Count::default();
        for (_, of_cell) in left.iter().filter(|(crossing, _)| crossing.meets(place, names)) {
            count.add(of_cell.probes, of_cell.anomalous);
        }
        let score = count.score(settings.background);
        if score > -libm::log(CHANCE) {
            left.retain(|(crossing, _)| !crossing.meets(place, names));
            lasting.push(Suspect::new(place, count, score));
        }
    }
    lasting
}
