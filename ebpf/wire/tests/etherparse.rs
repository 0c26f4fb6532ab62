//! Generated frames against etherparse, an independent parser: both must agree from the first byte
//! to the UDP payload, and `wire` must read behind it what was written there.
#![expect(clippy::unwrap_used, reason = "it is a test")]

mod frames;
mod oracle;

use etherparse::{IpNumber, Ipv4Header, SlicedPacket, UdpHeader};
use frames::{ethernet, ip, transported};
use oracle::{ours, theirs};
use proptest::collection::vec;
use proptest::prelude::*;
use rocescope_wire::link::ETHERTYPE_FRAME;
use rocescope_wire::tunnel::{Encapsulation, NO_VNI, Tunnel};
use rocescope_wire::{Class, FrameLengths, LinkType, NotRoce, Packet, ROCE_UDP_PORT, decode};

const PORTS: [u16; 4] = [ROCE_UDP_PORT, 0, 0, 0];

fn class_of(frame: &[u8]) -> Class {
    let lengths = FrameLengths::whole(frame.len() as u32);
    decode(frame, LinkType::Ethernet, lengths, PORTS)
}

fn check_cuts(frame: &[u8]) {
    for captured in 0..frame.len() {
        let class = class_of(&frame[..captured]);
        assert!(
            match class {
                Class::Roce(packet) => packet.is_trimmed() || packet.truncated,
                Class::Malformed(..) | Class::Fragment(_) | Class::NotRoce(..) | Class::Snapped(_) => true,
            },
            "cut at {captured}: {class:?}",
        );
        let cut = &frame[..captured];
        let lengths = FrameLengths {
            captured: captured as u32,
            original: frame.len() as u32,
        };
        let class = decode(cut, LinkType::Ethernet, lengths, PORTS);
        assert!(
            !matches!(class, Class::Malformed(..)),
            "snapped at {captured}: {class:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn etherparse_agrees_down_to_udp(
        tags in vec(any::<(u8, u16)>(), 0..=2),
        ip in ip(),
        src_port: u16,
        transported in transported(),
    ) {
        let frame = ethernet(&tags, &ip, src_port, &transported.bytes());
        let sliced = SlicedPacket::from_ethernet(&frame).unwrap();
        match class_of(&frame) {
            Class::Roce(packet) => {
                prop_assert_eq!(Some(ours(&packet)), theirs(&frame, &sliced));
                prop_assert_eq!(packet.frame_bytes as usize, frame.len());
                transported.check(&packet);
            }
            // A piece whose first header is not UDP is not known to carry UDP.
            Class::Fragment(Encapsulation::None)
            | Class::NotRoce(NotRoce::NotUdp, Encapsulation::None) => {
                prop_assert!(ip.is_fragmenting_payload());
                prop_assert!(sliced.transport.is_none());
            }
            other => panic!("{other:?}"),
        }
        check_cuts(&frame);
    }

    /// Wherever both still find a RoCEv2 packet in a damaged frame, they find the same one.
    #[test]
    fn etherparse_agrees_on_damaged_frames(
        tags in vec(any::<(u8, u16)>(), 0..=2),
        ip in ip(),
        transported in transported(),
        damage in vec(any::<(prop::sample::Index, u8)>(), 1..6),
    ) {
        let mut frame = ethernet(&tags, &ip, 7, &transported.bytes());
        for (at, byte) in damage {
            let at = at.index(frame.len().min(120));
            frame[at] = byte;
        }
        if let (Class::Roce(packet), Ok(sliced)) =
            (class_of(&frame), SlicedPacket::from_ethernet(&frame))
        {
            let theirs = theirs(&frame, &sliced);
            // etherparse takes one length from the IP header where the UDP length is 0, and stops
            // at header chains that are out of order.
            if theirs.is_some() && packet.encapsulation == Encapsulation::None {
                prop_assert_eq!(Some(ours(&packet)), theirs);
            }
        }
    }

    #[test]
    fn a_mirrored_frame_is_the_frame_that_was_mirrored(
        tags in vec(any::<(u8, u16)>(), 0..=2),
        inner_ip in ip(),
        transported in transported(),
        kind in 0usize..5,
        number in 0u32..0x0400,
        truncated: bool,
    ) {
        let kind = [
            Encapsulation::ErspanI,
            Encapsulation::ErspanII,
            Encapsulation::ErspanIII,
            Encapsulation::Gre,
            Encapsulation::Vxlan,
        ][kind];
        let tunnel = Tunnel {
            kind,
            inner_at: 0,
            ethertype: ETHERTYPE_FRAME,
            session: number as u16,
            sequence: Some(number),
            vni: number,
            truncated,
        };
        let inner = ethernet(&tags, &inner_ip, 7, &transported.bytes());
        let header = tunnel.write();
        let mut outer_ip = Ipv4Header {
            protocol: if kind == Encapsulation::Vxlan { IpNumber::UDP } else { IpNumber::GRE },
            time_to_live: 9,
            ..Default::default()
        };
        let mut payload = Vec::new();
        if kind == Encapsulation::Vxlan {
            let bytes = header.as_ref().len() + inner.len();
            UdpHeader::without_ipv4_checksum(1, 4789, bytes).unwrap().write(&mut payload).unwrap();
        }
        payload.extend(header.as_ref());
        payload.extend(&inner);
        outer_ip.set_payload_len(payload.len()).unwrap();
        let mut frame = vec![0; 12];
        frame.extend([8, 0]);
        outer_ip.write(&mut frame).unwrap();
        frame.extend(&payload);
        match (class_of(&frame), class_of(&inner)) {
            (Class::Roce(found), Class::Roce(plain)) => {
                let before = frame.len() - inner.len();
                let mut expected = Packet {
                    encapsulation: kind,
                    network_at: plain.network_at + before,
                    bth_at: plain.bth_at + before,
                    truncated: truncated
                        && matches!(kind, Encapsulation::ErspanII | Encapsulation::ErspanIII),
                    ..plain
                };
                expected.flow.vni = if kind == Encapsulation::Vxlan { number } else { NO_VNI };
                prop_assert_eq!(found, expected);
            }
            (Class::Fragment(found), Class::Fragment(_)) => prop_assert_eq!(found, kind),
            (Class::NotRoce(found, outer), Class::NotRoce(plain, _)) => {
                prop_assert_eq!((found, outer), (plain, kind));
            }
            other => panic!("{other:?}"),
        }
        for captured in 0..frame.len() {
            let lengths = FrameLengths {
                captured: captured as u32,
                original: frame.len() as u32,
            };
            class_of(&frame[..captured]);
            let class = decode(&frame[..captured], LinkType::Ethernet, lengths, PORTS);
            prop_assert!(!matches!(class, Class::Malformed(..)), "{captured}: {class:?}");
        }
    }
}
