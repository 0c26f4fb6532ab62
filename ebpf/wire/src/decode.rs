//! Decodes a frame into its class: a RoCEv2 packet, or the reason why it is none.

use crate::class::{Class, Malformed, NotRoce};
use crate::foreign::Foreign;
use crate::ip::{self, Ip, IpError, PROTOCOL_GRE, PROTOCOL_IPV4, PROTOCOL_IPV6, PROTOCOL_UDP};
use crate::link::{self, ETHERTYPE_FRAME, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_ROCE_V1, LinkType, Network};
use crate::mirrored::Mirrored;
use crate::octets::Octets;
use crate::packet::{FrameLengths, Packet};
use crate::plain;
use crate::transport::{self, UDP_BYTES, is_roce_port};
use crate::tunnel::{self, Encapsulation, Found, GENEVE_UDP_PORT, NO_VNI, Tunnel, VXLAN_UDP_PORT};
use crate::uet;

/// Reads a frame.
///
/// `ports` are the UDP destination ports that carry RoCEv2; 0 for none.
#[must_use]
#[inline]
pub fn decode<O: Octets + ?Sized>(frame: &O, link: LinkType, lengths: FrameLengths, ports: [u16; 4]) -> Class {
    let (mut packet, mut inner) = (Packet::zeroed(), Inner::zeroed());
    decode_into(frame, link, lengths, ports, &mut packet, &mut inner).map(|packet| *packet)
}

/// Reads a frame; writes a RoCEv2 packet to `packet` and the position of the innermost IP packet to
/// `inner`. Both are the caller's memory, because the kernel's programs have 512 bytes of stack.
///
/// Tries the straight path of [`plain`](mod@crate::plain) first.
#[inline(always)]
pub fn decode_into<'p, O: Octets + ?Sized>(
    frame: &O,
    link: LinkType,
    lengths: FrameLengths,
    ports: [u16; 4],
    packet: &'p mut Packet,
    inner: &mut Inner,
) -> Class<&'p Packet> {
    inner.mirrored.kind = 0;
    inner.is_unhandled = false;
    // The kernel's program has tried it before, in place.
    if cfg!(not(target_arch = "bpf"))
        && link == LinkType::Ethernet
        && plain::ethernet_into(frame, lengths, &ports, packet)
    {
        return Class::Roce(packet);
    }
    walk_into(frame, link, lengths, ports, packet, inner)
}

/// [`decode`] without the straight path: header by header.
#[must_use]
pub fn walk<O: Octets + ?Sized>(frame: &O, link: LinkType, lengths: FrameLengths, ports: [u16; 4]) -> Class {
    let (mut packet, mut inner) = (Packet::zeroed(), Inner::zeroed());
    walk_into(frame, link, lengths, ports, &mut packet, &mut inner).map(|packet| *packet)
}

/// [`walk`] into memory of the caller.
#[inline(always)]
fn walk_into<'p, O: Octets + ?Sized>(
    frame: &O,
    link: LinkType,
    lengths: FrameLengths,
    ports: [u16; 4],
    packet: &'p mut Packet,
    inner: &mut Inner,
) -> Class<&'p Packet> {
    packet.encapsulation = Encapsulation::None;
    packet.truncated = false;
    inner.vni = NO_VNI;
    inner.mirrored.kind = 0;
    inner.foreign = Foreign::NONE;
    inner.is_unhandled = link == LinkType::Ethernet && link::is_unhandled(frame);
    inner.frame_at = frame.settle(0);
    inner.next = ETHERTYPE_FRAME;
    inner.outer.is_around = false;
    inner.lengths = lengths;
    let mut step = layer(frame, link, &ports, packet, inner);
    if step == Step::Deeper {
        step = layer(frame, LinkType::Ethernet, &ports, packet, inner);
    }
    // A mirrored frame may itself carry an overlay; deeper nesting is unknown in practice.
    if step == Step::Deeper {
        step = layer(frame, LinkType::Ethernet, &ports, packet, inner);
    }
    if step == Step::Deeper {
        return Class::NotRoce(NotRoce::DeepTunnel, packet.encapsulation);
    }
    if step == Step::Arrived && rest(frame, &ports, packet, inner) {
        return Class::Roce(packet);
    }
    match inner.end {
        Other::NotRoce(reason) => Class::NotRoce(reason, packet.encapsulation),
        Other::Malformed(reason) => Class::Malformed(reason, packet.encapsulation),
        Other::Fragment => Class::Fragment(packet.encapsulation),
        Other::Snapped => Class::Snapped(packet.encapsulation),
    }
}

