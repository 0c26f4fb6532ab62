//! What the dataset holds of the windows before the start.
//!
//! A collector that was killed had rows in hand that were stored and not analysed yet, and knew which NICs
//! were anomalous a minute ago. Both follow from the last rows of the dataset.

use super::mesh::{nanos, now_ns};
use crate::arguments::CollectArguments;
use anyhow::{Context, Result};
use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use rocescope_model::{PathRow, ProbeRow, Row, SlaRow, Time};
use rocescope_store::{Scan, repair, scan};

const HOUR_NS: i64 = 3_600_000_000_000;
/// Paths are written again every few minutes: so far back they are looked for.
const PATHS_NS: i64 = HOUR_NS / 4;

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
    let found = scan(&arguments.out)?;
    let now = now_ns();
    let from = now - nanos(arguments.lateness) - settings.sticky_ns - 2 * settings.window_ns;
    each::<PathRow>(&found, now - PATHS_NS, |row| {
        if row.time_ns >= now - PATHS_NS {
            analyzer.path(row);
        }
    })?;
    each::<ProbeRow>(&found, from, |row| {
        if row.time_ns >= from {
            analyzer.probe(row);
        }
    })?;
    let mut analysed = i64::MIN;
    each::<SlaRow>(&found, from, |row| {
        if row.observer.as_str() == arguments.observer {
            analysed = analysed.max(row.window_start_ns + row.window_ns);
        }
    })?;
    // They are there already, as they were seen then.
    analyzer.advance(Time(analysed));
    Ok(())
}

/// The rows of a table, from the hour of an instant on.
fn each<R: Row>(found: &Scan, from_ns: i64, mut take: impl FnMut(&R)) -> Result<()> {
    let civil = Time(from_ns).civil();
    let (year, month, day, hour) = (civil.year, civil.month, civil.day, civil.hour);
    let hour = format!("date={year:04}-{month:02}-{day:02}/hour={hour:02}");
    for segment in found.table(R::TABLE.name) {
        if segment.partition < hour {
            continue;
        }
        for batch in segment.batches(|_| true)? {
            let rows = batch?.typed::<R>();
            let rows = rows.with_context(|| segment.path.display().to_string())?;
            rows.iter().for_each(&mut take);
        }
    }
    Ok(())
}
