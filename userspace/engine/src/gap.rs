//! Windows that a full disk kept out of the dataset.

use rocescope_model::{EventRow, Text, Time, WindowRow};
use rocescope_store::Error;
use std::time::{Duration, Instant};

/// Interval between two attempts to write again.
const RETRY: Duration = Duration::from_secs(1);
/// Interval between two notices.
const REPEAT: Duration = Duration::from_secs(60);

/// A span of windows that are not stored.
#[derive(Debug)]
pub(crate) struct Gap {
    observer: Text,
    span_ns: (i64, i64),
    /// Windows in it.
    pub(crate) windows: u64,
    /// Why they are not stored.
    pub(crate) reason: String,
    tried: Instant,
    reported: Option<Instant>,
}

impl Gap {
    pub(crate) fn new(rows: &[WindowRow], error: &Error, now: Instant) -> Self {
        let mut gap = Self {
            observer: rows.first().map(|row| row.observer.clone()).unwrap_or_default(),
            span_ns: (i64::MAX, i64::MIN),
            windows: 0,
            reason: error.to_string(),
            tried: now,
            reported: None,
        };
        gap.add(rows);
        gap
    }

    /// Adds windows that are not stored either.
    pub(crate) fn add(&mut self, rows: &[WindowRow]) {
        let (start, end) = &mut self.span_ns;
        for row in rows {
            *start = row.window_start_ns.min(*start);
            *end = row.window_start_ns.saturating_add(row.window_ns).max(*end);
            self.windows += 1;
        }
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

    /// The row that states which span is not stored, and why; `None` if no window is concerned.
    pub(crate) fn event(&self) -> Option<EventRow> {
        let (start, end) = self.span_ns;
        (self.windows > 0).then(|| EventRow {
            observer: self.observer.clone(),
            time: Time(start),
            time_ns: start,
            kind: "not_stored".into(),
            value: Some(end.saturating_sub(start) as f64),
            count: self.windows,
            detail: format!(
                "{} windows from {} to {} are not stored: {}",
                self.windows,
                Time(start),
                Time(end),
                self.reason
            )
            .into(),
            ..EventRow::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Gap;
    use rocescope_model::WindowRow;
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
        let mut gap = Gap::new(&[row(10)], &full, start);
        gap.add(&[row(15), row(20)]);
        let event = gap.event().unwrap();
        assert_eq!((event.time_ns, event.count, event.value), (10, 3, Some(15.0)));
        assert!(event.detail.contains("3 windows") && event.detail.contains("the disk is full"));
        assert!(gap.is_unreported(start) && !gap.is_unreported(start + Duration::from_secs(59)));
        assert!(gap.is_unreported(start + Duration::from_secs(60)));
        assert!(!gap.is_due(start) && gap.is_due(start + Duration::from_secs(1)));
    }
}
