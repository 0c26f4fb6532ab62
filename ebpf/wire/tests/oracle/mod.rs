//! etherparse, an independent parser, as the oracle for `wire` from the first byte of a frame to its
//! UDP payload. Shared by the tests of generated frames and of captured ones.

use etherparse::{LinkExtSlice, NetSlice, SlicedPacket, TransportSlice};
use rocescope_wire::link::NO_VLAN;
use rocescope_wire::{Packet, ROCE_UDP_PORT, TrafficClass};

/// What both parsers say down to UDP: tags, addresses, hop limit, DSCP, ECN, source port, and where the
/// IP header and the UDP payload begin.
pub(crate) type Agreed = ([u16; 2], [u8; 16], [u8; 16], u8, TrafficClass, bool, u16, usize, usize);

/// What we say.
pub(crate) fn ours(packet: &Packet) -> Agreed {
    let flow = packet.flow;
    (
        [flow.vlan, flow.inner_vlan],
        flow.src,
        flow.dst,
        packet.ttl,
        packet.traffic_class,
        packet.congestion_experienced,
        flow.udp_src_port,
        packet.network_at,
        packet.bth_at,
    )
}

/// The result of etherparse; `None` if it finds no UDP packet to the port of RoCEv2.
pub(crate) fn theirs(frame: &[u8], sliced: &SlicedPacket<'_>) -> Option<Agreed> {
    let mut tags = [NO_VLAN; 2];
    for (tag, slice) in tags.iter_mut().zip(&sliced.link_exts) {
        let LinkExtSlice::Vlan(vlan) = slice else {
            return None;
        };
        *tag = vlan.vlan_identifier().value();
    }
    let Some(TransportSlice::Udp(udp)) = &sliced.transport else {
        return None;
    };
    let mapped = |[a, b, c, d]: [u8; 4]| [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d];
    let at = |part: &[u8]| part.as_ptr() as usize - frame.as_ptr() as usize;
    let (src, dst, ttl, class, network) = match sliced.net.as_ref()? {
        NetSlice::Ipv4(ip) => {
            let header = ip.header();
            let (src, dst) = (mapped(header.source()), mapped(header.destination()));
            let class = header.dcp().value() << 2 | header.ecn().value();
            (src, dst, header.ttl(), class, header.slice())
        }
        NetSlice::Ipv6(ip) => {
            let header = ip.header();
            (
                header.source(),
                header.destination(),
                header.hop_limit(),
                header.traffic_class(),
                header.slice(),
            )
        }
        NetSlice::Arp(_) => return None,
    };
    if udp.destination_port() != ROCE_UDP_PORT {
        return None;
    }
    let (network, payload) = (at(network), at(udp.slice()) + 8);
    // The rules of RFC 3168 in other words than ours.
    let (dscp, is_ecn_capable) = (class >> 2, matches!(class & 3, 1..=3));
    let expected = TrafficClass(dscp << 2 | u8::from(is_ecn_capable));
    Some((
        tags,
        src,
        dst,
        ttl,
        expected,
        class & 3 == 3,
        udp.source_port(),
        network,
        payload,
    ))
}
