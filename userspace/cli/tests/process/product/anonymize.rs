//! `--anonymize`: equal counts under other addresses.

use crate::product::{captures, rocescope};
use serde_json::Value;
use std::collections::BTreeMap;

const KEY: &str = "0123456789abcdeffedcba98765432101032547698badcfeefcdab8967452301";

#[test]
fn only_addresses_change_and_consistently() {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for capture in captures::all(&captures::ours()) {
        let arguments = ["--filter", "net 0.0.0.0/0 or net ::/0"];
        let open = rocescope::json(&capture.path, &arguments);
        let hidden = [&arguments[..], &["--anonymize", KEY]].concat();
        let hidden = rocescope::json(&capture.path, &hidden);
        for key in ["roce_packets", "flows", "opcodes", "aeth", "events", "connections"] {
            assert_eq!(open[key], hidden[key], "{key} of {}", capture.name);
        }
        let flows = |json: &Value| json["top_flows"].as_array().unwrap().clone();
        let (mut open, mut hidden) = (flows(&open), flows(&hidden));
        // Flows of equal size are ordered by address.
        let order = |flow: &Value| (flow["dst_qpn"].as_u64(), flow["udp_src_port"].as_u64());
        open.sort_by_key(order);
        hidden.sort_by_key(order);
        for (open, hidden) in open.iter().zip(&hidden) {
            assert_eq!(open["frame_bytes"], hidden["frame_bytes"]);
            for side in ["src", "dst"] {
                let of = |flow: &Value| flow[side].as_str().unwrap().to_owned();
                let (from, to) = (of(open), of(hidden));
                assert_ne!(from, to);
                assert_eq!(known.entry(from).or_insert_with(|| to.clone()), &to);
            }
        }
    }
    assert!(known.len() > 3);
}
