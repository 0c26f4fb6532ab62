//! The table `spread` holds what the generator sent over each UDP source port, whatever the key of runs is.

use rocescope_generate::{self as generate, Direction, PortVolume, Scenario};
use rocescope_model::{FlowRow, SpreadRow};
use rocescope_store::scan;
use rocescope_testkit::binary;
use std::collections::BTreeMap;
use std::fs::File;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

/// A direction: source, destination and its queue pair.
type Way = (IpAddr, IpAddr, u32);

/// Packets of each port of each direction.
type Ports = BTreeMap<(Way, u16), PortVolume>;

fn read(file: &Path, flow_key: &str) -> (Vec<FlowRow>, Vec<SpreadRow>) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("dataset");
    let output = Command::new(binary())
        .args(["capture", "-q", "--window", "1ms", "--flow-key", flow_key])
        .args(["--spread-rows", "1000000", "-r"])
        .arg(file)
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let found = scan(&out).unwrap();
    (found.rows().unwrap(), found.rows().unwrap())
}

/// The sums of the rows over all windows.
fn sums(rows: &[SpreadRow]) -> Ports {
    let mut ports = Ports::new();
    for row in rows {
        let way = (row.src, row.dst, row.dst_qpn);
        let sum = ports.entry((way, row.udp_src_port)).or_default();
        sum.packets += row.packets;
        sum.frame_bytes += row.frame_bytes;
        sum.ce_packets += row.ecn_ce_packets;
    }
    ports
}

fn truth(truth: &generate::Truth) -> Ports {
    let mut ports = Ports::new();
    for connection in &truth.connections {
        let (a, b) = (connection.a, connection.b);
        let ways: [(Way, &Direction); 2] = [
            ((a.ip, b.ip, b.qpn), &connection.a_to_b),
            ((b.ip, a.ip, a.qpn), &connection.b_to_a),
        ];
        for (way, direction) in ways {
            ports.extend(direction.ports.iter().map(|(port, volume)| ((way, *port), *volume)));
        }
    }
    ports
}

/// Each row of `flows` has the number and the imbalance of the ports that `spread` lists for it.
fn check_flows(flows: &[FlowRow], rows: &[SpreadRow]) {
    let mut listed = 0;
    for flow in flows.iter().filter(|flow| flow.udp_src_port.is_none()) {
        let ports: Vec<&SpreadRow> = rows
            .iter()
            .filter(|row| Some(row.direction_key) == flow.direction_key && row.window_start_ns == flow.window_start_ns)
            .collect();
        let sum = |of: fn(&SpreadRow) -> u64| ports.iter().map(|row| of(row)).sum::<u64>();
        assert_eq!(sum(|row| row.packets), flow.packets);
        assert_eq!(sum(|row| row.frame_bytes), flow.frame_bytes);
        assert_eq!(sum(|row| row.ecn_ce_packets), flow.ecn_ce_packets);
        assert_eq!(flow.udp_src_ports, Some(ports.len() as u64));
        let ideal = flow.packets as f64 / ports.len() as f64;
        let deviations = ports.iter().map(|row| (row.packets as f64 - ideal).abs() / ideal);
        let imbalance = deviations.sum::<f64>() / ports.len() as f64;
        assert!((flow.port_imbalance_ratio.unwrap() - imbalance).abs() < 1e-9);
        listed += ports.len();
    }
    assert_eq!(listed, rows.len());
}

#[test]
fn ports_are_those_of_the_generator() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.pcap");
    let mut compared = 0;
    for name in ["spray-ports-packet", "spray-ports-path", "spray-ports-loss"] {
        for seed in 1..3 {
            let mut scenario = Scenario::parse(generate::class(name).unwrap()).unwrap();
            scenario.snaplen = 96;
            let truth = truth(&generate::write(&scenario, seed, File::create(&path).unwrap()).unwrap());
            // Runs without the port in their key from the first packet on.
            let (flows, rows) = read(&path, "direction");
            check_flows(&flows, &rows);
            let mut found = sums(&rows);
            // Directions that are not sprayed are in `spread` too, with one port.
            found.retain(|key, _| truth.contains_key(key));
            assert_eq!(found, truth, "{name} {seed}");
            // With the port in the key until a direction is seen to be sprayed. Before that its ports are flows.
            let (flows, rows) = read(&path, "auto");
            check_flows(&flows, &rows);
            let mut found = sums(&rows);
            for flow in &flows {
                if let Some(port) = flow.udp_src_port {
                    let sum = found.entry(((flow.src, flow.dst, flow.dst_qpn), port)).or_default();
                    sum.packets += flow.packets;
                    sum.frame_bytes += flow.frame_bytes;
                    sum.ce_packets += flow.ecn_ce_packets;
                }
            }
            found.retain(|key, _| truth.contains_key(key));
            assert_eq!(found, truth, "{name} {seed}");
            compared += truth.len();
        }
    }
    assert!(compared > 1_000, "{compared}");
}
