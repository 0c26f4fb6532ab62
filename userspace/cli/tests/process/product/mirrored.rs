//! A mirror on both sides of a routed hop duplicates every frame: the copies are reported, and each connection is the
//! same as without them.

use crate::product::rocescope::{json, parse, run};
use rocescope_capture::file::{self, FrameReader};
use serde_json::Value;
use std::path::Path;

/// Offset of the TTL of an IPv4 packet after an Ethernet header without tags.
const TTL: usize = 14 + 8;

/// The capture as pcap with nanoseconds; with `twice` it also has a copy of each frame, one hop further.
fn rewritten(path: &Path, twice: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [0xa1b2_3c4du32, 2 | 4 << 16, 0, 0, 65_535, 1] {
        out.extend(word.to_le_bytes());
    }
    let mut reader = FrameReader::new(file::open(path).unwrap()).unwrap();
    while let Some(frame) = reader.next_frame().unwrap() {
        let mut bytes = frame.bytes.to_vec();
        for _ in 0..1 + usize::from(twice) {
            let lengths = [frame.lengths.captured, frame.lengths.original];
            let seconds = (frame.time_ns / 1_000_000_000) as u32;
            let nanoseconds = (frame.time_ns % 1_000_000_000) as u32;
            for word in [seconds, nanoseconds].iter().chain(&lengths) {
                out.extend(word.to_le_bytes());
            }
            out.extend(&bytes);
            bytes[TTL] -= 1;
        }
    }
    out
}

fn connections(file: &Path) -> Value {
    let file = file.to_str().unwrap();
    let mut said = parse(&run(&["connections", "-r", file, "-o", "json"]));
    let mut connections = said["connections"].take();
    // A duplicate SYN looks retransmitted, which gives no handshake time.
    for connection in connections.as_array_mut().unwrap() {
        let connection = connection.as_object_mut().unwrap();
        connection.retain(|key, _| !key.starts_with("tcp_"));
    }
    connections
}

#[test]
fn connections_are_the_same_without_the_copies() {
    let folder = tempfile::tempdir().unwrap();
    let (once, twice) = (folder.path().join("once"), folder.path().join("twice"));
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    for name in ["rnr_nak", "loss1_egress_node1", "write_bw_rc_mtu256"] {
        let path = captures.join(format!("{name}.pcap.gz"));
        std::fs::write(&once, rewritten(&path, false)).unwrap();
        std::fs::write(&twice, rewritten(&path, true)).unwrap();
        let (single, double) = (json(&once, &[]), json(&twice, &[]));
        assert_eq!(single["mirror_duplicate_packets"], 0, "{name}");
        assert_eq!(double["mirror_duplicate_packets"], single["roce_packets"], "{name}");
        let (single, double) = (connections(&once), connections(&twice));
        assert!(!single.as_array().unwrap().is_empty());
        assert_eq!(single, double, "{name}");
    }
}

#[test]
fn without_connections_copies_are_not_recognised() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let said = json(&captures.join("rnr_nak.pcap.gz"), &["--no-connections"]);
    for key in ["mirror_duplicate_packets", "mirror_lost_packets", "mirror_loss_ratio"] {
        assert_eq!(said[key], Value::Null, "{key}");
    }
}
