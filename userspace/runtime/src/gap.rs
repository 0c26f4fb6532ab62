//! Rows that the disk kept out of the dataset: it was full, or failed.

use rocescope_model::human::plural;
use rocescope_model::{EventRow, Text, Time, WindowRow};
use rocescope_store::Error;
use std::time::{Duration, Instant};

/// Interval between two attempts to write again.
const RETRY: Duration = Duration::from_secs(1);
/// Interval between two notices.
const REPEAT: Duration = Duration::from_secs(60);

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// Windows of a capture.
    Window,
    /// Rows of an agent.
    Row,
}

/// What is lost if an append fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    pub(crate) unit: Unit,
    pub(crate) count: u64,
    /// From the start of the first to the end of the last, if there are any.
    pub(crate) span_ns: Option<(i64, i64)>,
}

impl Missing {
    pub(crate) fn windows(rows: &[WindowRow]) -> Self {
        let starts = rows.iter().map(|row| row.window_start_ns);
        let ends = rows.iter().map(|row| row.window_start_ns.saturating_add(row.window_ns));
        Self {
            unit: Unit::Window,
            count: rows.len() as u64,
            span_ns: starts.min().zip(ends.max()),
        }
    }

    /// Rows of these times.
    pub(crate) fn rows(times_ns: impl Iterator<Item = i64> + Clone) -> Self {
        Self {
            unit: Unit::Row,
            count: times_ns.clone().count() as u64,
            span_ns: times_ns.clone().min().zip(times_ns.max()),
        }
    }
}

/// A span of rows that are not stored.
#[derive(Debug)]
pub(crate) struct Gap {
    missing: Missing,
    /// Why they are not stored.
    pub(crate) reason: String,
    tried: Instant,
    reported: Option<Instant>,
}

impl Gap {
    pub(crate) fn new(missing: Missing, error: &Error, now: Instant) -> Self {
        Self {
            missing,
            reason: error.to_string(),
            tried: now,
            reported: None,
        }
    }

    /// Adds rows that are not stored either.
    pub(crate) fn add(&mut self, more: &Missing) {
        self.missing.count += more.count;
        let spans = [self.missing.span_ns, more.span_ns].into_iter().flatten();
        self.missing.span_ns = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    }

    /// Adds what was accepted and is gone; its times are unknown.
    pub(crate) fn add_count(&mut self, count: u64) {
        self.missing.count += count;
    }

    pub(crate) fn unit(&self) -> Unit {
        self.missing.unit
    }

    /// How much is missing, such as `3 windows`.
    pub(crate) fn missing(&self) -> String {
        let unit = match self.missing.unit {
            Unit::Window => "window",
            Unit::Row => "row",
        };
        plural(self.missing.count, unit)
    }

    /// Whether it is time to try to write again.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let due = now.saturating_duration_since(self.tried) >= RETRY;
        if due {
            self.tried = now;
        }
        due
    }

    /// Whether it is time to tell the user: at once, and every minute.
    pub(crate) fn is_unreported(&mut self, now: Instant) -> bool {
        let due = self
            .reported
            .is_none_or(|then| now.saturating_duration_since(then) >= REPEAT);
        if due {
            self.reported = Some(now);
        }
        due
    }

    /// The row that states which span is not stored, and why; `None` if nothing is missing.
    pub(crate) fn event(&self, observer: &Text) -> Option<EventRow> {
        let (start, end) = self.missing.span_ns?;
        Some(EventRow {
            observer: observer.clone(),
            time: Time(start),
            time_ns: start,
            kind: "not_stored".into(),
            value: Some(end.saturating_sub(start) as f64),
            count: self.missing.count,
            detail: format!(
                "{} from {} to {} {} not stored: {}",
                self.missing(),
                Time(start),
                Time(end),
                if self.missing.count == 1 { "is" } else { "are" },
                self.reason
            )
            .into(),
            ..EventRow::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Gap, Missing};
    use rocescope_model::{Text, WindowRow};
    use rocescope_store::Error;
    use std::time::{Duration, Instant};

    #[test]
    fn a_gap_names_its_span_and_is_reported_at_once_and_every_minute() {
        let row = |start| WindowRow {
            window_start_ns: start,
            window_ns: 5,
            ..WindowRow::default()
        };
        let full = Error::NoSpace {
            action: "write",
            path: "d".into(),
        };
        let start = Instant::now();
        let mut gap = Gap::new(Missing::windows(&[row(10)]), &full, start);
        gap.add(&Missing::windows(&[row(15), row(20)]));
        let event = gap.event(&Text::from_static("rail3")).unwrap();
        assert_eq!((event.time_ns, event.count, event.value), (10, 3, Some(15.0)));
        assert!(event.detail.contains("3 windows") && event.detail.contains("the disk is full"));
        assert!(gap.is_unreported(start) && !gap.is_unreported(start + Duration::from_secs(59)));
        assert!(gap.is_unreported(start + Duration::from_secs(60)));
        assert!(!gap.is_due(start) && gap.is_due(start + Duration::from_secs(1)));
    }

    #[test]
    fn rows_without_a_window_have_the_span_of_their_times() {
        let full = Error::NoSpace {
            action: "write",
            path: "d".into(),
        };
        let mut gap = Gap::new(Missing::rows([].into_iter()), &full, Instant::now());
        assert_eq!(gap.event(&Text::default()), None);
        gap.add(&Missing::rows([7, 3, 5].into_iter()));
        let event = gap.event(&Text::default()).unwrap();
        assert_eq!((event.time_ns, event.count, event.value), (3, 3, Some(4.0)));
        assert!(event.detail.starts_with("3 rows from "), "{}", event.detail);
    }
}
