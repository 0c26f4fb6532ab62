//! Baselines: medians by pair of NICs or by host, and how far values normally exceed them.
//!
//! The paper names no threshold for high latency. Here a probe is late if it took longer than the baseline median of
//! its own pair of NICs (in one direction) plus a margin: twice the 99th percentile of the distance from the median,
//! over the last windows without late places, of the whole fabric or of the sending NIC, whichever is more; never less
//! than [`Settings::min_late_ns`](super::Settings) or the stated error of the clocks. A constant error of two clocks is
//! part of the median and causes no verdict, nor does a NIC that always sends at less regular times.

use super::by_key::ByKey;
use super::record::quantile;
use alloc::vec::Vec;

/// The baselines of one quantity.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    /// Median by key.
    medians: Vec<Option<i32>>,
    /// The spreads of all keys.
    spreads: Spreads,
    /// Those of each group of keys.
    of_groups: Vec<Spreads>,
    /// The margin of each key's group; 0 if it is unknown.
    margins: Vec<i64>,
}

/// The 99th percentiles of the distance from the median in the last quiet windows.
#[derive(Debug, Clone, Default)]
struct Spreads(Vec<i32>);

impl Spreads {
    fn add(&mut self, distances: &mut [i32]) {
        if let Some(spread) = quantile(distances, 0.99) {
            self.0.push(spread);
            if self.0.len() > MAX_SPREADS {
                self.0.remove(0);
            }
        }
    }

    /// Twice their median.
    fn margin_ns(&self) -> Option<i64> {
        let spread = quantile(&mut self.0.clone(), 0.5)?;
        Some(2 * i64::from(spread))
    }
}

/// The number of windows whose spread is kept: five minutes.
const MAX_SPREADS: usize = 15;
/// The minimum number of values for a median.
const MIN_VALUES: usize = 5;
/// The minimum number of values for a percentile of a group: one value in a hundred may be an accident.
const MIN_OF_GROUP: usize = 100;

impl Baseline {
    /// Returns how far above its median a value is late; `None` before the first learned window.
    pub(crate) fn margin_ns(&self, min_ns: i64) -> Option<i64> {
        Some(min_ns.max(self.spreads.margin_ns()?))
    }

    /// The margin of a key, where that of all is `margin_ns`.
    pub(crate) fn margin_of(&self, key: u32, margin_ns: i64) -> i64 {
        let own = self.margins.get(key as usize).copied();
        own.map_or(margin_ns, |own| own.max(margin_ns))
    }

    /// Whether a value is late; `None` without a baseline for its key.
    pub(crate) fn is_late(&self, key: u32, value: i32, margin_ns: i64) -> Option<bool> {
        let median = (*self.medians.get(key as usize)?)?;
        Some(i64::from(value) > i64::from(median) + self.margin_of(key, margin_ns))
    }

    /// Learns from the values of a window and their medians. `group` has the group of each key. `quiet` means that the
    /// window has no suspects: only then do its values change the spread.
    pub(crate) fn learn(&mut self, window: &ByKey<i32>, medians: &[Option<i32>], group: &[u32], quiet: bool) {
        self.medians.resize(medians.len(), None);
        let margin = self.margin_ns(0);
        for (baseline, now) in self.medians.iter_mut().zip(medians) {
            let Some(now) = *now else { continue };
            *baseline = Some(baseline.map_or(now, |was| drift(was, now, margin)));
        }
        if !quiet {
            return;
        }
        let groups = group.iter().max().map_or(0, |last| *last as usize + 1);
        let known = window.each().zip(medians).zip(group);
        let distances = known
            .filter_map(|((of_key, now), group)| Some((of_key, (*now)?, *group)))
            .flat_map(|(of_key, now, group)| of_key.iter().map(move |value| (group, value.saturating_sub(now))));
        let mut distances = ByKey::group(groups, distances);
        self.of_groups
            .resize(groups.max(self.of_groups.len()), Spreads::default());
        for (spreads, distances) in self.of_groups.iter_mut().zip(distances.each_mut()) {
            if distances.len() >= MIN_OF_GROUP {
                spreads.add(distances);
            }
        }
        self.spreads.add(&mut distances.into_values());
        let margins: Vec<i64> = self
            .of_groups
            .iter()
            .map(|spreads| spreads.margin_ns().unwrap_or(0))
            .collect();
        self.margins = group.iter().map(|group| margins[*group as usize]).collect();
    }
}

