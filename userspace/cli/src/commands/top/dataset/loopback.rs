//! The loopback tests inside hosts in a dataset.

use anyhow::Result;
use rocescope_diagnose::hostping::rows::runs;
use rocescope_model::{LoopbackRow, Row};
use rocescope_store::{Query, TimeRange};
use std::path::Path;

/// Length of the window of a run whose length is unknown.
const SHORTEST_NS: i64 = 1_000_000_000;

/// A run: host, time, tests.
type Run = (String, i64, Vec<LoopbackRow>);

/// All runs, by host and time.
#[derive(Debug, Default)]
pub(super) struct Loopback(Vec<Run>);

impl Loopback {
    /// Reads those of the whole dataset: the last run may be hours before the requested time.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let found = Query::default().tables(&[LoopbackRow::TABLE]).open(root)?;
        Ok(Self(runs(found.rows::<LoopbackRow>()?)))
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Start and length of the runs that start in `time`.
    pub(super) fn spans(&self, time: TimeRange) -> Vec<(i64, i64)> {
        let is_within =
            |start: i64| time.from.is_none_or(|from| start >= from.0) && time.to.is_none_or(|to| start < to.0);
        let spans = self.0.iter().filter(|(_, start, _)| is_within(*start));
        spans
            .map(|(_, start, rows)| (*start, rows.first().map_or(0, |row| row.window_ns).max(SHORTEST_NS)))
            .collect()
    }

    /// The last run of each host that began before this time.
    pub(super) fn at(&self, time_ns: i64) -> Vec<LoopbackRow> {
        let mut last: Vec<&Run> = Vec::new();
        for run in self.0.iter().filter(|(_, start, _)| *start < time_ns) {
            last.retain(|other| other.0 != run.0);
            last.push(run);
        }
        last.into_iter().flat_map(|(.., rows)| rows.clone()).collect()
    }
}
