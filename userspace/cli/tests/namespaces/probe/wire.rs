//! The packets on the wire, as tshark and the capture read them.

use crate::probe::agent::Agent;
use crate::probe::rails::Rails;
use rocescope_testkit::{Running, binary, text, until};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Captures on a port of a router until it ends.
pub(crate) fn record(rails: &Rails, node: &str, port: &str, file: &Path, filter: &str) -> Running {
    let mut tcpdump = rails.command(node, "tcpdump");
    tcpdump
        .args(["-i", port, "-U", "--immediate-mode", "-Z", "root", "-w"])
        .arg(file);
    let tcpdump = Running::spawn(tcpdump.arg(filter));
    tcpdump.until_said("listening on");
    tcpdump
}

/// The fields of each frame, as tshark reads them.
pub(crate) fn fields(file: &Path, names: &[&str]) -> Vec<Vec<String>> {
    let mut tshark = Command::new("tshark");
    tshark.args(["-T", "fields", "-r"]).arg(file);
    for name in names {
        tshark.args(["-e", name]);
    }
    let text = text(&tshark.output().unwrap());
    let line = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().map(line).collect()
}

fn probes_match_those_of_an_rdma_nic(is_v6: bool) {
    let Some(rails) = Rails::new(0, is_v6) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rail0.pcap");
    let (router, port) = rails.router(0);
    let tcpdump = record(&rails, &router, &port, &file, "udp port 4791");
    let agent = Agent::begin(&rails, &["--interval", "10ms", "--timeout", "60s", "--paths-rate", "0"]);
    agent.until_probes(60);
    let done = agent.stop("-INT");
    assert_eq!(done.count("received"), done.count("probes"));
    let through = |row: &&rocescope_model::ProbeRow| &*row.src_nic == "rail0" || &*row.dst_nic == "rail0";
    let passed = done.probes.iter().filter(through).count();
    until("tcpdump has written every frame", || {
        fields(&file, &["frame.number"]).len() >= passed
    });
    tcpdump.stop("-INT");

    let address = if is_v6 {
        ["ipv6.src", "ipv6.dst"]
    } else {
        ["ip.src", "ip.dst"]
    };
    let names = [
        address[0],
        address[1],
        "udp.srcport",
        "udp.dstport",
        "infiniband.bth.opcode",
        "infiniband.bth.padcnt",
        "infiniband.bth.p_key",
        "infiniband.bth.destqp",
        "infiniband.bth.psn",
        "infiniband.deth.q_key",
        "infiniband.deth.srcqp",
        "udp.length",
    ];
    let mut rows = BTreeMap::new();
    for row in &done.probes {
        let number = |nic: &str| nic.trim_start_matches("rail").parse::<u32>().unwrap();
        let key = (row.src.to_string(), row.sequence);
        rows.insert(key, (row, number(&row.src_nic), number(&row.dst_nic)));
    }
    let seen = fields(&file, &names);
    assert_eq!(seen.len(), passed);
    for frame in seen {
        let sequence: u64 = frame[8].parse().unwrap();
        let (row, src, dst) = rows[&(frame[0].clone(), sequence)];
        assert_eq!(frame[1], row.dst.to_string());
        assert_eq!(frame[2], row.udp_src_port.to_string());
        assert!(row.udp_src_port >= 0xc000);
        assert_eq!(frame[3], "4791");
        assert_eq!(frame[4], "100", "UD_SEND_ONLY");
        assert_eq!(frame[5], "2", "a payload of 50 bytes");
        assert_eq!(frame[6], "65535");
        assert_eq!(frame[7], format!("0x{:06x}", 0x72_7000 + dst));
        assert_eq!(frame[9], "0x0000000072706221");
        assert_eq!(frame[10], format!("0x{:08x}", 0x72_7000 + src));
        assert_eq!(frame[11], (8 + 12 + 8 + 50 + 2 + 4).to_string());
    }
    icrc_is_right(&file);
}

