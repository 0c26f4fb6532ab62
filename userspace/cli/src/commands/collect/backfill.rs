//! Rows of the dataset from windows before the start.
//!
//! A killed collector had rows that were stored but not analyzed yet, and state about recently anomalous NICs.
//! The last rows of the dataset restore both.

use super::mesh::{nanos, now_ns};
use crate::arguments::CollectArguments;
use anyhow::Result;
use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use rocescope_model::{PathRow, ProbeRow, Row, SlaRow, Time};
use rocescope_store::{Query, TimeRange, repair};
use std::time::Duration;

/// Search for paths this far back: agents write them again every few minutes.
const PATHS_NS: i64 = 900_000_000_000;
/// As the collector accepts.
const MAX_AHEAD: Duration = Duration::from_secs(300);

/// Feeds the analyzer, and skips the windows that have been analyzed.
pub(super) fn feed(arguments: &CollectArguments, settings: &Settings, analyzer: &mut Analyzer) -> Result<()> {
    if !arguments.out.is_dir() {
        return Ok(());
    }
    repair(&arguments.out)?;
    let now = now_ns();
    let from = now - nanos(arguments.lateness) - settings.sticky_ns - 2 * settings.window_ns;
    let since = |from_ns| TimeRange::since(Time(from_ns));
    // An analysis may be later than its probes.
    let analyses = since(from).from_whole_hour();
    let earliest = since(from.min(now - PATHS_NS)).from_whole_hour();
    let tables = [PathRow::TABLE, ProbeRow::TABLE, SlaRow::TABLE];
    let read = Query::default().tables(&tables).within(earliest);
    let found = read.scan(&arguments.out)?;
    let paths = found.select::<PathRow>().within(since(now - PATHS_NS));
    // Earlier collectors stored rows dated ahead, which would wait in memory until then.
    let last = now + nanos(MAX_AHEAD);
    paths.for_each(|row| {
        if row.time_ns <= last {
            analyzer.path(&row);
        }
    })?;
    let probes = found.select::<ProbeRow>().within(since(from));
    probes.for_each(|row| {
        if row.time_ns <= last {
            analyzer.probe(&row);
        }
    })?;
    let mut analysed = i64::MIN;
    found.select::<SlaRow>().within(analyses).for_each(|row| {
        if row.observer.as_str() == arguments.observer {
            analysed = analysed.max(row.window_start_ns + row.window_ns);
        }
    })?;
    // These windows have been analyzed and stored.
    analyzer.advance(Time(analysed));
    Ok(())
}
