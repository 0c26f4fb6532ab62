//! `paths advise` makes uneven layers even, by what the ports of every switch count of real packets.

use super::super::json;
use super::{Fabric, HOSTS, LEAVES, SPINES, Sent, bipartite, write_list};
use serde_json::json;
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

const FLOWS: usize = 256;
/// Packets of each flow: beside them those of neighbor discovery round to nothing.
const PACKETS: usize = 100;

/// Packets that each port of each switch sent.
fn counters(fabric: &Fabric) -> BTreeMap<(String, String), u64> {
    let mut found = BTreeMap::new();
    for switch in fabric.switches() {
        let script = "for port in /sys/class/net/*; do echo ${port##*/} $(cat $port/statistics/tx_packets); done";
        let output = Command::new("ip")
            .args(["netns", "exec", &fabric.ns(switch), "sh", "-c", script])
            .output()
            .unwrap();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let (port, packets) = line.split_once(' ').unwrap();
            found.insert((switch.to_owned(), port.to_owned()), packets.parse().unwrap());
        }
    }
    found
}

/// The metric of each layer from leaves to spines, to leaves, and to hosts, by real packets.
fn measured(fabric: &Fabric, flows: &[Sent]) -> [f64; 3] {
    let before = counters(fabric);
    fabric.send(flows, PACKETS);
    let after = counters(fabric);
    let loads = |prefix: &str| {
        let ports = after.iter().filter(|((_, port), _)| port.starts_with(prefix));
        let loads = ports.map(|(key, packets)| ((packets - before[key]) as f64 / PACKETS as f64).round());
        loads.collect::<Vec<f64>>()
    };
    ["up", "down", "host"].map(|prefix| {
        let loads = loads(prefix);
        let links = if prefix == "host" {
            LEAVES * HOSTS
        } else {
            LEAVES * SPINES * fabric.links
        };
        assert_eq!(loads.len(), links);
        let flows: f64 = loads.iter().sum();
        assert_eq!(flows, FLOWS as f64, "{prefix}: every flow crosses the layer once");
        let ideal = flows / links as f64;
        loads.iter().map(|load| (load - ideal).abs() / ideal).sum::<f64>() / links as f64 * 100.0
    })
}

/// 16 uplinks of each leaf, as in the paper, and ports as random as an application's.
#[test]
#[ignore = "takes 38 s; `cargo xtask ci --full` runs it"]
fn advice_makes_the_links_of_real_packets_even() {
    let Some(fabric) = Fabric::up(4) else { return };
    let folder = tempfile::tempdir().unwrap();
    fabric.prepare(folder.path());
    let mut random = 7_u32;
    let mut port = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        0xc000 | u16::try_from(random >> 18).unwrap()
    };
    let mut flows: Vec<Sent> = (0..FLOWS).map(|number| bipartite(number, port(), false)).collect();
    // A host has a port once.
    flows.sort_by_key(|flow| (flow.from.clone(), flow.port));
    for at in 1..flows.len() {
        if flows[at].from == flows[at - 1].from && flows[at].port <= flows[at - 1].port {
            flows[at].port = flows[at - 1].port + 1;
        }
    }
    write_list(&folder.path().join("flows.json"), &flows);
    let start = measured(&fabric, &flows);
    let started = Instant::now();
    let call = "paths advise --topology fabric.toml --ssh-config ssh --flows flows.json -o json";
    let advice = json(&call.split(' ').collect::<Vec<&str>>(), folder.path());
    let took = started.elapsed();
    assert_eq!(advice["flows"], json!(FLOWS), "{}", advice["left_out"]);
    let mut moved = flows.clone();
    for change in advice["changes"].as_array().unwrap() {
        let is_of = |flow: &Sent| change["flow"]["src"] == flow.src.as_str() && change["flow"]["src_port"] == flow.port;
        let (_, flow) = flows.iter().zip(&mut moved).find(|(old, _)| is_of(old)).unwrap();
        flow.port = u16::try_from(change["src_port"].as_u64().unwrap()).unwrap();
    }
    let end = measured(&fabric, &moved);
    println!("advice in {took:?}; by counters of every port: {start:.1?} % before, {end:.1?} % after");
    // What the switches stated is what real packets did.
    let stated = |run: &str| {
        let layers = advice[run]["layers"].as_array().unwrap();
        [("leaf", "spine"), ("spine", "leaf"), ("leaf", "host")].map(|(from, to)| {
            let layer = layers.iter().find(|layer| layer["from"] == from && layer["to"] == to);
            layer.unwrap()["fim_percent"].as_f64().unwrap()
        })
    };
    for (run, real) in [("before", start), ("after", end)] {
        for (stated, real) in stated(run).into_iter().zip(real) {
            assert!((stated - real).abs() < 1e-6, "{run}: {stated} {real}");
        }
    }
    // Random hashing of 4 flows a link: 37.6 % in the mean.
    assert!(start[0] > 25.0 && start[1] > 25.0, "{start:?}");
    assert!(end.iter().all(|fim| *fim < 7.0), "{end:?}");
}
