//! How drops spread over time: contiguous, in episodes, or scattered.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// The drops of a place in one window, by time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Periods of total loss, separated by received probes.
    pub(crate) episodes: u32,
    /// Whether all probes are lost at the start of the window, and at its end.
    pub(crate) begins_dead: bool,
    pub(crate) ends_dead: bool,
    /// Whether the place lost either everything or nothing most of the time.
    pub(crate) is_clear: bool,
}

/// The maximum number of slices of a window: half seconds.
const MAX_SLICES: usize = 40;
const MIN_SLICES: usize = 4;
/// Probes per slice that distinguish total loss from partial loss.
const PROBES: usize = 6;
const MIN_PROBES: u32 = 3;

impl Shape {
    /// Returns the shape of probes: when each was sent, from 0 to below `window_ns`, and whether it was lost.
    pub(crate) fn of(probes: &[(i64, bool)], window_ns: i64) -> Self {
        // Few probes show it too.
        if !probes.is_empty() && probes.iter().all(|(_, lost)| *lost) {
            return Self {
                episodes: 1,
                begins_dead: true,
                ends_dead: true,
                is_clear: true,
            };
        }
        let slices = (probes.len() / PROBES).clamp(MIN_SLICES, MAX_SLICES);
        let mut counts = vec![(0_u32, 0_u32); slices];
        for (at_ns, lost) in probes {
            let length = window_ns / i64::try_from(slices).unwrap_or(1);
            let slice = usize::try_from(at_ns / length.max(1)).unwrap_or(0).min(slices - 1);
            counts[slice].0 += 1;
            counts[slice].1 += u32::from(*lost);
        }
        counts.retain(|(sent, _)| *sent >= MIN_PROBES);
        // `None` is partial loss.
        let states: Vec<Option<bool>> = counts
            .iter()
            .map(|(sent, lost)| match lost {
                0 => Some(false),
                lost if lost == sent => Some(true),
                _ => None,
            })
            .collect();
        let between = states.iter().filter(|state| state.is_none()).count();
        let known: Vec<bool> = states.iter().filter_map(|state| *state).collect();
        if between * 2 > known.len()
            && let Some(shape) = Self::of_phases(probes)
        {
            return shape;
        }
        let began = |pair: &&[bool]| !pair[0] && pair[1];
        let later = known.windows(2).filter(|pair| began(pair)).count();
        let begins_dead = known.first().is_some_and(|dead| *dead);
        let episodes = later + usize::from(begins_dead);
        Self {
            episodes: u32::try_from(episodes).unwrap_or(u32::MAX),
            begins_dead,
            ends_dead: known.last().is_some_and(|dead| *dead),
            is_clear: episodes > 0 && between * 2 <= known.len(),
        }
    }
}

/// Standard deviations by which there are fewer runs of lost and of received probes than at random.
const FEWER: f64 = 4.0;
/// Probes of a lost run, on average, that no random loss has.
const MIN_RUN: usize = 4;

impl Shape {
    /// The shape of losses whose phases are no longer than the slices, if they are phases: then there are far fewer runs of lost
    /// and of received probes than at random (Wald and Wolfowitz, 1940).
    fn of_phases(probes: &[(i64, bool)]) -> Option<Self> {
        let mut sorted = probes.to_vec();
        sorted.sort_unstable();
        let runs: Vec<(bool, usize)> = sorted
            .chunk_by(|(_, one), (_, next)| one == next)
            .map(|run| (run[0].1, run.len()))
            .collect();
        let lost = sorted.iter().filter(|(_, lost)| *lost).count();
        let lost_runs = runs.iter().filter(|(lost, _)| *lost).count();
        if lost_runs == 0 || lost < MIN_RUN * lost_runs {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let [all, lost, count] = [sorted.len(), lost, runs.len()].map(|count| count as f64);
        let mean = 2.0 * lost * (all - lost) / all;
        let variance = mean * (mean - 1.0) / (all - 1.0);
        if mean + 1.0 - count < FEWER * libm::sqrt(variance.max(0.0)) {
            return None;
        }
        // A probe may overtake another at the edge of a phase.
        let dead = |run: Option<&(bool, usize)>| run.is_some_and(|(lost, length)| *lost && *length > 1);
        let episodes = runs.iter().filter(|run| dead(Some(run))).count();
        Some(Self {
            episodes: u32::try_from(episodes).unwrap_or(u32::MAX),
            begins_dead: dead(runs.first()),
            ends_dead: dead(runs.last()),
            is_clear: true,
        })
    }
}

/// 5-tuples of one kind, at least, that distinguish a part that is dead from random loss.
const MIN_TUPLES: u32 = 3;

/// Whether some 5-tuples lose every probe and others none, between the first loss and the last: the others were routed
/// around a link that is down, or leave by another member of a port channel. Each probe has its 5-tuple, when it was sent, and
/// whether it was lost.
pub(crate) fn is_split(probes: &[(u32, i64, bool)]) -> bool {
    let lost = || probes.iter().filter(|(.., lost)| *lost).map(|(_, at_ns, _)| *at_ns);
    let (Some(first), Some(last)) = (lost().min(), lost().max()) else {
        return false;
    };
    let mut tuples: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for (tuple, at_ns, lost) in probes {
        if (first..=last).contains(at_ns) {
            let counts = tuples.entry(*tuple).or_default();
            counts.0 += 1;
            counts.1 += u32::from(*lost);
        }
    }
    let (mut dead, mut whole, mut between) = (0, 0, 0);
    for (sent, lost) in tuples.into_values().filter(|(sent, _)| *sent >= MIN_PROBES) {
        match lost {
            0 => whole += 1,
            lost if lost == sent => dead += 1,
            _ => between += 1,
        }
    }
    let fewer: u32 = u32::min(dead, whole);
    fewer >= MIN_TUPLES && between * 4 <= fewer
}

#[cfg(test)]
mod tests {
    use super::{Shape, is_split};
    use std::vec::Vec;

