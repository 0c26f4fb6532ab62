//! A live capture of real traffic has the counters of its file: every connection, over XDP and over packet sockets.

use crate::live::namespace::{Namespace, RECEIVER};
use crate::live::replay::{Pace, replay_at};
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_testkit::binary;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Every operation, losses upstream and downstream of the tap, duplicates, damaged and reordered packets, RNR and fatal
/// NAKs, a wrap of the PSN, short messages that are each acknowledged.
const CAPTURES: [&str; 16] = [
    "atomic_bw_fetch_add",
    "blackhole_retry_exceeded",
    "cm_rping",
    "corrupt_egress_node1",
    "duplicate_egress_node1",
    "error_naks",
    "loss1_egress_node1",
    "loss2_after_tap_node2",
    "loss_uc_ud",
    "opmix_rc_all",
    "opmix_rc_psn_wrap",
    "opmix_uc_ud_all",
    "rc_pingpong",
    "reorder_egress_node1",
    "rnr_nak",
    "write_lat_rc",
];

/// Counters of a direction that do not depend on how exact times are.
const COUNTERS: [&str; 15] = [
    "packets",
    "payload_bytes",
    "unique_payload_bytes",
    "messages",
    "unique_messages",
    "retransmitted_packets",
    "out_of_order_packets",
    "duplicate_packets",
    "repeated_packets",
    "fabric_lost_upstream_packets",
    "fabric_lost_downstream_packets",
    "unanswered_packets",
    "unfilled_gap_packets",
    "ack_packets",
    "nak_psn_sequence",
];

/// Every counter of every direction.
pub(crate) fn counters(report: &Value) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    for connection in report["connections"].as_array().unwrap() {
        for (way, from, to) in [("a_to_b", "a", "b"), ("b_to_a", "b", "a")] {
            let (from, to) = (&connection[from], &connection[to]);
            let name = format!("{} to {}, {}", from["ip"], to["ip"], to["qpn"]);
            for counter in COUNTERS {
                let count = connection[way][counter].as_u64().unwrap_or(0);
                *counters.entry(format!("{name}, {counter}")).or_default() += count;
            }
        }
    }
    counters
}

/// The counters that differ from `wanted`, one line each.
pub(crate) fn differences(found: &BTreeMap<String, u64>, wanted: &BTreeMap<String, u64>) -> Vec<String> {
    let both = found.keys().chain(wanted.keys());
    let names: std::collections::BTreeSet<_> = both.collect();
    let lines = names.into_iter().map(|name| (name, found.get(name), wanted.get(name)));
    lines
        .filter(|(_, found, wanted)| found != wanted)
        .map(|(name, found, wanted)| format!("{name}: {found:?} instead of {wanted:?}"))
        .collect()
}

/// `rocescope connections` on the receiver.
pub(crate) fn begin(namespace: &Namespace, mode: &str) -> Live {
    let mut command = namespace.command(binary());
    command.args(["connections", "-q", "-o", "json", "--mode", mode]);
    if mode != "af-packet" {
        // XDP leaves the frames to packet sockets.
        command.args(["--verdict", "pass"]);
    }
    Live::spawn(command.args(["-i", RECEIVER]))
}

fn of_file(path: &Path) -> BTreeMap<String, u64> {
    let mut command = Command::new(binary());
    let output = command
        .args(["connections", "-q", "-o", "json", "-r"])
        .arg(path)
        .output()
        .unwrap();
    assert!(output.status.success());
    counters(&serde_json::from_slice(&output.stdout).unwrap())
}

/// Longer silences are as long as this: longer than what the analysis takes for one burst.
const LONGEST_GAP: Duration = Duration::from_millis(20);

/// A machine with other work delays a frame now and then by more than the time that distinguishes a duplicate from a
/// retransmission. Then a packet socket, which gives every packet its own time as a file does, differs from the file too;
/// or the capture is replayed again, at most this often. What XDP does differently is different each time.
const ATTEMPTS: usize = 8;

/// What differs from the file in the last attempt, and from a packet socket that captured the same frames.
fn differing(namespace: &Namespace, path: &Path, mode: &str, wanted: &BTreeMap<String, u64>) -> Vec<String> {
    let mut lines = Vec::new();
    for _ in 0..ATTEMPTS {
        let (xdp, socket) = (begin(namespace, mode), begin(namespace, "af-packet"));
        replay_at(namespace, path, Pace::Recorded(LONGEST_GAP));
        let (xdp, socket) = (counters(&xdp.stop().0), counters(&socket.stop().0));
        lines = differences(&xdp, wanted);
        if lines.is_empty() || xdp == socket {
            return Vec::new();
        }
    }
    lines
}

fn every_capture(mode: &str) {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let (mut all, mut captures, mut lines) = (0, 0, Vec::new());
    for name in CAPTURES {
        let Some(path) = capture(name) else {
            eprintln!("skipped: {name} is not available");
            continue;
        };
        let wanted = of_file(&path);
        let differing = differing(&namespace, &path, mode, &wanted);
        all += wanted.len();
        captures += 1;
        lines.extend(differing.into_iter().map(|line| format!("{name}, {line}")));
    }
    assert!(captures >= 12 && all > 1_000, "{captures} captures, {all} counters");
    assert!(
        lines.is_empty(),
        "{} of {all} differ over {mode}:\n{}",
        lines.len(),
        lines.join("\n")
    );
}

#[test]
fn native() {
    every_capture("native");
}

#[test]
#[ignore = "takes 43 s; `cargo xtask ci --full` runs it"]
fn generic() {
    every_capture("generic");
}
