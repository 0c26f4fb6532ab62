//! What the dataset holds of the windows before the start.
//!
//! A collector that was killed had rows in hand that were stored and not analysed yet, and knew which NICs
//! were anomalous a minute ago. Both follow from the last rows of the dataset.

use super::mesh::{nanos, now_ns};
use crate::arguments::CollectArguments;
use anyhow::Result;
use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use rocescope_model::{PathRow, ProbeRow, Row, SlaRow, Time};
use rocescope_store::{Query, TimeRange, repair};

/// Paths are written again every few minutes: so far back they are looked for.
const PATHS_NS: i64 = 900_000_000_000;

/// Feeds the analyzer, and passes the windows that have been analysed.
pub(super) fn feed(
    arguments: &CollectArguments,
    settings: &Settings,
    analyzer: &mut Analyzer,
) -> Result<()> {
    if !arguments.out.is_dir() {
        return Ok(());
    }
    repair(&arguments.out)?;
    let now = now_ns();
    let from = now - nanos(arguments.lateness) - settings.sticky_ns - 2 * settings.window_ns;
    let since = |from_ns| TimeRange::since(Time(from_ns));
    // An analysis may be a while behind its probes.
    let analyses = since(from).from_whole_hour();
    let earliest = since(from.min(now - PATHS_NS)).from_whole_hour();
    let tables = [PathRow::TABLE, ProbeRow::TABLE, SlaRow::TABLE];
    let read = Query::default().tables(&tables).within(earliest);
    let found = read.scan(&arguments.out)?;
    let paths = found.select::<PathRow>().within(since(now - PATHS_NS));
    paths.for_each(|row| analyzer.path(&row))?;
    let probes = found.select::<ProbeRow>().within(since(from));
    probes.for_each(|row| analyzer.probe(&row))?;
    let mut analysed = i64::MIN;
    found.select::<SlaRow>().within(analyses).for_each(|row| {
        if row.observer.as_str() == arguments.observer {
            analysed = analysed.max(row.window_start_ns + row.window_ns);
        }
    })?;
    // They are there already, as they were seen then.
    analyzer.advance(Time(analysed));
    Ok(())
}
