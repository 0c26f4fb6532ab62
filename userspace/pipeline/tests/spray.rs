//! Senders that spray packets over many UDP source ports.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use bytemuck::Zeroable;
use rocescope_model::{FlowRow, WindowRows};
use rocescope_pipeline::filter::RunFilter;
use rocescope_pipeline::spray::{FEW_PORTS, FlowKeyMode, MANY_PORTS};
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::{Config, Counters, RunRecord};
use rocescope_wire::tunnel::NO_VNI;
use rocescope_wire::{FlowKey, Stream};

const SECOND: u64 = 1_000_000_000;
/// `RC_SEND_ONLY`.
const SEND_ONLY: u8 = 0x04;

/// A SEND of 100 bytes to a queue pair over a port.
fn send(qpn: u32, port: u16, first_ns: u64) -> RunRecord {
    RunRecord {
        flow: FlowKey {
            src: [1; 16],
            dst: [2; 16],
            vni: NO_VNI,
            dst_qpn: qpn,
            udp_src_port: port,
            vlan: 0xffff,
            inner_vlan: 0xffff,
            reserved: 0,
        },
        first_ns,
        packets: 1,
        only: 1,
        frame_bytes: 162,
        only_frame_bytes: 162,
        only_payload_bytes: 100,
        opcode: SEND_ONLY,
        stream: Stream::Request as u8,
        ..RunRecord::zeroed()
    }
}

fn pipeline(flow_key: FlowKeyMode) -> Pipeline {
    Pipeline::new(Settings {
        sketches: false,
        lateness_ns: 0,
        connections: None,
        flow_key,
        ..Settings::default()
    })
    .unwrap()
}

/// The rows of `flows` for each window of `runs`, which begin at `second` 0, and the key of the cache after it.
fn play(pipeline: &mut Pipeline, windows: &[Vec<RunRecord>]) -> Vec<(Vec<FlowRow>, bool)> {
    let mut counters = Counters::default();
    let mut seconds = 0..;
    let mut rows = Vec::new();
    for runs in windows {
        let second = seconds.next().unwrap();
        pipeline.turn(second * SECOND, &counters);
        for run in runs {
            counters.frames += 1;
            counters.roce_packets += 1;
            pipeline.ingest(&RunRecord {
                first_ns: second * SECOND + run.first_ns,
                ..*run
            });
        }
        pipeline.turn((second + 1) * SECOND, &counters);
        let flows = std::mem::take::<WindowRows>(pipeline.rows()).flows;
        rows.push((flows, pipeline.key_mask() == Config::port_mask(true)));
    }
    rows
}

/// Packets of `directions` directions over `ports` ports each, four packets a port.
fn sprayed(directions: u32, ports: u16) -> Vec<RunRecord> {
    let packets = (0..4).flat_map(|_| (0..ports).flat_map(move |port| (0..directions).map(move |qpn| (qpn, port))));
    (0..)
        .zip(packets)
        .map(|(at, (qpn, port))| send(qpn, 49_152 + port, at))
        .collect()
}

#[test]
fn a_sprayed_direction_is_one_flow_and_states_its_ports() {
    let mut pipeline = pipeline(FlowKeyMode::Auto);
    // One direction over many ports beside one over a few: QP 7 keeps its ports.
    let mut runs = sprayed(1, 300);
    runs.extend((0..3).map(|port| send(7, port + 1, 5_000 + u64::from(port))));
    let [(flows, _)] = &play(&mut pipeline, &[runs])[..] else {
        unreachable!()
    };
    let [first, others @ ..] = &flows[..] else {
        panic!("no flow")
    };
    assert_eq!(
        (first.udp_src_port, first.udp_src_ports, first.packets),
        (None, Some(300), 1_200)
    );
    assert_eq!(first.direction_key, Some(first.flow_hash));
    let ports: Vec<_> = others
        .iter()
        .map(|flow| (flow.udp_src_port, flow.udp_src_ports, flow.packets))
        .collect();
    assert_eq!(
        ports,
        [(Some(1), Some(1), 1), (Some(2), Some(1), 1), (Some(3), Some(1), 1)]
    );
}

