//! `paths flows`: the flows of a workload from captures, datasets, servers and server pairs.

use super::{json, text};
use rocescope_model::{QUEUE_PAIR_TABLES, QueuePairRow, Time};
use rocescope_store::{Options, Writer};
use rocescope_testkit::run_in;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Three senders to one receiver over two rates, and a reader of IPv6.
const SCENARIO: &str = r#"
name = "flows of pairs"

[[flows]]
src = "10.0.0.1"
dst = "10.0.1.1"
rate = "1Gbit/s"
message = "64KiB"
messages = 4

[[flows]]
src = "10.0.0.1"
dst = "10.0.1.1"
rate = "1Gbit/s"
message = "64KiB"
messages = 40

[[flows]]
src = "10.0.0.2"
dst = "10.0.1.1"
rate = "1Gbit/s"
message = "64KiB"
messages = 8

[[flows]]
src = "fd00::1"
dst = "fd00::2"
rate = "1Gbit/s"
message = "64KiB"
messages = 8
"#;

/// A folder with the capture `trace.pcap` and its dataset `data`.
fn captured() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("flows.toml"), SCENARIO).unwrap();
    text(&["generate", "flows.toml", "-w", "trace.pcap"], folder.path());
    text(&["capture", "-q", "-r", "trace.pcap", "--out", "data"], folder.path());
    folder
}

fn flows(folder: &Path, options: &[&str]) -> Value {
    json(&[&["paths", "flows", "-o", "json"], options].concat(), folder)
}

/// Source, destination and source port of each flow.
fn keys(found: &Value) -> Vec<(String, String, u64)> {
    let member = |flow: &Value, name: &str| flow[name].as_str().unwrap().to_owned();
    let flows = found["flows"].as_array().unwrap().iter();
    let keys = flows.map(|flow| {
        (
            member(flow, "src"),
            member(flow, "dst"),
            flow["src_port"].as_u64().unwrap(),
        )
    });
    keys.collect()
}

#[test]
fn a_capture_file_and_its_dataset_have_the_same_flows() {
    let folder = captured();
    let of_file = flows(folder.path(), &["-r", "trace.pcap"]);
    let of_dataset = flows(folder.path(), &["--dataset", "data"]);
    // Both directions of four queue pairs.
    assert_eq!(keys(&of_file).len(), 8);
    assert_eq!(keys(&of_file), keys(&of_dataset));
    // Only a dataset has rates.
    let rates = |found: &Value| {
        let flows = found["flows"].as_array().unwrap();
        flows
            .iter()
            .filter(|flow| flow["bps"].as_f64().is_some_and(|bps| bps > 0.0))
            .count()
    };
    assert_eq!((rates(&of_file), rates(&of_dataset)), (0, 8));
    // A source that is named twice adds nothing.
    let both = flows(folder.path(), &["-r", "trace.pcap", "--dataset", "data"]);
    assert_eq!(keys(&both), keys(&of_file));
}

#[test]
fn the_filter_applies_to_capture_files_and_datasets() {
    let folder = captured();
    for source in [["-r", "trace.pcap"], ["--dataset", "data"]] {
        for (filter, count) in [
            ("net 10.0.0.0/8", 6),
            ("src == 10.0.0.2", 1),
            ("dst == 10.0.1.1", 3),
            ("net fd00::/8", 2),
            ("src == 192.0.2.1", 0),
        ] {
            let found = flows(folder.path(), &[&source[..], &["--filter", filter]].concat());
            assert_eq!(keys(&found).len(), count, "{source:?} {filter}");
        }
    }
    let skipped = flows(folder.path(), &["-r", "trace.pcap", "--filter", "src == 10.0.0.2"]);
    assert!(skipped["skipped"]["filtered_packet"].as_u64().unwrap() > 0, "{skipped}");
    let output = run_in(
        &["paths", "flows", "-r", "trace.pcap", "--filter", "src and"],
        folder.path(),
    );
    assert!(!output.status.success());
    let output = run_in(&["paths", "flows", "--filter", "src == 10.0.0.2"], folder.path());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("--filter selects flows of --dataset and -r, which are missing"),
        "{message}"
    );
}

