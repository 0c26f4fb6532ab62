//! The straight path of nearly every packet: constant offsets, and one check of the frame's length.
//!
//! It accepts fewer frames than the decoder of [`decode`](mod@crate::decode), and gives the same packet for each
//! that it accepts. All other frames are left to that decoder.

use crate::bth::Bth;
use crate::extension::Syndrome;
use crate::ip::{self, PROTOCOL_UDP};
use crate::link::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN, NO_VLAN};
use crate::number::Qpn;
use crate::octets::Octets;
use crate::packet::{FrameLengths, Packet};
use crate::traffic_class::TrafficClass;
use crate::transport::{self, ICRC_BYTES, UDP_BYTES, is_roce_port};
use crate::tunnel::{Encapsulation, NO_VNI};

/// Reads an Ethernet frame with at most one VLAN tag and an IP header without options or extension headers
/// before its UDP header. `false` for any other frame, for one that is not RoCEv2, or with an extension header
/// before the one that a record keeps: then [`decode_into`](crate::decode_into) determines the class, and
/// `packet` holds nothing of use.
///
/// `VERSION` is that of IP; its header is at `AT`: 14, or 18 after a tag. The caller has checked the
/// ethertypes.
#[inline(always)]
pub fn plain_into<const VERSION: u8, const AT: usize, O: Octets + ?Sized>(
    frame: &O,
    lengths: FrameLengths,
    ports: &[u16; 4],
    packet: &mut Packet,
) -> bool {
    if !headers_into::<VERSION, AT, O>(frame, lengths, ports, packet) {
        return false;
    }
    packet.meaning.extension_bytes == 0 || extension_into::<VERSION, AT, O>(frame, packet)
}

/// The first part of [`plain_into`], up to the BTH: all of it, unless
/// [`extension_bytes`](crate::Meaning::extension_bytes) is not 0.
///
/// Each field is stored as soon as it is read, so that few values are alive at a time: each that does not fit the
/// registers of BPF costs the kernel a speculation barrier.
#[inline(always)]
pub fn headers_into<const VERSION: u8, const AT: usize, O: Octets + ?Sized>(
    frame: &O,
    lengths: FrameLengths,
    ports: &[u16; 4],
    packet: &mut Packet,
) -> bool {
    headers::<VERSION, AT, O>(frame, lengths, ports, packet).is_some()
}

/// The second part of [`plain_into`]: what a record keeps of the headers between BTH and payload. `false` where
/// another header precedes it.
#[inline(always)]
pub fn extension_into<const VERSION: u8, const AT: usize, O: Octets + ?Sized>(frame: &O, packet: &mut Packet) -> bool {
    if transport::has_shifted_extension(packet.opcode()) {
        return false;
    }
    let captured = transport::extension::<false, O>(frame, bth_at::<VERSION, AT>() + Bth::LEN, packet);
    packet.snapped |= captured.is_none();
    true
}

/// The straight path for any Ethernet frame of user space, whatever its ethertypes.
#[inline(always)]
pub(crate) fn ethernet_into(
    frame: &(impl Octets + ?Sized),
    lengths: FrameLengths,
    ports: &[u16; 4],
    packet: &mut Packet,
) -> bool {
    match frame.be16(12) {
        Some(ETHERTYPE_IPV4) => plain_into::<4, 14, _>(frame, lengths, ports, packet),
        Some(ETHERTYPE_IPV6) => plain_into::<6, 14, _>(frame, lengths, ports, packet),
        Some(ETHERTYPE_VLAN) => match frame.be16(16) {
            Some(ETHERTYPE_IPV4) => plain_into::<4, 18, _>(frame, lengths, ports, packet),
            Some(ETHERTYPE_IPV6) => plain_into::<6, 18, _>(frame, lengths, ports, packet),
            _ => false,
        },
        _ => false,
    }
}

const fn udp_at<const VERSION: u8, const AT: usize>() -> usize {
    AT + if VERSION == 6 { 40 } else { 20 }
}

const fn bth_at<const VERSION: u8, const AT: usize>() -> usize {
    udp_at::<VERSION, AT>() + UDP_BYTES as usize
}

