//! `pfc.txt`: `ns node nodetype port 1|0`, when a port was paused (1) and when it could send again (0).

use super::Imported;
use super::topology::Topology;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use rocescope_model::{TelemetryRow, Text};

pub(super) fn read(text: &str, topology: &Topology, into: &mut Imported) {
    // Rows of pauses that did not end yet.
    let mut open: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let (Some(time), Some(node), Some(_), Some(port), Some(state)) =
            (words.next(), words.next(), words.next(), words.next(), words.next())
        else {
            if !line.trim().is_empty() {
                let at = format!("pfc.txt:{}", number + 1);
                into.complaints.add("not `ns node nodetype port 1|0`; skipped", at);
            }
            continue;
        };
        let (Ok(time_ns), "0" | "1") = (time.parse::<i64>(), state) else {
            let at = format!("pfc.txt:{}", number + 1);
            into.complaints.add("not `ns node nodetype port 1|0`; skipped", at);
            continue;
        };
        match (state, open.remove(&(node, port))) {
            ("1", Some(before)) => {
                // A pause that is prolonged.
                open.insert((node, port), before);
            }
            ("1", None) => {
                let peer = topology.peer(node, port);
                let (peer_node, peer_port) = peer.port.map(|port| (port.switch, port.port)).unzip();
                open.insert((node, port), into.telemetry.len());
                into.telemetry.push(TelemetryRow {
                    time_ns,
                    node: node.to_owned().into(),
                    kind: Text::from_static("pause"),
                    egress: port.to_owned().into(),
                    peer: peer_node,
                    peer_port,
                    peer_is_host: peer.is_host,
                    ..TelemetryRow::default()
                });
            }
            (_, Some(before)) => {
                let row = &mut into.telemetry[before];
                row.pause_ns = Some(time_ns.saturating_sub(row.time_ns));
            }
            _ => {
                let at = format!("pfc.txt:{}", number + 1);
                into.complaints.add("a pause ends that did not begin; skipped", at);
            }
        }
    }
}
