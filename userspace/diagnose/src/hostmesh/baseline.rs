//! Baselines: medians by pair of NICs or by host, and how far values normally exceed them.
//!
//! The paper names no threshold for high latency. Here a probe is late if it took longer than the baseline median of
//! its own pair of NICs (in one direction) plus a margin: twice the 99th percentile of the distance from the median,
//! over the whole fabric and the last windows without late places; never less than
//! [`Settings::min_late_ns`](super::Settings) or the stated error of the clocks. A constant error of two clocks is part
//! of the median and causes no verdict.

use super::by_key::ByKey;
use super::record::quantile;
use alloc::vec::Vec;

/// The baselines of one quantity.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    /// Median by key.
    medians: Vec<Option<i32>>,
    /// The 99th percentiles of the distance from the median in the last quiet windows.
    spreads: Vec<i32>,
}

/// The number of windows whose spread is kept: five minutes.
const MAX_SPREADS: usize = 15;
/// The minimum number of values for a median.
const MIN_VALUES: usize = 5;

impl Baseline {
    /// Returns how far above its median a value is late; `None` before the first learned window.
    pub(crate) fn margin_ns(&self, min_ns: i64) -> Option<i64> {
        let mut spreads = self.spreads.clone();
        let spread = quantile(&mut spreads, 0.5)?;
        Some(min_ns.max(2 * i64::from(spread)))
    }

    /// Whether a value is late; `None` without a baseline for its key.
    pub(crate) fn is_late(&self, key: u32, value: i32, margin_ns: i64) -> Option<bool> {
        let median = (*self.medians.get(key as usize)?)?;
        Some(i64::from(value) > i64::from(median) + margin_ns)
    }

    /// Learns from the values of a window and their medians. `quiet` means that the window has no suspects: only then
    /// do its values change the spread.
    pub(crate) fn learn(&mut self, mut window: ByKey<i32>, medians: &[Option<i32>], quiet: bool) {
        self.medians.resize(medians.len(), None);
        let margin = self.margin_ns(0);
        for (baseline, now) in self.medians.iter_mut().zip(medians) {
            let Some(now) = *now else { continue };
            *baseline = Some(baseline.map_or(now, |was| drift(was, now, margin)));
        }
        if !quiet {
            return;
        }
        let mut distances = Vec::with_capacity(window.values().len());
        for (of_key, now) in window.each_mut().zip(medians) {
            let Some(now) = *now else { continue };
            distances.extend(of_key.iter().map(|value| value.saturating_sub(now)));
        }
        if let Some(spread) = quantile(&mut distances, 0.99) {
            self.spreads.push(spread);
            if self.spreads.len() > MAX_SPREADS {
                self.spreads.remove(0);
            }
        }
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

    fn learn(baseline: &mut Baseline, keys: usize, values: impl Iterator<Item = (u32, i32)> + Clone, quiet: bool) {
        let mut window = ByKey::group(keys, values);
        let medians = medians(&mut window);
        baseline.learn(window, &medians, quiet);
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
