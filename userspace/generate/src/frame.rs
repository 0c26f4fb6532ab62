//! Frames: constant headers, built once with etherparse, and the fields that change with each packet.

use super::packet::Packet;
use super::scenario::group::{Encapsulated, Group, Tunnel};
use etherparse::{
    EtherType, Ethernet2Header, IpNumber, Ipv4Header, Ipv6Header, SingleVlanHeader, UdpHeader, VlanId, VlanPcp,
};
use rocescope_wire::ROCE_UDP_PORT;
use rocescope_wire::icrc;
use rocescope_wire::link::ETHERTYPE_FRAME;
use rocescope_wire::tunnel::{self, Encapsulation, NO_VNI, VXLAN_UDP_PORT};
use std::net::IpAddr;

/// Ethernet, two VLAN tags, IPv6 and UDP.
pub(super) const HEADER_MAX: usize = 14 + 2 * 4 + 40 + 8;
const UDP_BYTES: usize = 8;
const IPV4_BYTES: usize = 20;
/// The usual DSCP of RoCEv2.
const ROCE_DSCP: u8 = 26;

/// The headers of one side's packets.
pub(super) type Header = [u8; HEADER_MAX];

/// One end of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) address: IpAddr,
    pub(super) mac: [u8; 6],
}

impl End {
    /// The host with this address, from which its MAC address follows.
    pub(super) fn new(address: IpAddr) -> Self {
        let (version, low) = match address {
            IpAddr::V4(v4) => (4, u32::from(v4)),
            IpAddr::V6(v6) => (6, u128::from(v6) as u32),
        };
        let [a, b, c, d] = low.to_be_bytes();
        Self {
            address,
            mac: [2, version, a, b, c, d],
        }
    }
}

/// The layout of the frames of a group.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    network_at: usize,
    pub(super) header_bytes: usize,
    is_v6: bool,
    pub(super) outer: Option<Outer>,
}

/// The encapsulation that a mirror adds.
#[derive(Clone, Debug)]
pub(super) struct Outer {
    /// From the Ethernet header to the IPv4 or UDP header.
    head: Vec<u8>,
    tunnel: tunnel::Tunnel,
    pub(super) truncate: u32,
    sequence: u32,
}

impl Outer {
    fn new(tunnel: &Encapsulated) -> Self {
        let kind = match tunnel.kind {
            Tunnel::ErspanI => Encapsulation::ErspanI,
            Tunnel::ErspanIi => Encapsulation::ErspanII,
            Tunnel::ErspanIii => Encapsulation::ErspanIII,
            Tunnel::Vxlan => Encapsulation::Vxlan,
        };
        let ends = [tunnel.src, tunnel.dst].map(End::new);
        let is_vxlan = kind == Encapsulation::Vxlan;
        let protocol = if is_vxlan { IpNumber::UDP } else { IpNumber::GRE };
        let mut head = Vec::new();
        network(&mut head, ends, &[], 0, (0, 64), protocol);
        if is_vxlan {
            udp(&mut head, 0xc0de, VXLAN_UDP_PORT);
        }
        Self {
            head,
            tunnel: tunnel::Tunnel {
                kind,
                inner_at: 0,
                ethertype: ETHERTYPE_FRAME,
                session: tunnel.session,
                sequence: None,
                vni: if is_vxlan { tunnel.vni } else { NO_VNI },
                truncated: false,
            },
            truncate: tunnel.truncate.unwrap_or(u32::MAX),
            sequence: 0,
        }
    }

    pub(super) fn kind(&self) -> Encapsulation {
        self.tunnel.kind
    }

    pub(super) fn vni(&self) -> Option<u32> {
        (self.tunnel.vni != NO_VNI).then_some(self.tunnel.vni)
    }

    /// The mirror counts every frame, lost or not.
    pub(super) fn count(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
    }

    fn write(&self, frame: &mut Vec<u8>, inner_bytes: u32, truncated: bool) {
        let tunnel = tunnel::Tunnel {
            sequence: Some(self.sequence.wrapping_sub(1)),
            truncated,
            ..self.tunnel
        };
        let tunnel = tunnel.write();
        frame.extend_from_slice(&self.head);
        frame.extend_from_slice(tunnel.as_ref());
        let behind = tunnel.as_ref().len() as u32 + inner_bytes;
        let udp_bytes = if self.head.len() > 34 { UDP_BYTES as u32 } else { 0 };
        patch_v4(frame, 14, udp_bytes + behind, 0);
        if udp_bytes > 0 {
            put16(frame, 14 + IPV4_BYTES + 4, udp_bytes + behind);
        }
    }
}

