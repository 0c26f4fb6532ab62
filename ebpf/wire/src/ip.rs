//! IPv4 and IPv6: addresses, payload length, fragments.

use crate::octets::{Octets, REACH};

/// Protocol number of UDP.
pub const PROTOCOL_UDP: u8 = 17;
/// Protocol number of an IPv4 packet inside another packet (RFC 2003).
pub const PROTOCOL_IPV4: u8 = 4;
/// Protocol number of an IPv6 packet inside another packet (RFC 2473).
pub const PROTOCOL_IPV6: u8 = 41;
/// Protocol number of GRE.
pub const PROTOCOL_GRE: u8 = 47;

/// A chain of IPv6 extension headers ends within this many bytes of the beginning of the frame: whatever follows it,
/// two tunnels included, is then within [`REACH`].
pub const EXTENSIONS_END: usize = REACH / 2;

/// An IP header, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ip {
    /// Protocol of what follows.
    pub protocol: u8,
    /// TTL or hop limit.
    pub ttl: u8,
    /// Type of service or traffic class; ECN in its low two bits.
    pub traffic_class: u8,
    /// Whether this is a piece of a fragmented packet.
    pub fragment: bool,
    /// Offset of what follows.
    pub payload_at: usize,
    /// Bytes that follow, by the header's own length field.
    pub payload_bytes: u32,
}

impl Ip {
    /// A header without anything in it.
    #[must_use]
    pub(crate) const fn zeroed() -> Self {
        Self {
            protocol: 0,
            ttl: 0,
            traffic_class: 0,
            fragment: false,
            payload_at: 0,
            payload_bytes: 0,
        }
    }
}

/// Errors of an IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpError {
    /// The frame ends inside it.
    Short,
    /// A version or length field that contradicts itself.
    Header,
    /// An IPv6 extension chain that is wrong or too long: more than six, or beyond [`EXTENSIONS_END`].
    Extension,
}

/// Reads the IPv4 header at `at`.
///
/// # Errors
/// [`IpError::Short`] or [`IpError::Header`].
#[inline(always)]
pub fn v4<O: Octets + ?Sized>(frame: &O, at: usize) -> Result<Ip, IpError> {
    let Some(head) = frame.read::<20>(at) else {
        return Err(IpError::Short);
    };
    let ip = v4_header(head, at)?;
    Ok(Ip {
        payload_at: frame.settle(ip.payload_at),
        ..ip
    })
}

/// Reads the fixed part of the IPv4 header at `at`.
///
/// # Errors
/// [`IpError::Header`].
#[inline(always)]
pub(crate) fn v4_header(head: [u8; 20], at: usize) -> Result<Ip, IpError> {
    let [first, tos, l1, l0, _, _, f1, f0, ttl, protocol, ..] = head;
    let header_bytes = u32::from(first & 0x0f) * 4;
    let total_bytes = u32::from(u16::from_be_bytes([l1, l0]));
    if first >> 4 != 4 || header_bytes < 20 || total_bytes < header_bytes {
        return Err(IpError::Header);
    }
    Ok(Ip {
        protocol,
        ttl,
        traffic_class: tos,
        // More fragments, or an offset: all but the don't-fragment and reserved bits.
        fragment: u16::from_be_bytes([f1, f0]) & 0x3fff != 0,
        payload_at: at + header_bytes as usize,
        payload_bytes: total_bytes - header_bytes,
    })
}

/// Reads the fixed IPv6 header at `at`.
///
/// # Errors
/// [`IpError::Header`].
#[inline(always)]
pub(crate) fn v6_header(head: [u8; 40], at: usize) -> Result<Ip, IpError> {
    let [first, second, _, _, l1, l0, next, ttl, ..] = head;
    if first >> 4 != 6 {
        return Err(IpError::Header);
    }
    Ok(Ip {
        protocol: next,
        ttl,
        traffic_class: first << 4 | second >> 4,
        fragment: false,
        payload_at: at + 40,
        payload_bytes: u32::from(u16::from_be_bytes([l1, l0])),
    })
}

