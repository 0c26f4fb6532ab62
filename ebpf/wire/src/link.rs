//! From the first byte of a frame to its network header: Ethernet with up to two VLAN tags, and
//! the cooked and raw link layers of capture files.

use crate::ip;
use crate::octets::Octets;

/// Ethertype of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// Ethertype of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Ethertype of RoCE v1, which has no IP header.
pub const ETHERTYPE_ROCE_V1: u16 = 0x8915;

/// Ethertype of an 802.1Q tag.
pub const ETHERTYPE_VLAN: u16 = 0x8100;
const ETHERTYPE_QINQ: u16 = 0x88a8;
/// Older switches tag the outer VLAN with this one.
const ETHERTYPE_QINQ_OLD: u16 = 0x9100;

/// The VLAN id of a frame without a VLAN tag.
pub const NO_VLAN: u16 = 0xffff;

/// The link layer of a frame; the number is that of pcap's `LINKTYPE_` registry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LinkType {
    /// `LINKTYPE_ETHERNET`, 1.
    #[default]
    Ethernet,
    /// `LINKTYPE_RAW`, 101, with 228 and 229: an IP header at once.
    Raw,
    /// `LINKTYPE_LINUX_SLL`, 113.
    LinuxCooked,
    /// `LINKTYPE_LINUX_SLL2`, 276.
    LinuxCooked2,
}

impl LinkType {
    /// The link type with this number in pcap's registry, `None` if unsupported.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Ethernet),
            101 | 228 | 229 => Some(Self::Raw),
            113 => Some(Self::LinuxCooked),
            276 => Some(Self::LinuxCooked2),
            _ => None,
        }
    }
}

/// Position and kind of the network header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    /// Offset of the network header in bytes.
    pub at: usize,
    /// Its ethertype.
    pub ethertype: u16,
    /// VLAN id of the outer tag without priority bits, or [`NO_VLAN`].
    pub vlan: u16,
    /// VLAN id of the inner tag of QinQ.
    pub inner_vlan: u16,
}

impl Network {
    /// Source and destination address; IPv4 as IPv4-mapped IPv6 addresses (RFC 4291, 2.5.5.2).
    /// `None` when they were not captured.
    ///
    /// Read on demand: storing the 32 bytes would exceed the stack of the kernel's programs.
    #[inline(always)]
    pub fn addresses<O: Octets + ?Sized>(&self, frame: &O) -> Option<([u8; 16], [u8; 16])> {
        let [a, b, c, d] = self.address_words(frame)?;
        let [src, dst] = bytemuck::cast([a.to_le(), b.to_le(), c.to_le(), d.to_le()]);
        Some((src, dst))
    }

    /// The same as four words, little-endian.
    #[inline(always)]
    pub(crate) fn address_words<O: Octets + ?Sized>(&self, frame: &O) -> Option<[u64; 4]> {
        if frame.be16(self.at)? >> 12 == 6 {
            ip::v6_addresses(frame, self.at)
        } else {
            ip::v4_addresses(frame, self.at)
        }
    }
}

/// Reads the link layer of a frame that begins at `at`. `None` when it ends too soon.
#[inline(always)]
pub fn read<O: Octets + ?Sized>(frame: &O, at: usize, link: LinkType) -> Option<Network> {
    match link {
        LinkType::Ethernet => ethernet(frame, at),
        LinkType::Raw => {
            let ethertype = match frame.u8(at)? >> 4 {
                4 => ETHERTYPE_IPV4,
                6 => ETHERTYPE_IPV6,
                _ => 0,
            };
            Some(Network {
                at,
                ethertype,
                vlan: NO_VLAN,
                inner_vlan: NO_VLAN,
            })
        }
        LinkType::LinuxCooked => tagged(frame, at + 16, frame.be16(at + 14)?),
        LinkType::LinuxCooked2 => tagged(frame, at + 20, frame.be16(at)?),
    }
}

/// Reads an Ethernet header that begins at `at`.
#[inline(always)]
pub fn ethernet<O: Octets + ?Sized>(frame: &O, at: usize) -> Option<Network> {
    tagged(frame, at + 14, frame.be16(at + 12)?)
}

/// Skips at most two VLAN tags; a third remains an unknown ethertype.
#[inline(always)]
fn tagged<O: Octets + ?Sized>(frame: &O, at: usize, ethertype: u16) -> Option<Network> {
    let mut network = Network {
        at,
        ethertype,
        vlan: NO_VLAN,
        inner_vlan: NO_VLAN,
    };
    if is_tag(network.ethertype) {
        network.vlan = frame.be16(network.at)? & 0x0fff;
        network.ethertype = frame.be16(network.at + 2)?;
        network.at += 4;
        if is_tag(network.ethertype) {
            network.inner_vlan = frame.be16(network.at)? & 0x0fff;
            network.ethertype = frame.be16(network.at + 2)?;
            network.at += 4;
        }
    }
    network.at = frame.settle(network.at);
    Some(network)
}

#[inline(always)]
const fn is_tag(ethertype: u16) -> bool {
    matches!(ethertype, ETHERTYPE_VLAN | ETHERTYPE_QINQ | ETHERTYPE_QINQ_OLD)
}