/// The class of a frame that is not a RoCEv2 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Other {
    NotRoce(NotRoce),
    Malformed(Malformed),
    Fragment,
    Snapped,
}

/// The position of the innermost IP packet: the state between the layers of the decoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inner {
    /// Offset of its frame, after all encapsulations.
    pub(crate) frame_at: usize,
    pub(crate) lengths: FrameLengths,
    pub(crate) network: Network,
    pub(crate) ip: Ip,
    /// What is around it.
    pub(crate) outer: Outer,
    /// The tunnel that was read last.
    tunnel: Tunnel,
    /// Network identifier of VXLAN or Geneve, or [`NO_VNI`].
    pub(crate) vni: u32,
    /// The mirror's session and sequence number.
    pub mirrored: Mirrored,
    /// The number of the [`Kind`](uet::Kind) of a UET packet.
    pub uet: u8,
    /// The kernel has no protocol for the frame: see [`link::is_unhandled`].
    pub is_unhandled: bool,
    /// The protocol at which decoding ended, if it is not read.
    pub foreign: Foreign,
    /// The ethertype of what the next layer begins with; [`ETHERTYPE_FRAME`] for a link header.
    next: u16,
    /// Why decoding ended, if it did.
    pub(crate) end: Other,
}

impl Inner {
    /// Memory to decode into.
    #[must_use]
    pub const fn zeroed() -> Self {
        Self {
            frame_at: 0,
            lengths: FrameLengths::whole(0),
            network: Network::untagged(0, 0),
            ip: Ip::zeroed(),
            outer: Outer {
                at: 0,
                ttl: 0,
                traffic_class: 0,
                is_around: false,
            },
            tunnel: Tunnel::none(),
            vni: NO_VNI,
            mirrored: Mirrored::none(),
            uet: 0,
            is_unhandled: false,
            foreign: Foreign::NONE,
            next: ETHERTYPE_FRAME,
            end: Other::Snapped,
        }
    }

    /// Bytes of the innermost frame that arrived.
    #[must_use]
    #[inline(always)]
    pub const fn arrived_bytes(&self) -> u32 {
        self.lengths.original.saturating_sub(self.frame_at as u32)
    }
}

/// What switches read and change of an IP packet: its own header, or the outermost of the IP headers around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outer {
    /// Offset of the packet inside a tunnel that carries no Ethernet frame.
    at: usize,
    /// Hop limit.
    pub(crate) ttl: u8,
    /// Traffic class.
    pub(crate) traffic_class: u8,
    /// Whether there is another IP header around the packet, in the same frame.
    pub(crate) is_around: bool,
}

/// The result of a layer.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Step {
    /// To an IP packet without a tunnel in it.
    Arrived,
    /// To another frame.
    Deeper,
    /// Nowhere: see [`Inner::end`].
    Ended,
}

/// Reads one layer, from Ethernet to the payload of IP; stores the encapsulation in `packet`.
///
/// A subprogram in the kernel, because three calls are easier for the verifier than a loop; it forgets
/// the memory between the calls, which keeps their states apart.
#[cfg_attr(target_arch = "bpf", inline(never))]
#[cfg_attr(not(target_arch = "bpf"), inline(always))]
fn layer<O: Octets + ?Sized>(
    frame: &O,
    link: LinkType,
    ports: &[u16; 4],
    packet: &mut Packet,
    inner: &mut Inner,
) -> Step {
    match descend(frame, link, ports, packet, inner) {
        Ok(true) => Step::Deeper,
        Ok(false) => Step::Arrived,
        Err(end) => {
            inner.end = end;
            Step::Ended
        }
    }
}

