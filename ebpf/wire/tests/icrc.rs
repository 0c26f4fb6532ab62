//! The invariant CRC on recorded frames: `data/icrc.txt` holds a verdict, a name and the bytes of
//! each, among them one that the wire corrupted.
#![cfg(feature = "icrc")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

use rocescope_wire::icrc::{Icrc, Unverifiable, compute, verify};
use rocescope_wire::{Class, FrameLengths, LinkType, Packet, ROCE_UDP_PORT, decode};

fn packet(frame: &[u8], original: usize) -> Packet {
    let lengths = FrameLengths {
        captured: frame.len() as u32,
        original: original as u32,
    };
    match decode(frame, LinkType::Ethernet, lengths, [ROCE_UDP_PORT, 0, 0, 0]) {
        Class::Roce(packet) => packet,
        other => panic!("{other:?}"),
    }
}

fn verdict(frame: &[u8]) -> Icrc {
    verify(frame, &packet(frame, frame.len()))
}

fn recorded() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    include_str!("data/icrc.txt")
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            let [verdict, name, hex] = [(); 3].map(|()| words.next().unwrap());
            let bytes = (0..hex.len() / 2)
                .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
                .collect();
            (verdict, name, bytes)
        })
        .collect()
}

/// A whole frame without VLAN tags.
fn plain() -> Vec<u8> {
    let (.., frame) = recorded().pop().unwrap();
    assert_eq!(verdict(&frame), Icrc::Verified);
    frame
}

#[test]
fn recorded_frames_verify_and_the_corrupted_one_does_not() {
    for (expected, name, frame) in recorded() {
        let expected = match expected {
            "bad" => Icrc::Bad,
            _ => Icrc::Verified,
        };
        assert_eq!(verdict(&frame), expected, "{name}");
    }
}

#[test]
fn bytes_behind_the_packet_do_not_count() {
    let mut frame = plain();
    frame.extend([0xaa; 7]);
    assert_eq!(verdict(&frame), Icrc::Verified);
}

/// A router changes TOS, TTL, checksums, FECN and BECN; nothing else may change.
#[test]
fn every_other_bit_counts() {
    let frame = plain();
    let (ip, udp, bth) = (14, 34, 42);
    let changeable = [ip + 1, ip + 8, ip + 10, ip + 11, udp + 6, udp + 7, bth + 4];
    for at in ip..frame.len() {
        for bit in 0..8 {
            let mut frame = frame.clone();
            frame[at] ^= 1 << bit;
            // The new bytes may be another packet, or none; those are the decoder's.
            let lengths = FrameLengths::whole(frame.len() as u32);
            let Class::Roce(packet) = decode(&frame[..], LinkType::Ethernet, lengths, [ROCE_UDP_PORT, 0, 0, 0]) else {
                continue;
            };
            let expected = if changeable.contains(&at) {
                Icrc::Verified
            } else {
                Icrc::Bad
            };
            assert_eq!(verify(&frame, &packet), expected, "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn a_frame_that_was_not_kept_whole_cannot_be_verified() {
    let frame = plain();
    for kept in 54..frame.len() {
        assert_eq!(
            verify(&frame[..kept], &packet(&frame[..kept], frame.len())),
            Icrc::Unverifiable(Unverifiable::Snapped)
        );
    }
    let mut packet = packet(&frame, frame.len());
    packet.truncated = true;
    assert_eq!(verify(&frame, &packet), Icrc::Unverifiable(Unverifiable::Truncated));
}

#[test]
fn options_of_ipv4_count_and_extension_headers_of_ipv6_are_left_alone() {
    let bth = [0x11; 16];
    let mut headers = vec![0x46, 0, 0, 0, 0, 0, 0, 0, 64, 17];
    headers.resize(24 + 8, 1);
    let plain = compute(&headers, &bth).unwrap();
    headers[21] = 2;
    assert_ne!(compute(&headers, &bth), Some(plain));
    headers[8] = 63;
    headers[21] = 1;
    assert_eq!(compute(&headers, &bth), Some(plain));

    let mut headers = vec![0x60; 40 + 8];
    assert!(compute(&headers, &bth).is_some());
    headers.resize(48 + 8, 0);
    assert_eq!(compute(&headers, &bth), None);
    assert_eq!(compute(&[], &bth), None);
    assert_eq!(compute(&headers[..48], &bth[..11]), None);
}
