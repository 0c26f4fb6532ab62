//! A frame in, its class out: RoCEv2 with everything read, or the reason why not.

use crate::bth::Bth;
use crate::class::{Class, Malformed, NotRoce};
use crate::extension::{Aeth, Deth, Reth, Syndrome};
use crate::ip::{self, Ip, IpError, PROTOCOL_GRE, PROTOCOL_UDP};
use crate::link::{self, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_ROCE_V1, LinkType, Network};
use crate::number::Qpn;
use crate::octets::Octets;
use crate::opcode::{Opcode, Operation, Position, Stream, Transport};
use crate::packet::{FlowKey, FrameLengths, Packet};
use crate::tunnel::{self, Encapsulation, NO_VNI, Tunnel, VXLAN_UDP_PORT};

/// Bytes of the invariant CRC behind every payload.
pub const ICRC_BYTES: u32 = 4;

const UDP_BYTES: u32 = 8;
const BTH_BYTES: u32 = Bth::LEN as u32;
/// A mirrored frame may itself carry an overlay; nobody nests deeper.
const TUNNELS: usize = 2;

/// Reads a frame.
///
/// `ports` are the UDP destination ports that carry RoCEv2; 0 stands for none.
#[must_use]
#[inline]
pub fn decode<O: Octets + ?Sized>(
    frame: &O,
    link: LinkType,
    lengths: FrameLengths,
    ports: [u16; 4],
) -> Class {
    let mut packet = Packet::zeroed();
    decode_into(frame, link, lengths, ports, &mut packet).map(|packet| *packet)
}

/// Reads a frame; a RoCEv2 packet is left in `packet`, which is the caller's memory, for the stack
/// of the kernel's programs is 512 bytes.
#[inline(always)]
pub fn decode_into<'p, O: Octets + ?Sized>(
    frame: &O,
    link: LinkType,
    lengths: FrameLengths,
    ports: [u16; 4],
    packet: &'p mut Packet,
) -> Class<&'p Packet> {
    packet.encapsulation = Encapsulation::None;
    packet.truncated = false;
    packet.flow.vni = NO_VNI;
    match read_into(frame, link, lengths, ports, packet) {
        Ok(()) => Class::Roce(packet),
        Err(Other::NotRoce(reason)) => Class::NotRoce(reason, packet.encapsulation),
        Err(Other::Malformed(reason)) => Class::Malformed(reason, packet.encapsulation),
        Err(Other::Fragment) => Class::Fragment(packet.encapsulation),
        Err(Other::Snapped) => Class::Snapped(packet.encapsulation),
    }
}

/// What a frame is when it is no RoCEv2 packet.
enum Other {
    NotRoce(NotRoce),
    Malformed(Malformed),
    Fragment,
    Snapped,
}

/// Where the innermost IP packet lies.
struct Inner {
    /// Offset of its frame, behind all that mirrors put in front.
    frame_at: usize,
    network: Network,
    ip: Ip,
}

