//! Every value, once.

use rocescope_model::{CounterRow, render};

const COLUMNS: &[&str] = &["device", "port", "source", "name", "metric", "value", "unit", "text"];

/// A line for each counter.
pub(super) fn text(rows: &[CounterRow]) -> String {
    let options = render::Options {
        columns: Some(COLUMNS),
        ..render::Options::default()
    };
    render::table(&rows, options)
}
