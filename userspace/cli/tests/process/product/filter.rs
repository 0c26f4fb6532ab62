//! `--filter`: kept and rejected packets sum to the whole.

use crate::product::{captures, rocescope};
use serde_json::Value;

fn count(json: &Value, key: &str) -> u64 {
    json[key].as_u64().unwrap()
}

/// Packets and bytes of the kept and the rejected half sum to the whole.
#[test]
fn a_filter_and_its_negation_divide_a_capture() {
    for capture in captures::all(&captures::ours()) {
        let whole = rocescope::json(&capture.path, &[]);
        for filter in [
            "service rc",
            "opcode *SEND*",
            "src net 0.0.0.0/0",
            "qp 17 or dst_qpn > 0x40",
            "vlan = null",
        ] {
            let kept = rocescope::json(&capture.path, &["--filter", filter]);
            let contrary = format!("not ({filter})");
            let left = rocescope::json(&capture.path, &["--filter", &contrary]);
            for key in ["roce_packets", "frame_bytes", "payload_bytes", "messages"] {
                let sum = count(&kept, key) + count(&left, key);
                assert_eq!(sum, count(&whole, key), "{key} of {filter}");
            }
            assert_eq!(count(&kept, "frames"), count(&whole, "frames"));
            assert_eq!(count(&kept, "filtered"), count(&left, "roce_packets"));
            assert_eq!(count(&left, "filtered"), count(&kept, "roce_packets"));
        }
    }
}

#[test]
fn kept_flows_match_the_filter() {
    for capture in captures::all(&captures::ours()) {
        let whole = rocescope::json(&capture.path, &[]);
        let Some(flow) = whole["top_flows"].as_array().unwrap().first() else {
            continue;
        };
        let filter = format!(
            "src host {} and dst host {} and qp {} and port {}",
            flow["src"].as_str().unwrap(),
            flow["dst"].as_str().unwrap(),
            flow["dst_qpn"],
            flow["udp_src_port"]
        );
        let found = rocescope::json(&capture.path, &["--filter", &filter]);
        let flows = found["top_flows"].as_array().unwrap();
        // Services share a flow's key where they share opcodes.
        assert_eq!(flows.len(), 1, "{filter}");
        assert_eq!(flows[0]["packets"], flow["packets"], "{filter}");
        assert_eq!(found["roce_packets"], flow["packets"], "{filter}");
    }
}

#[test]
fn errors_point_at_the_place() {
    let capture = captures::all(&captures::ours()).remove(0);
    for (filter, message, marks) in [
        (
            "qp 17 and pakets > 3",
            "unknown column `pakets`; packets have src, dst, src_qpn, dst_qpn, udp_src_port, ",
            "\n            ^^^^^^",
        ),
        (
            "host 10.0.0.1 and frame_bps > 1G",
            "packets have no column `frame_bps` (a column of ",
            "\n                    ^^^^^^^^^^^^^^",
        ),
    ] {
        let path = capture.path.to_str().unwrap();
        let refused = rocescope::run(&["capture", "-r", path, "--filter", filter]);
        assert!(!refused.status.success());
        let error = String::from_utf8(refused.stderr).unwrap();
        assert!(error.contains(message) && error.contains(marks), "{error}");
    }
}

/// `extract` writes the frames that a capture with the same filter keeps.
#[test]
fn frames_are_extracted() {
    let folder = tempfile::tempdir().unwrap();
    let extract = folder.path().join("extract.pcapng");
    let mut kept_in_all = 0;
    for capture in captures::all(&captures::ours()) {
        let filter = "opcode *ACKNOWLEDGE* or service ud";
        let from = capture.path.to_str().unwrap();
        let to = extract.to_str().unwrap();
        let output = rocescope::run(&["extract", "-r", from, "-w", to, "--filter", filter]);
        assert!(output.status.success(), "{output:?}");
        let kept = rocescope::json(&capture.path, &["--filter", filter]);
        let packets = count(&kept, "roce_packets");
        if packets == 0 {
            let output = rocescope::run(&["capture", "-r", to]);
            let error = String::from_utf8(output.stderr).unwrap();
            assert!(error.ends_with("extract.pcapng has no frames\n"), "{error}");
            continue;
        }
        let found = rocescope::json(&extract, &[]);
        assert_eq!(count(&found, "frames"), packets, "{}", capture.name);
        for key in ["roce_packets", "frame_bytes", "payload_bytes", "aeth", "opcodes"] {
            assert_eq!(found[key], kept[key], "{key} of {}", capture.name);
        }
        kept_in_all += packets;
    }
    assert!(kept_in_all > 0);
}
