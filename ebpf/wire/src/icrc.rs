//! The invariant CRC after every payload (IBTA volume 1, 7.8.1; for RoCEv2 A17.3.3).
//!
//! CRC-32 as in Ethernet, over eight bytes of ones in place of the local route header that RoCEv2 does
//! not have, then the packet from its IP header to the pad. Fields that a router may change count as
//! ones: TOS, TTL and header checksum of IPv4; traffic class, flow label and hop limit of IPv6; the
//! UDP checksum; the byte of the BTH that holds FECN and BECN. On the wire its bytes come least
//! significant first.
//!
//! Only user space verifies it: the kernel's programs never see a whole payload.

use crate::bth::Bth;
use crate::packet::Packet;
use crate::transport::ICRC_BYTES;

/// The longest IPv4 header, with all options.
const IP_BYTES_MAX: usize = 60;
const IPV6_BYTES: usize = 40;
const UDP_BYTES: usize = 8;
/// Bytes of ones in front.
const ROUTE_BYTES: usize = 8;
/// The masked part of a packet: all before the extension headers.
const HEAD_BYTES: usize = ROUTE_BYTES + IP_BYTES_MAX + UDP_BYTES + Bth::LEN;

/// The result of an ICRC check.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Icrc {
    /// The packet is as it was sent.
    Verified,
    /// The packet was damaged, or its sender computes the ICRC differently.
    Bad,
    /// Not verifiable.
    Unverifiable(Unverifiable),
}

/// Why an ICRC cannot be verified.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unverifiable {
    /// The capture kept too little of the frame.
    Snapped,
    /// The mirror truncated the frame, or a switch trimmed the packet.
    Truncated,
    /// IPv6 extension headers: the specification does not define which of their fields count.
    ExtensionHeaders,
}

/// Verifies the ICRC of `packet`, which was decoded from `frame`.
#[must_use]
pub fn verify(frame: &[u8], packet: &Packet) -> Icrc {
    if packet.truncated || packet.is_trimmed() {
        return Icrc::Unverifiable(Unverifiable::Truncated);
    }
    let end = packet.payload_at() + packet.payload_bytes as usize + usize::from(packet.bth.pad_bytes());
    let (Some(headers), Some(transport), Some(found)) = (
        frame.get(packet.network_at..packet.bth_at),
        frame.get(packet.bth_at..end),
        frame.get(end..end + ICRC_BYTES as usize),
    ) else {
        return Icrc::Unverifiable(Unverifiable::Snapped);
    };
    match compute(headers, transport) {
        Some(expected) if expected == found => Icrc::Verified,
        Some(_) => Icrc::Bad,
        None => Icrc::Unverifiable(Unverifiable::ExtensionHeaders),
    }
}

/// The ICRC of a packet, in the order of the wire.
///
/// `headers` are the IP and the UDP header, `transport` all from the BTH to the pad. `None` when
/// `headers` are not an IPv4 header, with or without options, or an IPv6 header without extension
/// headers, and a UDP header behind it; or when `transport` is shorter than a BTH.
#[must_use]
pub fn compute(headers: &[u8], transport: &[u8]) -> Option<[u8; ICRC_BYTES as usize]> {
    let (bth, rest) = transport.split_at_checked(Bth::LEN)?;
    let ip_bytes = headers.len().checked_sub(UDP_BYTES)?;
    let mut head = [0xff; HEAD_BYTES];
    let (_, masked) = head.split_at_mut_checked(ROUTE_BYTES)?;
    masked.get_mut(..headers.len())?.copy_from_slice(headers);
    masked
        .get_mut(headers.len()..headers.len() + Bth::LEN)?
        .copy_from_slice(bth);
    let first = *headers.first()?;
    // Offsets from the IP header.
    let changeable: &[usize] = match first >> 4 {
        4 if ip_bytes == usize::from(first & 0x0f) * 4 && ip_bytes >= 20 => &[1, 8, 10, 11],
        // Of the first byte, only the version remains.
        6 if ip_bytes == IPV6_BYTES => &[1, 2, 3, 7],
        _ => return None,
    };
    for at in changeable.iter().copied().chain([
        ip_bytes + 6,
        ip_bytes + 7,
        // FECN, BECN and the six bits beside them.
        ip_bytes + UDP_BYTES + 4,
    ]) {
        *masked.get_mut(at)? = 0xff;
    }
    if ip_bytes == IPV6_BYTES && first >> 4 == 6 {
        *masked.first_mut()? |= 0x0f;
    }
    let mut crc = crc32fast::Hasher::new();
    crc.update(head.get(..ROUTE_BYTES + headers.len() + Bth::LEN)?);
    crc.update(rest);
    Some(crc.finalize().to_le_bytes())
}