#[inline(always)]
fn read_into<O: Octets + ?Sized>(
    frame: &O,
    link: LinkType,
    lengths: FrameLengths,
    ports: [u16; 4],
    packet: &mut Packet,
) -> Result<(), Other> {
    let Inner {
        frame_at,
        network,
        ip,
    } = unwrap(frame, link, lengths, ports, packet)?;
    let wrong = |reason| Err(Other::Malformed(reason));
    if ip.protocol != PROTOCOL_UDP {
        return Err(Other::NotRoce(NotRoce::NotUdp));
    }
    if ip.fragment {
        return Err(Other::Fragment);
    }
    let [s1, s0, d1, d0, l1, l0, _, _] = frame
        .read::<8>(ip.payload_at)
        .ok_or_else(|| lengths.short(Malformed::UdpShort))?;
    if !is_roce_port(u16::from_be_bytes([d1, d0]), ports) {
        return Err(Other::NotRoce(NotRoce::OtherPort));
    }
    let udp_bytes = u32::from(u16::from_be_bytes([l1, l0]));
    if udp_bytes > ip.payload_bytes {
        return wrong(Malformed::UdpLength);
    }
    // Where the IP packet ends, by its own word, against where the frame ends.
    let missing = ip.payload_at as u64 + u64::from(udp_bytes) > u64::from(lengths.original);
    if missing && packet.encapsulation == Encapsulation::None {
        return wrong(Malformed::IpLength);
    }
    if udp_bytes < UDP_BYTES + BTH_BYTES + ICRC_BYTES {
        return wrong(Malformed::Bth);
    }
    let bth_at = ip.payload_at + UDP_BYTES as usize;
    // Only a capture or a mirror that cut the frame can have lost it.
    let bytes = frame.read::<{ Bth::LEN }>(bth_at).ok_or(Other::Snapped)?;
    // Each field goes to its place at once: what is carried along costs the kernel's stack.
    packet.bth = Bth::read(bytes);
    packet.bth_at = bth_at;
    packet.network_at = network.at;
    packet.ttl = ip.ttl;
    packet.congestion_experienced = ip.traffic_class & 3 == 3;
    packet.truncated |= missing;
    packet.frame_bytes = if packet.encapsulation == Encapsulation::None {
        lengths.original
    } else {
        inner_frame_bytes(lengths, frame_at, &ip)
    };
    let opcode = packet.bth.opcode;
    let headers = UDP_BYTES + BTH_BYTES + opcode.extension_bytes();
    let trailer = u32::from(packet.bth.pad_bytes) + ICRC_BYTES;
    if udp_bytes < headers + trailer {
        return wrong(Malformed::Extension);
    }
    packet.payload_bytes = udp_bytes - headers - trailer;
    let (src, dst) = network
        .addresses(frame)
        .ok_or_else(|| lengths.short(Malformed::IpShort))?;
    packet.flow = FlowKey {
        src,
        dst,
        vni: packet.flow.vni,
        dst_qpn: packet.bth.dst_qpn.get(),
        udp_src_port: u16::from_be_bytes([s1, s0]),
        vlan: network.vlan,
        inner_vlan: network.inner_vlan,
        reserved: 0,
    };
    let extension = extension(frame, bth_at + Bth::LEN, opcode);
    packet.snapped = extension.is_none() || lengths.captured < lengths.original;
    let extension = extension.unwrap_or(NOTHING);
    packet.src_qpn = extension.src_qpn;
    packet.syndrome = extension.syndrome;
    packet.msn_or_dma_length = extension.word;
    Ok(())
}

/// Steps into the frame that mirrors carry, down to its IP header; what they are goes to `packet`.
///
/// Apart from what follows, so that the kernel's verifier walks the headers of RoCEv2 once and not
/// at every depth.
#[inline(always)]
fn unwrap<O: Octets + ?Sized>(
    frame: &O,
    link: LinkType,
    lengths: FrameLengths,
    ports: [u16; 4],
    packet: &mut Packet,
) -> Result<Inner, Other> {
    let (mut link, mut frame_at) = (link, 0);
    for _ in 0..=TUNNELS {
        let network =
            link::read(frame, frame_at, link).ok_or_else(|| lengths.short(Malformed::Link))?;
        let ip = match network.ethertype {
            ETHERTYPE_IPV4 => ip::v4(frame, network.at),
            ETHERTYPE_IPV6 => ip::v6(frame, network.at),
            ETHERTYPE_ROCE_V1 => return Err(Other::NotRoce(NotRoce::RoceV1)),
            _ => return Err(Other::NotRoce(NotRoce::NotIp)),
        }
        .map_err(|error| match error {
            IpError::Short => lengths.short(Malformed::IpShort),
            IpError::Header => Other::Malformed(Malformed::IpHeader),
            IpError::Extension => Other::Malformed(Malformed::Ipv6Extension),
        })?;
        let Some(tunnel) = tunnel_in(frame, &ip, lengths, ports)? else {
            return Ok(Inner {
                frame_at,
                network,
                ip,
            });
        };
        packet.encapsulation = tunnel.kind;
        packet.truncated |= tunnel.truncated;
        if tunnel.vni != NO_VNI {
            packet.flow.vni = tunnel.vni;
        }
        frame_at = frame.settle(tunnel.inner_at);
        link = LinkType::Ethernet;
    }
    Err(Other::NotRoce(NotRoce::DeepTunnel))
}

