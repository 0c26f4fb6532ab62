//! Values over time in a bounded number of points.
//!
//! All points are periods of the same length, initially one window. If there are too many, neighbours are merged and
//! the length doubles. Sums and peaks stay exact for any order of rows.

use std::collections::BTreeMap;

/// Maximum number of points: more than a chart can resolve in pixels.
pub const MAX_POINTS: usize = 1_000;

/// Values that can be merged with those of a neighbouring period.
pub trait Join: Default {
    /// Merges the other's values into this one.
    fn join(&mut self, other: Self);
}

/// Periods of equal length, without empty ones.
#[derive(Debug, Clone)]
pub struct Series<P> {
    native_ns: i64,
    period_ns: i64,
    periods: BTreeMap<i64, P>,
}

impl<P: Join> Series<P> {
    /// Creates an empty series; its first periods are `native_ns` long.
    #[must_use]
    pub const fn new(native_ns: i64) -> Self {
        let native_ns = if native_ns < 1 { 1 } else { native_ns };
        Self {
            native_ns,
            period_ns: native_ns,
            periods: BTreeMap::new(),
        }
    }

    /// Adds values of an instant, in nanoseconds since 1970.
    pub fn add(&mut self, time_ns: i64, figures: P) {
        let index = time_ns.div_euclid(self.period_ns);
        self.periods.entry(index).or_default().join(figures);
        while self.periods.len() > MAX_POINTS {
            self.halve();
        }
    }

    /// Merges pairs of neighbours and doubles the length of a period.
    fn halve(&mut self) {
        self.period_ns = self.period_ns.saturating_mul(2);
        let mut joined: BTreeMap<i64, P> = BTreeMap::new();
        for (index, figures) in std::mem::take(&mut self.periods) {
            let place = joined.entry(index.div_euclid(2)).or_default();
            place.join(figures);
        }
        self.periods = joined;
    }

    /// Returns the series with periods of at least this length.
    #[must_use]
    pub fn no_finer_than(mut self, period_ns: i64) -> Self {
        while self.period_ns < period_ns {
            self.halve();
        }
        self
    }

    /// Returns the length of a period in nanoseconds.
    #[must_use]
    pub const fn period_ns(&self) -> i64 {
        self.period_ns
    }

    /// Returns the number of windows per period: 1 unless there were too many.
    #[must_use]
    pub const fn joined(&self) -> i64 {
        self.period_ns / self.native_ns
    }

    /// Returns the start of each period, in nanoseconds since 1970, and its values, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (i64, &P)> {
        let period_ns = self.period_ns;
        let periods = self.periods.iter();
        periods.map(move |(index, figures)| (index.saturating_mul(period_ns), figures))
    }
}

#[cfg(test)]
mod tests {
    use super::{Join, MAX_POINTS, Series};

    #[derive(Debug, Default, Clone, PartialEq)]
    struct Figures {
        sum: u64,
        peak: u64,
    }

    impl Join for Figures {
        fn join(&mut self, other: Self) {
            self.sum += other.sum;
            self.peak = self.peak.max(other.peak);
        }
    }

    fn series(times: impl Iterator<Item = i64>) -> Series<Figures> {
        let mut series = Series::new(10);
        for time in times {
            let sum = time.unsigned_abs();
            series.add(time, Figures { sum, peak: sum });
        }
        series
    }

    #[test]
    fn few_windows_are_not_merged() {
        let series = series([0, 10, 11, 40].into_iter());
        assert_eq!((series.period_ns(), series.joined()), (10, 1));
        let starts: Vec<i64> = series.iter().map(|(start, _)| start).collect();
        assert_eq!(starts, [0, 10, 40]);
        assert_eq!(series.iter().nth(1).unwrap().1.sum, 21);
        let starts = series.no_finer_than(15);
        assert_eq!(starts.iter().map(|(start, _)| start).collect::<Vec<_>>(), [0, 40]);
    }

    #[test]
    fn many_are_joined_without_losing_sums_or_peaks_in_any_order() {
        let times = 0..10_000;
        let forward = series(times.clone().map(|at| at * 10));
        let backward = series(times.rev().map(|at| at * 10));
        assert_eq!(forward.joined(), 16);
        assert!(forward.iter().len() <= MAX_POINTS && forward.iter().len() > MAX_POINTS / 2);
        assert!(forward.iter().eq(backward.iter()));
        let sum: u64 = forward.iter().map(|(_, figures)| figures.sum).sum();
        assert_eq!(sum, (0..10_000).map(|at| at * 10).sum::<u64>());
        assert_eq!(forward.iter().last().unwrap().1.peak, 99_990);
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        let mut series = series([i64::MIN, i64::MAX].into_iter());
        for at in 0..2_000 {
            series.add(at * 1_000_000_000_000_000, Figures::default());
        }
        assert!(series.iter().len() <= MAX_POINTS);
    }
}
