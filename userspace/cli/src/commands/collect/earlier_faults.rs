//! Faults of hosts that an earlier collector stored as begun, and not as ended.

use anyhow::Result;
use rocescope_diagnose::hosts::{Change, HostVerdict};
use rocescope_model::{HostVerdictRow, Row, Text, Time};
use rocescope_store::{Query, TimeRange};
use std::collections::BTreeMap;
use std::path::Path;

/// How far back begins of faults are read.
const BACK_NS: i64 = 7 * 86_400_000_000_000;

/// The rows of their begins, by class and place.
#[derive(Default)]
pub(super) struct EarlierFaults(BTreeMap<(String, String), HostVerdictRow>);

impl EarlierFaults {
    /// Those of a dataset that this analyzer wrote.
    pub(super) fn read(dataset: &Path, observer: &Text, now_ns: i64) -> Result<Self> {
        let since = TimeRange::since(Time(now_ns.saturating_sub(BACK_NS)));
        let read = Query::default().tables(&[HostVerdictRow::TABLE]).within(since);
        let mut last: BTreeMap<(String, String), HostVerdictRow> = BTreeMap::new();
        let found = read.scan(dataset)?;
        found.select::<HostVerdictRow>().within(since).for_each(|row| {
            let key = (row.class.to_string(), row.place.to_string());
            let is_later = last.get(&key).is_none_or(|known| row.time_ns >= known.time_ns);
            if row.observer == *observer && is_later {
                last.insert(key, row);
            }
        })?;
        last.retain(|_, row| &*row.state != Change::Ended.name());
        Ok(Self(last))
    }

    /// When a fault began, if it is one of them.
    pub(super) fn since_ns(&self, verdict: &HostVerdict) -> Option<i64> {
        Some(self.0.get(&key(verdict))?.since_ns)
    }

    /// Gives the row of an end the begin that was stored: rows with another one are those of another fault.
    pub(super) fn resume(&mut self, verdict: &HostVerdict, row: &mut HostVerdictRow) {
        if let Some(began) = self.0.remove(&key(verdict)) {
            row.since_ns = began.since_ns;
        }
    }

    /// Forgets those that are not open; returns the rows of their ends.
    pub(super) fn end_others(&mut self, open: &[HostVerdict], now_ns: i64) -> Vec<HostVerdictRow> {
        let is_open = |known: &(String, String)| open.iter().any(|verdict| key(verdict) == *known);
        let others: Vec<(String, String)> = self.0.keys().filter(|key| !is_open(key)).cloned().collect();
        let rows = others.iter().filter_map(|key| self.0.remove(key));
        rows.map(|row| HostVerdictRow {
            state: Change::Ended.name().into(),
            time: Time(now_ns),
            time_ns: now_ns,
            unknown: Some("when it ended: no collector ran".into()),
            ..row
        })
        .collect()
    }
}

fn key(verdict: &HostVerdict) -> (String, String) {
    (verdict.class.name().to_owned(), verdict.place.clone())
}
