//! TCP handshakes before queue pairs: SYN to ACK, assigned to the connection that follows between the same hosts.

use super::{connections, kept};
use etherparse::PacketBuilder;
use rocescope_wire::{Bth, Opcode, Psn, Qpn};
use serde_json::Value;

/// A capture with times in nanoseconds.
struct Capture(Vec<u8>);

impl Capture {
    fn new() -> Self {
        let mut bytes = Vec::new();
        for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1] {
            bytes.extend(word.to_le_bytes());
        }
        Self(bytes)
    }

    fn frame(&mut self, at_us: u32, frame: &[u8]) {
        let (seconds, micros) = (at_us / 1_000_000, at_us % 1_000_000);
        let length = frame.len() as u32;
        for word in [1_700_000_000 + seconds, micros * 1_000, length, length] {
            self.0.extend(word.to_le_bytes());
        }
        self.0.extend(frame);
    }

    /// A handshake from host 1 to `server`, with a round trip of `rtt_us`.
    fn handshake(&mut self, at_us: u32, rtt_us: u32, server: u8, port: u16) {
        let (client, server) = ([10, 0, 0, 1], [10, 0, 0, server]);
        let segment = |src, dst, from, to, sequence| {
            PacketBuilder::ethernet2([2; 6], [4; 6])
                .ipv4(src, dst, 64)
                .tcp(from, to, sequence, 4096)
        };
        let there = |sequence| segment(client, server, port, 18515, sequence);
        let mut put = |at_us, builder: etherparse::PacketBuilderStep<etherparse::TcpHeader>| {
            let mut frame = Vec::new();
            builder.write(&mut frame, &[]).unwrap();
            self.frame(at_us, &frame);
        };
        put(at_us, there(1000).syn());
        let back = segment(server, client, 18515, port, 1000);
        put(at_us + rtt_us / 2, back.syn().ack(1001));
        put(at_us + rtt_us, there(1001).ack(1001));
    }

    /// A SEND of host 1 to `server`, and its acknowledgement.
    fn exchange(&mut self, at_us: u32, server: u8, qpn: u32) {
        let hosts = ([10, 0, 0, 1], [10, 0, 0, server]);
        for (at_us, (src, dst), opcode, qpn, rest) in [
            (at_us, hosts, Opcode(0x04), qpn, vec![0; 20]),
            (
                at_us + 10,
                (hosts.1, hosts.0),
                Opcode::RC_ACKNOWLEDGE,
                qpn + 1,
                vec![0x1f, 0, 0, 1, 0, 0, 0, 0],
            ),
        ] {
            let bth = Bth::new(opcode, Qpn::new(qpn), Psn::new(7));
            let payload = [&bth.write()[..], &rest].concat();
            let mut frame = Vec::new();
            PacketBuilder::ethernet2([2; 6], [4; 6])
                .ipv4(src, dst, 64)
                .udp(50_000, 4791)
                .write(&mut frame, &payload)
                .unwrap();
            self.frame(at_us, &frame);
        }
    }

    fn connections(&self) -> Vec<Value> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &self.0).unwrap();
        let report = connections(file.path());
        report["connections"].as_array().unwrap().clone()
    }
}

/// Round trip, and the number of other handshakes that it could have been.
fn handshake_of(connection: &Value) -> (Option<u64>, Option<u64>) {
    (connection["tcp_rtt_ns"].as_u64(), connection["tcp_candidates"].as_u64())
}

#[test]
fn a_connection_gets_the_handshake_before_it() {
    let mut capture = Capture::new();
    capture.handshake(0, 400, 2, 40_000);
    capture.exchange(2_000, 2, 100);
    // No handshake with the third host was captured.
    capture.exchange(3_000, 3, 200);
    let found = capture.connections();
    assert_eq!(found.len(), 2);
    assert_eq!(handshake_of(&found[0]), (Some(400_000), Some(0)));
    assert_eq!(handshake_of(&found[1]).0, None);
}

#[test]
fn the_latest_handshake_is_used_and_the_others_are_counted() {
    let mut capture = Capture::new();
    capture.handshake(0, 400, 2, 40_000);
    capture.handshake(1_000, 300, 2, 40_001);
    // Between other hosts.
    capture.handshake(1_500, 900, 3, 40_002);
    capture.exchange(4_000, 2, 100);
    assert_eq!(handshake_of(&capture.connections()[0]), (Some(300_000), Some(1)));
}

#[test]
fn a_handshake_expires_after_five_seconds() {
    let mut capture = Capture::new();
    capture.handshake(0, 400, 2, 40_000);
    capture.exchange(5_000_401, 2, 100);
    assert_eq!(handshake_of(&capture.connections()[0]).0, None);
    let mut capture = Capture::new();
    capture.handshake(0, 400, 2, 40_000);
    capture.exchange(5_000_399, 2, 100);
    assert_eq!(handshake_of(&capture.connections()[0]).0, Some(400_000));
}

#[test]
fn programs_that_meet_over_tcp_are_recognised_in_a_recorded_capture() {
    let report = kept("rnr_nak.pcap.gz");
    let connections = report["connections"].as_array().unwrap();
    let with = connections.iter().filter(|c| handshake_of(c).0.is_some()).count();
    assert_eq!(with, connections.len());
    assert!(report["summary"]["tcp_handshakes"].as_u64().unwrap() > 0);
}
