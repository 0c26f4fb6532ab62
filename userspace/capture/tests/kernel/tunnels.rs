//! Tunnels, tags and labels of mirrors and fabrics around the frames of the captures, up to three of them: kernel and user
//! space unpack the same.

use crate::corpus::{Frames, captures, mutated, random};
use crate::exact;
use crate::pair::Pair;
use rocescope_wire::tunnel::Encapsulation;

fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend((20 + payload.len() as u16).to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    packet.extend(payload);
    packet
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0xc0, 1];
    datagram.extend(port.to_be_bytes());
    datagram.extend((8 + payload.len() as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(payload);
    ipv4(17, &datagram)
}

/// A frame around an IP packet or what else its type names.
fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &kind.to_be_bytes(), payload].concat()
}

/// The frame in one of the kinds.
fn around(frame: &[u8], kind: u64, next: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
    const IPV4: u16 = 0x0800;
    let outer = |packet: Vec<u8>| ethernet(IPV4, &packet);
    let inside = frame.get(14..).unwrap_or_default();
    let is_v4 = frame.get(12..14) == Some(&[8, 0]);
    let options = next(20) as usize;
    match kind {
        0 => outer(ipv4(47, &[&[0, 0, 0x89, 0x49][..], &[0; 22], frame].concat())),
        1 => outer(ipv4(47, &[&[0x20, 0, 8, 0, 0, 0, 0, 7][..], inside].concat())),
        2 => outer(ipv4(47, &[&[0, 0, 0x12, 0x34][..], frame].concat())),
        3 => {
            let header = [options as u8, 0, 0x65, 0x58, 0, 0, 77, 0];
            let port = [6081, 7777][next(2) as usize];
            outer(udp(port, &[&header[..], &vec![1; 4 * options], frame].concat()))
        }
        4 => outer(udp(8472, &[&[8, 0, 0, 0, 0, 0, 77, 0][..], frame].concat())),
        5 => outer(ipv4(if is_v4 { 4 } else { 41 }, inside)),
        6 => {
            let mut labels = [0, 1, 0, 9].repeat(next(7) as usize);
            labels.extend([0, 2, 1, 9]);
            let word = [&[][..], &[0; 4]][next(2) as usize];
            let payload = if next(2) == 0 { inside } else { frame };
            ethernet(0x8847, &[&labels, word, payload].concat())
        }
        _ => {
            let tags: [&[u8]; 6] = [
                &[0x81, 0, 0, 5],
                &[0x89, 0x26, 1, 2, 3, 4],
                &[0x89, 0x3f, 1, 2, 3, 4, 5, 6],
                &[0x89, 0x09, 1, 1, 0, 1, 0, 7],
                &[0xd2, 0x8b, 0, 1, 1, 0x20, 1, 2, 3, 4, 5, 6],
                &[0xd2, 0x8b, 0, 1, 0, 0x10, 1, 2, 3, 4, 5, 6, 7, 8],
            ];
            let mut tagged = frame.to_vec();
            for _ in 0..=next(7) {
                tagged.splice(12..12, tags[next(6) as usize].iter().copied());
            }
            tagged
        }
    }
}

fn tunnelled(frames: Frames, seed: u64) -> Frames {
    let mut next = random(seed);
    let wrap = |(time_ns, mut frame): (u64, Vec<u8>)| {
        for _ in 0..=[0, 0, 0, 1, 2, 3][next(6) as usize] {
            let kind = next(9);
            frame = around(&frame, kind, &mut next);
        }
        (time_ns, frame)
    };
    frames.into_iter().map(wrap).collect()
}

#[test]
fn every_tunnel_tag_and_label_has_the_same_packets() {
    let Some(mut pair) = Pair::new(exact(), 256) else {
        return;
    };
    let (mut roce, mut encapsulated) = (0, [0; Encapsulation::COUNT]);
    for ((name, frames), seed) in captures().zip(1..).take(12) {
        let frames: Frames = frames.into_iter().take(2_000).collect();
        let found = pair.compare(&name, &tunnelled(frames.clone(), seed)).counters;
        roce += found.roce_packets;
        encapsulated
            .iter_mut()
            .zip(found.encapsulated)
            .for_each(|(sum, more)| *sum += more);
        pair.compare(&format!("{name}, damaged"), &mutated(&tunnelled(frames, seed), seed));
    }
    assert!(roce > 3_000, "{roce}");
    for kind in [
        Encapsulation::Gre,
        Encapsulation::Vxlan,
        Encapsulation::Geneve,
        Encapsulation::Ipv4,
        Encapsulation::Mpls,
    ] {
        assert!(encapsulated[kind as usize] > 100, "{kind:?}: {encapsulated:?}");
    }
}
