//! From the first byte of a frame to its network header: Ethernet with tags and MPLS labels, and the cooked and raw
//! link layers of capture files.
//!
//! Tags are those of VLANs (IEEE 802.1Q), of port extenders (VN-tag, and the E-tag of 802.1BR), of security groups
//! (Cisco metadata), and the timestamps of Arista switches. MPLS is RFC 3032, Ethernet in it RFC 4448.

use crate::ip;
use crate::octets::Octets;

/// Ethertype of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// Ethertype of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Ethertype of ARP.
const ETHERTYPE_ARP: u16 = 0x0806;
/// Ethertype of RoCE v1, which has no IP header.
pub const ETHERTYPE_ROCE_V1: u16 = 0x8915;

/// Ethertype of an 802.1Q tag.
pub const ETHERTYPE_VLAN: u16 = 0x8100;
const ETHERTYPE_QINQ: u16 = 0x88a8;
/// Older switches tag the outer VLAN with this one.
const ETHERTYPE_QINQ_OLD: u16 = 0x9100;
/// Ethertype of a VN-tag.
const ETHERTYPE_VN_TAG: u16 = 0x8926;
/// Ethertype of an E-tag.
const ETHERTYPE_E_TAG: u16 = 0x893f;
/// Ethertype of Cisco metadata: version, length, option and security group.
const ETHERTYPE_CISCO_METADATA: u16 = 0x8909;
/// Ethertype of the timestamps of Arista switches.
const ETHERTYPE_ARISTA: u16 = 0xd28b;
/// Ethertype of MPLS.
pub(crate) const ETHERTYPE_MPLS: u16 = 0x8847;
const ETHERTYPE_MPLS_UPSTREAM: u16 = 0x8848;
/// Ethertype of an Ethernet frame inside: transparent Ethernet bridging.
pub const ETHERTYPE_FRAME: u16 = 0x6558;

/// Tags and labels of a frame that are skipped. More remain an unknown ethertype: the verifier needs a bound.
const TAGS: usize = 6;

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
    /// VLAN id of the second tag.
    pub inner_vlan: u16,
}

impl Network {
    /// A header of this ethertype at `at`, with no tag before it.
    #[must_use]
    #[inline(always)]
    pub(crate) const fn untagged(at: usize, ethertype: u16) -> Self {
        Self {
            at,
            ethertype,
            vlan: NO_VLAN,
            inner_vlan: NO_VLAN,
        }
    }

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
    let mut network = Network::untagged(0, 0);
    read_into(frame, at, link, &mut network).then_some(network)
}

/// The same into memory of the caller; `false` when the frame ends too soon.
#[inline(always)]
pub(crate) fn read_into<O: Octets + ?Sized>(frame: &O, at: usize, link: LinkType, network: &mut Network) -> bool {
    let Some(found) = first(frame, at, link) else {
        return false;
    };
    *network = found;
    tags(frame, network)
}

/// Whether Linux has no protocol for an Ethernet frame: neither IP nor ARP, perhaps in one or two VLAN tags. It counts
/// such a frame as dropped by the interface, although nothing is lost (`rx_dropped`, `net/core/dev.c`).
#[inline(always)]
pub fn is_unhandled<O: Octets + ?Sized>(frame: &O) -> bool {
    let handled = [ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_ARP];
    let is_vlan = |ethertype: u16| matches!(ethertype, ETHERTYPE_VLAN | ETHERTYPE_QINQ);
    match (frame.be16(12), frame.be16(16), frame.be16(20)) {
        (Some(tag), Some(second), Some(inner)) if is_vlan(tag) && is_vlan(second) => !handled.contains(&inner),
        (Some(tag), Some(inner), _) if is_vlan(tag) => !handled.contains(&inner),
        (Some(ethertype), ..) => !handled.contains(&ethertype),
        _ => false,
    }
}

/// What follows the addresses of a frame.
#[inline(always)]
fn first<O: Octets + ?Sized>(frame: &O, at: usize, link: LinkType) -> Option<Network> {
    Some(match link {
        LinkType::Ethernet => Network::untagged(frame.settle(at + 14), frame.be16(at + 12)?),
        LinkType::Raw => {
            let ethertype = match frame.u8(at)? >> 4 {
                4 => ETHERTYPE_IPV4,
                6 => ETHERTYPE_IPV6,
                _ => 0,
            };
            Network::untagged(at, ethertype)
        }
        LinkType::LinuxCooked => Network::untagged(at + 16, frame.be16(at + 14)?),
        LinkType::LinuxCooked2 => Network::untagged(at + 20, frame.be16(at)?),
    })
}

/// Skips tags and labels; `false` when the frame ends inside one.
#[inline(always)]
pub(crate) fn tags<O: Octets + ?Sized>(frame: &O, network: &mut Network) -> bool {
    let mut last = Tag::Skipped;
    let mut another = || {
        last = tag(frame, network);
        last == Tag::Skipped
    };
    // Unrolled, as the extension headers of IPv6.
    const { assert!(TAGS == 6) };
    let _ = another() && another() && another() && another() && another() && another();
    last != Tag::Short
}

