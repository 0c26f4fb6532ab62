//! The page `docs/connections-vs-counters.md`: the endpoints' own counters next to what the tap shows.
//!
//! `UPDATE=1 cargo test -p rocescope --test process connections::` rewrites it.

use super::replay::{Counted, Peers, Starts, endpoints};
use super::{collection, connections, events};
use rocescope_wire::Psn;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "# Connections against the endpoints' own counters

What `rocescope connections` reports of each recorded capture, beside what the soft-RoCE endpoints counted over the same
run. The tests of the command line write and check this page (`UPDATE=1 cargo test -p rocescope --test process connections::`
writes it).

Each row has a counter of one endpoint, its value, what the tap shows of the same, and why the two may differ.
`replayed` is the result of the driver's rules for the packets that the tap saw
(`userspace/cli/tests/process/connections/replay.rs`):

| counter | counts | the tap counts |
|---|---|---|
| `duplicate_request` | requests below the PSN that the responder expects | `repeated_packets`: PSNs that *the tap* had seen before |
| `out_of_seq_request` | NAKs for a PSN that the responder sent | `nak_psn_sequence` |
| `rcvd_seq_err` | of those, the ones that acknowledged something new to the requester | `nak_psn_sequence` |
| `send_rnr_err`, `rcvd_rnr_err` | RNR NAKs sent and received | `rnr_nak` |
| `retry_exceeded_err`, `retry_rnr_exceeded_err` | retries that ended without success | `retry_exhausted` events |

A packet that the responder dropped the first time, after a gap or while it was not ready, is new to the responder when
it is retransmitted, and repeated to the tap.

Every counter is derived: the column `replayed` equals the counted value in every row. The responder's first expected
PSN is the one with which the connection started, not the first that the tap saw: in `reorder_egress_node1` that one had
been overtaken, so the responder dropped all packets before the first NAK.

| capture | counter | endpoint | counted | tap | replayed | |
|---|---|---|---:|---:|---:|---|
";

#[test]
fn counters_are_explained() {
    let Some(folder) = collection() else { return };
    let truth = std::fs::read(folder.join("truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let mut page = String::from(HEAD);
    let mut unexplained = Vec::new();
    for (name, truth) in truth.as_object().unwrap() {
        let nodes = &truth["rxe_counters"];
        if !nodes.is_object() {
            continue;
        }
        let path = folder.join(truth["file"].as_str().unwrap());
        let report = connections(&path);
        // Some packets were lost downstream of the tap: a separate file has those that arrived.
        let arrived = folder.join(format!("{name}.receiver_after_loss.pcap"));
        let (pairs, starts) = (peers(&report), starts(&report));
        let [client, at_tap] = endpoints(&path, &pairs, &starts);
        let server = if arrived.exists() {
            let [_, received] = endpoints(&arrived, &pairs, &starts);
            Counted {
                duplicate_request: received.duplicate_request,
                ..at_tap
            }
        } else {
            at_tap
        };
        for (node, replayed) in [("node1", &client), ("node2", &server)] {
            for row in rows(node, &nodes[node], &report, replayed) {
                if row.counted != row.replayed {
                    unexplained.push(format!("{name}: {} of {node}: {row:?}", row.counter));
                }
                let why = if row.counted == row.tap { "equal" } else { row.why };
                writeln!(
                    page,
                    "| `{name}` | `{}` | {node} | {} | {} | {} | {why} |",
                    row.counter, row.counted, row.tap, row.replayed
                )
                .unwrap();
            }
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/connections-vs-counters.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == page, "docs/connections-vs-counters.md is out of date");
    assert!(unexplained.is_empty(), "{unexplained:#?}");
}

/// The queue pairs of client and server that belong together.
fn peers(report: &Value) -> Peers {
    let mut peers = Peers::new();
    for connection in report["connections"].as_array().unwrap() {
        let (a, b) = (&connection["a"], &connection["b"]);
        for (one, other) in [(a, b), (b, a)] {
            let qpn = |end: &Value| end["qpn"].as_u64().map(|qpn| qpn as u32);
            if let (Some(own), Some(peer)) = (qpn(one), qpn(other)) {
                let server = one["ip"].as_str().unwrap().ends_with('2');
                peers.insert((server, own), peer);
            }
        }
    }
    peers
}

/// The first PSN of the requests to each queue pair.
fn starts(report: &Value) -> Starts {
    let mut starts = Starts::new();
    for connection in report["connections"].as_array().unwrap() {
        let (a, b) = (&connection["a"], &connection["b"]);
        for (from, to) in [(a, b), (b, a)] {
            if let (Some(psn), Some(qpn)) = (from["start_psn"].as_u64(), to["qpn"].as_u64()) {
                let server = to["ip"].as_str().unwrap().ends_with('2');
                starts.insert((server, qpn as u32), Psn::new(psn as u32));
            }
        }
    }
    starts
}

#[derive(Debug)]
struct Row {
    counter: &'static str,
    counted: u64,
    tap: u64,
    replayed: u64,
    why: &'static str,
}

/// The counters of an endpoint where one of the three is not 0.
fn rows(node: &str, counters: &Value, report: &Value, replayed: &Counted) -> Vec<Row> {
    let ip_end = if node == "node1" { 1 } else { 2 };
    // Packets to the endpoint, and packets from it.
    let side = |key: &str, sent: bool| -> u64 {
        let connections = report["connections"].as_array().unwrap().iter();
        connections
            .flat_map(|c| [(&c["a"], &c["a_to_b"]), (&c["b"], &c["b_to_a"])])
            .filter(|(end, _)| {
                let ip = end["ip"].as_str().unwrap();
                (ip.ends_with(&format!(".{ip_end}")) || ip.ends_with(&format!(":{ip_end}"))) == sent
            })
            .map(|(_, direction)| direction[key].as_u64().unwrap())
            .sum()
    };
    let exhausted = |by: &str| {
        let found = events(report, "retry_exhausted");
        let of_node = found.iter().filter(|event| {
            let src = event["src"].as_str().unwrap();
            src.ends_with(&format!(".{ip_end}")) && event["detail"].as_str().unwrap().contains(by)
        });
        of_node.count() as u64
    };
    let counted = |key: &str| counters[key].as_u64().unwrap_or(0);
    let row = |counter, tap, replayed, why| Row {
        counter,
        counted: counted(counter),
        tap,
        replayed,
        why,
    };
    let (timeouts, not_ready) = (exhausted("timeouts"), exhausted("RNR"));
    let rows = vec![
        row(
            "duplicate_request",
            side("repeated_packets", false),
            replayed.duplicate_request,
            "the responder had not accepted the others the first time: after a gap, not ready, or lost",
        ),
        row(
            "out_of_seq_request",
            side("nak_psn_sequence", true),
            replayed.out_of_seq_request,
            "",
        ),
        row(
            "rcvd_seq_err",
            side("nak_psn_sequence", false),
            replayed.rcvd_seq_err,
            "the others acknowledged nothing new",
        ),
        row("send_rnr_err", side("rnr_nak", true), replayed.send_rnr_err, ""),
        row("rcvd_rnr_err", side("rnr_nak", false), replayed.rcvd_rnr_err, ""),
        row("retry_exceeded_err", timeouts, timeouts, ""),
        row("retry_rnr_exceeded_err", not_ready, not_ready, ""),
    ];
    rows.into_iter()
        .filter(|row| row.counted + row.tap + row.replayed > 0)
        .collect()
}
