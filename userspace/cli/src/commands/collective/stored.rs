//! What a dataset already has of an import: the same run twice would have two of each step and twice the traffic.

use anyhow::{Result, ensure};
use rocescope_collective::read::Imported;
use rocescope_model::{Cells, Row, StepRow, TelemetryRow, Time};
use rocescope_store::{Query, TimeRange};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// Refuses an import of which the dataset has a row already.
pub(super) fn check(root: &Path, observer: &str, imported: &Imported) -> Result<()> {
    let steps = stored::<StepRow>(root, observer, &imported.steps, |row| row.time_ns)?;
    let telemetry = stored::<TelemetryRow>(root, observer, &imported.telemetry, |row| row.time_ns)?;
    let all = imported.steps.len() + imported.telemetry.len();
    ensure!(
        steps + telemetry == 0,
        "{} has {} of these {all} rows already: nothing was written; import another run into it, or this one into another directory",
        root.display(),
        steps + telemetry
    );
    Ok(())
}

/// How many of these rows the dataset has.
fn stored<R: Row>(root: &Path, observer: &str, rows: &[R], time_ns: fn(&R) -> i64) -> Result<usize> {
    let times = rows.iter().map(time_ns);
    let (Some(first), Some(last)) = (times.clone().min(), times.max()) else {
        return Ok(0);
    };
    if !root.is_dir() {
        return Ok(0);
    }
    let time = TimeRange {
        from: Some(Time(first)),
        to: Some(Time(last.saturating_add(1))),
    };
    let found = Query::default()
        .tables(&[R::TABLE])
        .observers([observer])
        .within(time)
        .scan(root)?;
    let known: HashSet<u64> = hashes(&found.rows::<R>()?).collect();
    Ok(hashes(&rows).filter(|hash| known.contains(hash)).count())
}

/// A hash of all cells of each row.
fn hashes(rows: &dyn Cells) -> impl Iterator<Item = u64> {
    let columns = rows.table().columns.len();
    (0..rows.rows()).map(move |row| {
        let mut hasher = DefaultHasher::new();
        for column in 0..columns {
            format!("{:?}", rows.value(row, column)).hash(&mut hasher);
        }
        hasher.finish()
    })
}