#[test]
fn pairs_keep_the_fastest_flows_and_name_what_is_missing() {
    let folder = captured();
    let topology = "[[node]]\nname = \"a\"\nkind = \"host\"\naddresses = [\"10.0.0.1\"]\n\
                    [[node]]\nname = \"b\"\nkind = \"host\"\naddresses = [\"10.0.1.1\"]\n\
                    [[link]]\nends = [\"a:eth0\", \"b:eth0\"]\n";
    fs::write(folder.path().join("fabric.toml"), topology).unwrap();
    fs::write(
        folder.path().join("pairs"),
        "# SRC DST FLOWS\na b 1\n10.0.0.2 10.0.1.1 2\n10.0.0.9 10.0.1.1\n",
    )
    .unwrap();
    let options = ["--dataset", "data", "--pairs", "pairs", "--topology", "fabric.toml"];
    let found = flows(folder.path(), &options);
    let kept = keys(&found);
    let sources: Vec<&str> = kept.iter().map(|(src, ..)| &**src).collect();
    assert_eq!(sources, ["10.0.0.1", "10.0.0.2"]);
    // Of the two flows from a to b the one with ten times the messages.
    let all = flows(folder.path(), &["--dataset", "data", "--filter", "src == 10.0.0.1"]);
    let rate = |flow: &Value| flow["bps"].as_f64().unwrap();
    let fastest = all["flows"]
        .as_array()
        .unwrap()
        .iter()
        .max_by(|a, b| rate(a).total_cmp(&rate(b)))
        .unwrap();
    assert_eq!(found["flows"][0]["src_port"], fastest["src_port"]);
    assert_eq!(
        found["skipped"],
        json!({"other_pair": 5, "beyond_the_number_of_the_pair": 1})
    );
    let short = json!([
        {"src": "10.0.0.2", "dst": "10.0.1.1", "expected": 2, "found": 1},
        {"src": "10.0.0.9", "dst": "10.0.1.1", "expected": 1, "found": 0},
    ]);
    assert_eq!(found["shortfalls"], short);
    let shown = text(&[&["paths", "flows"], &options[..]].concat(), folder.path());
    assert!(
        shown.contains("10.0.0.2 to 10.0.1.1: 1 of 2 flows") && shown.contains("skipped: 5 other_pair"),
        "{shown}"
    );
    fs::write(folder.path().join("pairs"), "a b many\n").unwrap();
    let output = run_in(&[&["paths", "flows"], &options[..]].concat(), folder.path());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.ends_with("rocescope: pairs: line 1: `many` is no number of flows\n"),
        "{error}"
    );
}

/// Two captures of the same packets, and two queue pairs with one 5-tuple.
#[test]
fn packets_count_once_however_many_captures_saw_them_and_queue_pairs_add_up() {
    let folder = captured();
    let rates = |folder: &Path, data: &str| {
        let found = flows(folder, &["--dataset", data]);
        let flows = found["flows"].as_array().unwrap().iter();
        flows.map(|flow| flow["bps"].as_f64().unwrap()).collect::<Vec<f64>>()
    };
    let once = rates(folder.path(), "data");
    let call = "capture -q -r trace.pcap --out data --observer other";
    text(&call.split(' ').collect::<Vec<&str>>(), folder.path());
    assert_eq!(rates(folder.path(), "data"), once);

    let scenario = "[[flows]]\ncount = 2\nsrc = \"10.0.0.1\"\ndst = \"10.0.1.1\"\nrate = \"1Gbit/s\"\n\
                    messages = 8\nsrc_ports = [50000, 50000]\nqpn = 4096\nsrc_qpn = 8192\n";
    fs::write(folder.path().join("shared.toml"), scenario).unwrap();
    text(&["generate", "shared.toml", "-w", "shared.pcap"], folder.path());
    for (data, filter) in [
        ("both", None),
        ("first", Some("dst_qpn == 4096")),
        ("second", Some("dst_qpn == 4097")),
    ] {
        let call = ["capture", "-q", "-r", "shared.pcap", "--out", data];
        let filter = filter.map_or(Vec::new(), |filter| vec!["--filter", filter]);
        text(&[&call[..], &filter].concat(), folder.path());
    }
    let [both, first, second] = ["both", "first", "second"].map(|data| rates(folder.path(), data)[0]);
    assert!(first > 0.0 && second > 0.0);
    assert!((both - first - second).abs() < both * 1e-9, "{both} {first} {second}");
}

/// Sockets of servers, their queue pairs, and a list: each flow counts once.
#[test]
fn sources_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "list.json",
        r#"["10.0.0.1:49152>10.0.1.1:4791", {"src": "10.0.0.1", "dst": "10.0.1.1", "src_port": 49153}]"#,
    );
    write(
        "server.ss",
        "Netid State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n\
         udp   ESTAB 0      0      10.0.0.1:49152     10.0.1.1:4791\n\
         tcp   ESTAB 0      0      10.0.0.1:50000     10.0.1.1:18515\n",
    );
    let found = flows(folder.path(), &["--flows", "list.json", "--ss", "server.ss"]);
    let ports: Vec<u64> = keys(&found).iter().map(|(_, _, port)| *port).collect();
    assert_eq!(ports.len(), 3, "{found}");
    assert!(
        [49_152, 49_153, 50_000].iter().all(|port| ports.contains(port)),
        "{found}"
    );
}

/// 2026-11-29T00:00:00Z.
const MIDNIGHT_NS: i64 = 1_795_910_400_000_000_000;

