//! The switches next to NICs, as traces show them.

use rocescope_collector::server::{self, Rows};
use rocescope_diagnose::pinglist::Attachments;
use rocescope_model::{Cells, PathRow, Row, Time};
use rocescope_paths::topology::Learnt;
use rocescope_store::{Batch, Query, TimeRange};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Paths are forgotten after one to two of these times, within which agents write each several times.
const REMEMBERED_NS: i64 = 3_600_000_000_000;

/// What paths show of the switches next to NICs.
#[derive(Debug, Default)]
struct Shown {
    now: Learnt,
    before: Attachments,
    since_ns: i64,
}

impl Shown {
    fn add(&mut self, row: &PathRow) {
        if row.time_ns >= self.since_ns + REMEMBERED_NS {
            self.before = std::mem::take(&mut self.now).attachments();
            self.since_ns = row.time_ns;
        }
        self.now.add(row);
    }

    fn attachments(&self) -> Attachments {
        let mut all = self.before.clone();
        all.extend(self.now.attachments());
        all
    }
}

/// What the traces of all agents show, shared by the thread that stores rows and the one that plans.
#[derive(Debug, Clone, Default)]
pub struct Traces(Arc<Mutex<(Shown, u64)>>);

impl Traces {
    /// Reads the paths of the last hour of a dataset, so that a collector that starts again knows them.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn resume(dataset: &Path, now: Time) -> Result<Self, crate::Error> {
        let traces = Self::default();
        if dataset.join(PathRow::TABLE.name).is_dir() {
            let from = Some(Time(now.0.saturating_sub(REMEMBERED_NS)));
            let time = TimeRange { from, to: None };
            let found = Query::default().tables(&[PathRow::TABLE]).within(time).open(dataset)?;
            found.select::<PathRow>().for_each(|row| traces.add(&row))?;
        }
        Ok(traces)
    }

    pub(super) fn add(&self, row: &PathRow) {
        let mut inside = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inside.0.add(row);
        inside.1 += 1;
    }

    /// What they show, if rows came since this count of them; and the count.
    pub(super) fn since(&self, count: u64) -> Option<(Attachments, u64)> {
        let inside = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (inside.1 != count).then(|| (inside.0.attachments(), inside.1))
    }

    /// Takes part in what the collector stores, beside another analysis.
    #[must_use]
    pub fn beside(&self, analysis: Option<Box<dyn server::Analysis>>) -> Box<dyn server::Analysis> {
        Box::new(Beside {
            traces: self.clone(),
            analysis,
        })
    }
}

struct Beside {
    traces: Traces,
    analysis: Option<Box<dyn server::Analysis>>,
}

impl server::Analysis for Beside {
    fn stored(&mut self, rows: &Batch) {
        if rows.table().name == PathRow::TABLE.name {
            let paths = rows.typed::<PathRow>().unwrap_or_default();
            paths.iter().for_each(|row| self.traces.add(row));
        }
        if let Some(analysis) = &mut self.analysis {
            analysis.stored(rows);
        }
    }

    fn due(&mut self) -> Vec<Rows> {
        self.analysis
            .as_mut()
            .map(|analysis| analysis.due())
            .unwrap_or_default()
    }

    fn finish(&mut self) -> Vec<Rows> {
        self.analysis
            .as_mut()
            .map(|analysis| analysis.finish())
            .unwrap_or_default()
    }
}
