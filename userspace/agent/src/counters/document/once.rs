//! Every value, once.

use rocescope_model::{CounterRow, human};
use std::fmt::Write;

const HEADING: [&str; 7] = ["Device", "Port", "Source", "Name", "Metric", "Value", "Unit"];

/// A line for each counter. Values are whole numbers, in full: other commands compare them.
#[must_use]
pub fn text(rows: &[CounterRow]) -> String {
    let lines: Vec<[String; 7]> = rows.iter().map(cells).collect();
    let width = |at: usize| {
        let cells = lines
            .iter()
            .filter_map(|line| line.get(at))
            .map(|cell| cell.chars().count());
        cells.chain([HEADING[at].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADING.len()).map(width).collect();
    let mut text = String::new();
    for line in [HEADING.map(str::to_owned)].iter().chain(&lines) {
        let mut out = String::new();
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            // Writing to a string cannot fail.
            let _ = match at {
                0 => write!(out, "{cell:<width$}"),
                // The number.
                5 => write!(out, "  {cell:>width$}"),
                _ => write!(out, "  {cell:<width$}"),
            };
        }
        text.push_str(out.trim_end());
        text.push('\n');
    }
    text
}

fn cells(row: &CounterRow) -> [String; 7] {
    let value = match (row.value, &row.text) {
        (_, Some(text)) => human::visible(text),
        // A float of more than 2^53 is rounded.
        (Some(value), None) => match row.raw_value {
            Some(raw) if raw as f64 == value => raw.to_string(),
            _ => value.to_string(),
        },
        (None, None) => row.event.as_deref().unwrap_or("-").to_owned(),
    };
    [
        human::visible(&row.device),
        row.port.map_or_else(|| "-".into(), |port| port.to_string()),
        row.source.to_string(),
        human::visible(&row.name),
        row.metric.as_deref().unwrap_or("-").to_owned(),
        value,
        row.unit.to_string(),
    ]
}