/// Both addresses of the IPv4 header at `at`, as IPv4-mapped IPv6 addresses, in four little-endian
/// words.
#[inline(always)]
pub(crate) fn v4_addresses<O: Octets + ?Sized>(frame: &O, at: usize) -> Option<[u64; 4]> {
    let [s0, s1, s2, s3, d0, d1, d2, d3] = frame.read::<8>(at + 12)?;
    let mapped = |address: [u8; 4]| u64::from(u32::from_le_bytes(address)) << 32 | 0xffff_0000;
    Some([0, mapped([s0, s1, s2, s3]), 0, mapped([d0, d1, d2, d3])])
}

/// Both addresses of the IPv6 header at `at`, in four little-endian words.
#[inline(always)]
pub(crate) fn v6_addresses<O: Octets + ?Sized>(frame: &O, at: usize) -> Option<[u64; 4]> {
    let words: [u64; 4] = bytemuck::cast(frame.read::<32>(at + 8)?);
    Some(words.map(u64::from_le))
}

/// Reads the IPv6 header at `at` and its extension headers.
///
/// # Errors
/// Any [`IpError`].
#[inline(always)]
pub fn v6<O: Octets + ?Sized>(frame: &O, at: usize) -> Result<Ip, IpError> {
    let mut ip = Ip::zeroed();
    v6_into(frame, at, &mut ip).map(|()| ip)
}

/// The same into memory of the caller.
#[inline(always)]
pub(crate) fn v6_into<O: Octets + ?Sized>(frame: &O, at: usize, ip: &mut Ip) -> Result<(), IpError> {
    let Some(head) = frame.read::<40>(at) else {
        return Err(IpError::Short);
    };
    *ip = v6_header(head, at)?;
    ip.payload_at = frame.settle(ip.payload_at);
    let mut last = Extension::Header;
    let mut another = || {
        last = v6_extension(frame, ip);
        last == Extension::Header
    };
    // Skips six extension headers, and the last step reads what follows them; a longer chain is malformed:
    // the verifier needs a bound, and no sender of RoCEv2 uses even one. Unrolled, because the verifier
    // also follows a loop that a CPU may continue speculatively.
    let _ = another() && another() && another() && another() && another() && another() && another();
    match last {
        Extension::None => Ok(()),
        Extension::Short => Err(IpError::Short),
        Extension::Header | Extension::Wrong => Err(IpError::Extension),
    }
}

/// What follows an IPv6 header.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Extension {
    /// No extension header, or a piece of a packet.
    None,
    /// An extension header, now skipped.
    Header,
    /// The frame ends inside it.
    Short,
    /// It is longer than the packet, or ends beyond [`EXTENSIONS_END`].
    Wrong,
}

/// Skips one extension header, if there is one.
#[cfg_attr(target_arch = "bpf", inline(never))]
#[cfg_attr(not(target_arch = "bpf"), inline(always))]
fn v6_extension<O: Octets + ?Sized>(frame: &O, ip: &mut Ip) -> Extension {
    let bytes = match ip.protocol {
        // Hop-by-hop, routing, destination options, mobility, HIP, shim6.
        0 | 43 | 60 | 135 | 139 | 140 => {
            let Some([next, units]) = frame.read::<2>(ip.payload_at) else {
                return Extension::Short;
            };
            ip.protocol = next;
            (u32::from(units) + 1) * 8
        }
        // Fragment: a packet in one piece may carry it too (RFC 6946).
        44 => {
            let Some([next, _, o1, o0]) = frame.read::<4>(ip.payload_at) else {
                return Extension::Short;
            };
            ip.protocol = next;
            ip.fragment |= u16::from_be_bytes([o1, o0]) & 0xfff9 != 0;
            8
        }
        // Authentication, in units of four bytes.
        51 => {
            let Some([next, units]) = frame.read::<2>(ip.payload_at) else {
                return Extension::Short;
            };
            ip.protocol = next;
            (u32::from(units) + 2) * 4
        }
        _ => return Extension::None,
    };
    let end = ip.payload_at + bytes as usize;
    if bytes > ip.payload_bytes || end > EXTENSIONS_END {
        return Extension::Wrong;
    }
    ip.payload_at = frame.settle(end);
    ip.payload_bytes -= bytes;
    if ip.fragment {
        // What follows a later piece is not a header.
        return Extension::None;
    }
    Extension::Header
}
