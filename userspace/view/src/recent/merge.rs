//! Rows of several windows as those of one.

use super::Shown;
use rocescope_model::{FlowRow, OpcodeRow, Time, WindowRow, WindowRows};
use std::collections::HashMap;
use std::sync::Arc;

/// Frame bits a second of a window.
pub(super) fn frame_bps(window: &WindowRow) -> f64 {
    bps(window.frame_bytes, window.window_ns)
}

fn bps(bytes: u64, ns: i64) -> f64 {
    bytes as f64 * 8e9 / ns.max(1) as f64
}

/// These windows as one that begins at `from_ns` and lasts `span_ns`; at least one.
pub(super) fn windows(windows: &[&Arc<WindowRows>], from_ns: i64, span_ns: i64) -> Shown {
    let totals = || windows.iter().flat_map(|rows| &rows.windows);
    let whole = totals().all(|window| window.flows_exact)
        && totals().map(|window| window.flows).sum::<u64>()
            == windows.iter().map(|rows| rows.flows.len() as u64).sum();
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

/// The sums. Distinct flows cannot be added: the most that one window had stands for them.
fn total<'a>(windows: impl Iterator<Item = &'a WindowRow>, from_ns: i64, ns: i64) -> WindowRow {
    let mut sum = WindowRow {
        window_start: Time(from_ns),
        window_start_ns: from_ns,
        window_ns: ns,
        flows_exact: true,
        ..WindowRow::default()
    };
    let maybe = |sum: &mut Option<u64>, part: Option<u64>| {
        if let Some(part) = part {
            *sum = Some(sum.unwrap_or(0) + part);
        }
    };
    for window in windows {
        sum.observer = window.observer.clone();
        sum.frames += window.frames;
        sum.roce_packets += window.roce_packets;
        sum.not_roce_frames += window.not_roce_frames;
        sum.malformed_frames += window.malformed_frames;
        sum.fragment_frames += window.fragment_frames;
        sum.filtered_frames += window.filtered_frames;
        sum.snapped_frames += window.snapped_frames;
        sum.roce_v1_frames += window.roce_v1_frames;
        sum.frame_bytes += window.frame_bytes;
        sum.payload_bytes += window.payload_bytes;
        sum.messages += window.messages;
        sum.flows = sum.flows.max(window.flows);
        sum.flows_exact &= window.flows_exact;
        if window.estimated_flows >= sum.estimated_flows {
            sum.estimated_flows = window.estimated_flows;
            sum.estimated_flows_stderr_ratio = window.estimated_flows_stderr_ratio;
        }
        sum.elephant_flows = sum.elephant_flows.max(window.elephant_flows);
        sum.ecn_ce_packets += window.ecn_ce_packets;
        sum.cnp_packets += window.cnp_packets;
        sum.nak_packets += window.nak_packets;
        sum.rnr_nak_packets += window.rnr_nak_packets;
        maybe(&mut sum.icrc_bad_packets, window.icrc_bad_packets);
        sum.unknown_opcode_packets += window.unknown_opcode_packets;
        sum.lost_packets += window.lost_packets;
        sum.late_packets += window.late_packets;
        maybe(&mut sum.mirror_lost_packets, window.mirror_lost_packets);
        sum.jitter_events += window.jitter_events;
    }
    sum.mouse_flows = sum.flows.saturating_sub(sum.elephant_flows);
    sum
}

/// Flows by capture point and hash, largest first. Bounds add up: what each window may exceed the truth
/// by, all may together.
fn flows(windows: &[&Arc<WindowRows>], from_ns: i64, ns: i64) -> Vec<FlowRow> {
    let mut at: HashMap<(&str, i64), usize> = HashMap::new();
    let mut merged: Vec<FlowRow> = Vec::new();
    for row in windows.iter().flat_map(|rows| &rows.flows) {
        let place = *at
            .entry((row.observer.as_str(), row.flow_hash))
            .or_insert(merged.len());
        let Some(sum) = merged.get_mut(place) else {
            merged.push(row.clone());
            continue;
        };
        sum.packets += row.packets;
        sum.frame_bytes += row.frame_bytes;
        sum.payload_bytes += row.payload_bytes;
        sum.messages += row.messages;
        sum.error_packets += row.error_packets;
        sum.error_frame_bytes += row.error_frame_bytes;
        sum.ecn_ce_packets += row.ecn_ce_packets;
        sum.elephant |= row.elephant;
        sum.first_ns = sum.first_ns.min(row.first_ns);
        sum.last_ns = sum.last_ns.max(row.last_ns);
    }
    merged.sort_by_key(|row| core::cmp::Reverse(row.frame_bytes));
    for (row, rank) in merged.iter_mut().zip(1..) {
        row.rank = rank;
        (row.window_start, row.window_start_ns, row.window_ns) = (Time(from_ns), from_ns, ns);
        row.frame_bps = bps(row.frame_bytes, ns);
        row.payload_bps = bps(row.payload_bytes, ns);
    }
    merged
}

fn opcodes(windows: &[&Arc<WindowRows>], from_ns: i64, ns: i64) -> Vec<OpcodeRow> {
    let mut merged: Vec<OpcodeRow> = Vec::new();
    for row in windows.iter().flat_map(|rows| &rows.opcodes) {
        let same = |sum: &&mut OpcodeRow| sum.opcode_number == row.opcode_number;
        match merged.iter_mut().find(same) {
            Some(sum) => {
                sum.packets += row.packets;
                sum.frame_bytes += row.frame_bytes;
                sum.payload_bytes += row.payload_bytes;
                sum.messages += row.messages;
            }
            None => merged.push(row.clone()),
        }
    }
    for row in &mut merged {
        (row.window_start, row.window_start_ns, row.window_ns) = (Time(from_ns), from_ns, ns);
        row.frame_bps = bps(row.frame_bytes, ns);
        row.rate_pps = row.packets as f64 * 1e9 / ns.max(1) as f64;
    }
    merged
}
