//! The part of a live capture in the summary.

use crate::live::{Cost, LiveReport};
use rocescope_model::human::{grouped as count, readable};
use rocescope_model::{Unit, Value};
use std::fmt::Write;

/// The part of a live capture.
pub(super) fn write(out: &mut String, live: &LiveReport, frames: u64) -> std::fmt::Result {
    let dropped = live.socket_dropped;
    match live.nic_dropped {
        Some(nic) => writeln!(
            out,
            "At port   {} = {} seen + {} dropped by the interface + {} dropped by the socket",
            count(frames + nic + dropped),
            count(frames),
            count(nic),
            count(dropped)
        )?,
        None => writeln!(
            out,
            "At port   unknown: {} seen, {} dropped by the socket",
            count(frames),
            count(dropped)
        )?,
    }
    for (name, grown) in &live.driver_drops {
        writeln!(out, "Driver    {name} {}", count(*grown))?;
    }
    if live.blind_intervals > 0 {
        writeln!(
            out,
            "Blind     {} intervals, {:.0} ms over all CPUs: {} runs did not fit into a full ring",
            count(live.blind_intervals),
            live.blind_ns as f64 / 1e6,
            count(live.lost_runs)
        )?;
    }
    if live.lost_events > 0 {
        writeln!(
            out,
            "Control   {} CM datagrams and TCP segments did not fit into a full ring: handshakes may be missing",
            count(live.lost_events)
        )?;
    }
    if let Some(reason) = &live.xdp_refused {
        writeln!(out, "XDP       unavailable: {reason}")?;
    }
    for (interface, mode) in &live.interfaces {
        writeln!(out, "Captured  {interface} with {mode}")?;
    }
    if let Some(verdict) = &live.verdict {
        writeln!(out, "Verdict   {}: {}", verdict.name(), verdict.reason)?;
    }
    write_cost(out, &live.cost)
}

/// What the capture itself used, and how far it was from losing packets.
fn write_cost(out: &mut String, cost: &Cost) -> std::fmt::Result {
    let bytes = cost.resident_bytes.and_then(|bytes| i64::try_from(bytes).ok());
    let memory = bytes.map_or_else(
        || "memory unknown".into(),
        |bytes| readable(&Value::I64(bytes), Unit::Bytes),
    );
    writeln!(
        out,
        "Own cost  {:.1} % of a core, {memory}; the buffer before it was at most {:.1} % full: at 100 % packets are lost",
        100.0 * cost.cpu_ratio,
        100.0 * cost.peak_buffer_ratio
    )
}
