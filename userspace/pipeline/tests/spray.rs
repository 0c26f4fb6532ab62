//! Senders that spray packets over many UDP source ports.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use bytemuck::Zeroable;
use rocescope_model::filter::Names;
use rocescope_model::{FlowRow, WindowRows};
use rocescope_pipeline::filter::RunFilter;
use rocescope_pipeline::port_counts::MAX_PORTS;
use rocescope_pipeline::spray::{FEW_PORTS, FlowKeyMode, MANY_PORTS};
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Counters, Observer, RunRecord, Slot};
use rocescope_wire::tunnel::NO_VNI;
use rocescope_wire::{FlowKey, FrameLengths, LinkType, Stream};

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
        filter: Some(RunFilter::parse("port 49153", Names::None).unwrap()),
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
    let flow = &rows[0].0[0];
    // The kernel does not name the other ports: their number is a lower bound, and the imbalance unknown.
    assert_eq!(
        (flow.udp_src_port, flow.udp_src_ports, flow.port_imbalance_ratio),
        (None, Some(1), None)
    );
}

/// An Ethernet frame with a packet of an RDMA WRITE of 16 packets of 1,024 bytes, cut after its headers.
fn frame(qpn: u32, number: u32, port: u16) -> Vec<u8> {
    let (opcode, reth): (u8, usize) = match number % 16 {
        0 => (0x06, 16),
        15 => (0x08, 0),
        _ => (0x07, 0),
    };
    let udp_bytes = (8 + 12 + reth + 1_024 + 4) as u16;
    let mut frame = vec![2; 12];
    frame.extend([0x08, 0x00, 0x45, 0]);
    frame.extend((20 + udp_bytes).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(port.to_be_bytes());
    frame.extend([0x12, 0xb7]);
    frame.extend(udp_bytes.to_be_bytes());
    frame.extend([0, 0, opcode, 0x40, 0xff, 0xff]);
    frame.extend(qpn.to_be_bytes());
    frame.extend(number.to_be_bytes());
    frame.extend(vec![0; reth]);
    frame
}

/// Rows of `flows` and `spread` in each window, published runs, and packets.
struct Played {
    windows: Vec<WindowRows>,
    runs: u64,
    packets: u64,
}

/// Packets of each queue pair in a window.
const PACKETS: u32 = 1_024;

/// 1,000 queue pairs, for a number of windows of a second.
fn play_frames(seconds: u32, port: impl Fn(u32, u32) -> u16) -> Played {
    const QPNS: u32 = 1_000;
    let mut pipeline = pipeline(FlowKeyMode::Auto);
    let slot: Slot = Zeroable::zeroed();
    let mut observer = Observer::new(Config::exact(SECOND), vec![[slot; 2]; 4_096]);
    let mut windows = Vec::new();
    let gap_ns = SECOND / u64::from(QPNS * PACKETS);
    for number in 0..seconds * PACKETS {
        let begin_ns = u64::from(1 + number / PACKETS) * SECOND + u64::from(number % PACKETS * QPNS) * gap_ns;
        for qpn in 1..=QPNS {
            let time_ns = begin_ns + u64::from(qpn) * gap_ns;
            if !pipeline.is_current(time_ns) {
                // What a session does.
                let flush_at = (!pipeline.is_pressed()).then_some(time_ns);
                observer.flush(flush_at, &mut pipeline);
                pipeline.turn(time_ns, observer.counters());
                windows.push(std::mem::take(pipeline.rows()));
                let key_mask = pipeline.key_mask();
                let config = Config {
                    key_mask,
                    ..*observer.config()
                };
                observer.reconfigure(&config);
            }
            let frame = frame(qpn, number, port(qpn, number));
            let original = 14 + u32::from(u16::from_be_bytes([frame[16], frame[17]]));
            let lengths = FrameLengths {
                captured: frame.len() as u32,
                original,
            };
            observer.observe(
                &frame,
                LinkType::Ethernet,
                lengths,
                0,
                &FrameTime(time_ns),
                &mut pipeline,
            );
        }
    }
    observer.flush(None, &mut pipeline);
    pipeline.finish(observer.counters());
    windows.push(std::mem::take(pipeline.rows()));
    windows.retain(|rows| !rows.windows.is_empty());
    let counters = observer.counters();
    Played {
        windows,
        runs: counters.published.iter().sum(),
        packets: counters.roce_packets,
    }
}

/// 1,000 sprayed queue pairs with 4,096 ports each: a row for each direction, at most twice the records of the same traffic
/// with one port each, and counts for as many ports as fit into the memory.
#[test]
fn a_thousand_queue_pairs_over_all_their_ports_cost_at_most_twice_the_records() {
    // With four seconds each direction uses all of its ports: 378,496 and 379,111 records.
    let seconds = 1;
    let single = play_frames(seconds, |qpn, _| 40_000 + qpn as u16);
    let sprayed = play_frames(seconds, |qpn, number| 49_152 + ((number * 5 + qpn * 61) % 4_096) as u16);
    let packets = u64::from(seconds * PACKETS) * 1_000;
    assert_eq!((single.packets, sprayed.packets), (packets, packets));
    println!("records: {} with one port each, {} sprayed", single.runs, sprayed.runs);
    assert!(sprayed.runs <= 2 * single.runs, "{} {}", sprayed.runs, single.runs);
    assert_eq!(sprayed.windows.len(), seconds as usize);
    for rows in &sprayed.windows {
        assert_eq!(rows.flows.len(), 1_000);
        for flow in &rows.flows {
            assert_eq!(
                (flow.packets, flow.udp_src_ports, flow.udp_src_port),
                (1_024, Some(1_024), None)
            );
        }
        // Each port has one packet: perfectly even, where all are known.
        let known: Vec<&FlowRow> = rows
            .flows
            .iter()
            .filter(|flow| flow.port_imbalance_ratio.is_some())
            .collect();
        assert!(known.iter().all(|flow| flow.port_imbalance_ratio == Some(0.0)));
        println!(
            "{} directions with counts of all ports, {} rows of spread",
            known.len(),
            rows.spread.len()
        );
        assert!(known.len() >= MAX_PORTS / 1_024 - 6, "{}", known.len());
        assert!(rows.spread.len() <= 4_096 && rows.spread.iter().all(|row| row.packets == 1));
    }
}