#[inline(always)]
fn headers<const VERSION: u8, const AT: usize, O: Octets + ?Sized>(
    frame: &O,
    lengths: FrameLengths,
    ports: &[u16; 4],
    packet: &mut Packet,
) -> Option<()> {
    let (udp_at, bth_at) = (udp_at::<VERSION, AT>(), bth_at::<VERSION, AT>());
    let head = frame.front(bth_at + Bth::LEN)?;
    let [s1, s0, d1, d0] = head.read::<4>(udp_at)?;
    if !is_roce_port(u16::from_be_bytes([d1, d0]), ports) {
        return None;
    }
    let vlan = if AT == 18 { head.be16(14)? & 0x0fff } else { NO_VLAN };
    packet.flow.words_mut()[5] =
        (u64::from(u16::from_be_bytes([s1, s0])) | u64::from(vlan) << 16 | u64::from(NO_VLAN) << 32).to_le();
    let udp_bytes = u32::from(head.be16(udp_at + 4)?);
    if VERSION == 6 {
        let [first, second, _, _, l1, l0, next, ttl] = head.read::<8>(AT)?;
        if first >> 4 != 6 || next != PROTOCOL_UDP || udp_bytes > u32::from(u16::from_be_bytes([l1, l0])) {
            return None;
        }
        packet.ttl = ttl;
        // ECN is in the low two bits of the traffic class, which is spread over two bytes.
        packet.congestion_experienced = second & 0x30 == 0x30;
        packet.traffic_class = TrafficClass::of(first << 4 | second >> 4);
    } else {
        let [_, _, f1, f0, ttl, protocol, _, _] = head.read::<8>(AT + 4)?;
        // More fragments, or an offset.
        if protocol != PROTOCOL_UDP || u16::from_be_bytes([f1, f0]) & 0x3fff != 0 {
            return None;
        }
        packet.ttl = ttl;
        let [first, tos, l1, l0] = head.read::<4>(AT)?;
        // Options make it longer.
        if first != 0x45 || udp_bytes + 20 > u32::from(u16::from_be_bytes([l1, l0])) {
            return None;
        }
        packet.congestion_experienced = tos & 3 == 3;
        packet.traffic_class = TrafficClass::of(tos);
    }
    // The end of the IP packet by its header, against the end of the frame.
    if udp_at as u32 + udp_bytes > lengths.original {
        return None;
    }
    let [a, b, c, d] = if VERSION == 6 {
        ip::v6_addresses(&head, AT)?
    } else {
        ip::v4_addresses(&head, AT)?
    };
    let words = packet.flow.words_mut();
    words[0] = a.to_le();
    words[1] = b.to_le();
    words[2] = c.to_le();
    words[3] = d.to_le();
    packet.bth.second = head.be32(bth_at + 4)?;
    packet.flow.words_mut()[4] = (u64::from(NO_VNI) | u64::from(packet.bth.dst_qpn().get()) << 32).to_le();
    packet.bth.third = head.be32(bth_at + 8)?;
    packet.bth.first = head.be32(bth_at)?;
    let meaning = packet.opcode().meaning();
    packet.meaning = meaning;
    let around = UDP_BYTES
        + Bth::LEN as u32
        + ICRC_BYTES
        + u32::from(meaning.extension_bytes)
        + u32::from(packet.bth.pad_bytes());
    if udp_bytes < around {
        return None;
    }
    packet.payload_bytes = udp_bytes - around;
    packet.frame_bytes = lengths.original;
    packet.snapped = lengths.captured < lengths.original;
    packet.truncated = false;
    packet.encapsulation = Encapsulation::None;
    packet.src_qpn = Qpn::new(0);
    packet.syndrome = Syndrome(0);
    packet.msn_or_dma_length = 0;
    packet.network_at = AT;
    packet.bth_at = bth_at;
    Some(())
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::class::Class;
    use crate::decode::walk;
    use crate::link::LinkType;
    use crate::number::Psn;
    use crate::opcode::Opcode;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// The result of the straight path.
    fn straight(frame: &[u8], lengths: FrameLengths, ports: [u16; 4]) -> Option<Packet> {
        // Nothing of an earlier packet may remain.
        let mut packet = Packet {
            src_qpn: Qpn::new(5),
            msn_or_dma_length: 6,
            syndrome: Syndrome(7),
            snapped: true,
            truncated: true,
            encapsulation: Encapsulation::Vxlan,
            traffic_class: TrafficClass(0xff),
            congestion_experienced: true,
            ..Packet::zeroed()
        };
        ethernet_into(frame, lengths, &ports, &mut packet).then_some(packet)
    }

    fn check(frame: &[u8], lengths: FrameLengths, ports: [u16; 4]) -> Result<bool, TestCaseError> {
        let packet = straight(frame, lengths, ports);
        if let Some(packet) = packet {
            prop_assert_eq!(walk(frame, LinkType::Ethernet, lengths, ports), Class::Roce(packet));
        }
        Ok(packet.is_some())
    }

    prop_compose! {
        /// A frame without anything rare, and its opcode.
        fn frame()(
            version in prop_oneof![Just(4u8), Just(6)],
            tag in proptest::option::of(any::<u16>()),
            opcode: u8,
            ecn: u8,
            words: [u32; 5],
            payload in vec(any::<u8>(), 0..64),
            trailer in 0usize..8,
        ) -> (Vec<u8>, u8) {
            let mut bth = Bth::new(Opcode(opcode), Qpn::new(words[0]), Psn::new(words[1]));
            bth.ack_request = words[2] & 1 != 0;
            bth.becn = words[2] & 2 != 0;
            bth.pad_bytes = (payload.len() as u8).wrapping_neg() & 3;
            let around = 8 + 12 + 4 + usize::from(bth.pad_bytes) + usize::from(bth.opcode.meaning().extension_bytes);
            let udp_bytes = (around + payload.len()) as u16;
            let mut frame = std::vec![2; 12];
            if let Some(tag) = tag {
                frame.extend([0x81, 0]);
                frame.extend(tag.to_be_bytes());
            }
            if version == 4 {
                frame.extend([0x08, 0x00, 0x45, ecn]);
                frame.extend((udp_bytes + 20).to_be_bytes());
                frame.extend([1, 2, 0x40, 0, 64, 17, 0, 0]);
                frame.extend(words[3].to_be_bytes());
                frame.extend(words[4].to_be_bytes());
            } else {
                frame.extend([0x86, 0xdd, 0x60 | ecn >> 4, ecn << 4, 0, 0]);
                frame.extend(udp_bytes.to_be_bytes());
                frame.extend([17, 64]);
                for word in words.iter().cycle().take(8) {
                    frame.extend(word.to_be_bytes());
                }
            }
            frame.extend([0xc0, 1, 0x12, 0xb7]);
            frame.extend(udp_bytes.to_be_bytes());
            frame.extend([0, 0]);
            frame.extend(bth.write());
            frame.resize(frame.len() + usize::from(udp_bytes) - 20, 0);
            let end = frame.len() - 4 - usize::from(bth.pad_bytes);
            frame[end - payload.len()..end].copy_from_slice(&payload);
            frame.resize(frame.len() + trailer, 0);
            (frame, opcode)
        }
    }

    const PORTS: [u16; 4] = [crate::ROCE_UDP_PORT, 0, 0, 0];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_096, failure_persistence: None, ..ProptestConfig::default() })]

        /// What it is for is not left to the walk.
        #[test]
        fn the_straight_path_accepts_plain_frames((frame, opcode) in frame()) {
            let is_straight = check(&frame, FrameLengths::whole(frame.len() as u32), PORTS)?;
            let opcode = Opcode(opcode);
            let is_shifted = transport::has_shifted_extension(opcode) && opcode.extension_bytes() > 0;
            prop_assert_eq!(is_straight, !is_shifted);
        }

        /// Frames with a few bytes changed, cut and with other lengths and ports: those that differ from a plain one
        /// in what only one of the two paths checks.
        #[test]
        fn the_straight_path_equals_the_walk_on_near_misses(
            (mut frame, _) in frame(),
            changes in vec((0usize..90, any::<u8>()), 0..4),
            bits in vec((12usize..60, 0u8..8), 0..3),
            kept in prop_oneof![Just(usize::MAX), 14usize..140],
            on_wire in prop_oneof![Just(None), (0u32..200).prop_map(Some)],
            ports in prop_oneof![Just(PORTS), Just([0, 4791, 0, 0]), Just([0; 4]), Just([4791, 4789, 1, 2])],
        ) {
            for (at, byte) in changes {
                if let Some(place) = frame.get_mut(at) {
                    *place = byte;
                }
            }
            for (at, bit) in bits {
                if let Some(place) = frame.get_mut(at) {
                    *place ^= 1 << bit;
                }
            }
            frame.truncate(kept);
            let captured = frame.len() as u32;
            check(&frame, FrameLengths { captured, original: on_wire.unwrap_or(captured) }, ports)?;
        }

        #[test]
        fn the_straight_path_equals_the_walk_on_any_bytes(frame in vec(any::<u8>(), 0..200), original in 0u32..300) {
            let captured = frame.len() as u32;
            check(&frame, FrameLengths { captured, original }, PORTS)?;
        }
    }
}
