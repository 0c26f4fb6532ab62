//! Judges the rows of a capture while it runs.

use super::reporting::{Reporting, Reports};
use rocescope_diagnose::incidents::changes::Changes;
use rocescope_diagnose::incidents::{Captured, Document};
use rocescope_model::WindowRows;

/// Event time between two looks at what changed.
pub(crate) const LOOK_NS: i64 = 10_000_000_000;

/// Judges the rows of a capture, and reports changes.
#[derive(Debug)]
pub struct Judging {
    captured: Captured,
    reporting: Reporting,
    next_ns: i64,
}

impl Judging {
    /// Judges from the first row on.
    #[must_use]
    pub fn new(reports: Reports) -> Self {
        Self {
            captured: Captured::default()
                .with(&reports.names)
                .sampling(reports.mirror_sampling),
            reporting: Reporting::new(reports, Changes::default()),
            next_ns: i64::MIN,
        }
    }

    /// Takes the rows of windows that have ended.
    pub fn rows(&mut self, rows: &WindowRows) {
        self.captured.rows(rows);
        let newest = rows.windows.iter().map(|row| row.window_start_ns).max();
        if let Some(newest) = newest.filter(|newest| self.reporting.is_wanted() && *newest >= self.next_ns) {
            self.next_ns = newest.saturating_add(LOOK_NS);
            self.reporting.report(&self.captured.current(), Some(newest));
        }
    }

    /// The incidents of all rows, after the last one; waits until changes are delivered.
    pub fn finish(&mut self) -> Document {
        let document = self.captured.document();
        if self.reporting.is_wanted() {
            self.reporting.report(&document, None);
        }
        self.reporting.finish();
        document
    }
}
