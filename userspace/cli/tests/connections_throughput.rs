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
use std::time::Instant;

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

/// Messages of `segments` packets in turn over `qps` queue pairs, each acknowledged.
fn capture(qps: u32, segments: u32, messages: u32) -> (Vec<u8>, u64) {
    let mut capture = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1] {
        capture.extend(word.to_le_bytes());
    }
    let (mut time_ns, mut packets) = (1_700_000_000_000_000_000u64, 0);
    let payload = vec![0u8; 256];
    for message in 0..messages {
        let (qp, round) = (message % qps, message / qps);
        let start = qp.wrapping_mul(7919) + round * segments;
        for segment in 0..segments {
            let opcode = match (segment, segments) {
                (_, 1) => 0x04,
                (0, _) => 0x00,
                (at, of) if at + 1 == of => 0x02,
                _ => 0x01,
            };
            let mut bth = Bth::new(
                Opcode(opcode),
                Qpn::new(0x1000 + qp),
                Psn::new(start + segment),
            );
            bth.ack_request = segment + 1 == segments;
            time_ns += 200;
            frame(&mut capture, time_ns, false, qp, bth, &payload);
            packets += 1;
        }
        let psn = Psn::new(start + segments - 1);
        let ack = Bth::new(Opcode::RC_ACKNOWLEDGE, Qpn::new(0x40_0000 + qp), psn);
        time_ns += 200;
        frame(&mut capture, time_ns, true, qp, ack, &[0x1f, 0, 0, 1]);
        packets += 1;
    }
    (capture, packets)
}

/// Packets a second of the whole path.
fn speed(capture: &[u8], packets: u64, connections: bool) -> f64 {
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
    let start = Instant::now();
    while let Some(frame) = reader.next_frame().unwrap() {
        session.frame(&frame).unwrap();
    }
    let outcome = session.finish().unwrap();
    assert_eq!(outcome.counters.roce_packets, packets);
    packets as f64 / start.elapsed().as_secs_f64()
}

#[test]
#[ignore = "measures speed: run in release mode, alone"]
fn following_connections_keeps_seven_tenths_of_the_speed() {
    println!("a direction: {DIRECTION_BYTES} bytes, and at most {MOST_HEAP_BYTES} beside");
    let mut kept = Vec::new();
    for (name, qps, segments, messages) in [
        ("32 QPs, messages of 16 packets", 32, 16, 120_000),
        ("1,000 QPs, messages of 4 packets", 1_000, 4, 400_000),
        ("100,000 QPs, messages of 1 packet", 100_000, 1, 1_000_000),
    ] {
        let (capture, packets) = capture(qps, segments, messages);
        // The best of several: others share the machine.
        let best = |connections| {
            let runs = (0..5).map(|_| speed(&capture, packets, connections));
            runs.fold(0.0, f64::max)
        };
        let (without, with) = (best(false), best(true));
        println!(
            "{name}: {:.2} Mpps without, {:.2} Mpps with, ratio {:.2}",
            without / 1e6,
            with / 1e6,
            with / without
        );
        kept.push(with / without);
    }
    assert!(kept.iter().all(|ratio| *ratio >= 0.7), "{kept:?}");
}
