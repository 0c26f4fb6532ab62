//! Retransmission and order in `flows`, summed over windows, equal those in `connections`.

use rocescope_model::{ConnectionRow, FlowRow};
use rocescope_store::scan;
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
        let output = Command::new(env!("CARGO_BIN_EXE_rocescope"))
            .args(["capture", "--connections", "--window", "100ms", "-q", "-r"])
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
