//! Whose the queue pairs of a dataset are, at the time of a window.

use crate::commands::top::feed::Feed;
use anyhow::Result;
use rocescope_analysis::owners;
use rocescope_diagnose::owners::Owners as Known;
use rocescope_model::time::HOUR_NS;
use rocescope_model::{QueuePairRow, Row, Time};
use rocescope_store::{Query, Scan, TimeRange};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Connections write a row a minute, and the one that shows a window may be later.
const LATER_NS: i64 = 120_000_000_000;

/// The owners in a dataset, read hour by hour: steps within an hour read nothing.
pub(super) struct Owners {
    found: Scan,
    /// The time of traffic whose owners are known.
    span: Range<i64>,
}

impl Owners {
    /// Those of traffic in this time.
    pub(super) fn open(root: &Path, time: TimeRange) -> Result<Self> {
        let query = Query::default().tables(&[QueuePairRow::TABLE]);
        Ok(Self {
            found: query.within(owners::time_of(time)).open(root)?,
            span: 0..0,
        })
    }

    /// Shows those of a window, if they are not known.
    pub(super) fn show(&mut self, window: Option<(i64, i64)>, feed: &mut Feed) -> Result<()> {
        let Some((start_ns, _)) = window.filter(|_| self.found.row_count(QueuePairRow::TABLE.name) > 0) else {
            return Ok(());
        };
        if self.span.contains(&start_ns) {
            return Ok(());
        }
        let from_ns = start_ns - start_ns.rem_euclid(HOUR_NS);
        let to_ns = from_ns.saturating_add(HOUR_NS);
        let traffic = TimeRange {
            from: Some(Time(from_ns)),
            to: Some(Time(to_ns.saturating_add(LATER_NS))),
        };
        let mut known = Known::default();
        owners::add(&mut known, &self.found, traffic)?;
        self.span = from_ns..to_ns;
        let crowded_out = known.crowded_out();
        feed.owners(Arc::new(known))?;
        if crowded_out > 0 {
            feed.note(format!(
                "{crowded_out} queue pairs of agents found no room: owners of their connections may be unknown"
            ))?;
        }
        Ok(())
    }
}
