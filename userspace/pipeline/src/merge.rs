//! Merges the rows of one window from several observers, as if one observer had seen all packets.
//!
//! The points are assumed to see different packets: a packet that passed two mirrors counts two times.
//! Columns add up by their own rules ([`Rule`](rocescope_model::Rule)); sketches are merged here, and the numbers
//! derived from them recomputed. A flow that one point lists may also have passed another that does not list it: its
//! error columns include that, so sizes are still upper bounds.
//!
//! | module | what it holds |
//! |---|---|
//! | `part` | the rows of one point, and merge errors |
//! | [`parameters`] | parameters that must be equal in all datasets |
//! | `sketches` | merges sketches |
//! | `flows` | merges flows by key |
//! | `spread` | merges the ports of sprayed directions |
//! | [`mod@time`] | merges consecutive windows of one observer |

mod flows;
pub mod parameters;
mod part;
mod sketches;
mod spread;
pub mod time;

pub use parameters::{Differs, Parameters};
pub use part::{MergeError, Part, Target};
pub use time::merge_time;

use crate::flow_estimate::{FlowEstimate, needs_hyper_log_log};
use crate::sketch_columns::bitmap as bitmap_column;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use flows::Merged;
use part::hash;
use rocescope_model::{OpcodeRow, Over, Row, WindowRow, WindowRows};
use rocescope_sketches::{HyperLogLog, LinearCounting};
use sketches::Sum;

/// Merges the rows of one window, except events, which need no merging.
///
/// # Errors
/// [`MergeError`] if the sketches do not merge.
pub fn merge_window(parts: &[Part], target: &Target) -> Result<WindowRows, MergeError> {
    let mut rows = WindowRows::default();
    if let [part] = parts
        && part.windows.len() <= 1
    {
        rows.windows.clone_from(&part.windows);
        rows.flows.clone_from(&part.flows);
        rows.opcodes.clone_from(&part.opcodes);
        rows.spread.clone_from(&part.spread);
    } else {
        let mut merged = Merged::of(parts, Over::Observers)?;
        merged.set_elephants(target.elephant_bps);
        rows.windows.extend(window(parts, &merged)?);
        rows.opcodes = opcodes(parts, Over::Observers);
        rows.flows = merged.rows;
        rows.spread = spread::merge(parts, &mut rows.flows, Over::Observers);
    }
    let WindowRows {
        windows,
        flows,
        opcodes,
        spread,
        ..
    } = &mut rows;
    let observers = windows.iter_mut().map(|row| &mut row.observer);
    let observers = observers.chain(flows.iter_mut().map(|row| &mut row.observer));
    let observers = observers.chain(spread.iter_mut().map(|row| &mut row.observer));
    for observer in observers.chain(opcodes.iter_mut().map(|row| &mut row.observer)) {
        observer.clone_from(&target.observer);
    }
    Ok(rows)
}

fn window(parts: &[Part], merged: &Merged) -> Result<Option<WindowRow>, MergeError> {
    let Some(mut row) = total(parts, Over::Observers) else {
        return Ok(None);
    };
    let hashes = merged.rows.iter().map(|row| hash(row.flow_hash));
    let bitmap = match &merged.sketches.flows {
        _ if merged.complete => {
            let mut listed = LinearCounting::default();
            hashes.for_each(|hash| listed.add(hash));
            listed.estimate()
        }
        Some(bitmap) => bitmap.estimate(),
        None => return Err(MergeError::NoSketches),
    };
    let hll = needs_hyper_log_log(&bitmap)
        .then(|| merged.sketches.hyper_log_log())
        .flatten();
    let estimate = FlowEstimate::new(&bitmap, hll.as_ref());
    row.flows_exact = merged.complete;
    row.flows = if merged.complete {
        merged.rows.len() as u64
    } else {
        estimate.rounded()
    };
    row.estimated_flows = estimate.flows;
    row.estimated_flows_stderr_ratio = estimate.stderr_ratio;
    // An elephant that its point does not list is also an elephant of the merged window.
    let unlisted = parts.iter().flat_map(|part| &part.windows);
    let unlisted = unlisted.map(|row| row.elephant_flows).max().unwrap_or(0);
    let listed = merged.rows.iter().filter(|row| row.elephant).count() as u64;
    row.elephant_flows = listed.max(if merged.complete { 0 } else { unlisted });
    row.mouse_flows = row.flows.saturating_sub(row.elephant_flows);
    set_sketches(&mut row, merged.sketches.clone(), hll);
    Ok(Some(row))
}

/// The sum of the totals, without sketches.
fn total(parts: &[Part], over: Over) -> Option<WindowRow> {
    let mut rows = parts.iter().flat_map(|part| &part.windows);
    let mut total = rows.next()?.without_sketches();
    rows.for_each(|other| total.merge(other, over));
    Some(total)
}

/// Sets the columns of the sketches.
fn set_sketches(row: &mut WindowRow, sketches: Sum, hll: Option<HyperLogLog>) {
    row.linear_counting = sketches.flows.as_ref().map(bitmap_column);
    row.hll_flows = hll
        .filter(|_| row.linear_counting.is_some())
        .map(|hll| hll.to_datasketches().into());
    let (packets, frame_bytes) = sketches.count_min();
    row.count_min_packets = packets.map(|table| table.to_spark().into());
    row.count_min_bytes = frame_bytes.map(|table| table.to_spark().into());
}

fn opcodes(parts: &[Part], over: Over) -> Vec<OpcodeRow> {
    let mut opcodes: BTreeMap<u8, OpcodeRow> = BTreeMap::new();
    for row in parts.iter().flat_map(|part| &part.opcodes) {
        opcodes
            .entry(row.opcode_number)
            .and_modify(|sum| sum.merge(row, over))
            .or_insert_with(|| row.clone());
    }
    opcodes.into_values().collect()
}
