//! The Flow Imbalance Metric of each window of a dataset: of the flows that the capture saw in it.
//!
//! A flow has the path of the last run that started before the end of the window, otherwise of the first run.

use super::fim::percent;
use anyhow::{Result, ensure};
use rocescope_analysis::paths::captured::{Captured, flow_of};
use rocescope_analysis::paths::runs::{CapturedKey, captured_key, runs};
use rocescope_diagnose::paths::{Direction, Fabric, Imbalance, Loads, Walk};
use rocescope_model::{FLOW_PATH_TABLES, FlowRow, Time, json, render};
use rocescope_store::{Query, TimeRange};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The metric of a window.
#[derive(Debug, Serialize)]
pub(super) struct WindowFim {
    window_start: Time,
    window_ns: i64,
    /// Flows with a path.
    flows: u64,
    /// Flows whose path is unknown.
    flows_without_path: u64,
    #[serde(serialize_with = "json::float")]
    fim_percent: Option<f64>,
    #[serde(serialize_with = "json::float")]
    bytes_fim_percent: Option<f64>,
}

pub(super) fn each(
    fabric: &Fabric,
    root: &Path,
    time: TimeRange,
    mut take: impl FnMut(i64, i64, &Imbalance),
) -> Result<Vec<WindowFim>> {
    ensure!(
        root.is_dir(),
        "--windows needs a dataset with the tables `flows` and `flow_paths`, and {} is a file",
        root.display()
    );
    // A run may have started before the time that is asked for.
    let runs = runs(&Query::default().tables(FLOW_PATH_TABLES).open(root)?)?;
    let found = Query::default().within(time).open(root)?;
    let walked = |paths: &[rocescope_paths::KnownPath]| {
        let flows = paths.iter().filter(|path| !path.hops.is_empty());
        let flows = flows.filter_map(|path| Some((captured_key(&path.flow?), Walk::new(fabric, &path.hops).ways)));
        flows.collect::<HashMap<CapturedKey, Vec<Direction>>>()
    };
    let paths: BTreeMap<i64, HashMap<CapturedKey, Vec<Direction>>> =
        runs.iter().map(|(time, run)| (*time, walked(&run.paths))).collect();
    let mut timeline = found.select::<FlowRow>().timeline()?;
    let mut windows = Vec::new();
    while let Some(start_ns) = timeline.next_ns() {
        let rows = timeline.take(start_ns)?;
        let window_ns = rows.first().map_or(0, |(_, row)| row.window_ns);
        let before = paths.range(..start_ns.saturating_add(window_ns.max(1))).next_back();
        let Some((_, known)) = before.or_else(|| paths.first_key_value()) else {
            continue;
        };
        let mut loads = Loads::new(fabric);
        let mut unknown = 0;
        let mut captured = Captured::default();
        for (_, row) in &rows {
            match flow_of(row) {
                Some(flow) => captured.add(flow, row),
                None => unknown += 1,
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
        for (key, bytes) in captured.five_tuples() {
            match known.get(&key) {
                Some(ways) => loads.add(ways, Some(bytes as f64 * 8e9 / window_ns.max(1) as f64)),
                None => unknown += 1,
            }
        }
        let imbalance = loads.imbalance(fabric);
        take(start_ns, window_ns, &imbalance);
        windows.push(WindowFim {
            window_start: Time(start_ns),
            window_ns,
            flows: imbalance.flows,
            flows_without_path: unknown,
            fim_percent: imbalance.fim_percent,
            bytes_fim_percent: imbalance.bytes_fim_percent,
        });
    }
    Ok(windows)
}

pub(super) fn text(windows: &[WindowFim]) -> String {
    let heading = ["Window", "Flows", "Without path", "FIM", "FIM by rate"];
    let mut lines = vec![heading.map(String::from).to_vec()];
    lines.extend(windows.iter().map(|window| {
        vec![
            format!("{:.0}", window.window_start),
            window.flows.to_string(),
            window.flows_without_path.to_string(),
            percent(window.fim_percent),
            percent(window.bytes_fim_percent),
        ]
    }));
    render::align(&lines, &[false, true, true, true, true])
}