#[inline(always)]
fn descend<O: Octets + ?Sized>(
    frame: &O,
    link: LinkType,
    ports: &[u16; 4],
    packet: &mut Packet,
    inner: &mut Inner,
) -> Result<bool, Other> {
    let lengths = inner.lengths;
    let is_read = if inner.next == ETHERTYPE_FRAME {
        link::read_into(frame, inner.frame_at, link, &mut inner.network)
    } else {
        // On the link of the packet around it, or on none that is known.
        let Network { vlan, inner_vlan, .. } = inner.network;
        inner.network = Network::untagged(inner.outer.at, inner.next);
        if inner.outer.is_around {
            (inner.network.vlan, inner.network.inner_vlan) = (vlan, inner_vlan);
        }
        link::tags(frame, &mut inner.network)
    };
    if !is_read {
        return Err(lengths.short(Malformed::Link));
    }
    let network = inner.network;
    match network.ethertype {
        ETHERTYPE_IPV4 => ip::v4(frame, network.at).map(|ip| inner.ip = ip),
        ETHERTYPE_IPV6 => ip::v6_into(frame, network.at, &mut inner.ip),
        ETHERTYPE_FRAME => {
            packet.encapsulation = Encapsulation::Mpls;
            inner.frame_at = network.at;
            inner.next = ETHERTYPE_FRAME;
            inner.outer.is_around = false;
            return Ok(true);
        }
        ETHERTYPE_ROCE_V1 => return Err(Other::NotRoce(NotRoce::RoceV1)),
        other => {
            inner.foreign = Foreign::ethertype(other);
            return Err(Other::NotRoce(NotRoce::NotIp));
        }
    }
    .map_err(|error| match error {
        IpError::Short => lengths.short(Malformed::IpShort),
        IpError::Header => Other::Malformed(Malformed::IpHeader),
        IpError::Extension => Other::Malformed(Malformed::Ipv6Extension),
    })?;
    if !inner.outer.is_around {
        inner.outer.ttl = inner.ip.ttl;
        inner.outer.traffic_class = inner.ip.traffic_class;
    }
    match tunnel_in(frame, inner, ports) {
        Found::None => return Ok(false),
        Found::Tunnel => {}
        Found::Short => return Err(lengths.short(Malformed::Tunnel)),
    }
    let tunnel = &inner.tunnel;
    inner.next = tunnel.ethertype;
    inner.outer.at = frame.settle(tunnel.inner_at);
    inner.outer.is_around = matches!(tunnel.kind, Encapsulation::Ipv4 | Encapsulation::Ipv6);
    if inner.outer.is_around {
        if !packet.encapsulation.is_mirror() {
            packet.encapsulation = tunnel.kind;
        }
        return Ok(true);
    }
    packet.encapsulation = tunnel.kind;
    packet.truncated |= tunnel.truncated;
    if tunnel.vni != NO_VNI {
        inner.vni = tunnel.vni;
    }
    if let Some(sequence) = tunnel.sequence
        && !inner.mirrored.is_numbered()
        && let Some(addresses) = network.addresses(frame)
    {
        (inner.mirrored.src, inner.mirrored.dst) = addresses;
        inner.mirrored.session = tunnel.session;
        inner.mirrored.sequence = sequence;
        inner.mirrored.kind = tunnel.kind as u8;
    }
    inner.frame_at = inner.outer.at;
    Ok(true)
}

/// Reads the payload of IP; returns whether it is a RoCEv2 packet.
#[cfg_attr(target_arch = "bpf", inline(never))]
#[cfg_attr(not(target_arch = "bpf"), inline(always))]
fn rest<O: Octets + ?Sized>(frame: &O, ports: &[u16; 4], packet: &mut Packet, inner: &mut Inner) -> bool {
    inner.uet = uet::number_in(frame, &inner.ip, ports) as u8;
    if inner.uet != 0 {
        inner.end = Other::NotRoce(NotRoce::Uet);
        return false;
    }
    match transport::read(frame, ports, packet, inner) {
        Ok(()) => true,
        Err(end) => {
            inner.end = end;
            match end {
                Other::NotRoce(NotRoce::NotUdp) if inner.foreign.is_none() => {
                    inner.foreign = Foreign::ip(inner.ip.protocol);
                }
                Other::NotRoce(NotRoce::OtherPort) => {
                    inner.foreign = Foreign::udp(frame.be16(inner.ip.payload_at + 2).unwrap_or(0));
                }
                _ => {}
            }
            false
        }
    }
}

