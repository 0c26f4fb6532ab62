//! Queue pairs and their processes.

use rocescope_host::counters::rdma::QueuePair;
use rocescope_model::json;
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Document<'a> {
    device: &'a str,
    port: Option<u32>,
    local_qpn: u32,
    remote_qpn: Option<u32>,
    #[serde(rename = "type")]
    kind: &'a str,
    state: &'a str,
    pid: Option<u32>,
    process: &'a str,
}

/// As JSON.
#[must_use]
pub fn json(pairs: &[(String, QueuePair)]) -> String {
    let all: Vec<Document<'_>> = pairs.iter().map(document).collect();
    json::pretty(&all) + "\n"
}

fn document((device, pair): &(String, QueuePair)) -> Document<'_> {
    Document {
        device,
        port: pair.port,
        local_qpn: pair.local_qpn,
        remote_qpn: pair.remote_qpn,
        kind: pair.kind,
        state: pair.state,
        pid: pair.pid,
        process: &pair.process,
    }
}

/// A line for each.
#[must_use]
pub fn text(pairs: &[(String, QueuePair)]) -> String {
    let number = |number: Option<u32>| number.map_or_else(|| "-".into(), |number| number.to_string());
    let mut text = format!(
        "{:<16} {:>4} {:>8} {:>8}  {:<10} {:<7} {:>8}  Process\n",
        "Device", "Port", "QPN", "Peer", "Type", "State", "PID"
    );
    for (device, pair) in pairs {
        let _ = writeln!(
            text,
            "{device:<16} {:>4} {:>8} {:>8}  {:<10} {:<7} {:>8}  {}",
            number(pair.port),
            pair.local_qpn,
            number(pair.remote_qpn),
            pair.kind,
            pair.state,
            number(pair.pid),
            pair.process,
        );
    }
    text
}
