//! Input made from recorded captures.

use crate::product::captures::Capture;
use rocescope_capture::file::FrameReader;
use rocescope_wire::{Class, LinkType, ROCE_UDP_PORT, decode};

/// Header of a file of Ethernet frames with microseconds, little-endian.
const HEADER: [u8; 24] = [
    0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0,
];

/// The first `count` frames of a capture as a pcapng file with one interface in microseconds.
pub(crate) fn pcapng(capture: &Capture, count: usize) -> Vec<u8> {
    let mut section = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
    section.extend([1, 0, 0, 0]);
    section.extend([0xff; 8]);
    let mut file = block(0x0a0d_0d0a, &section);
    file.extend(block(1, &[1, 0, 0, 0, 0, 0, 0, 0]));
    let mut left = count;
    capture.frames(|frame| {
        if left == 0 {
            return;
        }
        left -= 1;
        let units = frame.time_ns / 1_000;
        let mut body = Vec::new();
        for word in [
            0,
            (units >> 32) as u32,
            units as u32,
            frame.lengths.captured,
            frame.lengths.original,
        ] {
            body.extend(word.to_le_bytes());
        }
        body.extend(frame.bytes);
        body.resize(body.len().next_multiple_of(4), 0);
        file.extend(block(6, &body));
    });
    file
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (12 + body.len() as u32).to_le_bytes();
    [&kind.to_le_bytes(), &length, body, &length].concat()
}

/// A pcap file of `frames` frames, which repeat those of a capture, `step_us` apart from `start_s` on.
pub(crate) fn repeated(capture: &Capture, frames: usize, start_s: u32, step_us: u64) -> Vec<u8> {
    let mut bodies = Vec::new();
    capture.frames(|frame| bodies.push(frame.bytes.to_vec()));
    let mut file = HEADER.to_vec();
    for (at, body) in (0..frames as u64).zip(bodies.iter().cycle()) {
        record(&mut file, u64::from(start_s) * 1_000_000 + at * step_us, body);
    }
    file
}

/// The first `count` RoCEv2 frames of a capture, as a pcap file.
pub(crate) fn roce(capture: &Capture, count: usize) -> Vec<u8> {
    let mut file = HEADER.to_vec();
    let mut left = count;
    capture.frames(|frame| {
        let class = decode(frame.bytes, LinkType::Ethernet, frame.lengths, [ROCE_UDP_PORT, 0, 0, 0]);
        if left > 0 && matches!(class, Class::Roce(_)) {
            left -= 1;
            record(&mut file, frame.time_ns / 1_000, frame.bytes);
        }
    });
    assert_eq!(left, 0, "{} has fewer RoCEv2 frames", capture.name);
    file
}

fn record(file: &mut Vec<u8>, time_us: u64, frame: &[u8]) {
    let length = frame.len() as u32;
    let (seconds, rest_us) = ((time_us / 1_000_000) as u32, (time_us % 1_000_000) as u32);
    for word in [seconds, rest_us, length, length] {
        file.extend(word.to_le_bytes());
    }
    file.extend(frame);
}

/// A pcap file without RoCEv2: ARP, TCP, ICMP, DNS and RoCE v1.
pub(crate) fn not_roce() -> Vec<u8> {
    let ip = |protocol: u8, payload: &[u8]| {
        let length = (20 + payload.len() as u16).to_be_bytes();
        let mut packet = vec![0x45, 0, length[0], length[1], 0, 0, 0, 0, 64, protocol, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        packet.extend(payload);
        packet
    };
    let frames = [
        (0x0806_u16, vec![0; 28]),
        (0x0800, ip(6, &[0; 20])),
        (0x0800, ip(1, &[0; 8])),
        (0x0800, ip(17, &[0, 53, 0, 53, 0, 8, 0, 0])),
        (0x8915, vec![0; 60]),
    ];
    let mut file = HEADER.to_vec();
    for (at, (kind, body)) in (0_u64..).zip(frames) {
        let frame = [&[2; 12][..], &kind.to_be_bytes(), &body].concat();
        record(&mut file, 1_767_225_600_000_000 + at, &frame);
    }
    file
}

/// The number of bytes of a pcap file up to the end of its frame number `count`.
pub(crate) fn bytes_of_first(file: &[u8], count: usize) -> usize {
    let mut reader = FrameReader::new(file).unwrap();
    for _ in 0..count {
        if reader.next_frame().unwrap().is_none() {
            break;
        }
    }
    reader.consumed_bytes() as usize
}