/// Reads the tunnel in an IP packet, if any, into `inner.tunnel`.
#[cfg_attr(target_arch = "bpf", inline(never))]
#[cfg_attr(not(target_arch = "bpf"), inline(always))]
fn tunnel_in<O: Octets + ?Sized>(frame: &O, inner: &mut Inner, ports: &[u16; 4]) -> Found {
    let Inner {
        ip, tunnel, foreign, ..
    } = inner;
    let at = ip.payload_at;
    if ip.fragment {
        return Found::None;
    }
    match ip.protocol {
        PROTOCOL_GRE => {
            let found = tunnel::gre(frame, at, tunnel);
            if found == Found::None {
                *foreign = Foreign::gre(frame.be16(at + 2).unwrap_or(0));
            }
            found
        }
        PROTOCOL_IPV4 => tunnel.set(Encapsulation::Ipv4, at, ETHERTYPE_IPV4),
        PROTOCOL_IPV6 => tunnel.set(Encapsulation::Ipv6, at, ETHERTYPE_IPV6),
        PROTOCOL_UDP => {
            let inside_at = at + UDP_BYTES as usize;
            match frame.be16(at + 2) {
                Some(port) if is_roce_port(port, ports) => Found::None,
                Some(VXLAN_UDP_PORT) => tunnel::vxlan(frame, inside_at, tunnel),
                Some(GENEVE_UDP_PORT) => tunnel::geneve(frame, inside_at, tunnel),
                _ => tunnel::on_any_port(frame, inside_at, tunnel),
            }
        }
        _ => Found::None,
    }
}

