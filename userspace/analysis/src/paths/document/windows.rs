//! The Flow Imbalance Metric of each window of a dataset: of the flows that the capture saw in it.
//!
//! A flow has the path of the last run that started before the end of the window, otherwise of the first run.

use crate::dataset;
use crate::paths::fim::Fim;
use crate::paths::runs::runs;
use rocescope_diagnose::paths::{Fabric, Imbalance};
use rocescope_model::{FLOW_PATH_TABLES, Time, json, render};
use rocescope_paths::document::fim::percent;
use rocescope_store::{Error, Query, TimeRange};
use serde::Serialize;
use std::path::Path;

/// The metric of a window.
#[derive(Debug, Serialize)]
pub struct WindowFim {
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

/// The metric of each window of a dataset; `take` gets the start, the length and the loads of each.
///
/// # Errors
/// The operating system refuses to read a segment.
pub fn each(
    fabric: &Fabric,
    root: &Path,
    time: TimeRange,
    mut take: impl FnMut(i64, i64, &Imbalance),
) -> Result<Vec<WindowFim>, Error> {
    // A run may have started before the time that is asked for.
    let runs = runs(&Query::default().tables(FLOW_PATH_TABLES).open(root)?)?;
    let found = Query::default().within(time).open(root)?;
    let mut windows = Vec::new();
    dataset::hours(&mut Fim::new(fabric.clone(), &runs), &found, time, |_, window| {
        let imbalance = &window.imbalance;
        take(window.start_ns, window.window_ns, imbalance);
        windows.push(WindowFim {
            window_start: Time(window.start_ns),
            window_ns: window.window_ns,
            flows: imbalance.flows,
            flows_without_path: window.unknown,
            fim_percent: imbalance.fim_percent,
            bytes_fim_percent: imbalance.bytes_fim_percent,
        });
        Ok::<(), Error>(())
    })?;
    Ok(windows)
}

/// A line for each window.
#[must_use]
pub fn text(windows: &[WindowFim]) -> String {
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
