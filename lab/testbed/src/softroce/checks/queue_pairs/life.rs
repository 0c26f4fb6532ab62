//! The rows of one queue pair: from its first row to that of its end.

use anyhow::{Context, Result, ensure};
use rocescope_model::QueuePairRow;
use std::collections::BTreeMap;
use std::ops::Range;

/// The rows of one queue pair.
#[derive(Debug)]
pub(super) struct Life<'a> {
    pub(super) first: &'a QueuePairRow,
    pub(super) last: &'a QueuePairRow,
    /// States in the order of the rows.
    pub(super) states: Vec<&'a str>,
}

/// Finds the lives in rows, in the order of time. Every row belongs to one.
pub(super) fn lives(rows: &[QueuePairRow]) -> Result<Vec<Life<'_>>> {
    let mut lives = Vec::new();
    let mut open: BTreeMap<(&str, &str, u32), Life<'_>> = BTreeMap::new();
    for row in rows {
        let key = (&*row.observer, &*row.device, row.local_qpn);
        if row.event.as_deref() == Some("first") {
            let before = open.insert(
                key,
                Life {
                    first: row,
                    last: row,
                    states: vec![&*row.state],
                },
            );
            ensure!(before.is_none(), "two at once: {before:?} and {row:?}");
            continue;
        }
        let life = open.get_mut(&key).with_context(|| format!("no first row: {row:?}"))?;
        life.last = row;
        if life.states.last() != Some(&&*row.state) {
            life.states.push(&row.state);
        }
        if row.event.as_deref() == Some("gone") {
            lives.extend(open.remove(&key));
        }
    }
    lives.extend(open.into_values());
    Ok(lives)
}

impl Life<'_> {
    /// Whether it is of this process.
    pub(super) fn is_of(&self, observer: &str, pid: u32) -> bool {
        &*self.last.observer == observer && self.last.pid == Some(pid)
    }

    /// It began and ended in this time, as events of the kernel tell.
    pub(super) fn is_whole(&self, time_ns: Range<i64>) -> Result<()> {
        let last = self.last;
        let (Some(created_ns), Some(ended_ns)) = (last.created_ns, last.ended_ns) else {
            anyhow::bail!("its begin or its end is unknown: {last:?}");
        };
        ensure!(
            time_ns.start <= created_ns && created_ns < ended_ns && ended_ns <= time_ns.end,
            "it was between {created_ns} and {ended_ns}, its process between {time_ns:?}"
        );
        ensure!(
            self.first.first_ns == created_ns && &*last.source == "kernel events",
            "not by events: {last:?}"
        );
        Ok(())
    }
}
