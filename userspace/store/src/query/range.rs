//! A range of time.

use crate::name::Partition;
use rocescope_model::{Resolution, Time};
use std::ops::Range;

/// A half-open range of time; `None` is unbounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// The first instant in it.
    pub from: Option<Time>,
    /// The first instant after it.
    pub to: Option<Time>,
}

/// A time, and the resolution whose rows answer for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// The resolution.
    pub resolution: Resolution,
    /// The time.
    pub time: TimeRange,
}

impl TimeRange {
    /// Creates a range that starts at an instant and does not end.
    #[must_use]
    pub const fn since(from: Time) -> Self {
        Self {
            from: Some(from),
            to: None,
        }
    }

    /// Returns the intersection.
    #[must_use]
    pub const fn narrowed(self, other: Self) -> Self {
        let from = match (self.from, other.from) {
            (Some(one), Some(two)) if one.0 < two.0 => Some(two),
            (Some(one), _) => Some(one),
            (None, two) => two,
        };
        let to = match (self.to, other.to) {
            (Some(one), Some(two)) if one.0 > two.0 => Some(two),
            (Some(one), _) => Some(one),
            (None, two) => two,
        };
        Self { from, to }
    }

    /// Moves the end, if there is one, later by `by_ns`.
    #[must_use]
    pub fn extended(self, by_ns: i64) -> Self {
        let to = self.to.map(|to| Time(to.0.saturating_add(by_ns)));
        Self { to, ..self }
    }

    /// Moves the start to the start of its hour.
    #[must_use]
    pub fn from_whole_hour(self) -> Self {
        let from = self.from.map(|from| Partition::of(from).start());
        Self { from, ..self }
    }

    /// Whether the range contains an instant, in nanoseconds since 1970.
    #[must_use]
    pub fn contains(&self, time_ns: i64) -> bool {
        self.overlaps(time_ns, time_ns)
    }

    /// Whether the range contains any instant between these two, inclusive.
    pub(crate) fn overlaps(&self, first_ns: i64, last_ns: i64) -> bool {
        self.from.is_none_or(|from| from.0 <= last_ns) && self.to.is_none_or(|to| first_ns < to.0)
    }
}

impl From<Range<i64>> for TimeRange {
    fn from(span_ns: Range<i64>) -> Self {
        Self {
            from: Some(Time(span_ns.start)),
            to: Some(Time(span_ns.end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TimeRange;
    use rocescope_model::Time;

    #[test]
    fn the_start_is_inside_and_the_end_is_not() {
        let range = TimeRange::from(10..20);
        assert_eq!(
            [9, 10, 19, 20].map(|time| range.contains(time)),
            [false, true, true, false]
        );
        assert!(range.overlaps(0, 10) && range.overlaps(19, 30) && range.overlaps(0, 30));
        assert!(!range.overlaps(0, 9) && !range.overlaps(20, 30));
        assert!(TimeRange::default().contains(i64::MAX) && TimeRange::default().contains(i64::MIN));
    }

    #[test]
    fn ranges_narrow_and_widen() {
        let (one, two) = (TimeRange::from(10..20), TimeRange::since(Time(15)));
        assert_eq!(one.narrowed(two), TimeRange::from(15..20));
        assert_eq!(two.narrowed(one), TimeRange::from(15..20));
        assert_eq!(one.extended(5), TimeRange::from(10..25));
        assert_eq!(two.extended(5), two);
        let hour = 3_600_000_000_000;
        let within = TimeRange::from(hour + 7..hour + 9);
        assert_eq!(within.from_whole_hour(), TimeRange::from(hour..hour + 9));
    }
}