/// Returns the median of each key; `None` with too few values. Reorders the values of a key.
pub(crate) fn medians(window: &mut ByKey<i32>) -> Vec<Option<i32>> {
    let median = |of_key: &mut [i32]| match of_key.len() {
        ..MIN_VALUES => None,
        _ => quantile(of_key, 0.5),
    };
    window.each_mut().map(median).collect()
}

/// A baseline moves halfway to a lower median at once, and towards a higher one by an eighth of the distance and at
/// most an eighth of the margin: a persistent queue does not become the baseline while an operator looks for it.
fn drift(was: i32, now: i32, margin_ns: Option<i64>) -> i32 {
    let step = i64::from(now) - i64::from(was);
    let step = if step < 0 {
        step / 2
    } else {
        (step / 8).min(margin_ns.unwrap_or(i64::MAX) / 8)
    };
    i32::try_from(i64::from(was) + step).unwrap_or(was)
}

#[cfg(test)]
mod tests {
    use super::{Baseline, ByKey, medians};
    use alloc::vec::Vec;

    fn learn(baseline: &mut Baseline, keys: usize, values: impl Iterator<Item = (u32, i32)> + Clone, quiet: bool) {
        let mut window = ByKey::group(keys, values);
        let medians = medians(&mut window);
        // Each key is a group.
        let group: Vec<u32> = (0..).take(keys).collect();
        baseline.learn(&window, &medians, &group, quiet);
    }

    #[test]
    fn a_key_that_varies_more_has_a_margin_of_its_own_and_widens_no_other() {
        let mut baseline = Baseline::default();
        let steady = (0..2_000).map(|i| (0, 1_000 + i % 10));
        // A twentieth of the values of the second key takes 500 longer, and they are less than 1 % of all.
        let varied = (0..150).map(|i| (1, 1_000 + if i % 20 == 0 { 500 } else { i % 10 }));
        learn(&mut baseline, 2, steady.chain(varied), true);
        let margin = baseline.margin_ns(20).unwrap();
        assert!(margin < 50, "{margin}");
        assert_eq!(baseline.is_late(0, 1_600, margin), Some(true));
        assert_eq!(baseline.is_late(1, 1_600, margin), Some(false));
        assert_eq!(baseline.is_late(1, 3_000, margin), Some(true));
    }

    #[test]
    fn a_value_is_late_beyond_the_margin_above_its_own_median() {
        let mut baseline = Baseline::default();
        assert_eq!(baseline.margin_ns(20), None);
        let values = (0..200).map(|i| (i % 2, if i % 2 == 0 { 100 } else { 5_000 } + i as i32));
        learn(&mut baseline, 2, values, true);
        let margin = baseline.margin_ns(20).unwrap();
        assert!((150..=220).contains(&margin), "{margin}");
        assert_eq!(baseline.is_late(0, 1_000, margin), Some(true));
        assert_eq!(baseline.is_late(1, 5_200, margin), Some(false));
        assert_eq!(baseline.is_late(2, 5_200, margin), None);
    }

    #[test]
    fn a_persistent_queue_does_not_soon_become_the_baseline() {
        let mut baseline = Baseline::default();
        let at = |value: i32| (0..100).map(move |i| (0, value + i % 10));
        learn(&mut baseline, 1, at(1_000), true);
        for _ in 0..30 {
            learn(&mut baseline, 1, at(1_000_000), false);
        }
        // The margin is at least 20: the median has risen by no more than 30 eighths of it.
        let margin = baseline.margin_ns(0).unwrap();
        assert_eq!(baseline.is_late(0, 1_200, margin), Some(true));
        learn(&mut baseline, 1, at(500), true);
        assert_eq!(baseline.is_late(0, 900, margin), Some(true));
    }
}
