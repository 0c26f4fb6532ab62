//! The whole path, a capture in memory to rows, with and without following connections.
//!
//! `cargo test --release -p rocescope --test connections_throughput -- --ignored --nocapture`
//! prints packets a second and the ratio for two loads, and fails where following connections keeps
//! less than 70 % of the speed.
#![expect(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use rocescope::session::Session;
use rocescope_capture::file::FrameReader;
use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::{DIRECTION_BYTES, MOST_HEAP_BYTES};
use rocescope_record::Config;
use rocescope_wire::{Bth, Opcode, Psn, Qpn};

/// One frame of a capture: Ethernet, IPv4, UDP, BTH and what follows it.
fn frame(capture: &mut Vec<u8>, time_ns: u64, back: bool, qp: u32, bth: Bth, rest: &[u8]) {
    let bytes = 14 + 20 + 8 + Bth::LEN + rest.len() + 4;
    let (seconds, nanoseconds) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
    for word in [
        seconds as u32,
        nanoseconds as u32,
        bytes as u32,
        bytes as u32,
    ] {
        capture.extend(word.to_le_bytes());
    }
    capture.extend([2; 12]);
    capture.extend([8, 0]);
    let ip = (bytes - 14) as u16;
    let [a, b] = ip.to_be_bytes();
    capture.extend([0x45, 0, a, b, 0, 0, 0x40, 0, 64, 17, 0, 0]);
    // Sixteen pairs of hosts.
    let host = (qp % 16) as u8;
    let (src, dst) = if back { (2, 1) } else { (1, 2) };
    capture.extend([10, 0, host, src, 10, 0, host, dst]);
    let [a, b] = (ip - 20).to_be_bytes();
    let [s, t] = (49_152 + (qp % 16_384) as u16).to_be_bytes();
    capture.extend([s, t, 0x12, 0xb7, a, b, 0, 0]);
    capture.extend(bth.write());
    capture.extend(rest);
    capture.extend([0; 4]);
}

/// Messages of `segments` packets over `qps` queue pairs in turn, each acknowledged.
fn capture(qps: u32, segments: u32, messages: u32, turn: Turn) -> (Vec<u8>, u64) {
    let mut capture = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1] {
        capture.extend(word.to_le_bytes());
    }
    let (mut time_ns, mut packets) = (1_700_000_000_000_000_000u64, 0);
    let mut send = |qp: u32, round: u32, segment: u32| {
        let start = qp.wrapping_mul(7919) + round * segments;
        time_ns += 200;
        packets += 1;
        if segment == segments {
            let psn = Psn::new(start + segments - 1);
            let ack = Bth::new(Opcode::RC_ACKNOWLEDGE, Qpn::new(0x40_0000 + qp), psn);
            frame(&mut capture, time_ns, true, qp, ack, &[0x1f, 0, 0, 1]);
            return;
        }
        let opcode = match (segment, segments) {
            (_, 1) => 0x04,
            (0, _) => 0x00,
            (at, of) if at + 1 == of => 0x02,
            _ => 0x01,
        };
        let psn = Psn::new(start + segment);
        let mut bth = Bth::new(Opcode(opcode), Qpn::new(0x1000 + qp), psn);
        bth.ack_request = segment + 1 == segments;
        frame(&mut capture, time_ns, false, qp, bth, &[0; 256]);
    };
    for round in 0..messages / qps {
        match turn {
            Turn::Message => {
                (0..qps).for_each(|qp| (0..=segments).for_each(|at| send(qp, round, at)));
            }
            Turn::Packet => {
                (0..=segments).for_each(|at| (0..qps).for_each(|qp| send(qp, round, at)));
            }
        }
    }
    (capture, packets)
}

#[derive(Clone, Copy, Default)]
struct Measured {
    /// Packets a second of the whole path.
    speed: f64,
    /// Runs that left the cache.
    runs: u64,
}

impl Measured {
    fn best(self, other: Self) -> Self {
        if other.speed > self.speed {
            other
        } else {
            self
        }
    }
}

/// What this thread has had of a processor: others share the machine.
fn processor_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse().unwrap()
}

/// The whole path, with or without connections.
fn speed(capture: &[u8], packets: u64, connections: bool) -> Measured {
    let mut settings = Settings {
        sketches: false,
        ..Settings::default()
    };
    if !connections {
        settings.connections = None;
    }
    let config = Config::exact(settings.window_ns);
    let mut session = Session::new(settings, config, None).unwrap();
    let mut reader = FrameReader::new(capture).unwrap();
    let start_ns = processor_ns();
    while let Some(frame) = reader.next_frame().unwrap() {
        session.frame(&frame).unwrap();
    }
    let outcome = session.finish().unwrap();
    assert_eq!(outcome.counters.roce_packets, packets);
    Measured {
        speed: packets as f64 * 1e9 / (processor_ns() - start_ns) as f64,
        runs: outcome.counters.published.iter().sum(),
    }
}

/// A load: its name, queue pairs, packets a message, messages, and how they are interleaved.
type Load = (&'static str, u32, u32, u32, Turn);

/// What a queue pair sends before the next one has its turn.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Message,
    Packet,
}

const LOADS: [Load; 5] = [
    (
        "32 QPs, messages of 16 packets",
        32,
        16,
        120_000,
        Turn::Message,
    ),
    (
        "1,000 QPs, messages of 4 packets",
        1_000,
        4,
        400_000,
        Turn::Message,
    ),
    (
        "100,000 QPs, messages of 16 packets",
        100_000,
        16,
        300_000,
        Turn::Message,
    ),
    (
        "100,000 QPs, messages of 4 packets, packets of all in turn",
        100_000,
        4,
        500_000,
        Turn::Packet,
    ),
    (
        "100,000 QPs, messages of 1 packet",
        100_000,
        1,
        1_000_000,
        Turn::Message,
    ),
];

#[test]
#[ignore = "measures speed: run in release mode, alone"]
fn following_connections_keeps_seven_tenths_of_the_speed() {
    println!("a direction: {DIRECTION_BYTES} bytes, and at most {MOST_HEAP_BYTES} beside");
    // `LOAD=4` measures the last load alone: for profilers.
    let chosen: Option<usize> = std::env::var("LOAD").ok().map(|load| load.parse().unwrap());
    let mut kept = Vec::new();
    for (number, (name, qps, segments, messages, turn)) in LOADS.into_iter().enumerate() {
        if chosen.is_some_and(|chosen| chosen != number) {
            continue;
        }
        let (capture, packets) = capture(qps, segments, messages, turn);
        // In turn, and the best of several: others share the machine.
        let (mut without, mut with) = (Measured::default(), Measured::default());
        for _ in 0..5 {
            without = without.best(speed(&capture, packets, false));
            with = with.best(speed(&capture, packets, true));
        }
        println!(
            "{name}: {:.2} runs a packet; {:.2} Mpps without, {:.2} Mpps with, ratio {:.2}",
            with.runs as f64 / packets as f64,
            without.speed / 1e6,
            with.speed / 1e6,
            with.speed / without.speed
        );
        kept.push(with.speed / without.speed);
    }
    assert!(kept.iter().all(|ratio| *ratio >= 0.7), "{kept:?}");
}