/// A queue pair of a host to one of another, both named by the last number of their address; `second` is the time of its row
/// after midnight.
fn pair((host, qpn): (u8, u32), (peer, peer_qpn): (u8, u32), second: i64) -> QueuePairRow {
    QueuePairRow {
        observer: format!("gpu-{host}").into(),
        device: "mlx5_0".into(),
        local_qpn: qpn,
        remote_qpn: Some(peer_qpn),
        qp_type: "RC".into(),
        state: "RTS".into(),
        first_ns: MIDNIGHT_NS,
        time: Time(MIDNIGHT_NS + second * 1_000_000_000),
        time_ns: MIDNIGHT_NS + second * 1_000_000_000,
        local_address: Some([10, 0, 0, host].into()),
        remote_address: Some([10, 0, 0, peer].into()),
        udp_src_port: Some(50_000 + u16::from(host)),
        ..QueuePairRow::default()
    }
}

/// A dataset with what agents report: hosts 1 and 2 with two connections, of which one ends; host 3 is connected to host 9,
/// which has no agent; two queue pairs of which netlink lists numbers alone; one that is not connected yet.
#[test]
fn queue_pairs_of_agents_are_the_flows_that_are_connected_then() {
    let folder = tempfile::tempdir().unwrap();
    let of_netlink = |host, qpn, peer_qpn| QueuePairRow {
        local_address: None,
        remote_address: None,
        udp_src_port: None,
        port_addresses: Some(format!("fe80::{host},10.0.0.{host}").into()),
        ..pair((host, qpn), (0, peer_qpn), 1)
    };
    let gone = |row: QueuePairRow| QueuePairRow {
        event: Some("gone".into()),
        ended_ns: Some(row.time_ns),
        ..row
    };
    let rows = vec![
        pair((1, 11), (2, 12), 1),
        pair((2, 12), (1, 11), 1),
        pair((1, 21), (2, 22), 1),
        pair((2, 22), (1, 21), 1),
        pair((3, 31), (9, 32), 1),
        of_netlink(4, 41, 51),
        of_netlink(5, 51, 41),
        QueuePairRow {
            state: "INIT".into(),
            ..pair((5, 52), (0, 0), 1)
        },
        gone(pair((1, 21), (2, 22), 10)),
        gone(pair((2, 22), (1, 21), 10)),
    ];
    let options = Options {
        tables: QUEUE_PAIR_TABLES,
        ..Options::new("agents")
    };
    let mut writer = Writer::create(&folder.path().join("data"), options).unwrap();
    writer.append_cells(&rows, Instant::now()).unwrap();
    writer.finish().unwrap();

    let found = flows(folder.path(), &["--from-agents", "data"]);
    // 41 times 51, as the kernel computes it.
    let computed = 0xc000 | (41 * 51);
    let key = |src: u8, dst: u8, port: u64| (format!("10.0.0.{src}"), format!("10.0.0.{dst}"), port);
    let expected = [
        key(1, 2, 50_001),
        key(2, 1, 50_002),
        key(3, 9, 50_003),
        key(4, 5, computed),
        key(5, 4, computed),
    ];
    assert_eq!(keys(&found), expected);
    assert_eq!(found["flows"][0]["dst_qpn"], 12);
    assert_eq!(
        (&found["skipped"], &found["computed_ports"]),
        (
            &json!({"direction_of_a_peer_without_agent": 1, "not_connected": 1}),
            &2.into()
        )
    );
    let shown = text(&["paths", "flows", "--from-agents", "data"], folder.path());
    for line in [
        "skipped: 1 direction_of_a_peer_without_agent",
        "computed: 2 source ports, as of queue pairs with flow label 0",
    ] {
        assert!(shown.contains(line), "{shown}");
    }

    // Before the second connection ended it counts: its queue pairs share the ports of the first.
    let before = [
        "--from-agents",
        "data",
        "--to",
        "2026-11-29T00:00:05Z",
        "--pairs",
        "pairs",
    ];
    fs::write(
        folder.path().join("pairs"),
        "10.0.0.1 10.0.0.2 2\n10.0.0.3 10.0.0.9 1\n",
    )
    .unwrap();
    let found = flows(folder.path(), &before);
    assert_eq!(keys(&found), [expected[0].clone(), expected[2].clone()]);
    assert_eq!(
        found["shortfalls"],
        json!([{"src": "10.0.0.1", "dst": "10.0.0.2", "expected": 2, "found": 1}])
    );
}

#[test]
fn a_dataset_without_queue_pairs_has_no_workload_of_agents() {
    let folder = captured();
    let output = run_in(&["paths", "flows", "--from-agents", "data"], folder.path());
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("data has no rows in `queue_pairs`: agents with [queue-pairs]"),
        "{error}"
    );
}
