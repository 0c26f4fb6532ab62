//! Answers of routers: time exceeded and unreachable (RFC 792, RFC 4443).

use crate::payload::Payload;
use crate::types::DatagramKind;
use etherparse::{Icmpv4Type, Icmpv6Type, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use std::net::IpAddr;

/// The answer of a router to one of our datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The address that answers.
    pub from: IpAddr,
    /// The TTL expired here; otherwise the destination is unreachable from here.
    pub exceeded: bool,
    /// Code of an "unreachable" answer.
    pub code: u8,
    /// The source of the datagram.
    pub src: IpAddr,
    /// The destination of the datagram.
    pub dst: IpAddr,
    /// The UDP source port of the datagram.
    pub src_port: u16,
    /// The UDP destination port of the datagram.
    pub dst_port: u16,
    /// The kind of the datagram, if the quotation contains it.
    pub kind: Option<DatagramKind>,
}

/// Bits of an IPv4 identification that hold the TTL of a trace; the rest is its number.
pub(crate) const TTL_BITS: u32 = 5;

/// Returns the IPv4 identification of a datagram: 0 for probes. Routers only have to quote the IP header and the eight
/// bytes after it (RFC 792), so number and TTL of a trace must be in there, but not in the fields that ECMP hashes.
pub(crate) const fn identification(kind: DatagramKind) -> u16 {
    match kind {
        DatagramKind::Trace { id, ttl } => id << TTL_BITS | (ttl & 31) as u16,
        _ => 0,
    }
}

/// Parses the answer in an Ethernet frame; `None` without one, or if the quoted datagram is not UDP.
#[must_use]
pub fn read(frame: &[u8]) -> Option<Answer> {
    let packet = LaxSlicedPacket::from_ethernet(frame).ok()?;
    let (from, _) = addresses(packet.net.as_ref()?)?;
    let (exceeded, code, quoted) = match packet.transport.as_ref()? {
        TransportSlice::Icmpv4(icmp) => {
            let (exceeded, code) = match icmp.icmp_type() {
                Icmpv4Type::TimeExceeded(code) => (true, code.code_u8()),
                Icmpv4Type::DestinationUnreachable(header) => (false, header.code_u8()),
                _ => return None,
            };
            (exceeded, code, icmp.payload())
        }
        TransportSlice::Icmpv6(icmp) => {
            let (exceeded, code) = match icmp.icmp_type() {
                Icmpv6Type::TimeExceeded(code) => (true, code.code_u8()),
                Icmpv6Type::DestinationUnreachable(code) => (false, code.code_u8()),
                _ => return None,
            };
            (exceeded, code, icmp.payload())
        }
        _ => return None,
    };
    let quoted = LaxSlicedPacket::from_ip(quoted).ok()?;
    let net = quoted.net.as_ref()?;
    let (src, dst) = addresses(net)?;
    let (ports, payload) = quoted_udp(&quoted, net)?;
    let kind = payload
        .get(super::frame::BEHIND_UDP..)
        .and_then(Payload::read)
        .map(|payload| payload.kind);
    Some(Answer {
        from,
        exceeded,
        code,
        src,
        dst,
        src_port: ports.0,
        dst_port: ports.1,
        kind: kind.or_else(|| by_identification(net)),
    })
}

/// Returns the ports of a quoted UDP header, and the bytes quoted after it. The length field covers the whole datagram,
/// so the parser may reject a header whose datagram is truncated.
fn quoted_udp<'a>(quoted: &LaxSlicedPacket<'a>, net: &LaxNetSlice<'a>) -> Option<((u16, u16), &'a [u8])> {
    if let Some(TransportSlice::Udp(udp)) = &quoted.transport {
        return Some(((udp.source_port(), udp.destination_port()), udp.payload()));
    }
    let payload = net.ip_payload_ref()?;
    if payload.ip_number != etherparse::IpNumber::UDP {
        return None;
    }
    let (header, rest) = payload.payload.split_first_chunk::<8>()?;
    let [a, b, c, d, ..] = *header;
    Some(((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])), rest))
}

fn by_identification(net: &LaxNetSlice<'_>) -> Option<DatagramKind> {
    let LaxNetSlice::Ipv4(ip) = net else {
        return None;
    };
    Some(match ip.header().identification() {
        0 => DatagramKind::Probe,
        number => DatagramKind::Trace {
            id: number >> TTL_BITS,
            ttl: (number & 31) as u8,
        },
    })
}

fn addresses(net: &LaxNetSlice<'_>) -> Option<(IpAddr, IpAddr)> {
    Some(match net {
        LaxNetSlice::Ipv4(ip) => (ip.header().source_addr().into(), ip.header().destination_addr().into()),
        LaxNetSlice::Ipv6(ip) => (ip.header().source_addr().into(), ip.header().destination_addr().into()),
        LaxNetSlice::Arp(_) => return None,
    })
}
