//! `telemetry_SWITCH.txt`: blocks of lines, one for each report.
//!
//! `time <ns>`, `polling` (asked along a flow) or `signal` (asked along pauses), then for each port `epoch now` and `epoch
//! last` with the counters of the port and of its flows, and `end`.

use super::{Topology, hex_address};
use rocescope_model::{TelemetryRow, Text};

/// Adds the rows of a switch. A line of numbers belongs to the words before it.
pub(super) fn read(text: &str, switch: &str, topology: &Topology, rows: &mut Vec<TelemetryRow>) {
    // What all rows of the report and of the port have.
    let mut shared = TelemetryRow::default();
    let mut reports = 0;
    // Ingress and egress port of the meter, and its bytes.
    let mut meter: Option<(&str, &str, u64)> = None;
    let mut is_port = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] | ["portToPortBytes" | "end"] => {}
            ["time", time] => {
                shared = TelemetryRow {
                    time_ns: time.parse().unwrap(),
                    node: switch.to_owned().into(),
                    report: reports,
                    trigger: Text::from_static("flow"),
                    ..TelemetryRow::default()
                };
                reports += 1;
            }
            ["polling"] => {}
            ["signal"] => shared.trigger = Text::from_static("pause"),
            ["epoch", epoch] => {
                shared.epoch = u8::from(epoch == "last");
                meter = None;
            }
            ["traffic", "meter", _, "port", from, "to", "port", to] => meter = Some((from, to, 0)),
            ["port" | "flow", "telemetry", .., port] => shared.egress = port.to_owned().into(),
            ["enqQdepth", ..] => is_port = true,
            ["flowIdx", ..] => is_port = false,
            [bytes] => meter.as_mut().unwrap().2 = bytes.parse().unwrap(),
            [queued, paused, packets] if is_port => {
                let mut row = counters(&shared, "port", [packets, queued, paused]);
                (row.peer, row.peer_port, row.peer_is_host) = topology.peer(switch, &row.egress);
                if let Some((from, _, bytes)) = meter.filter(|(_, to, _)| **to == *row.egress) {
                    (row.ingress_peer, row.ingress_peer_port, _) = topology.peer(switch, from);
                    row.ingress = Some(from.to_owned().into());
                    row.ingress_bytes = Some(bytes);
                }
                rows.push(row);
            }
            [_, src, dst, src_port, dst_port, protocol, _, _, packets, queued, paused] => rows.push(TelemetryRow {
                src: Some(hex_address(src)),
                dst: Some(hex_address(dst)),
                src_port: Some(src_port.parse().unwrap()),
                dst_port: Some(dst_port.parse().unwrap()),
                protocol: Some(protocol.parse().unwrap()),
                ..counters(&shared, "flow", [packets, queued, paused])
            }),
            _ => panic!("telemetry_{switch}.txt: {line}"),
        }
    }
}

fn counters(shared: &TelemetryRow, kind: &'static str, numbers: [&str; 3]) -> TelemetryRow {
    let [packets, queued_packets, paused_packets] = numbers.map(|number| number.parse().unwrap());
    TelemetryRow {
        kind: Text::from_static(kind),
        packets,
        queued_packets,
        paused_packets,
        ..shared.clone()
    }
}
