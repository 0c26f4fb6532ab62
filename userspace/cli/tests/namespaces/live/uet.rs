//! UET: a live capture has the rows of packet delivery contexts that its file has, over XDP and over packet sockets.

use crate::live::namespace::Namespace;
use crate::live::replay::replay;
use crate::live::rows::rows;
use crate::live::running::Live;
use rocescope_generate::{self as generate, Scenario};
use rocescope_model::PdcRow;
use rocescope_testkit::binary;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Command;

const CLASSES: [&str; 3] = ["uet-loss-before", "uet-trim", "uet-mixed"];

/// What does not depend on times, which a replay does not keep: the sums of each direction over all windows. Which of the
/// retransmissions of packets that had passed were losses depends on round trips; their number does not.
fn sums(root: &Path) -> BTreeMap<String, [u64; 16]> {
    let mut sums: BTreeMap<String, [u64; 16]> = BTreeMap::new();
    for row in rows::<PdcRow>(root) {
        let name = format!("{} {:?} to {}", row.src, row.src_pdc, row.dst);
        let retransmitted_after_passing =
            row.fabric_lost_downstream_packets + row.unanswered_packets + row.needless_packets;
        let counts = [
            row.frame_bytes,
            row.answer_frame_bytes,
            row.request_packets,
            row.control_packets,
            row.ack_packets,
            row.nack_packets,
            row.nack_trimmed,
            row.messages,
            row.write_messages,
            row.retransmitted_packets,
            row.repeated_packets,
            row.trimmed_packets,
            row.fabric_lost_upstream_packets,
            retransmitted_after_passing,
            row.ecn_ce_packets,
            row.ecn_echo_packets,
        ];
        for (sum, count) in sums.entry(name).or_default().iter_mut().zip(counts) {
            *sum += count;
        }
    }
    sums
}

fn every_class(mode: &str) {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for name in CLASSES {
        let (path, of_file) = (
            folder.path().join("run.pcap"),
            folder.path().join(format!("{name}-file")),
        );
        let text = generate::class(name)
            .unwrap()
            .replace("packets = 4000", "packets = 1000");
        let truth = generate::write(&Scenario::parse(&text).unwrap(), 1, File::create(&path).unwrap()).unwrap();
        let mut file = Command::new(binary());
        file.args(["capture", "-q", "-r"]).arg(&path).arg("--out").arg(&of_file);
        assert!(file.output().unwrap().status.success());
        let live = folder.path().join(format!("{name}-live"));
        let capture = Live::begin(&namespace, &["--mode", mode, "--out", live.to_str().unwrap()]);
        replay(&namespace, &path);
        let (summary, _) = capture.stop();
        let passed: u64 = truth
            .pdcs
            .iter()
            .map(|pdc| pdc.request_packets + pdc.control_packets + pdc.ack_packets + pdc.nack_packets)
            .sum();
        assert_eq!(summary["pdcs"]["packets"], passed, "{name}, {mode}: {}", summary["uet"]);
        assert_eq!(summary["pdcs"]["pdcs"], truth.pdcs.len(), "{name}, {mode}");
        let (found, wanted) = (sums(&live), sums(&of_file));
        assert_eq!(wanted.len(), truth.pdcs.len());
        assert_eq!(found, wanted, "{name}, {mode}");
    }
}

#[test]
fn native() {
    every_class("native");
}

#[test]
fn generic() {
    every_class("generic");
}

#[test]
fn packet_socket() {
    every_class("af-packet");
}
