//! Merges consecutive windows of one observer into one, by the rules over time.
//!
//! A row of `flows` has what the flow had in all of the windows. Windows that list all their flows add up exactly. A
//! flow may also have sent in a window that does not list it: its sizes and errors grow by what that window can hide, so
//! that sizes stay upper bounds.

use super::flows::Merged;
use super::{MergeError, Part, opcodes, set_sketches, spread, total};
use crate::flow_estimate::needs_hyper_log_log;
use rocescope_model::{Over, Row, WindowRows};

/// Merges the windows of one observer, in order, each with its flows, opcodes and spread. Of the flows, the `flow_rows`
/// largest remain.
///
/// Every row has the span of the row of `windows`.
///
/// # Errors
/// [`MergeError`] if the sketches are invalid or do not merge.
pub fn merge_time(parts: &[Part], flow_rows: usize) -> Result<WindowRows, MergeError> {
    let mut rows = WindowRows::default();
    let Some(mut window) = total(parts, Over::Time) else {
        return Ok(rows);
    };
    let mut merged = Merged::of(parts, Over::Time)?;
    let is_full = |bitmap: &rocescope_sketches::LinearCounting| needs_hyper_log_log(&bitmap.estimate());
    let bitmap = merged.sketches.flows.as_ref();
    let hll = bitmap
        .is_some_and(is_full)
        .then(|| merged.sketches.hyper_log_log())
        .flatten();
    let span = (window.window_start, window.window_start_ns, window.window_ns);
    rows.spread = spread::merge(parts, &mut merged.rows, Over::Time);
    rows.opcodes = opcodes(parts, Over::Time);
    set_sketches(&mut window, merged.sketches, hll);
    rows.windows.push(window);
    rows.flows = merged.rows;
    rows.flows.truncate(flow_rows);
    for row in &mut rows.flows {
        (row.window_start, row.window_start_ns, row.window_ns) = span;
        row.recompute();
    }
    for row in &mut rows.opcodes {
        (row.window_start, row.window_start_ns, row.window_ns) = span;
        row.recompute();
    }
    for row in &mut rows.spread {
        (row.window_start, row.window_start_ns, row.window_ns) = span;
    }
    Ok(rows)
}
