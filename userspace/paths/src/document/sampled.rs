//! Flows from the samples of switches, what was stored of their ports, and what they dropped.

use crate::sflow::{Counts, SampledFlow};
use crate::switch::DropTotals;
use rocescope_model::human::{self, Rates, plural};
use rocescope_model::{json, render};
use serde::Serialize;
use std::time::Duration;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(serialize_with = "json::float")]
    seconds: f64,
    counts: &'a Counts,
    /// Packets of flows beyond a million, and of points of a flow beyond 32.
    overflow_packets: u64,
    switches: &'a SwitchSummary,
    flows: &'a [SampledFlow],
}

/// What happened to the samples of counters and to the reports of drops.
#[derive(Debug, Default, Serialize)]
pub struct SwitchSummary {
    /// Rows that were stored.
    pub rows: u64,
    /// Rows that were not, because the disk was full or failed.
    pub rows_not_stored: u64,
    /// Readings and reports beyond what is kept at a time: they are in no row.
    pub overflow: u64,
    /// Dropped packets by switch, ports, queue and reason.
    pub drops: DropTotals,
    /// Dropped packets at further places.
    pub drops_elsewhere: u64,
}

/// One JSON object; `overflow_packets` are those of flows beyond the limits.
#[must_use]
pub fn document(
    took: Duration,
    counts: &Counts,
    (flows, overflow_packets): (&[SampledFlow], u64),
    switches: &SwitchSummary,
) -> String {
    json::pretty(&Document {
        seconds: took.as_secs_f64(),
        counts,
        overflow_packets,
        switches,
        flows,
    }) + "\n"
}

/// A line for each flow, the counts, and a line for each place of drops.
#[must_use]
pub fn text(counts: &Counts, flows: &[SampledFlow], switches: &SwitchSummary) -> String {
    let mut lines = vec![
        [
            "Source",
            "Destination",
            "Port",
            "QP",
            "Samples",
            "Points",
            "Packets",
            "Error",
            "Rate",
        ]
        .map(String::from)
        .to_vec(),
    ];
    lines.extend(flows.iter().map(|found| {
        vec![
            found.flow.src.to_string(),
            found.flow.dst.to_string(),
            found.flow.src_port.to_string(),
            found.flow.dst_qpn.map_or_else(|| "-".into(), |qpn| qpn.to_string()),
            found.samples.to_string(),
            found.points.to_string(),
            found.packets.to_string(),
            format!("±{:.0} %", found.error_percent),
            human::rate(found.bps, Rates::default()),
        ]
    }));
    let mut text = render::align(&lines, &[false, false, true, true, true, true, true, true, true]);
    text.push_str(&format!(
        "\n{}, {} missing, {} of frames, {}\n",
        plural(counts.datagrams, "datagram"),
        counts.missing_datagrams,
        plural(counts.flow_samples, "sample"),
        plural(counts.packets, "RoCEv2 packet"),
    ));
    for (what, reasons) in [
        ("unreadable datagrams", &counts.unreadable),
        ("other frames", &counts.not_roce),
    ] {
        for (reason, count) in reasons {
            text.push_str(&format!("{what}: {count} {reason}\n"));
        }
    }
    text.push_str(&format!(
        "{} of counters, {} stored\n",
        plural(counts.counter_samples, "sample"),
        plural(switches.rows, "row"),
    ));
    for (count, what) in [
        (
            counts.other_counter_samples,
            "samples of counters are of no port, or came late",
        ),
        (
            counts.unreported_drops,
            "dropped packets were not reported: there were too many",
        ),
        (switches.rows_not_stored, "rows were not stored"),
        (
            switches.overflow,
            "readings and reports are beyond what is kept at a time",
        ),
    ] {
        if count > 0 {
            text.push_str(&format!("{count} {what}\n"));
        }
    }
    for drop in switches.drops.largest() {
        text.push_str(&format!("dropped: {drop}\n"));
    }
    if switches.drops_elsewhere > 0 {
        text.push_str(&format!("dropped: {} at further places\n", switches.drops_elsewhere));
    }
    text
}