/// What follows a link header or a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Tag {
    /// No tag.
    None,
    /// A tag, now skipped.
    Skipped,
    /// The frame ends inside it.
    Short,
}

/// Skips one tag or label, if there is one.
#[cfg_attr(target_arch = "bpf", inline(never))]
#[cfg_attr(not(target_arch = "bpf"), inline(always))]
fn tag<O: Octets + ?Sized>(frame: &O, network: &mut Network) -> Tag {
    let at = network.at;
    // Bytes before the next ethertype.
    let bytes = match network.ethertype {
        ETHERTYPE_VLAN | ETHERTYPE_QINQ | ETHERTYPE_QINQ_OLD => {
            let Some(tag) = frame.be16(at) else {
                return Tag::Short;
            };
            // The two outermost name the flow: a mirror's own tag is around them.
            if network.vlan == NO_VLAN {
                network.vlan = tag & 0x0fff;
            } else if network.inner_vlan == NO_VLAN {
                network.inner_vlan = tag & 0x0fff;
            }
            2
        }
        ETHERTYPE_VN_TAG => 4,
        ETHERTYPE_E_TAG | ETHERTYPE_CISCO_METADATA => 6,
        ETHERTYPE_ARISTA => match arista(frame, at) {
            Some(bytes) => bytes,
            None => return Tag::Short,
        },
        ETHERTYPE_MPLS | ETHERTYPE_MPLS_UPSTREAM => return label(frame, network),
        _ => return Tag::None,
    };
    let Some(ethertype) = frame.be16(at + bytes) else {
        return Tag::Short;
    };
    network.ethertype = ethertype;
    network.at = frame.settle(at + bytes + 2);
    Tag::Skipped
}

/// Bytes of Arista's header between its ethertype and the next: subtype, version, and a time of 48 or 64 bits.
///
/// The low byte of the version names the length in its upper half (1: 64 bits, 2: 48 bits), as tcpdump reads it. Captures
/// exist where it names the other, so what is behind the time decides first. `None` when the frame ends inside.
#[inline(always)]
fn arista<O: Octets + ?Sized>(frame: &O, at: usize) -> Option<usize> {
    const SHORT: usize = 10;
    const LONG: usize = 12;
    let format = frame.u8(at + 3)? >> 4;
    let (short, long) = (
        is_known(frame.be16(at + SHORT)?),
        frame.be16(at + LONG).is_some_and(is_known),
    );
    let is_short = if short == long { format == 2 } else { short };
    Some(if is_short { SHORT } else { LONG })
}

/// Skips a label of MPLS. Below the last one is an IP packet, or an Ethernet frame with or without a control word.
#[inline(always)]
fn label<O: Octets + ?Sized>(frame: &O, network: &mut Network) -> Tag {
    let at = network.at;
    let Some([_, _, bottom, _, inside]) = frame.read::<5>(at) else {
        return Tag::Short;
    };
    network.at = frame.settle(at + 4);
    if bottom & 1 != 0 {
        network.ethertype = if is_frame(frame, at + 4) {
            ETHERTYPE_FRAME
        } else if inside >> 4 == 0 && is_frame(frame, at + 8) {
            network.at = frame.settle(at + 8);
            ETHERTYPE_FRAME
        } else {
            match inside >> 4 {
                4 => ETHERTYPE_IPV4,
                6 => ETHERTYPE_IPV6,
                _ => return Tag::None,
            }
        };
    }
    Tag::Skipped
}

/// Whether an Ethernet frame with an IP packet, perhaps tagged, seems to begin at `at`: the only sign where no field
/// names what follows.
#[inline(always)]
pub(crate) fn is_frame<O: Octets + ?Sized>(frame: &O, at: usize) -> bool {
    match frame.read::<3>(at + 12) {
        Some([0x08, 0x00, version]) => version >> 4 == 4,
        Some([0x86, 0xdd, version]) => version >> 4 == 6,
        Some([high, low, _]) => is_tag(u16::from_be_bytes([high, low])),
        None => false,
    }
}

/// Whether this is an ethertype of IP, RoCE v1, MPLS or a tag.
#[inline(always)]
const fn is_known(ethertype: u16) -> bool {
    matches!(
        ethertype,
        ETHERTYPE_IPV4 | ETHERTYPE_IPV6 | ETHERTYPE_ROCE_V1 | ETHERTYPE_MPLS
    ) || is_tag(ethertype)
}

#[inline(always)]
const fn is_tag(ethertype: u16) -> bool {
    matches!(
        ethertype,
        ETHERTYPE_VLAN
            | ETHERTYPE_QINQ
            | ETHERTYPE_QINQ_OLD
            | ETHERTYPE_VN_TAG
            | ETHERTYPE_E_TAG
            | ETHERTYPE_CISCO_METADATA
    )
}
