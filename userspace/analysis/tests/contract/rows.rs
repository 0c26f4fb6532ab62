//! The rows that each analysis reads, window by window.

use crate::promises::Slice;
use rocescope_analysis::paths::runs::Run;
use rocescope_diagnose::paths::Hop;
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, LinkDirection, LinkId, Rails};
use rocescope_model::{ConnectionRow, CounterRow, EventRow, FlowRow, LoopbackRow, PathRow, ProbeRow, StepRow, Time};
use rocescope_paths::topology::{Format, parse};
use rocescope_paths::{Flow, KnownPath};
use std::collections::BTreeMap;
use std::net::IpAddr;

const SECOND: i64 = 1_000_000_000;
/// Two windows before the end of an hour.
const START: i64 = 1_795_200_000 * SECOND + 3_560 * SECOND;

/// Probes and paths of a small fabric with a link that loses a fifth, and a NIC to which the last switch has no route.
pub(crate) fn mesh() -> Vec<Slice> {
    const WINDOW: i64 = 20 * SECOND;
    let mut fabric = Fabric::new(Rails::two_tiers(8, 2, 2).build().unwrap(), 1);
    let topology = fabric.topology;
    fabric.faults.push(Fault {
        kind: FaultKind::Loss { probability: 0.2 },
        place: FaultLocation::Direction(LinkDirection {
            link: LinkId(topology.nics() + 1),
            up: true,
        }),
        from_ns: START,
        until_ns: i64::MAX,
    });
    let (mesh, names) = (Mesh::default(), Names::new(&fabric));
    let mut without_route = None;
    let slice = |window: i64| {
        let from_ns = START + window * WINDOW;
        let mut paths = Vec::new();
        if window == 0 {
            mesh.paths(&fabric, from_ns, |tuple, trace| {
                paths.extend(names.path(&fabric, tuple, from_ns, &trace));
            });
        }
        let mut probes = Vec::new();
        mesh.probes(&fabric, from_ns, from_ns + WINDOW, |probe| {
            probes.push(names.probe(&fabric, &mesh, &probe));
        });
        without_route = without_route.or(probes.first().map(|probe: &ProbeRow| probe.dst));
        for probe in probes.iter_mut().filter(|probe| Some(probe.dst) == without_route) {
            probe.outcome = "timeout".into();
            (probe.network_latency_ns, probe.processing_delay_ns) = (None, None);
        }
        for hop in paths
            .iter_mut()
            .filter(|hop: &&mut PathRow| Some(hop.dst) == without_route)
        {
            hop.reason = "unreachable".into();
            hop.address = hop.address.filter(|_| hop.hop < hop.hops);
        }
        Slice {
            end_ns: from_ns + WINDOW,
            rows: vec![Box::new(paths), Box::new(probes)],
        }
    };
    (0..5).map(slice).collect()
}

/// Counters of two hosts, one of which has no buffers for a while, and what a capture saw of them.
pub(crate) fn hosts() -> Vec<Slice> {
    const WINDOW: i64 = 10 * SECOND;
    let address = |host: u8| IpAddr::from([10, 0, 0, host]);
    let slice = |window: i64| {
        let (from_ns, end_ns) = (START + window * WINDOW, START + (window + 1) * WINDOW);
        let counter = |host: u8, name: &'static str, increase: u64| CounterRow {
            observer: format!("gpu-{host}").into(),
            time: Time(end_ns),
            time_ns: end_ns,
            interval_ns: Some(WINDOW),
            device: "mlx5_0".into(),
            port: Some(1),
            driver: "mlx5".into(),
            name: name.into(),
            metric: Some(name.into()),
            kind: "counter".into(),
            unit: "packets".into(),
            raw_value: Some(100),
            value: Some(100.0),
            increase: Some(increase),
            rate: Some(3.0),
            ..CounterRow::default()
        };
        let addresses = |host: u8| CounterRow {
            kind: "gauge".into(),
            value: Some(1.0),
            text: Some(address(host).to_string().into()),
            increase: None,
            ..counter(host, "addresses", 0)
        };
        let trouble = if (2..5).contains(&window) { 40 } else { 0 };
        let counters = (1..=2).flat_map(|host| {
            let errors = counter(host, "out_of_buffer", if host == 1 { trouble } else { 0 });
            [addresses(host), errors]
        });
        let event = EventRow {
            observer: "box".into(),
            time: Time(from_ns),
            time_ns: from_ns,
            kind: "rnr_nak".into(),
            src: Some(address(2)),
            dst: Some(address(1)),
            dst_qpn: Some(17),
            count: trouble,
            ..EventRow::default()
        };
        let flow = FlowRow {
            observer: "box".into(),
            window_start: Time(from_ns),
            window_start_ns: from_ns,
            window_ns: SECOND,
            src: address(2),
            dst: address(1),
            dst_qpn: 17,
            udp_src_port: Some(50_000),
            service: "RC".into(),
            packets: 1_000,
            frame_bytes: 1_000_000,
            retransmitted_packets: Some(0),
            ..FlowRow::default()
        };
        let connection = ConnectionRow {
            observer: "box".into(),
            time: Time(from_ns + 1),
            time_ns: from_ns + 1,
            src: address(2),
            dst: address(1),
            dst_qpn: Some(17),
            ..ConnectionRow::default()
        };
        Slice {
            end_ns,
            rows: vec![
                Box::new(counters.collect::<Vec<_>>()),
                Box::new(vec![flow]),
                Box::new(vec![event]),
                Box::new(vec![connection]),
            ],
        }
    };
    (0..10).map(slice).collect()
}

