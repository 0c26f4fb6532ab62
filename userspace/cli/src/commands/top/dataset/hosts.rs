//! The counters of hosts in a dataset.

use super::index::Index;
use anyhow::Result;
use rocescope_model::host_ports::{KNOWN_NS, READ_NS, host_ports};
use rocescope_model::{CounterRow, HostPortRow};
use rocescope_store::{Scan, TimeRange};
use std::collections::BTreeSet;
use std::ops::Range;

/// The windows of counters at times without captured traffic.
pub(super) const WINDOW_NS: i64 = 1_000_000_000;

/// The counters that were read last: steps from window to window read only what is new.
#[derive(Debug, Default)]
pub(super) struct Known {
    span: Range<i64>,
    rows: Vec<CounterRow>,
}

/// The starts of all windows with a read of counters, ascending.
pub(super) fn windows(found: &Scan, time: TimeRange) -> Result<Vec<i64>> {
    let mut starts = BTreeSet::new();
    let mut last = None;
    found
        .select::<CounterRow>()
        .within(time)
        .integers(["time_ns"], |[time]| {
            let start = time - time.rem_euclid(WINDOW_NS);
            if last != Some(start) {
                starts.insert(start);
                last = Some(start);
            }
        })?;
    Ok(starts.into_iter().collect())
}

impl Index {
    /// The ports of hosts in a window.
    pub(super) fn host_ports(&mut self, at: usize) -> Result<Vec<HostPortRow>> {
        let Some((start_ns, window_ns)) = self.span(at).filter(|_| self.has_counters()) else {
            return Ok(Vec::new());
        };
        let end_ns = start_ns.saturating_add(window_ns);
        let wanted = start_ns.saturating_sub(KNOWN_NS)..end_ns.saturating_add(READ_NS);
        let mut known = std::mem::take(self.known());
        if (known.span.start..=known.span.end).contains(&wanted.start) && known.span.end <= wanted.end {
            known.rows.retain(|row| row.time_ns >= wanted.start);
            let mut new = self.rows::<CounterRow>(&(known.span.end..wanted.end))?;
            known.rows.append(&mut new);
        } else if known.span != wanted {
            known.rows = self.rows::<CounterRow>(&wanted)?;
        }
        known.span = wanted;
        let ports = host_ports(&known.rows, start_ns, window_ns);
        *self.known() = known;
        Ok(ports)
    }
}