impl Layout {
    pub(super) fn new(group: &Group) -> Self {
        let network_at = 14 + 4 * group.vlan.len();
        let is_v6 = group.src.is_v6();
        Self {
            network_at,
            header_bytes: network_at + if is_v6 { 40 } else { IPV4_BYTES } + UDP_BYTES,
            is_v6,
            outer: group.encapsulation.as_ref().map(Outer::new),
        }
    }

    /// Ethernet, IP and UDP alone.
    pub(super) fn plain(is_v6: bool) -> Self {
        Self {
            network_at: 14,
            header_bytes: 14 + if is_v6 { 40 } else { IPV4_BYTES } + UDP_BYTES,
            is_v6,
            outer: None,
        }
    }

    /// The headers of packets from one end to another in that layout, with the DSCP of RoCEv2 traffic.
    pub(super) fn plain_header(&self, ends: [End; 2], src_port: u16) -> Header {
        let mut bytes = Vec::with_capacity(HEADER_MAX);
        network(&mut bytes, ends, &[], 0, (ROCE_DSCP << 2, 64), IpNumber::UDP);
        udp(&mut bytes, src_port, ROCE_UDP_PORT);
        bytes.resize(HEADER_MAX, 0);
        bytes.try_into().unwrap_or([0; HEADER_MAX])
    }

    /// The headers of packets from one end to another.
    pub(super) fn header(&self, ends: [End; 2], src_port: u16, group: &Group) -> Header {
        let mut bytes = Vec::with_capacity(HEADER_MAX);
        let hops = (group.dscp << 2, group.ttl);
        network(&mut bytes, ends, &group.vlan, group.vlan_priority, hops, IpNumber::UDP);
        udp(&mut bytes, src_port, ROCE_UDP_PORT);
        let mut header = [0; HEADER_MAX];
        for (to, from) in header.iter_mut().zip(bytes) {
            *to = from;
        }
        header
    }

    /// Writes up to `kept` bytes of a frame and returns its length on the wire.
    pub(super) fn write(
        &self,
        frame: &mut Vec<u8>,
        header: &Header,
        src_port: Option<u16>,
        packet: &Packet,
        kept: u32,
    ) -> u32 {
        frame.clear();
        let inner_bytes = self.header_bytes as u32 + packet.bytes();
        let mut original = inner_bytes;
        if let Some(outer) = &self.outer {
            let truncated = inner_bytes > outer.truncate;
            let mirrored = inner_bytes.min(outer.truncate);
            outer.write(frame, mirrored, truncated);
            original = frame.len() as u32 + mirrored;
        }
        let inner_at = frame.len();
        let network_at = inner_at + self.network_at;
        let bth_at = inner_at + self.header_bytes;
        frame.extend_from_slice(header.get(..self.header_bytes).unwrap_or(header));
        let udp_bytes = UDP_BYTES as u32 + packet.bytes();
        if self.is_v6 {
            put16(frame, network_at + 4, udp_bytes);
            if let Some(class) = frame.get_mut(network_at + 1) {
                *class |= packet.ecn << 4;
            }
        } else {
            patch_v4(frame, network_at, udp_bytes, packet.ecn);
        }
        put16(frame, bth_at - 4, udp_bytes);
        if let Some(port) = src_port {
            put16(frame, bth_at - UDP_BYTES, port.into());
        }
        frame.extend_from_slice(&packet.bth.write());
        frame.extend_from_slice(packet.extension());
        let kept = kept.min(original) as usize;
        payload(frame, packet, kept);
        if kept == inner_at + inner_bytes as usize {
            frame.resize(kept - 4, 0);
            seal(frame, network_at, bth_at, packet.damaged);
        }
        frame.truncate(kept);
        original
    }

    /// A router forwards the frame, which no mirror has encapsulated.
    pub(super) fn hop(&self, frame: &mut [u8]) {
        let ttl_at = self.network_at + if self.is_v6 { 7 } else { 8 };
        if let Some(ttl) = frame.get_mut(ttl_at) {
            *ttl = ttl.saturating_sub(1);
        }
        let checksum_at = self.network_at + 10;
        if let Some([high, low]) = frame.get_mut(checksum_at..checksum_at + 2).filter(|_| !self.is_v6) {
            // RFC 1624, with the carry of ones' complement.
            let sum = u32::from(u16::from_be_bytes([*high, *low])) + 0x100;
            [*high, *low] = ((sum + (sum >> 16)) as u16).to_be_bytes();
        }
    }
}

/// Appends the payload, up to the frame's `kept` bytes.
fn payload(frame: &mut Vec<u8>, packet: &Packet, kept: usize) {
    let bytes = (packet.payload_bytes as usize).min(kept.saturating_sub(frame.len()));
    let from: &[u8] = match &packet.datagram {
        Some(datagram) => &datagram[..],
        // Each packet starts at another offset of the pattern.
        None => PATTERN
            .get((packet.bth.psn.get() & 0xff) as usize..)
            .unwrap_or(&PATTERN),
    };
    frame.extend_from_slice(from.get(..bytes).unwrap_or(from));
    // The pad or the payload before it may be truncated.
    frame.resize(frame.len() + usize::from(packet.bth.pad_bytes), 0);
}

