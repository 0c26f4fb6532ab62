//! TCP segments of a handshake: only what the three packets that open a connection say.

use crate::ip::{self, Ip, PROTOCOL_GRE, PROTOCOL_UDP};
use crate::link::{self, ETHERTYPE_IPV4, ETHERTYPE_IPV6, LinkType};
use crate::octets::Octets;
use crate::tunnel::{self, NO_VNI, VXLAN_UDP_PORT};

/// IP protocol number of TCP.
pub const PROTOCOL_TCP: u8 = 6;

/// FIN, SYN, RST and ACK of the flags byte: what tells the packets of a handshake from others.
const KIND: u8 = 0x17;
/// The flags of a SYN.
pub const SYN: u8 = 0x02;
/// The flags of a SYN-ACK.
pub const SYN_ACK: u8 = 0x12;
/// The flags of an ACK.
pub const ACK: u8 = 0x10;

/// A mirrored frame may itself carry an overlay, as for RoCEv2.
const TUNNELS: usize = 2;

/// A TCP segment, one way.
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
    /// VXLAN network identifier, [`NO_VNI`] where there is none.
    pub vni: u32,
    /// VLAN id of the outer tag, [`NO_VLAN`](link::NO_VLAN) where there is none.
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

/// Reads a frame that carries a TCP segment, through the tunnels of a mirror; `None` for any other.
#[inline]
pub fn segment<O: Octets + ?Sized>(frame: &O, link: LinkType) -> Option<Segment> {
    let (mut link, mut at, mut vni) = (link, 0, NO_VNI);
    for _ in 0..=TUNNELS {
        let network = link::read(frame, at, link)?;
        let ip = match network.ethertype {
            ETHERTYPE_IPV4 => ip::v4(frame, network.at),
            ETHERTYPE_IPV6 => ip::v6(frame, network.at),
            _ => return None,
        }
        .ok()?;
        if ip.fragment {
            return None;
        }
        let tunnel = match ip.protocol {
            PROTOCOL_TCP => {
                let (src, dst) = network.addresses(frame)?;
                return read(frame, &ip).map(|segment| Segment {
                    src,
                    dst,
                    vni,
                    vlan: network.vlan,
                    inner_vlan: network.inner_vlan,
                    ..segment
                });
            }
            PROTOCOL_GRE => tunnel::gre(frame, ip.payload_at).ok()??,
            PROTOCOL_UDP if frame.be16(ip.payload_at + 2)? == VXLAN_UDP_PORT => {
                tunnel::vxlan(frame, ip.payload_at + 8).ok()??
            }
            _ => return None,
        };
        at = tunnel.inner_at;
        if tunnel.vni != NO_VNI {
            vni = tunnel.vni;
        }
        link = LinkType::Ethernet;
    }
    None
}

#[inline(always)]
fn read<O: Octets + ?Sized>(frame: &O, ip: &Ip) -> Option<Segment> {
    let at = ip.payload_at;
    Some(Segment {
        src: [0; 16],
        dst: [0; 16],
        src_port: frame.be16(at)?,
        dst_port: frame.be16(at + 2)?,
        vni: NO_VNI,
        vlan: link::NO_VLAN,
        inner_vlan: link::NO_VLAN,
        sequence: frame.be32(at + 4)?,
        acknowledgement: frame.be32(at + 8)?,
        kind: frame.u8(at + 13)? & KIND,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let segment = segment(&frame[..], LinkType::Ethernet).unwrap();
        assert_eq!((segment.src_port, segment.dst_port), (0x1234, 0x4853));
        assert_eq!((segment.sequence, segment.kind), (9, SYN));
        // A RoCE port is none of TCP's, and a cut frame is no segment.
        assert_eq!(super::segment(&frame[..40], LinkType::Ethernet), None);
    }
}
