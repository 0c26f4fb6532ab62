//! The VXLAN header around a captured packet: what switches between tunnel ends hash.

use rocescope_model::UdpPath;
use rocescope_wire::{LinkType, Octets, ip};
use std::net::{IpAddr, Ipv6Addr};

/// The UDP destination port of VXLAN.
const VXLAN_PORT: u16 = 4789;
const UDP: u8 = 17;
const ETHERNET: usize = 14;
/// VLAN and service tags, at most.
const MAX_TAGS: usize = 2;

/// The first header of an Ethernet frame, if it is VXLAN.
#[must_use]
pub fn outer(frame: &[u8], link: LinkType) -> Option<UdpPath> {
    if link != LinkType::Ethernet {
        return None;
    }
    let mut at = ETHERNET - 2;
    for _ in 0..MAX_TAGS {
        if matches!(frame.be16(at)?, 0x8100 | 0x88a8) {
            at += 4;
        }
    }
    let (kind, at) = (frame.be16(at)?, at + 2);
    let (header, src, dst) = match kind {
        0x0800 => {
            let [src, dst] = [frame.read::<4>(at + 12)?, frame.read::<4>(at + 16)?];
            (ip::v4(frame, at).ok()?, IpAddr::from(src), IpAddr::from(dst))
        }
        0x86dd => {
            let [src, dst] = [frame.read::<16>(at + 8)?, frame.read::<16>(at + 24)?];
            let [src, dst] = [src, dst].map(|bytes| IpAddr::from(Ipv6Addr::from(bytes)));
            (ip::v6(frame, at).ok()?, src, dst)
        }
        _ => return None,
    };
    let is_vxlan = header.protocol == UDP && !header.fragment && frame.be16(header.payload_at + 2)? == VXLAN_PORT;
    let port = frame.be16(header.payload_at)?;
    is_vxlan.then_some(UdpPath { src, dst, port })
}

#[cfg(test)]
mod tests {
    use super::{UdpPath, outer};
    use rocescope_wire::LinkType;

    #[test]
    fn the_outer_header_is_read_over_both_protocols_and_tags() {
        let mut v4 = vec![0; 12];
        v4.extend([
            0x81, 0, 0, 5, 8, 0, 0x45, 0, 0, 36, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 3,
        ]);
        v4.extend([0xc0, 0x01, 0x12, 0xb5, 0, 16, 0, 0, 8, 0, 0, 0, 0, 0, 100, 0]);
        let expected = UdpPath {
            src: [192, 0, 2, 1].into(),
            dst: [192, 0, 2, 3].into(),
            port: 0xc001,
        };
        assert_eq!(outer(&v4, LinkType::Ethernet), Some(expected));
        for length in 0..42 {
            assert_eq!(outer(&v4[..length], LinkType::Ethernet), None, "{length}");
        }
        v4[41] = 0xb7;
        assert_eq!(outer(&v4, LinkType::Ethernet), None);
        let mut v6 = vec![0; 12];
        v6.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 16, 17, 64]);
        v6.extend([0xfd; 16].into_iter().chain([0xfe; 16]));
        v6.extend([0xc0, 0x02, 0x12, 0xb5, 0, 16, 0, 0, 8, 0, 0, 0, 0, 0, 100, 0]);
        assert_eq!(outer(&v6, LinkType::Ethernet).map(|outer| outer.port), Some(0xc002));
    }
}