    fn shape(lost: impl Fn(i64) -> bool) -> Shape {
        let probes: Vec<(i64, bool)> = (0..400).map(|i| (i * 50, lost(i * 50))).collect();
        Shape::of(&probes, 20_000)
    }

    #[test]
    fn total_loss_partial_loss_and_flapping_have_different_shapes() {
        let dead = shape(|_| true);
        assert_eq!((dead.episodes, dead.begins_dead, dead.ends_dead), (1, true, true));
        assert!(dead.is_clear);
        assert_eq!(Shape::of(&[(1, true), (19_000, true)], 20_000), dead);
        let late = shape(|at| at > 7_777);
        assert_eq!((late.episodes, late.begins_dead, late.ends_dead), (1, false, true));
        assert!(late.is_clear);
        let flapping = shape(|at| at % 4_000 < 2_000);
        assert_eq!((flapping.episodes, flapping.is_clear), (5, true));
        for percent in [1, 5, 20, 50, 80, 90] {
            let grey = shape(|at| (at / 50 * 7_919 + at * at % 331) % 100 < percent);
            assert!(!grey.is_clear || grey.episodes == 0, "{percent} %: {grey:?}");
        }
        assert_eq!(Shape::of(&[], 20_000), Shape::default());
    }

    #[test]
    fn phases_shorter_than_a_slice_are_phases_and_random_loss_has_none() {
        // 80 probes of 20 s, down for the first 2 s of every 4 s: 13 slices of 1.5 s.
        let probes = |lost: &dyn Fn(i64) -> bool| -> Vec<(i64, bool)> {
            (0..80).map(|i| (i * 250 + i * 37 % 90, lost(i))).collect()
        };
        let phases = Shape::of(&probes(&|i| (i * 250 + 1_100) % 4_000 < 2_000), 20_000);
        assert!(phases.is_clear && (5..=6).contains(&phases.episodes), "{phases:?}");
        for percent in [10, 20, 50, 80] {
            let random = |i: i64| (i * 7_919 + i * i % 331 * 17) % 100 < percent;
            let shape = Shape::of(&probes(&random), 20_000);
            assert!(!shape.is_clear || shape.episodes == 0, "{percent} %: {shape:?}");
        }
    }

    #[test]
    fn dead_tuples_beside_whole_ones_are_no_random_loss() {
        // 40 5-tuples with ten probes each.
        let split = |lost: &dyn Fn(u32, i64) -> bool| {
            let probes: Vec<(u32, i64, bool)> = (0..400_i64)
                .map(|i| {
                    let tuple = (i % 40) as u32;
                    (tuple, i * 50, lost(tuple, i * 50))
                })
                .collect();
            is_split(&probes)
        };
        assert!(split(&|tuple, at| tuple % 3 == 0 && at > 7_777));
        assert!(split(&|tuple, at| tuple % 3 == 0 && (5_000..15_000).contains(&at)));
        // All, none, or two alone.
        assert!(!split(&|_, at| at > 7_777));
        assert!(!split(&|_, _| false));
        assert!(!split(&|tuple, _| tuple < 2));
        for percent in [1, 5, 20, 50, 80, 90, 95] {
            let random = |tuple, at: i64| (at / 50 * 7_919 + i64::from(tuple) * 31 + at * at % 331) % 100 < percent;
            assert!(!split(&random), "{percent} %");
        }
    }
}