/// Two leaves with two spines, and a run that found the paths of two flows.
pub(crate) fn fabric() -> (rocescope_diagnose::paths::Fabric, BTreeMap<i64, Run>) {
    let text = r#"
        link = [
            { ends = ["h1:eth0", "leaf1:1"] },
            { ends = ["h2:eth0", "leaf2:1"] },
            { ends = ["leaf1:2", "spine1:1"] },
            { ends = ["leaf1:3", "spine2:1"] },
            { ends = ["leaf2:2", "spine1:2"] },
            { ends = ["leaf2:3", "spine2:2"] },
        ]
        [[node]]
        name = "h1"
        kind = "host"
        [[node]]
        name = "h2"
        kind = "host"
    "#;
    let topology = parse(text, Format::Toml, "").unwrap();
    let hops = [("h1", "eth0"), ("leaf1", "2"), ("spine1", "2"), ("leaf2", "1")];
    let path = |port: u16| KnownPath {
        name: port.to_string(),
        flow: Some(Flow::roce([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), port)),
        hops: hops.map(|(node, port)| Hop(node.into(), port.into())).to_vec(),
        bps: None,
    };
    let run = Run {
        time: Some(Time(START)),
        paths: vec![path(50_000), path(50_001)],
        ..Run::default()
    };
    (topology.fabric(), BTreeMap::from([(START, run)]))
}

/// Three flows, of which two have a known path.
pub(crate) fn flows() -> Vec<Slice> {
    let slice = |second: i64| {
        let from_ns = START + second * SECOND;
        let row = |port: u16| FlowRow {
            observer: "box".into(),
            window_start: Time(from_ns),
            window_start_ns: from_ns,
            window_ns: SECOND,
            src: [10, 0, 0, 1].into(),
            dst: [10, 0, 0, 2].into(),
            dst_qpn: u32::from(port),
            udp_src_port: Some(port),
            service: "RC".into(),
            packets: 10,
            frame_bytes: 1_000 * u64::from(port),
            ..FlowRow::default()
        };
        Slice {
            end_ns: from_ns + SECOND,
            rows: vec![Box::new([50_000, 50_001, 50_002].map(row).to_vec())],
        }
    };
    (0..60).map(slice).collect()
}

/// Two runs of a host and one of another.
pub(crate) fn tests() -> Vec<Slice> {
    let slice = |(run, host): (i64, &'static str)| {
        let from_ns = START + run * 60 * SECOND;
        let row = |nic: u8, bps: f64| LoopbackRow {
            observer: host.into(),
            window_start: Time(from_ns),
            window_start_ns: from_ns,
            window_ns: SECOND,
            nic: format!("mlx5_{nic}").into(),
            endpoint: "node0".into(),
            reach: "local".into(),
            path: format!("mlx5_{nic} > root{nic} > node0").into(),
            measured_bps: Some(bps),
            ..LoopbackRow::default()
        };
        Slice {
            end_ns: from_ns + SECOND,
            rows: vec![Box::new(vec![row(0, 2e11), row(1, 2e11), row(2, 5e10)])],
        }
    };
    [(0, "gpu-1"), (1, "gpu-2"), (2, "gpu-1")]
        .into_iter()
        .map(slice)
        .collect()
}

/// The steps of two collectives.
pub(crate) fn steps() -> Vec<Slice> {
    let slice = |(number, name): (i64, &'static str)| {
        let from_ns = START + number * SECOND;
        let row = |step: u32| StepRow {
            observer: "job".into(),
            time: Time(from_ns),
            time_ns: from_ns + i64::from(step),
            collective: name.into(),
            step,
            duration_ns: Some(1_000),
            ..StepRow::default()
        };
        Slice {
            end_ns: from_ns + SECOND,
            rows: vec![Box::new((1..4).map(row).collect::<Vec<_>>())],
        }
    };
    [(0, "b"), (1, "a")].into_iter().map(slice).collect()
}