/// The tunnel that an IP packet carries, if it does.
#[inline(always)]
fn tunnel_in<O: Octets + ?Sized>(
    frame: &O,
    ip: &Ip,
    lengths: FrameLengths,
    ports: [u16; 4],
) -> Result<Option<Tunnel>, Other> {
    if ip.fragment {
        return Ok(None);
    }
    let tunnel = match ip.protocol {
        PROTOCOL_GRE => tunnel::gre(frame, ip.payload_at),
        PROTOCOL_UDP => match frame.be16(ip.payload_at + 2) {
            Some(VXLAN_UDP_PORT) if !is_roce_port(VXLAN_UDP_PORT, ports) => {
                tunnel::vxlan(frame, ip.payload_at + UDP_BYTES as usize)
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    };
    tunnel.map_err(|()| lengths.short(Malformed::Tunnel))
}

impl FrameLengths {
    /// A frame that ends too soon was cut by the capture, or else is wrong.
    #[inline(always)]
    fn short(self, reason: Malformed) -> Other {
        if self.captured < self.original {
            Other::Snapped
        } else {
            Other::Malformed(reason)
        }
    }
}

/// Length on the wire of a frame that a mirror carries. It may have been cut: then its IP header
/// knows better than what is left.
#[inline(always)]
fn inner_frame_bytes(lengths: FrameLengths, frame_at: usize, ip: &Ip) -> u32 {
    let header_bytes = ip.payload_at.saturating_sub(frame_at) as u32;
    let left = lengths.original.saturating_sub(frame_at as u32);
    left.max(header_bytes.saturating_add(ip.payload_bytes))
}

#[inline(always)]
const fn is_roce_port(port: u16, ports: [u16; 4]) -> bool {
    let [a, b, c, d] = ports;
    port != 0 && (port == a || port == b || port == c || port == d)
}

/// What a record keeps of the headers behind the BTH.
#[derive(Clone, Copy)]
struct Extension {
    src_qpn: Qpn,
    syndrome: Syndrome,
    word: u32,
}

const NOTHING: Extension = Extension {
    src_qpn: Qpn::new(0),
    syndrome: RESERVED_SYNDROME,
    word: 0,
};
/// Stands where an AETH was expected and not captured: it must not count as an acknowledgement.
const RESERVED_SYNDROME: Syndrome = Syndrome(0xff);

/// Reads what stands at `at`; `None` when it was not captured.
#[inline(always)]
fn extension<O: Octets + ?Sized>(frame: &O, at: usize, opcode: Opcode) -> Option<Extension> {
    let none = Extension {
        src_qpn: Qpn::new(0),
        syndrome: Syndrome(0),
        word: 0,
    };
    // XRC requests carry the XRCETH in front of their other headers.
    let prefix = if opcode.transport() == Transport::Xrc {
        4
    } else {
        0
    };
    match (opcode.operation(), opcode.position()) {
        (Operation::Send, _) if opcode.stream() == Stream::Datagram => {
            let deth = Deth::read(frame.read::<{ Deth::LEN }>(at)?);
            Some(Extension {
                src_qpn: deth.src_qpn,
                ..none
            })
        }
        (Operation::Acknowledge | Operation::AtomicAcknowledge, _)
        | (Operation::RdmaReadResponse, Position::First | Position::Last | Position::Only) => {
            let aeth = Aeth::read(frame.read::<{ Aeth::LEN }>(at)?);
            Some(Extension {
                syndrome: aeth.syndrome,
                word: aeth.msn,
                ..none
            })
        }
        (Operation::RdmaWrite, Position::First | Position::Only)
        | (Operation::RdmaReadRequest | Operation::AtomicWrite, _) => {
            let reth = Reth::read(frame.read::<{ Reth::LEN }>(at + prefix)?);
            Some(Extension {
                word: reth.dma_length,
                ..none
            })
        }
        (Operation::Flush, _) => {
            let reth = Reth::read(frame.read::<{ Reth::LEN }>(at + prefix + 4)?);
            Some(Extension {
                word: reth.dma_length,
                ..none
            })
        }
        _ => Some(none),
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::link::NO_VLAN;
    use crate::number::Psn;
    use std::vec::Vec;

    const PORTS: [u16; 4] = [crate::ROCE_UDP_PORT, 0, 0, 0];

    /// An IPv4 packet from 10.0.0.1 to 10.0.0.2 with `udp_payload` to `port`.
    fn ipv4(port: u16, udp_payload: &[u8]) -> Vec<u8> {
        let udp_bytes = 8 + udp_payload.len() as u16;
        let mut packet = std::vec![0x45, 2];
        packet.extend((20 + udp_bytes).to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        packet.extend(0xc123u16.to_be_bytes());
        packet.extend(port.to_be_bytes());
        packet.extend(udp_bytes.to_be_bytes());
        packet.extend([0, 0]);
        packet.extend(udp_payload);
        packet
    }

    fn ethernet(tags: &[u16], ethertype: u16, payload: &[u8]) -> Vec<u8> {
        let mut frame = std::vec![0; 12];
        for tag in tags {
            frame.extend([0x81, 0, 0xe0 | (tag >> 8) as u8, *tag as u8]);
        }
        frame.extend(ethertype.to_be_bytes());
        frame.extend(payload);
        frame
    }

    fn acknowledge() -> Vec<u8> {
        let mut bytes = Bth::new(Opcode::RC_ACKNOWLEDGE, Qpn::new(0x11), Psn::new(7))
            .write()
            .to_vec();
        bytes.extend(
            Aeth {
                syndrome: Syndrome::ACK,
                msn: 3,
            }
            .write(),
        );
        bytes.extend([0; 4]);
        bytes
    }

    fn class_of(frame: &[u8]) -> Class {
        decode(
            frame,
            LinkType::Ethernet,
            FrameLengths::whole(frame.len() as u32),
            PORTS,
        )
    }

    fn roce(frame: &[u8]) -> Packet {
        match class_of(frame) {
            Class::Roce(packet) => packet,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_acknowledge_says_everything() {
        let frame = ethernet(&[], ETHERTYPE_IPV4, &ipv4(4791, &acknowledge()));
        let packet = roce(&frame);
        assert_eq!(packet.opcode(), Opcode::RC_ACKNOWLEDGE);
        assert_eq!(packet.flow.src[12..], [10, 0, 0, 1]);
        assert_eq!(packet.flow.udp_src_port, 0xc123);
        assert_eq!((packet.flow.dst_qpn, packet.psn().get()), (0x11, 7));
        assert_eq!((packet.flow.vlan, packet.flow.vni), (NO_VLAN, NO_VNI));
        assert_eq!(
            (packet.frame_bytes, packet.payload_bytes),
            (frame.len() as u32, 0)
        );
        assert_eq!(
            (packet.syndrome, packet.msn_or_dma_length),
            (Syndrome::ACK, 3)
        );
        assert!(!packet.congestion_experienced && !packet.snapped);
    }

    #[test]
    fn vlan_ids_lose_their_priority_bits() {
        let packet = roce(&ethernet(
            &[100, 7],
            ETHERTYPE_IPV4,
            &ipv4(4791, &acknowledge()),
        ));
        assert_eq!((packet.flow.vlan, packet.flow.inner_vlan), (100, 7));
    }

    #[test]
    fn a_mirrored_frame_is_classed_by_its_inner_frame() {
        let inner = ethernet(&[], ETHERTYPE_IPV4, &ipv4(4791, &acknowledge()));
        let mut vxlan = std::vec![8, 0, 0, 0, 0, 0x12, 0x34, 0];
        vxlan.extend(&inner);
        let packet = roce(&ethernet(&[], ETHERTYPE_IPV4, &ipv4(4789, &vxlan)));
        assert_eq!(
            (packet.flow.vni, packet.encapsulation),
            (0x1234, Encapsulation::Vxlan)
        );
        assert_eq!(packet.frame_bytes, inner.len() as u32);

        for (gre, kind) in [
            (&[0, 0, 0x88, 0xbe][..], Encapsulation::ErspanI),
            (
                &[0x10, 0, 0x88, 0xbe, 0, 0, 0, 9, 0x10, 0, 0, 5, 0, 0, 0, 0],
                Encapsulation::ErspanII,
            ),
            (
                &[
                    0x10, 0, 0x22, 0xeb, 0, 0, 0, 9, 0x20, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0,
                ],
                Encapsulation::ErspanIII,
            ),
        ] {
            let mut packet = std::vec![0x45, 0];
            packet.extend(((20 + gre.len() + inner.len()) as u16).to_be_bytes());
            packet.extend([0, 0, 0, 0, 64, 47, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
            packet.extend(gre);
            packet.extend(&inner);
            let packet = roce(&ethernet(&[], ETHERTYPE_IPV4, &packet));
            assert_eq!(
                (packet.encapsulation, packet.frame_bytes),
                (kind, inner.len() as u32)
            );
        }
    }

    #[test]
    fn a_mirror_may_cut_the_frame_and_the_headers_tell_its_length() {
        let mut write = Bth::new(Opcode(0x07), Qpn::new(1), Psn::new(1))
            .write()
            .to_vec();
        write.extend([0; 1024 + 4]);
        let inner = ethernet(&[], ETHERTYPE_IPV4, &ipv4(4791, &write));
        let mut vxlan = std::vec![8, 0, 0, 0, 0, 0, 1, 0];
        vxlan.extend(&inner[..100]);
        let packet = roce(&ethernet(&[], ETHERTYPE_IPV4, &ipv4(4789, &vxlan)));
        assert_eq!(
            (packet.frame_bytes, packet.payload_bytes),
            (inner.len() as u32, 1024)
        );
        assert!(packet.truncated);
    }

    #[test]
    fn fragments_snapped_and_foreign_frames_have_their_own_classes() {
        let mut fragment = ipv4(4791, &acknowledge());
        fragment[6] = 0x20;
        assert_eq!(
            class_of(&ethernet(&[], ETHERTYPE_IPV4, &fragment)),
            Class::Fragment(Encapsulation::None)
        );
        assert_eq!(
            class_of(&ethernet(&[], ETHERTYPE_ROCE_V1, &[0; 60])),
            Class::NotRoce(NotRoce::RoceV1, Encapsulation::None)
        );
        let frame = ethernet(&[], ETHERTYPE_IPV4, &ipv4(4791, &acknowledge()));
        let snap = |bytes: usize| {
            let lengths = FrameLengths {
                captured: bytes as u32,
                original: frame.len() as u32,
            };
            decode(&frame[..bytes], LinkType::Ethernet, lengths, PORTS)
        };
        assert_eq!(snap(50), Class::Snapped(Encapsulation::None));
        let Class::Roce(packet) = snap(54) else {
            panic!("the BTH is there")
        };
        assert!(packet.snapped && !packet.syndrome.is_ack());
    }

    #[test]
    fn ip_options_and_extension_headers_are_stepped_over() {
        let mut packet = ipv4(4791, &acknowledge());
        packet[0] = 0x46;
        let total = u16::from_be_bytes([packet[2], packet[3]]) + 4;
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        packet.splice(20..20, [1, 1, 1, 1]);
        assert_eq!(roce(&ethernet(&[], ETHERTYPE_IPV4, &packet)).psn().get(), 7);

        let udp = ipv4(4791, &acknowledge()).split_off(20);
        let mut packet = std::vec![0x60, 0x30, 0, 0];
        packet.extend((udp.len() as u16 + 16).to_be_bytes());
        packet.extend([60, 64]);
        packet.extend([0xfe; 32]);
        packet.extend([44, 0, 1, 4, 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 1]);
        packet.extend(&udp);
        let packet = roce(&ethernet(&[], ETHERTYPE_IPV6, &packet));
        assert_eq!(packet.psn().get(), 7);
        assert!(packet.congestion_experienced);
    }

    #[test]
    fn every_cut_of_a_frame_has_a_reason() {
        let frame = ethernet(&[5], ETHERTYPE_IPV4, &ipv4(4791, &acknowledge()));
        for bytes in 0..frame.len() {
            assert!(
                matches!(class_of(&frame[..bytes]), Class::Malformed(..)),
                "{bytes}"
            );
        }
    }
}
