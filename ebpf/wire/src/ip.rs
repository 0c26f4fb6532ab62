//! IPv4 and IPv6: addresses, the bytes behind the header, fragments.

use crate::octets::Octets;

/// Protocol number of UDP.
pub const PROTOCOL_UDP: u8 = 17;
/// Protocol number of GRE.
pub const PROTOCOL_GRE: u8 = 47;

/// How many IPv6 extension headers are stepped over; a longer chain is malformed. The verifier
/// needs a bound, and no sender of RoCEv2 puts even one.
const IPV6_EXTENSIONS: usize = 6;

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

/// What is wrong with an IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpError {
    /// The frame ends inside it.
    Short,
    /// A version or length field that contradicts itself.
    Header,
    /// An IPv6 extension chain that is too long or wrong.
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
        payload_at: frame.settle(at + header_bytes as usize),
        payload_bytes: total_bytes - header_bytes,
    })
}

/// Reads the IPv6 header at `at` and the extension headers behind it.
///
/// # Errors
/// [`IpError`], each of its kinds.
#[inline(always)]
pub fn v6<O: Octets + ?Sized>(frame: &O, at: usize) -> Result<Ip, IpError> {
    let Some(head) = frame.read::<40>(at) else {
        return Err(IpError::Short);
    };
    let [first, second, _, _, l1, l0, next, ttl, ..] = head;
    if first >> 4 != 6 {
        return Err(IpError::Header);
    }
    let mut ip = Ip {
        protocol: next,
        ttl,
        traffic_class: first << 4 | second >> 4,
        fragment: false,
        payload_at: frame.settle(at + 40),
        payload_bytes: u32::from(u16::from_be_bytes([l1, l0])),
    };
    // Once more than there are headers: the last turn is for what follows them.
    for _ in 0..=IPV6_EXTENSIONS {
        let bytes = match ip.protocol {
            // Hop-by-hop, routing, destination options, mobility, HIP, shim6.
            0 | 43 | 60 | 135 | 139 | 140 => {
                let Some([next, units]) = frame.read::<2>(ip.payload_at) else {
                    return Err(IpError::Short);
                };
                ip.protocol = next;
                (u32::from(units) + 1) * 8
            }
            // Fragment: a packet in one piece may carry it too (RFC 6946).
            44 => {
                let Some([next, _, o1, o0]) = frame.read::<4>(ip.payload_at) else {
                    return Err(IpError::Short);
                };
                ip.protocol = next;
                ip.fragment |= u16::from_be_bytes([o1, o0]) & 0xfff9 != 0;
                8
            }
            // Authentication, in units of four bytes.
            51 => {
                let Some([next, units]) = frame.read::<2>(ip.payload_at) else {
                    return Err(IpError::Short);
                };
                ip.protocol = next;
                (u32::from(units) + 2) * 4
            }
            _ => return Ok(ip),
        };
        if bytes > ip.payload_bytes {
            return Err(IpError::Extension);
        }
        ip.payload_at = frame.settle(ip.payload_at + bytes as usize);
        ip.payload_bytes -= bytes;
        if ip.fragment {
            // What follows a later piece is not a header.
            return Ok(ip);
        }
    }
    Err(IpError::Extension)
}
