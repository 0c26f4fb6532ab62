//! Feeds rows of `counters`, `flows`, `events` and `connections` to the analyzer.
//!
//! Segments are stored by hour, and host by host within it. So an hour is read before its windows are analyzed; the
//! analyzer keeps sums, not rows.

use anyhow::Result;
use rocescope_diagnose::hosts::{Analyzer, HostsWindow};
use rocescope_model::{Column, ConnectionRow, CounterRow, EventRow, FlowRow, Time};
use rocescope_store::{Scan, TimeRange};
use std::collections::BTreeSet;

/// Counters that do not change have a row every five minutes.
const COUNTERS_NS: i64 = 360_000_000_000;

/// This time, and that of the counters whose values are valid at its start.
pub(in crate::commands::diagnose) fn with_earlier_counters(time: TimeRange) -> TimeRange {
    let from = time.from.map(|from| Time(from.0.saturating_sub(COUNTERS_NS)));
    TimeRange { from, ..time }
}

/// Feeds all hours in order, and passes each window on.
pub(super) fn hours(
    found: &Scan,
    time: TimeRange,
    window_ns: i64,
    analyzer: &mut Analyzer,
    mut take: impl FnMut(HostsWindow) -> Result<()>,
) -> Result<()> {
    let time = with_earlier_counters(time);
    let counters = found.select::<CounterRow>().within(time);
    let flows = found.select::<FlowRow>().within(time);
    let events = found.select::<EventRow>().within(time);
    let connections = found.select::<ConnectionRow>().within(time).columns(is_read);
    let hours = [counters.hours(), flows.hours(), events.hours(), connections.hours()];
    let hours: BTreeSet<&str> = hours.into_iter().flatten().collect();
    for hour in hours {
        let mut last_ns = i64::MIN;
        counters.clone().of_hour(hour).for_each_in_parallel(|row| {
            last_ns = last_ns.max(row.time_ns);
            analyzer.counter(row);
        })?;
        flows.clone().of_hour(hour).for_each_in_parallel(|row| {
            last_ns = last_ns.max(row.window_start_ns);
            analyzer.flow(row);
        })?;
        events.clone().of_hour(hour).for_each_in_parallel(|row| {
            last_ns = last_ns.max(row.time_ns);
            analyzer.event(row);
        })?;
        connections
            .clone()
            .of_hour(hour)
            .for_each_in_parallel(|row| analyzer.connection(row))?;
        if last_ns == i64::MIN {
            continue;
        }
        // The next hour's first reads tell of the last window of this one.
        let ended = Time(last_ns).hours().saturating_add(1).saturating_mul(HOUR_NS);
        while let Some(window) = analyzer.advance_one(Time(ended.saturating_sub(window_ns))) {
            take(window)?;
        }
    }
    while let Some(window) = analyzer.finish_one() {
        take(window)?;
    }
    Ok(())
}

const HOUR_NS: i64 = 3_600_000_000_000;

/// Whether the analysis reads a column of `connections`; the others may be null.
fn is_read(column: &Column) -> bool {
    const READ: [&str; 7] = ["connection", "role", "state", "src", "dst", "dst_qpn", "rtt_histogram"];
    READ.contains(&column.name) || !column.nullable
}
