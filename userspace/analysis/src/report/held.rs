//! The run that holds in a time, for reports: paths stay as they are until another run finds others.

use crate::Error;
use crate::paths::runs::held;
use rocescope_model::{FlowPathRow, LinkLoadRow, Row};
use rocescope_report::Collector;
use rocescope_store::{Scan, TimeRange};
use std::collections::BTreeSet;

/// Adds the paths of the run that holds in a time, and the loads of links. `stored` has the runs of all times. Returns
/// whether any of these rows is of the time itself.
pub(super) fn collect(stored: &Scan, time: TimeRange, collector: &mut Collector) -> Result<bool, Error> {
    let runs = starts::<FlowPathRow>(stored, "time_ns")?;
    let run = held(&runs, time);
    for rows in stored.select::<FlowPathRow>().within(instant(run)).batches() {
        collector.flow_paths(&rows?);
    }
    let loads = starts::<LinkLoadRow>(stored, "window_start_ns")?;
    let has_loads = loads.iter().any(|start| time.contains(*start));
    let of_loads = if has_loads { time } else { instant(held(&loads, time)) };
    for rows in stored.select::<LinkLoadRow>().within(of_loads).batches() {
        let mut rows = rows?;
        if !has_loads {
            // Only their nodes and links: their windows are of another time.
            rows.iter_mut().for_each(|row| row.window_ns = 0);
        }
        collector.link_loads(&rows);
    }
    Ok(has_loads || run.is_some_and(|run| time.contains(run)))
}

/// The times in a table, each once, in order.
fn starts<R: Row>(stored: &Scan, column: &'static str) -> Result<Vec<i64>, Error> {
    let mut starts = BTreeSet::new();
    stored.select::<R>().integers([column], |[start]| {
        starts.insert(start);
    })?;
    Ok(starts.into_iter().collect())
}

/// The range of one instant; without one, a range that has none.
fn instant(start: Option<i64>) -> TimeRange {
    let start = start.unwrap_or(i64::MIN);
    (start..start.saturating_add(1)).into()
}