/// Appends the ICRC, an invalid one if the packet is damaged.
fn seal(frame: &mut Vec<u8>, network_at: usize, bth_at: usize, damaged: bool) {
    let headers = frame.get(network_at..bth_at).unwrap_or(&[]);
    let transport = frame.get(bth_at..).unwrap_or(&[]);
    let mut crc = icrc::compute(headers, transport).unwrap_or_default();
    if damaged {
        crc = crc.map(|byte| !byte);
    }
    frame.extend_from_slice(&crc);
}

/// Bytes of a counter, so that a shifted payload is detected.
static PATTERN: [u8; 4096 + 256] = {
    let mut bytes = [0; 4096 + 256];
    let mut at = 0;
    while at < bytes.len() {
        // The high byte changes every 256 bytes: no two packets of a message are equal.
        bytes[at] = (at as u8) ^ ((at >> 8) as u8).wrapping_mul(0x1d);
        at += 1;
    }
    bytes
};

/// Appends Ethernet, VLAN tags and an IP header without a payload.
fn network(
    bytes: &mut Vec<u8>,
    [src, dst]: [End; 2],
    tags: &[u16],
    priority: u8,
    (traffic_class, ttl): (u8, u8),
    protocol: IpNumber,
) {
    let network = match src.address {
        IpAddr::V4(_) => EtherType::IPV4,
        IpAddr::V6(_) => EtherType::IPV6,
    };
    let tag_type = |index: usize| match tags.len() - index {
        0 => network,
        1 => EtherType::VLAN_TAGGED_FRAME,
        _ => EtherType::PROVIDER_BRIDGING,
    };
    let ethernet = Ethernet2Header {
        source: src.mac,
        destination: dst.mac,
        ether_type: tag_type(0),
    };
    bytes.extend_from_slice(&ethernet.to_bytes());
    for (index, tag) in tags.iter().enumerate() {
        let vlan = SingleVlanHeader {
            pcp: VlanPcp::try_new(priority).unwrap_or_default(),
            drop_eligible_indicator: false,
            vlan_id: VlanId::try_new(*tag).unwrap_or_default(),
            ether_type: tag_type(index + 1),
        };
        bytes.extend_from_slice(&vlan.to_bytes());
    }
    match (src.address, dst.address) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let header = Ipv4Header {
                dscp: (traffic_class >> 2).try_into().unwrap_or_default(),
                total_len: IPV4_BYTES as u16,
                dont_fragment: true,
                time_to_live: ttl,
                protocol,
                source: source.octets(),
                destination: destination.octets(),
                ..Ipv4Header::default()
            };
            bytes.extend_from_slice(&header.to_bytes());
        }
        (source, destination) => {
            let octets = |address| match address {
                IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
                IpAddr::V6(v6) => v6.octets(),
            };
            let header = Ipv6Header {
                traffic_class,
                hop_limit: ttl,
                next_header: protocol,
                source: octets(source),
                destination: octets(destination),
                ..Ipv6Header::default()
            };
            bytes.extend_from_slice(&header.to_bytes());
        }
    }
}

fn udp(bytes: &mut Vec<u8>, source_port: u16, destination_port: u16) {
    let header = UdpHeader {
        source_port,
        destination_port,
        length: 0,
        // As adapters send it: the ICRC protects more.
        checksum: 0,
    };
    bytes.extend_from_slice(&header.to_bytes());
}

fn put16(frame: &mut [u8], at: usize, value: u32) {
    if let Some(place) = frame.get_mut(at..at + 2) {
        place.copy_from_slice(&(value as u16).to_be_bytes());
    }
}

/// Sets length, ECN and checksum of the IPv4 header at `at`.
fn patch_v4(frame: &mut [u8], at: usize, payload_bytes: u32, ecn: u8) {
    let Some(header) = frame
        .get_mut(at..)
        .and_then(|rest| rest.first_chunk_mut::<IPV4_BYTES>())
    else {
        return;
    };
    let [_, class, high, low, ..] = header;
    *class |= ecn;
    [*high, *low] = ((IPV4_BYTES as u32 + payload_bytes) as u16).to_be_bytes();
    let mut sum = 0;
    for (index, pair) in header.chunks_exact(2).enumerate() {
        if let ([high, low], true) = (pair, index != 5) {
            sum += u32::from(u16::from_be_bytes([*high, *low]));
        }
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(header, 10, !sum & 0xffff);
}
