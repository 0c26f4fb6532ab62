//! `rocescope connections` compared with the endpoints' own reports.
//!
//! `kept` uses the copies in `tests/captures`. `shared` uses the whole collection next to the project, or prints one
//! line when that is missing.

mod congestion;
mod counters;
mod fast_path;
mod flows;
mod generated;
mod handshake;
mod kept;
mod minimal;
mod replay;
mod shared;
mod spread;

use rocescope_testkit::{command, json, shared};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What the binary prints for a capture.
fn connections(path: &Path) -> Value {
    let mut command = command(["connections", "-q", "-o", "json", "-r"]);
    json(&command.arg(path).output().unwrap())
}

fn kept(name: &str) -> Value {
    connections(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name))
}

/// The collection of recorded captures, if present.
fn collection() -> Option<PathBuf> {
    Some(shared("captures/truth.json")?.with_file_name(""))
}

/// The sum of a count over all directions.
fn sum(report: &Value, key: &str) -> u64 {
    let connections = report["connections"].as_array().unwrap().iter();
    connections
        .flat_map(|connection| [&connection["a_to_b"], &connection["b_to_a"]])
        .map(|direction| direction[key].as_u64().unwrap())
        .sum()
}

/// QPNs of the connections that were paired by this method.
fn pairs(report: &Value, by: &str) -> Vec<(u64, u64)> {
    let connections = report["connections"].as_array().unwrap().iter();
    let paired = connections.filter(|connection| connection["paired_by"] == by);
    let qpn = |end: &Value| end["qpn"].as_u64().unwrap();
    paired.map(|c| (qpn(&c["a"]), qpn(&c["b"]))).collect()
}

/// Events of a kind.
fn events<'a>(report: &'a Value, kind: &str) -> Vec<&'a Value> {
    let events = report["events"].as_array().unwrap().iter();
    events.filter(|event| event["kind"] == kind).collect()
}
