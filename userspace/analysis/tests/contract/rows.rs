//! The rows that each analysis reads, window by window.

use crate::promises::Slice;
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, LinkDirection, LinkId, Rails};
use rocescope_model::{ConnectionRow, CounterRow, EventRow, FlowRow, Time};
use std::net::IpAddr;

const SECOND: i64 = 1_000_000_000;
/// Two windows before the end of an hour.
const START: i64 = 1_795_200_000 * SECOND + 3_560 * SECOND;

/// Probes and paths of a small fabric with a link that loses a fifth.
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
