//! The whole path from captured frames in memory to rows, with and without following connections.
//!
//! `cargo test --release -p rocescope-lab --test connections_throughput -- --ignored --nocapture`
//! prints packets per second and the ratio for each load, and fails where following connections keeps less than 70 % of
//! the speed. Where the packets of 100,000 queue pairs alternate, every packet is a run; where each queue pair only
//! starts, the test measures its start. These two loads are printed without a limit.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rocescope_capture::file::FrameReader;
use rocescope_engine::session::Session;
use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::{ConnectionSettings, DIRECTION_BYTES, MAX_HEAP_BYTES};
use rocescope_record::Config;
use rocescope_wire::{Bth, Opcode, Psn, Qpn};

/// One frame of a capture: Ethernet, IPv4, UDP, BTH and payload.
fn frame(capture: &mut Vec<u8>, time_ns: u64, back: bool, qp: u32, bth: Bth, rest: &[u8]) {
    let bytes = 14 + 20 + 8 + Bth::LEN + rest.len() + 4;
    let (seconds, nanoseconds) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
    for word in [seconds as u32, nanoseconds as u32, bytes as u32, bytes as u32] {
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

/// Packets written at once: 20 MiB, so that the test can follow 100,000 queue pairs for a long time.
const PIECE: u32 = 65_536;

/// Messages of `segments` packets over `qps` queue pairs in turn, each acknowledged.
struct Traffic {
    load: Load,
    time_ns: u64,
    sent: u32,
    capture: Vec<u8>,
}

impl Traffic {
    fn new(load: Load) -> Self {
        Self {
            load,
            time_ns: 1_700_000_000_000_000_000,
            sent: 0,
            capture: Vec::new(),
        }
    }

    /// The next packets as a capture of their own; `None` after the last.
    fn piece(&mut self) -> Option<&[u8]> {
        self.capture.clear();
        for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1] {
            self.capture.extend(word.to_le_bytes());
        }
        let until = self.load.packets().min(self.sent + PIECE);
        (self.sent < until).then(|| {
            for number in self.sent..until {
                self.send(number);
            }
            self.sent = until;
            &self.capture[..]
        })
    }

    fn send(&mut self, number: u32) {
        let Load {
            qps, segments, turn, ..
        } = self.load;
        let a_message = segments + 1;
        let (round, within) = (number / (qps * a_message), number % (qps * a_message));
        let (qp, segment) = match turn {
            Turn::Message => (within / a_message, within % a_message),
            Turn::Packet => (within % qps, within / qps),
        };
        let start = qp.wrapping_mul(7919) + round * segments;
        self.time_ns += 200;
        let (capture, time_ns) = (&mut self.capture, self.time_ns);
        if segment == segments {
            let psn = Psn::new(start + segments - 1);
            let ack = Bth::new(Opcode::RC_ACKNOWLEDGE, Qpn::new(0x40_0000 + qp), psn);
            frame(capture, time_ns, true, qp, ack, &[0x1f, 0, 0, 1]);
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
        frame(capture, time_ns, false, qp, bth, &[0; 256]);
    }
}

#[derive(Clone, Copy, Default)]
struct Measured {
    /// Packets per second of the whole path.
    speed: f64,
    /// Runs that left the cache.
    runs: u64,
}

impl Measured {
    fn best(self, other: Self) -> Self {
        if other.speed > self.speed { other } else { self }
    }
}

/// Processor time of this thread: other processes share the machine.
fn processor_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse().unwrap()
}

/// The whole path, with or without connections.
fn speed(load: Load, connections: bool) -> Measured {
    let settings = Settings {
        sketches: false,
        // All 100,000 are tracked.
        connections: connections.then(|| ConnectionSettings {
            max_bytes: 1 << 30,
            ..ConnectionSettings::default()
        }),
        ..Settings::default()
    };
    let config = Config::exact(settings.window_ns);
    let mut session = Session::new(settings, config, None).unwrap();
    let mut traffic = Traffic::new(load);
    let mut spent_ns = 0;
    while let Some(capture) = traffic.piece() {
        let start_ns = processor_ns();
        let mut reader = FrameReader::new(capture).unwrap();
        while let Some(frame) = reader.next_frame().unwrap() {
            session.frame(&frame).unwrap();
        }
        spent_ns += processor_ns() - start_ns;
    }
    let start_ns = processor_ns();
    let outcome = session.finish().unwrap();
    spent_ns += processor_ns() - start_ns;
    assert_eq!(outcome.counters.roce_packets, u64::from(load.packets()));
    Measured {
        speed: f64::from(load.packets()) * 1e9 / spent_ns as f64,
        runs: outcome.counters.published.iter().sum(),
    }
}

/// Queue pairs that send messages in turn.
#[derive(Clone, Copy)]
struct Load {
    name: &'static str,
    qps: u32,
    /// Packets per message.
    segments: u32,
    /// Messages per queue pair.
    rounds: u32,
    turn: Turn,
    /// Whether the ratio must hold.
    holds: bool,
}

impl Load {
    const fn packets(&self) -> u32 {
        self.qps * (self.segments + 1) * self.rounds
    }
}

/// What a queue pair sends before the next one takes its turn.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Message,
    Packet,
}

