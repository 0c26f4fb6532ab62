//! A live capture reports the queue pairs of the replayed file, except for times.

use crate::live::namespace::{Namespace, RECEIVER};
use crate::live::replay::{each, replay};
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_testkit::binary;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// CM datagrams, every operation of a reliable connection, unreliable services, fatal NAKs. No retransmissions: times
/// decide whether those were late, duplicate or lost.
const CAPTURES: [&str; 4] = ["ipv6_cm_rping", "opmix_rc_all", "opmix_uc_ud_all", "error_naks"];

/// Values that do not depend on the time of a packet, by queue pair numbers.
fn of(report: &Value) -> BTreeMap<String, Value> {
    let connections = report["connections"].as_array().unwrap().iter();
    connections
        .map(|connection| {
            let mut found = Map::new();
            for key in ["service", "paired_by", "path_mtu_bytes", "a", "b"] {
                found.insert(key.into(), connection[key].clone());
            }
            for way in ["a_to_b", "b_to_a"] {
                for key in [
                    "packets",
                    "payload_bytes",
                    "unique_payload_bytes",
                    "messages",
                    "unique_messages",
                    "read_packets",
                    "atomic_packets",
                    "repeated_packets",
                    "unfilled_gaps",
                    "ack_packets",
                    "nak_psn_sequence",
                    "rnr_nak",
                    "nak_fatal",
                    "cnp_sent_packets",
                ] {
                    found.insert(format!("{way}.{key}"), connection[way][key].clone());
                }
            }
            let name = format!("{}, {}", connection["a"], connection["b"]);
            (name, found.into())
        })
        .collect()
}

/// The number of events of each kind.
fn kinds(report: &Value) -> BTreeMap<String, u64> {
    let mut kinds = BTreeMap::new();
    for event in report["events"].as_array().unwrap() {
        let kind = event["kind"].as_str().unwrap();
        if ["connect", "disconnect", "reject", "fatal_nak"].contains(&kind) {
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
    }
    kinds
}

fn of_file(path: &Path) -> Value {
    let mut command = Command::new(binary());
    command.args(["connections", "-q", "-o", "json", "-r"]);
    let output = command.arg(path).output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn every_capture(mode: &str) {
    let begin = |namespace: &Namespace| {
        let mut command = namespace.command(binary());
        command.args(["connections", "-q", "-o", "json", "--mode", mode]);
        Live::spawn(command.args(["-i", RECEIVER]))
    };
    each(&CAPTURES, begin, |name, path, report| {
        let file = of_file(path);
        assert!(!of(&file).is_empty());
        assert_eq!(of(report), of(&file), "{name}");
        assert_eq!(kinds(report), kinds(&file), "{name}");
        let timed = |report: &Value| -> bool {
            let connections = report["connections"].as_array().unwrap().iter();
            connections
                .flat_map(|c| [&c["a_to_b"]["rtt_samples"], &c["b_to_a"]["rtt_samples"]])
                .any(|samples| samples.as_u64().unwrap() > 0)
        };
        assert!(timed(report) || !timed(&file) || mode != "af-packet", "{name}");
    });
}

#[test]
fn native() {
    every_capture("native");
}

#[test]
fn generic() {
    every_capture("generic");
}

#[test]
fn packet_sockets() {
    every_capture("af-packet");
}

/// The command ends by itself, and also stores connections in the dataset.
#[test]
fn for_a_duration_and_into_a_dataset() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let mut command = namespace.command(binary());
    command.args(["connections", "-q", "-o", "json", "--duration", "200ms"]);
    let (report, _) = Live::spawn(command.args(["-i", RECEIVER])).end();
    assert_eq!(report["connections"], Value::Array(Vec::new()));

    let path = capture("ipv6_cm_rping").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let live = Live::begin(&namespace, &["--mode", "native", "--out", root]);
    replay(&namespace, &path);
    live.stop();
    let mut command = Command::new(binary());
    command.args(["connections", "-q", "-o", "json", root]);
    let output = command.output().unwrap();
    let kept: Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = of_file(&path);
    assert_eq!((of(&kept), kinds(&kept)), (of(&file), kinds(&file)));
}