/// Checks the ICRC with the capture, an independent parser of the same bytes.
fn icrc_is_right(file: &Path) {
    let mut capture = Command::new(binary());
    capture
        .args(["capture", "--verify-icrc", "-q", "-o", "json", "-r"])
        .arg(file);
    let output = capture.output().unwrap();
    text(&output);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["icrc_bad"], 0, "{summary}");
    assert_eq!(summary["icrc_unverifiable"], 0, "{summary}");
    assert_eq!(summary["roce_packets"], summary["frames"]);
    assert_ne!(summary["frames"], 0);
}

#[test]
fn over_ipv4_probes_match_those_of_an_rdma_nic() {
    probes_match_those_of_an_rdma_nic(false);
}

#[test]
fn over_ipv6_probes_match_those_of_an_rdma_nic() {
    probes_match_those_of_an_rdma_nic(true);
}

#[test]
fn times_are_in_order_and_add_up() {
    let Some(rails) = Rails::new(0, false) else {
        return;
    };
    let agent = Agent::begin(&rails, &["--interval", "20ms", "--timeout", "60s"]);
    agent.until_probes(60);
    let done = agent.stop("-INT");
    assert_eq!(done.count("received_without_send_time"), 0);
    for row in done.outcome("received") {
        let [Some(left), Some(came), Some(had)] = [row.nic_send_ns, row.nic_receive_ns, row.app_receive_ns] else {
            panic!("{row:?}");
        };
        assert!(row.time_ns < left && left < came && came < had, "{row:?}");
        let (network, host) = (row.network_latency_ns.unwrap(), row.processing_delay_ns.unwrap());
        assert_eq!(network, came - left);
        assert_eq!(network + host, had - row.time_ns);
        assert_eq!(row.clock_offset_ns, Some(0));
        assert_eq!(&*row.clock_source, "kernel software");
    }
    for src in 0..3 {
        let name = format!("rail{src}");
        let sent: Vec<i64> = done
            .probes
            .iter()
            .filter(|row| *row.src_nic == *name)
            .map(|row| row.time_ns)
            .collect();
        // Every 20 ms, except for turns that a busy machine missed; a slowed agent leaves out more.
        assert!(sent.len() > 5, "{}", sent.len());
        let gaps = sent.windows(2).map(|two| two[1] - two[0]);
        let intervals: Vec<u64> = gaps.map(|gap| (gap / 20_000_000).unsigned_abs()).collect();
        assert!(
            sent.windows(2)
                .all(|two| (two[1] - two[0]) % 20_000_000 == 0 && two[1] > two[0])
        );
        let missed = intervals.iter().map(|intervals| intervals - 1).sum::<u64>();
        let (skipped, slowed) = (done.count("turns_skipped"), done.count("times_slowed_down"));
        assert!(missed <= skipped || slowed > 0, "{missed} missed, {}", done.summary);
    }
}

/// A bridge forwards frames and does not stamp departures.
#[test]
fn if_a_driver_does_not_stamp_the_agent_does() {
    let Some(rails) = Rails::new(0, false) else {
        return;
    };
    let (address, gateway) = (rails.address(0), rails.gateway(0));
    for change in [
        format!("address del {address}/24 dev rail0"),
        "link add bridge0 type bridge".into(),
        "link set rail0 master bridge0".into(),
        format!("address add {address}/24 dev bridge0"),
        "link set bridge0 up".into(),
        format!("route add default via {gateway} dev bridge0 metric 10"),
    ] {
        rails.ip("h", &change);
    }
    let options = ["--interval", "10ms", "--timeout", "60s"];
    let agent = Agent::begin(&rails, &[&["-i", "bridge0", "rail1", "rail2"], &options[..]].concat());
    agent.until_probes(60);
    let done = agent.stop("-INT");
    assert_eq!(done.count("received"), done.count("probes"));
    assert_eq!(done.count("received_without_send_time"), 0);
    assert!(done.probes.iter().any(|row| &*row.src_nic == "bridge0"));
    for row in &done.probes {
        let (left, came) = (row.nic_send_ns.unwrap(), row.nic_receive_ns.unwrap());
        assert!(row.time_ns < left && left < came, "{row:?}");
        assert_eq!(row.network_latency_ns, Some(came - left));
        assert_eq!((&*row.clock_source, row.clock_error_ns), ("cpu", 4_000_000));
    }
}
