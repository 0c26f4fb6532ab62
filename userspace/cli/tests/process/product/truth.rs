//! Every count of every capture equals its recorded truth.
//!
//! tshark and an independent parser made `truth.json`, which was checked against the counters of the endpoints.

use crate::product::{captures, rocescope};
use serde_json::Value;
use std::fs;
use std::path::Path;

const COUNTS: [&str; 6] = ["frames", "roce_packets", "not_roce", "icrc_bad", "messages", "flows"];

#[test]
fn our_captures_match_their_truth() {
    check(&captures::ours());
}

#[test]
fn the_whole_collection_matches_its_truth() {
    if let Some(collection) = captures::shared() {
        check(&collection);
    }
}

fn check(collection: &Path) {
    let truth = fs::read(collection.join("truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let captures = captures::all(collection);
    assert_eq!(captures.len(), truth.as_object().unwrap().len());
    for capture in captures {
        let expected = &truth[&capture.name];
        let found = rocescope::json(&capture.path, &["--verify-icrc", "--top", "16"]);
        differences(&capture.name, expected, &found);
    }
}

fn differences(name: &str, expected: &Value, found: &Value) {
    for key in COUNTS {
        assert_eq!(found[key], expected[key], "{name}: {key}");
    }
    assert_eq!(found["exact"], true, "{name}");
    assert_eq!(found["opcodes"], expected["opcodes"], "{name}: opcodes");

    let acknowledges = expected["aeth"].as_object().unwrap();
    for (syndrome, count) in acknowledges {
        assert_eq!(&found["aeth"][syndrome], count, "{name}: {syndrome}");
    }
    let sum = |aeth: &Value| -> u64 {
        let counts = aeth.as_object().unwrap().values();
        counts.map(|count| count.as_u64().unwrap()).sum()
    };
    assert_eq!(sum(&found["aeth"]), sum(&expected["aeth"]), "{name}: aeth");

    let (found, expected) = (&found["top_flows"], &expected["top_flows"]);
    assert_eq!(flows(found), flows(expected), "{name}: top flows");
}

/// Flows with the fields that both sides have, in one order: either may break ties.
fn flows(flows: &Value) -> Vec<[Value; 9]> {
    let keys = [
        "frame_bytes",
        "src",
        "dst",
        "udp_src_port",
        "dst_qpn",
        "vlan",
        "packets",
        "payload_bytes",
        "messages",
    ];
    let mut flows: Vec<[Value; 9]> = flows
        .as_array()
        .unwrap()
        .iter()
        .map(|flow| keys.map(|key| flow[key].clone()))
        .collect();
    flows.sort_by_key(|flow| flow.each_ref().map(ToString::to_string));
    flows
}