const LOADS: [Load; 6] = [
    Load {
        name: "32 QPs, messages of 16 packets",
        qps: 32,
        segments: 16,
        rounds: 8_000,
        turn: Turn::Message,
        holds: true,
    },
    Load {
        name: "1,000 QPs, messages of 4 packets",
        qps: 1_000,
        segments: 4,
        rounds: 800,
        turn: Turn::Message,
        holds: true,
    },
    Load {
        name: "100,000 QPs, messages of 16 packets",
        qps: 100_000,
        segments: 16,
        rounds: 20,
        turn: Turn::Message,
        holds: true,
    },
    Load {
        name: "the same, only their first 3 messages",
        qps: 100_000,
        segments: 16,
        rounds: 3,
        turn: Turn::Message,
        holds: false,
    },
    Load {
        name: "100,000 QPs, messages of 4 packets, packets of all in turn",
        qps: 100_000,
        segments: 4,
        rounds: 20,
        turn: Turn::Packet,
        holds: false,
    },
    Load {
        name: "100,000 QPs, messages of 1 packet",
        qps: 100_000,
        segments: 1,
        rounds: 50,
        turn: Turn::Message,
        holds: false,
    },
];

#[test]
#[ignore = "measures speed: run in release mode, alone"]
fn following_connections_keeps_seven_tenths_of_the_speed() {
    println!("a direction: {DIRECTION_BYTES} bytes, and at most {MAX_HEAP_BYTES} beside");
    // `LOAD=4` measures only the fifth load, for profilers; `TIMES=1` measures once.
    let variable = |name: &str| {
        let value = std::env::var(name).ok();
        value.map(|value| value.parse::<usize>().unwrap())
    };
    let (chosen, times) = (variable("LOAD"), variable("TIMES").unwrap_or(5));
    let mut lost = Vec::new();
    for (number, load) in LOADS.into_iter().enumerate() {
        if chosen.is_some_and(|chosen| chosen != number) {
            continue;
        }
        // Alternate, and take the best: other processes share the machine.
        let (mut without, mut with) = (Measured::default(), Measured::default());
        for _ in 0..times {
            without = without.best(speed(load, false));
            with = with.best(speed(load, true));
        }
        let ratio = with.speed / without.speed;
        println!(
            "{}: {:.2} runs a packet; {:.2} Mpps without, {:.2} Mpps with, ratio {ratio:.2}",
            load.name,
            with.runs as f64 / f64::from(load.packets()),
            without.speed / 1e6,
            with.speed / 1e6,
        );
        if load.holds && ratio < 0.7 {
            lost.push((load.name, ratio));
        }
    }
    assert!(lost.is_empty(), "{lost:?}");
}