impl FrameLengths {
    /// Classifies a frame that ends too soon: truncated by the capture, or malformed.
    #[inline(always)]
    pub(crate) fn short(self, reason: Malformed) -> Other {
        if self.captured < self.original {
            Other::Snapped
        } else {
            Other::Malformed(reason)
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::bth::Bth;
    use crate::extension::{Aeth, Syndrome};
    use crate::link::NO_VLAN;
    use crate::number::{Psn, Qpn};
    use crate::opcode::Opcode;
    use crate::traffic_class::TrafficClass;
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
    fn an_acknowledge_is_fully_decoded() {
        let frame = ethernet(&[], ETHERTYPE_IPV4, &ipv4(4791, &acknowledge()));
        let packet = roce(&frame);
        assert_eq!(packet.opcode(), Opcode::RC_ACKNOWLEDGE);
        assert_eq!(packet.flow.src[12..], [10, 0, 0, 1]);
        assert_eq!(packet.flow.udp_src_port, 0xc123);
        assert_eq!((packet.flow.dst_qpn, packet.psn().get()), (0x11, 7));
        assert_eq!((packet.flow.vlan, packet.flow.vni), (NO_VLAN, NO_VNI));
        assert_eq!((packet.frame_bytes, packet.payload_bytes), (frame.len() as u32, 0));
        assert_eq!((packet.syndrome, packet.msn_or_dma_length), (Syndrome::ACK, 3));
        assert!(!packet.congestion_experienced && !packet.snapped);
    }

    #[test]
    fn vlan_ids_lose_their_priority_bits() {
        let packet = roce(&ethernet(&[100, 7], ETHERTYPE_IPV4, &ipv4(4791, &acknowledge())));
        assert_eq!((packet.flow.vlan, packet.flow.inner_vlan), (100, 7));
    }

    #[test]
    fn a_mirrored_frame_is_classed_by_its_inner_frame() {
        let inner = ethernet(&[], ETHERTYPE_IPV4, &ipv4(4791, &acknowledge()));
        let mut vxlan = std::vec![8, 0, 0, 0, 0, 0x12, 0x34, 0];
        vxlan.extend(&inner);
        let packet = roce(&ethernet(&[], ETHERTYPE_IPV4, &ipv4(4789, &vxlan)));
        assert_eq!((packet.flow.vni, packet.encapsulation), (0x1234, Encapsulation::Vxlan));
        assert_eq!(packet.frame_bytes, inner.len() as u32);

        for (gre, kind) in [
            (&[0, 0, 0x88, 0xbe][..], Encapsulation::ErspanI),
            (
                &[0x10, 0, 0x88, 0xbe, 0, 0, 0, 9, 0x10, 0, 0, 5, 0, 0, 0, 0],
                Encapsulation::ErspanII,
            ),
            (
                &[0x10, 0, 0x22, 0xeb, 0, 0, 0, 9, 0x20, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0],
                Encapsulation::ErspanIII,
            ),
        ] {
            let mut packet = std::vec![0x45, 0];
            packet.extend(((20 + gre.len() + inner.len()) as u16).to_be_bytes());
            packet.extend([0, 0, 0, 0, 64, 47, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
            packet.extend(gre);
            packet.extend(&inner);
            let packet = roce(&ethernet(&[], ETHERTYPE_IPV4, &packet));
            assert_eq!((packet.encapsulation, packet.frame_bytes), (kind, inner.len() as u32));
        }
    }

    #[test]
    fn the_headers_give_the_length_of_a_truncated_mirrored_frame() {
        let mut write = Bth::new(Opcode(0x07), Qpn::new(1), Psn::new(1)).write().to_vec();
        write.extend([0; 1024 + 4]);
        let inner = ethernet(&[], ETHERTYPE_IPV4, &ipv4(4791, &write));
        let mut vxlan = std::vec![8, 0, 0, 0, 0, 0, 1, 0];
        vxlan.extend(&inner[..100]);
        let packet = roce(&ethernet(&[], ETHERTYPE_IPV4, &ipv4(4789, &vxlan)));
        assert_eq!((packet.frame_bytes, packet.payload_bytes), (inner.len() as u32, 1024));
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

    /// IPv6 from the interface `last` of a link to the next, with a hop limit of 60 + `last`.
    fn ipv6(last: u8, traffic_class: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = std::vec![0x60 | traffic_class >> 4, traffic_class << 4, 0, 0];
        packet.extend((payload.len() as u16).to_be_bytes());
        packet.extend([protocol, 60 + last]);
        for last in [last, last + 1] {
            packet.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
        }
        packet.extend(payload);
        packet
    }

    /// A segment routing header (RFC 8754) of one segment, before `payload` of IPv6.
    fn segment_routing(payload: &[u8]) -> Vec<u8> {
        let mut bytes = std::vec![41, 2, 4, 0, 0, 0, 0, 0];
        bytes.extend([0xfc; 16]);
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn ipv6_in_ipv6_is_the_packet_inside_with_the_outer_hop_limit_and_class() {
        let udp = ipv4(4791, &acknowledge()).split_off(20);
        // DSCP 26 and ECT(0) inside, DSCP 46 and CE outside.
        let inside = ipv6(1, 26 << 2 | 2, 17, &udp);
        let plain = roce(&ethernet(&[100], ETHERTYPE_IPV6, &inside));
        let bare = ethernet(&[100], ETHERTYPE_IPV6, &ipv6(9, 46 << 2 | 3, 41, &inside));
        let routed = ethernet(
            &[100],
            ETHERTYPE_IPV6,
            &ipv6(9, 46 << 2 | 3, 43, &segment_routing(&inside)),
        );
        let twice = ethernet(
            &[100],
            ETHERTYPE_IPV6,
            &ipv6(9, 46 << 2 | 3, 41, &ipv6(7, 3, 41, &inside)),
        );
        for frame in [&bare, &routed, &twice] {
            let packet = roce(frame);
            let expected = Packet {
                encapsulation: Encapsulation::Ipv6,
                frame_bytes: frame.len() as u32,
                ttl: 69,
                traffic_class: TrafficClass::of(46 << 2 | 3),
                congestion_experienced: true,
                network_at: packet.network_at,
                bth_at: frame.len() - 20,
                ..plain
            };
            assert_eq!(packet, expected);
        }
        // A mark inside counts too, where the outer header has none.
        let frame = ethernet(&[], ETHERTYPE_IPV6, &ipv6(9, 0, 41, &ipv6(1, 3, 17, &udp)));
        let packet = roce(&frame);
        assert!(packet.congestion_experienced && !packet.traffic_class.is_ecn_capable());
        // In a mirror's tunnel the encapsulation is the mirror's, and the frame the mirrored one.
        let mut vxlan = std::vec![8, 0, 0, 0, 0, 0, 1, 0];
        vxlan.extend(&routed);
        let packet = roce(&ethernet(&[], ETHERTYPE_IPV4, &ipv4(4789, &vxlan)));
        assert_eq!((packet.encapsulation, packet.flow.vlan), (Encapsulation::Vxlan, 100));
        assert_eq!((packet.frame_bytes, packet.ttl), (routed.len() as u32, 69));
        // Four headers are one too many, as with every tunnel.
        let deep = ipv6(9, 0, 41, &ipv6(7, 0, 41, &ipv6(5, 0, 41, &inside)));
        assert_eq!(
            class_of(&ethernet(&[], ETHERTYPE_IPV6, &deep)),
            Class::NotRoce(NotRoce::DeepTunnel, Encapsulation::Ipv6)
        );
    }

    #[test]
    fn a_frame_that_a_mirror_has_cut_keeps_the_length_of_its_headers() {
        let mut write = Bth::new(Opcode(0x07), Qpn::new(1), Psn::new(1)).write().to_vec();
        write.extend([0; 1024 + 4]);
        let udp = ipv4(4791, &write).split_off(20);
        let inside = ipv6(1, 0, 17, &udp);
        for whole in [
            ethernet(&[], ETHERTYPE_IPV4, &ipv4(4791, &write)),
            ethernet(&[5], ETHERTYPE_IPV6, &inside),
            ethernet(&[], ETHERTYPE_IPV6, &ipv6(9, 0, 41, &inside)),
        ] {
            let plain = roce(&whole);
            assert!(!plain.truncated);
            for kept in plain.bth_at + Bth::LEN..whole.len() {
                let cut = roce(&whole[..kept]);
                let snapped = cut.snapped;
                assert_eq!(
                    cut,
                    Packet {
                        truncated: true,
                        snapped,
                        ..plain
                    },
                    "{kept}"
                );
            }
            // Without the whole BTH the packet is unknown, and it is no damage either.
            let class = class_of(&whole[..plain.bth_at + Bth::LEN - 1]);
            assert_eq!(class, Class::Snapped(plain.encapsulation));
            // Damage changes one of the lengths.
            let mut damaged = whole.clone();
            let length_at = plain.bth_at - 4;
            damaged[length_at] -= 1;
            let class = class_of(&damaged[..whole.len() - 300]);
            assert_eq!(class, Class::Malformed(Malformed::IpLength, plain.encapsulation));
        }
    }

    #[test]
    fn tags_labels_and_tunnels_are_stepped_over() {
        let packet = ipv4(4791, &acknowledge());
        let inner = ethernet(&[], ETHERTYPE_IPV4, &packet);
        let after = |before: &[u8], payload: &[u8]| [&[2; 12][..], before, payload].concat();
        let ip_around = |protocol: u8, before: &[u8], payload: &[u8]| {
            let mut around = std::vec![0x45, 0];
            around.extend(((20 + before.len() + payload.len()) as u16).to_be_bytes());
            around.extend([0, 0, 0, 0, 9, protocol, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
            around.extend(before);
            around.extend(payload);
            around
        };
        let gre = |before: &[u8], payload: &[u8]| ethernet(&[], ETHERTYPE_IPV4, &ip_around(47, before, payload));
        let udp = |port: u16, before: &[u8], payload: &[u8]| {
            ethernet(&[], ETHERTYPE_IPV4, &ipv4(port, &[before, payload].concat()))
        };
        let geneve = [&[2, 0, 0x65, 0x58, 0, 0, 77, 0][..], &[1; 8]].concat();
        use Encapsulation::{Geneve, Gre, Ipv4, Ipv6, Mpls, None, Vxlan};
        for (name, frame, kind) in [
            ("three tags", ethernet(&[100, 110, 1], ETHERTYPE_IPV4, &packet), None),
            ("VN-tag", after(&[0x89, 0x26, 1, 2, 3, 4, 8, 0], &packet), None),
            ("E-tag", after(&[0x89, 0x3f, 1, 2, 3, 4, 5, 6, 8, 0], &packet), None),
            ("metadata", after(&[0x89, 0x09, 1, 1, 0, 1, 0, 7, 8, 0], &packet), None),
            (
                "48 bits",
                after(&[0xd2, 0x8b, 0, 1, 1, 0x20, 1, 2, 3, 4, 5, 6, 8, 0], &packet),
                None,
            ),
            (
                "48 bits named 64",
                after(&[0xd2, 0x8b, 0, 1, 1, 0x10, 1, 2, 3, 4, 5, 6, 8, 0], &packet),
                None,
            ),
            (
                "64 bits",
                after(&[0xd2, 0x8b, 0, 1, 0, 0x10, 1, 2, 3, 4, 5, 6, 7, 8, 8, 0], &packet),
                None,
            ),
            (
                "time before a tag",
                after(
                    &[0xd2, 0x8b, 0, 1, 0, 0x20, 1, 2, 3, 4, 5, 6, 0x81, 0, 0, 9, 8, 0],
                    &packet,
                ),
                None,
            ),
            ("MPLS", after(&[0x88, 0x47, 0, 1, 0, 9, 0, 2, 1, 9], &packet), None),
            (
                "frame in MPLS",
                after(&[0x88, 0x47, 0, 1, 0, 9, 0, 2, 1, 9], &inner),
                Mpls,
            ),
            (
                "control word",
                after(&[0x88, 0x48, 0, 2, 1, 9, 0, 0, 0, 0], &inner),
                Mpls,
            ),
            (
                "Spectrum",
                gre(&[&[0, 0, 0x89, 0x49][..], &[0; 22]].concat(), &inner),
                Gre,
            ),
            ("chosen protocol", gre(&[0, 0, 0x99, 0x99], &inner), Gre),
            ("GRE with key", gre(&[0x20, 0, 8, 0, 0, 0, 0, 7], &packet), Gre),
            ("MPLS in GRE", gre(&[0, 0, 0x88, 0x47, 0, 2, 1, 9], &packet), Gre),
            ("Geneve", udp(6081, &geneve, &inner), Geneve),
            ("Geneve elsewhere", udp(7777, &geneve, &inner), Geneve),
            ("IP in Geneve", udp(6081, &[0, 0, 8, 0, 0, 0, 77, 0], &packet), Geneve),
            ("VXLAN elsewhere", udp(8472, &[8, 0, 0, 0, 0, 0, 77, 0], &inner), Vxlan),
            (
                "IPv4 in IPv4",
                ethernet(&[], ETHERTYPE_IPV4, &ip_around(4, &[], &packet)),
                Ipv4,
            ),
            (
                "IPv4 in IPv6",
                ethernet(&[], ETHERTYPE_IPV6, &ipv6(1, 0, 4, &packet)),
                Ipv4,
            ),
            (
                "IPv6 in IPv4",
                ethernet(&[], ETHERTYPE_IPV4, &ip_around(41, &[], &ipv6(1, 0, 17, &packet[20..]))),
                Ipv6,
            ),
        ] {
            let packet = roce(&frame);
            assert_eq!((packet.psn().get(), packet.encapsulation), (7, kind), "{name}");
            let is_whole = matches!(kind, None | Ipv4 | Ipv6);
            assert_eq!(packet.frame_bytes as usize == frame.len(), is_whole, "{name}");
            let expected = if matches!(kind, Geneve | Vxlan) { 77 } else { NO_VNI };
            assert_eq!(packet.flow.vni, expected, "{name}");
            for kept in 0..packet.bth_at {
                assert!(!matches!(class_of(&frame[..kept]), Class::Roce(_)), "{name} {kept}");
            }
        }
    }

    #[test]
    fn what_is_not_read_is_named() {
        let named = |frame: &[u8]| {
            let (mut packet, mut inner) = (Packet::zeroed(), Inner::zeroed());
            let lengths = FrameLengths::whole(frame.len() as u32);
            let class = decode_into(frame, LinkType::Ethernet, lengths, PORTS, &mut packet, &mut inner);
            assert!(matches!(class, Class::NotRoce(..)), "{class:?}");
            std::format!("{}", inner.foreign)
        };
        let mut gre = ipv4(1, &[0; 20]);
        gre[9] = 47;
        gre[20..24].copy_from_slice(&[0, 0, 0x12, 0x34]);
        assert_eq!(named(&ethernet(&[], ETHERTYPE_IPV4, &gre)), "GRE protocol 0x1234");
        gre[9] = 6;
        assert_eq!(named(&ethernet(&[], ETHERTYPE_IPV4, &gre)), "IP protocol 6 (TCP)");
        assert_eq!(named(&ethernet(&[], ETHERTYPE_IPV4, &ipv4(9, &[0; 20]))), "UDP port 9");
        assert_eq!(named(&ethernet(&[7], 0x88cc, &[0; 50])), "Ethernet type 0x88cc (LLDP)");
    }

    #[test]
    fn every_cut_of_a_frame_has_a_reason() {
        let frame = ethernet(&[5], ETHERTYPE_IPV4, &ipv4(4791, &acknowledge()));
        for bytes in 0..frame.len() {
            let class = class_of(&frame[..bytes]);
            // 4 bytes of tag, 14 of Ethernet, 20 of IP, 8 of UDP, 12 of BTH.
            assert_eq!(matches!(class, Class::Malformed(..)), bytes < 46, "{bytes}");
            assert_eq!(matches!(class, Class::Snapped(_)), (46..58).contains(&bytes), "{bytes}");
        }
    }
}
