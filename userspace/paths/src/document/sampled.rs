//! Flows from the samples of switches.

use crate::sflow::{Counts, SampledFlow};
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
    flows: &'a [SampledFlow],
}

/// One JSON object; `overflow_packets` are those of flows beyond the limits.
#[must_use]
pub fn document(took: Duration, counts: &Counts, overflow_packets: u64, flows: &[SampledFlow]) -> String {
    json::pretty(&Document {
        seconds: took.as_secs_f64(),
        counts,
        overflow_packets,
        flows,
    }) + "\n"
}

/// A line for each flow, and the counts.
#[must_use]
pub fn text(counts: &Counts, flows: &[SampledFlow]) -> String {
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
    text
}
