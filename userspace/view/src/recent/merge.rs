//! Merges the rows of several windows into one.

use super::Shown;
use rocescope_model::{FlowRow, OpcodeRow, Over, Row, Time, WindowRow, WindowRows};
use std::collections::HashMap;
use std::sync::Arc;

/// Frame bits per second of a window.
pub(super) fn frame_bps(window: &WindowRow) -> f64 {
    window.frame_bytes as f64 * 8e9 / window.window_ns.max(1) as f64
}

/// Merges these windows, at least one, into one that begins at `from_ns` and lasts `span_ns`.
pub(super) fn windows(windows: &[&Arc<WindowRows>], from_ns: i64, span_ns: i64) -> Shown {
    let totals = || windows.iter().flat_map(|rows| &rows.windows);
    let whole = totals().all(|window| window.flows_exact)
        && totals().map(|window| window.flows).sum::<u64>()
            == windows.iter().map(|rows| rows.flows.len() as u64).sum::<u64>();
    let alone = totals().count() == 1;
    let rows = match windows {
        [rows] if alone => Arc::clone(rows),
        _ => Arc::new(WindowRows {
            flows: flows(windows, from_ns, span_ns),
            opcodes: opcodes(windows, from_ns, span_ns),
            ..WindowRows::default()
        }),
    };
    let mut total = total(totals(), from_ns, span_ns);
    if !alone && whole {
        total.flows = rows.flows.len() as u64;
        total.elephant_flows = rows.flows.iter().filter(|row| row.elephant).count() as u64;
    }
    Shown {
        total,
        more_flows: !alone && !whole,
        rows,
        ..Shown::default()
    }
}

/// The sums. Distinct flows do not add up: the maximum of one window is used instead.
fn total<'a>(windows: impl Iterator<Item = &'a WindowRow>, from_ns: i64, ns: i64) -> WindowRow {
    let mut sum = WindowRow::default();
    for (at, window) in windows.enumerate() {
        if at == 0 {
            sum = window.without_sketches();
        } else {
            let exact = sum.flows_exact && window.flows_exact;
            sum.merge(window, Over::Time);
            sum.flows_exact = exact;
        }
        sum.observer.clone_from(&window.observer);
    }
    (sum.window_start, sum.window_start_ns, sum.window_ns) = (Time(from_ns), from_ns, ns);
    sum.mouse_flows = sum.flows.saturating_sub(sum.elephant_flows);
    sum
}

/// Flows by observer and hash, largest first. The error bounds of the windows add up.
fn flows(windows: &[&Arc<WindowRows>], from_ns: i64, ns: i64) -> Vec<FlowRow> {
    let mut at: HashMap<(&str, i64), usize> = HashMap::new();
    let mut merged: Vec<FlowRow> = Vec::new();
    for row in windows.iter().flat_map(|rows| &rows.flows) {
        let place = *at.entry((row.observer.as_str(), row.flow_hash)).or_insert(merged.len());
        let Some(sum) = merged.get_mut(place) else {
            merged.push(row.clone());
            continue;
        };
        sum.merge(row, Over::Time);
    }
    merged.sort_by_key(|row| core::cmp::Reverse(row.frame_bytes));
    for (row, rank) in merged.iter_mut().zip(1..) {
        row.rank = rank;
        (row.window_start, row.window_start_ns, row.window_ns) = (Time(from_ns), from_ns, ns);
        row.recompute();
    }
    merged
}

fn opcodes(windows: &[&Arc<WindowRows>], from_ns: i64, ns: i64) -> Vec<OpcodeRow> {
    let mut merged: Vec<OpcodeRow> = Vec::new();
    for row in windows.iter().flat_map(|rows| &rows.opcodes) {
        let same = |sum: &&mut OpcodeRow| sum.opcode_number == row.opcode_number;
        match merged.iter_mut().find(same) {
            Some(sum) => sum.merge(row, Over::Time),
            None => merged.push(row.clone()),
        }
    }
    for row in &mut merged {
        (row.window_start, row.window_start_ns, row.window_ns) = (Time(from_ns), from_ns, ns);
        row.recompute();
    }
    merged
}
