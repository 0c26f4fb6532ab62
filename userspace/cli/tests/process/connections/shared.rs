//! The whole collection of recorded captures: pairs, first PSNs, bytes, repeats, NAKs.

use super::kept::LOST_WHILE_AWAITED;
use super::replay::requests;
use super::{collection, connections, sum};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Whether the bytes are bytes times iterations. Not for losses on an unreliable service, atomics (their operands are
/// in the header), and the run whose perftest report lacks its options.
fn bytes_are_known(name: &str, command: &str) -> bool {
    !command.contains("atomic") && !command.contains("-T 104") && name != "loss_uc_ud"
}

fn option(command: &str, name: &str) -> Option<u64> {
    let mut words = command.split_whitespace();
    words.find(|word| *word == name)?;
    words.next()?.parse().ok()
}

#[test]
fn connections_match_perftest_reports() {
    let Some(folder) = collection() else { return };
    let truth = std::fs::read(folder.join("truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let mut wrong = Vec::new();
    for (name, truth) in truth.as_object().unwrap() {
        let report = connections(&folder.join(truth["file"].as_str().unwrap()));
        let aeth = |names: &[&str]| -> u64 { names.iter().filter_map(|name| truth["aeth"][*name].as_u64()).sum() };
        for (key, wanted) in [
            ("repeated_packets", truth["repeated_request_psns"].as_u64().unwrap()),
            ("ack_packets", aeth(&["ack"])),
            ("nak_psn_sequence", aeth(&["nak_psn_sequence_error"])),
            ("rnr_nak", aeth(&["rnr_nak"])),
            (
                "nak_fatal",
                aeth(&[
                    "nak_remote_access_error",
                    "nak_remote_operational_error",
                    "nak_invalid_request",
                ]),
            ),
        ] {
            let found = sum(&report, key);
            if found != wanted {
                wrong.push(format!("{name}: {key} is {found}, not {wanted}"));
            }
        }
        compare(name, truth, &report, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Pairs, first PSNs and bytes of the runs of one capture.
fn compare(name: &str, truth: &Value, report: &Value, wrong: &mut Vec<String>) {
    let all: Vec<&Value> = report["connections"].as_array().unwrap().iter().collect();
    let qpns = |c: &Value| BTreeSet::from([c["a"]["qpn"].as_u64(), c["b"]["qpn"].as_u64()]);
    let mut known = BTreeSet::new();
    let mut starts = BTreeMap::new();
    let runs = |side: &str| truth[side].as_array().cloned().unwrap_or_default();
    for run in runs("client").iter().chain(&runs("server")) {
        let command = run["cmd"].as_str().unwrap();
        for qp in run["qps"].as_array().unwrap() {
            let start =
                (!command.contains("-R") && name != "reorder_egress_node1").then(|| qp["local_psn"].as_u64().unwrap());
            starts.insert(
                (run["ip"].as_str().unwrap().to_owned(), qp["local_qpn"].as_u64()),
                start,
            );
        }
    }
    for run in runs("client") {
        let command = run["cmd"].as_str().unwrap().to_owned();
        let unreliable = command.contains("-c UC") || command.contains("-c UD");
        for qp in run["qps"].as_array().unwrap() {
            let pair = BTreeSet::from([qp["local_qpn"].as_u64(), qp["remote_qpn"].as_u64()]);
            known.insert(pair.clone());
            if unreliable {
                continue;
            }
            let Some(connection) = all.iter().find(|c| c["paired_by"] != "none" && qpns(c) == pair) else {
                // A capture at the receiver has only one direction.
                if !name.ends_with("receiver_after_loss") {
                    wrong.push(format!("{name}: {pair:?} was not found"));
                }
                continue;
            };
            let (Some(bytes), Some(times)) = (option(&command, "-s"), option(&command, "-n")) else {
                continue;
            };
            if !bytes_are_known(name, &command) {
                continue;
            }
            let ways = if command.contains("_lat") || command.contains("-b ") {
                2
            } else {
                1
            };
            let mut found: Vec<u64> = ["a_to_b", "b_to_a"]
                .iter()
                .map(|way| connection[way]["unique_payload_bytes"].as_u64().unwrap())
                .filter(|bytes| *bytes > 0)
                .collect();
            found.sort_unstable();
            if found != vec![bytes * times; ways] {
                wrong.push(format!(
                    "{name}: {found:?} unique bytes, not {bytes} x {times}: {command}"
                ));
            }
        }
    }
    for connection in all {
        if connection["paired_by"] == "ack" && !known.is_empty() && !known.contains(&qpns(connection)) {
            // Other programs share some captures; they use RC as well.
            if truth["client"].as_array().is_some_and(|runs| !runs.is_empty()) && !name.contains("pingpong") {
                wrong.push(format!("{name}: {:?} is no pair", qpns(connection)));
            }
        }
        let unreliable = connection["service"] == "UC" || connection["service"] == "UD";
        if unreliable && connection["paired_by"] != "none" {
            wrong.push(format!("{name}: an unreliable pair {:?}", qpns(connection)));
        }
        for end in ["a", "b"] {
            let end = &connection[end];
            let key = (end["ip"].as_str().unwrap().to_owned(), end["qpn"].as_u64());
            let wanted = starts.get(&key).copied().flatten();
            if let (Some(wanted), Some(found)) = (wanted, end["start_psn"].as_u64())
                && wanted != found
            {
                wrong.push(format!("{name}: {key:?} starts at {found}, not {wanted}"));
            }
        }
    }
}

/// Derives the list in `kept` again: frames dropped downstream of the tap while the receiver waited for their PSN.
#[test]
fn the_list_of_awaited_losses_follows_from_what_was_received() {
    let Some(folder) = collection() else { return };
    let sent = requests(&folder.join("loss2_after_tap_node2.pcap"));
    let received = requests(&folder.join("loss2_after_tap_node2.receiver_after_loss.pcap"));
    let mut received = received.iter().peekable();
    let mut awaited: BTreeMap<u32, u32> = BTreeMap::new();
    let (mut lost, mut dropped) = (Vec::new(), 0);
    for request in sent.iter().filter(|request| request.to_server) {
        let next = awaited.entry(request.dst_qpn).or_insert(request.psn);
        if received.peek().is_some_and(|other| other.same(request)) {
            received.next();
            if request.psn == *next {
                *next += request.psns;
            }
        } else {
            dropped += 1;
            if request.psn == *next {
                lost.push((u64::from(request.dst_qpn), u64::from(request.psn)));
            }
        }
    }
    lost.sort_unstable();
    assert_eq!(dropped, 23);
    assert_eq!(lost, LOST_WHILE_AWAITED);
}
