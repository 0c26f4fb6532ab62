//! TCP segments of a handshake: only the fields of the three packets that open a connection.

use crate::decode::Inner;
use crate::octets::Octets;
use crate::packet::FlowKey;

/// IP protocol number of TCP.
pub const PROTOCOL_TCP: u8 = 6;

/// FIN, SYN, RST and ACK of the flags byte, which identify the packets of a handshake.
const KIND: u8 = 0x17;
/// The flags of a SYN.
pub const SYN: u8 = 0x02;
/// The flags of a SYN-ACK.
pub const SYN_ACK: u8 = 0x12;
/// The flags of an ACK.
pub const ACK: u8 = 0x10;

/// A TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Source address; IPv4 as an IPv4-mapped IPv6 address.
    pub src: [u8; 16],
    /// Destination address, likewise.
    pub dst: [u8; 16],
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// VXLAN network identifier, [`NO_VNI`](crate::tunnel::NO_VNI) where there is none.
    pub vni: u32,
    /// VLAN id of the outer tag, [`NO_VLAN`](crate::link::NO_VLAN) where there is none.
    pub vlan: u16,
    /// VLAN id of the inner tag of QinQ.
    pub inner_vlan: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Which of FIN, SYN, RST and ACK are set.
    pub kind: u8,
}

impl Segment {
    /// Addresses and tags as a flow with ports and queue pair 0.
    #[must_use]
    #[inline(always)]
    pub const fn flow(&self) -> FlowKey {
        FlowKey {
            src: self.src,
            dst: self.dst,
            vni: self.vni,
            dst_qpn: 0,
            udp_src_port: 0,
            vlan: self.vlan,
            inner_vlan: self.inner_vlan,
            reserved: 0,
        }
    }
}

/// The TCP segment in the innermost IP packet of a decoded frame, if any.
#[inline(always)]
pub fn segment<O: Octets + ?Sized>(frame: &O, inner: &Inner) -> Option<Segment> {
    if inner.ip.protocol != PROTOCOL_TCP || inner.ip.fragment {
        return None;
    }
    let (src, dst) = inner.network.addresses(frame)?;
    let at = inner.ip.payload_at;
    Some(Segment {
        src,
        dst,
        src_port: frame.be16(at)?,
        dst_port: frame.be16(at + 2)?,
        vni: inner.vni,
        vlan: inner.network.vlan,
        inner_vlan: inner.network.inner_vlan,
        sequence: frame.be32(at + 4)?,
        acknowledgement: frame.be32(at + 8)?,
        kind: frame.u8(at + 13)? & KIND,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Class, FrameLengths, LinkType, NotRoce, Packet, decode_into};

    #[test]
    fn a_syn_is_read_from_its_frame() {
        let mut frame = [0u8; 54];
        frame[12] = 0x08;
        frame[14] = 0x45;
        frame[17] = 40;
        frame[22] = 64;
        frame[23] = PROTOCOL_TCP;
        frame[26..30].copy_from_slice(&[10, 0, 0, 1]);
        frame[30..34].copy_from_slice(&[10, 0, 0, 2]);
        frame[34..38].copy_from_slice(&[0x12, 0x34, 0x48, 0x53]);
        frame[38..42].copy_from_slice(&[0, 0, 0, 9]);
        frame[46] = 0x50;
        frame[47] = 0xc2;
        let read = |frame: &[u8]| {
            let (mut packet, mut inner) = (Packet::zeroed(), Inner::zeroed());
            let lengths = FrameLengths::whole(frame.len() as u32);
            let class = decode_into(frame, LinkType::Ethernet, lengths, [0; 4], &mut packet, &mut inner);
            assert!(matches!(class, Class::NotRoce(NotRoce::NotUdp, _)));
            segment(frame, &inner)
        };
        let segment = read(&frame).unwrap();
        assert_eq!((segment.src_port, segment.dst_port), (0x1234, 0x4853));
        assert_eq!((segment.sequence, segment.kind), (9, SYN));
        // A UDP frame and a truncated frame have no segment.
        assert_eq!(read(&frame[..40]), None);
    }
}
