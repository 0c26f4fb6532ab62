//! Retransmission and order in `flows`, summed over windows, equal those in `connections`.

use rocescope_model::{ConnectionRow, EventRow, FlowRow};
use rocescope_store::scan;
use rocescope_testkit::binary;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

#[test]
fn flows_add_up_to_their_connections() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let (mut again, mut overtaken) = (0, 0);
    for name in [
        "loss1_egress_node1",
        "reorder_egress_node1",
        "duplicate_egress_node1",
        "rnr_nak",
        "loss_uc_ud",
        "write_bw_rc_bidir_q2",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("dataset");
        let file = captures.join(format!("{name}.pcap.gz"));
        let output = Command::new(binary())
            .args(["capture", "--window", "100ms", "-q", "-r"])
            .arg(&file)
            .arg("--out")
            .arg(&out)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let found = scan(&out).unwrap();
        let flows: Vec<FlowRow> = found.rows().unwrap();
        let mut connections: Vec<ConnectionRow> = found.rows().unwrap();
        // The latest row of a direction counts.
        connections.sort_by_key(|row| row.time_ns);
        let latest: std::collections::BTreeMap<_, _> = connections
            .iter()
            .map(|row| ((row.connection, row.role.to_string()), row))
            .collect();
        let of = |count: fn(&ConnectionRow) -> u64| latest.values().map(|row| count(row)).sum();
        let sent_again: u64 = of(|row| row.retransmitted_packets);
        let out_of_order: u64 = of(|row| row.out_of_order_packets);
        let sum = |count: fn(&FlowRow) -> Option<u64>| flows.iter().filter_map(count).sum::<u64>();
        assert_eq!(sum(|row| row.retransmitted_packets), sent_again, "{name}");
        assert_eq!(sum(|row| row.out_of_order_packets), out_of_order, "{name}");
        for row in &flows {
            let followed = row.retransmitted_packets.is_some();
            assert_eq!(followed, matches!(&*row.service, "RC" | "UC" | "XRC"), "{row:?}");
        }
        again += sent_again;
        overtaken += out_of_order;
    }
    assert!(again > 300 && overtaken > 10, "{again} {overtaken}");
}

/// What `flows`, `connections` and `events` have in common is one column, in every window and for every observer.
#[test]
fn one_key_joins_flows_connections_and_events() {
    type Place = (String, String, u32);
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("dataset");
    for observer in ["leaf", "spine"] {
        for name in ["loss1_egress_node1", "loss_uc_ud", "ipv6_cm_rping", "vlan100_write_bw"] {
            let output = Command::new(binary())
                .args(["capture", "--window", "100ms", "-q", "-r"])
                .arg(captures.join(format!("{name}.pcap.gz")))
                .args(["--observer", &format!("{observer}-{name}"), "--out"])
                .arg(&out)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    }
    let found = scan(&out).unwrap();
    let flows: Vec<FlowRow> = found.rows().unwrap();
    let connections: Vec<ConnectionRow> = found.rows().unwrap();
    let events: Vec<EventRow> = found.rows().unwrap();
    // Within one capture a direction is addresses and destination QP, whatever the UDP source port is.
    let mut keys: BTreeMap<(String, Place), BTreeSet<i64>> = BTreeMap::new();
    let mut add = |observer: &str, src: IpAddr, dst: IpAddr, qpn: u32, key: i64| {
        let (_, capture) = observer.split_once('-').unwrap();
        let place = (src.to_string(), dst.to_string(), qpn);
        keys.entry((capture.to_owned(), place)).or_default().insert(key);
    };
    for row in &flows {
        add(&row.observer, row.src, row.dst, row.dst_qpn, row.direction_key.unwrap());
    }
    let in_flows: BTreeSet<i64> = flows.iter().filter_map(|row| row.direction_key).collect();
    for row in &connections {
        add(
            &row.observer,
            row.src,
            row.dst,
            row.dst_qpn.unwrap(),
            row.direction_key.unwrap(),
        );
    }
    let mut joined = 0;
    for row in &events {
        let Some(key) = row.direction_key else {
            assert!(row.src.is_none(), "{row:?}");
            continue;
        };
        add(
            &row.observer,
            row.src.unwrap(),
            row.dst.unwrap(),
            row.dst_qpn.unwrap(),
            key,
        );
        joined += usize::from(in_flows.contains(&key));
    }
    for (place, keys) in &keys {
        assert_eq!(keys.len(), 1, "{place:?}");
    }
    let different: BTreeSet<i64> = keys.values().flatten().copied().collect();
    assert_eq!(different.len(), keys.len(), "two directions with one key");
    assert!(flows.len() > different.len() && joined > 20, "{} {joined}", flows.len());
}