/// 1,000 sprayed queue pairs with 4,096 ports each, of which a window shows 200,000 packets: more flows by port than are
/// counted exactly.
#[test]
fn a_thousand_sprayed_queue_pairs_are_a_thousand_exact_flows() {
    let mut pipeline = pipeline(FlowKeyMode::Auto);
    let packet = |at: u32| {
        send(
            at % 1_000,
            49_152 + (at / 1_000 * 7 + at % 1_000 * 61) as u16 % 4_096,
            u64::from(at),
        )
    };
    let runs: Vec<RunRecord> = (0..200_000).map(packet).collect();
    let windows = play(&mut pipeline, &[runs.clone(), runs]);
    for (flows, is_port_in_key) in &windows {
        assert_eq!(flows.len(), 1_000);
        assert!(
            flows
                .iter()
                .all(|flow| (flow.packets, flow.udp_src_ports) == (200, Some(200))),
            "{:?}",
            flows[0]
        );
        assert!(flows.iter().all(|flow| flow.error_packets == 0));
        // Most packets are sprayed, so the port ends no run any more.
        assert!(!is_port_in_key);
    }
}

/// Between the two numbers of ports nothing changes, so a direction does not flip from window to window.
#[test]
fn ports_separate_a_direction_again_once_it_has_few() {
    let mut pipeline = pipeline(FlowKeyMode::Auto);
    let many = sprayed(1, MANY_PORTS as u16 + 1);
    let between = sprayed(1, MANY_PORTS as u16 - 1);
    let few = sprayed(1, FEW_PORTS as u16);
    let windows = [
        &between, &many, &between, &between, &between, &between, &few, &few, &few, &few, &few, &few,
    ]
    .map(Clone::clone);
    let rows: Vec<usize> = play(&mut pipeline, &windows)
        .iter()
        .map(|(flows, _)| flows.len())
        .collect();
    let few = FEW_PORTS;
    assert_eq!(rows, [MANY_PORTS - 1, 1, 1, 1, 1, 1, 1, 1, 1, few, few, few]);
    assert_eq!(pipeline.key_mask(), Config::port_mask(true));
}

#[test]
fn the_flow_key_can_be_chosen() {
    let runs = sprayed(2, 40);
    for (mode, flows) in [
        (FlowKeyMode::Port, 80),
        (FlowKeyMode::Direction, 2),
        (FlowKeyMode::Auto, 2),
    ] {
        let mut pipeline = pipeline(mode);
        assert_eq!(
            play(&mut pipeline, std::slice::from_ref(&runs))[0].0.len(),
            flows,
            "{mode:?}"
        );
    }
    // A filter of ports needs them.
    let mut pipeline = Pipeline::new(Settings {
        filter: Some(RunFilter::parse("port 49153").unwrap()),
        lateness_ns: 0,
        flow_key: FlowKeyMode::Direction,
        ..Settings::default()
    })
    .unwrap();
    let rows = play(&mut pipeline, &[runs]);
    assert_eq!(rows[0].0.len(), 2);
    assert!(rows[0].1 && rows[0].0.iter().all(|flow| flow.udp_src_port == Some(49_153)));
}

/// Where the cache leaves out the port, a run with several ports states that its direction is sprayed.
#[test]
fn a_run_with_several_ports_shows_a_sprayed_direction() {
    let mut pipeline = pipeline(FlowKeyMode::Auto);
    let run = RunRecord {
        flags: RunRecord::PORTS_DIFFER,
        ..send(5, 50_000, 0)
    };
    let rows = play(&mut pipeline, &[vec![run]]);
    assert_eq!((rows[0].0[0].udp_src_port, rows[0].0[0].udp_src_ports), (None, Some(1)));
}
