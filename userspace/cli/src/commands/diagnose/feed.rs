//! Feeds rows of `probes` and `paths` to the analyzer.
//!
//! The segments of an hour are read in the order in which they begin, and a window is analyzed once no unread segment
//! begins before its end. So the analyzer holds the probes, 16 bytes each, of as long as a segment lasts.

use super::hosts;
use crate::commands::span::PATHS_NS;
use anyhow::Result;
use rocescope_diagnose::hostmesh::counted::Counted;
use rocescope_diagnose::hostmesh::{Analyzer, WindowDiagnosis};
use rocescope_model::{Column, CounterRow, PathRow, ProbeRow, Time};
use rocescope_store::{Scan, TimeRange};
use std::collections::BTreeSet;

/// This time and that of the paths which are known at its start.
pub(super) fn with_earlier_paths(time: TimeRange) -> TimeRange {
    let from = time.from.map(|from| Time(from.0.saturating_sub(PATHS_NS)));
    TimeRange { from, ..time }
}

/// Feeds all hours in order, and passes each window on, with the analyzer right after it.
pub(super) fn hours(
    found: &Scan,
    time: TimeRange,
    analyzer: &mut Analyzer,
    mut take: impl FnMut(&Analyzer, WindowDiagnosis) -> Result<()>,
) -> Result<()> {
    let all = found.select::<ProbeRow>().within(time).columns(is_read);
    let paths = found.select::<PathRow>().columns(is_read);
    let hours: BTreeSet<&str> = all.hours().union(&paths.hours()).copied().collect();
    for hour in hours {
        let of_hour = paths.clone().of_hour(hour);
        of_hour.for_each_in_parallel(|row| analyzer.path(row))?;
        let mut last_ns = i64::MIN;
        for (step, next) in all.clone().of_hour(hour).steps(STEP_ROWS) {
            step.for_each_in_parallel(|row| {
                last_ns = last_ns.max(row.time_ns);
                analyzer.probe(row);
            })?;
            while let Some(diagnosis) = next.and_then(|next| analyzer.advance_one(next)) {
                take(analyzer, diagnosis)?;
            }
        }
        if last_ns == i64::MIN {
            continue;
        }
        // The next hour has no rows from before the last probe's hour; its window may continue there.
        let ended = Time(last_ns).hours().saturating_add(1).saturating_mul(HOUR_NS);
        while let Some(diagnosis) = analyzer.advance_one(Time(ended)) {
            take(analyzer, diagnosis)?;
        }
    }
    while let Some(diagnosis) = analyzer.finish_one() {
        take(analyzer, diagnosis)?;
    }
    Ok(())
}

/// The probes that are read before the next windows are analyzed: enough for two threads, and 16 MB.
const STEP_ROWS: u64 = 1_000_000;

/// Reads what hosts count about these NICs; the time before shows what was known at its start.
pub(super) fn counted<'a>(found: &Scan, time: TimeRange, nics: impl Iterator<Item = &'a str>) -> Result<Counted> {
    let mut counted = Counted::new(nics);
    if !counted.is_empty() {
        let rows = found
            .select::<CounterRow>()
            .within(hosts::feed::with_earlier_counters(time));
        rows.columns(is_joined).for_each(|row| counted.add(&row))?;
    }
    Ok(counted)
}

/// Whether the join reads a column of `counters`; the others may be null.
fn is_joined(column: &Column) -> bool {
    const UNREAD: [&str; 8] = [
        "priority",
        "dimension",
        "level",
        "sign",
        "side",
        "raw_value",
        "text",
        "rate",
    ];
    !UNREAD.contains(&column.name)
}

const HOUR_NS: i64 = 3_600_000_000_000;

/// Whether the analysis reads a column; the others are null or empty.
pub(in crate::commands) fn is_read(column: &Column) -> bool {
    const UNREAD: [&str; 9] = [
        "time",
        "sequence",
        "nic_send_ns",
        "nic_receive_ns",
        "app_receive_ns",
        "clock_offset_ns",
        "clock_source",
        "round_trip_ns",
        "reason",
    ];
    !UNREAD.contains(&column.name)
}
