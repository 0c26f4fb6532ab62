//! The encapsulations of mirrored frames, ERSPAN and others over GRE, VXLAN and Geneve, and those of fabrics, IP in IP.
//!
//! ERSPAN type I is bare GRE around the frame; types II and III add a header with the session
//! (draft-foschiano-erspan-03). NVIDIA's Spectrum switches put 22 bytes between GRE and the frame. VXLAN is RFC 7348,
//! Geneve RFC 8926. IP in IP is RFC 2003, 2473 and 4213; SRv6 (RFC 8754, 8986) uses it with a segment routing header, or
//! with all segments in the outer destination address (RFC 9800).

use crate::ip::EXTENSIONS_END;
use crate::link::{ETHERTYPE_FRAME, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_MPLS, is_frame};
use crate::octets::Octets;

/// UDP destination port of VXLAN.
pub const VXLAN_UDP_PORT: u16 = 4789;
/// UDP destination port of Geneve.
pub const GENEVE_UDP_PORT: u16 = 6081;
/// The VXLAN network identifier of a frame without one.
pub const NO_VNI: u32 = 0xffff_ffff;

const GRE_ERSPAN_I_II: u16 = 0x88be;
const GRE_ERSPAN_III: u16 = 0x22eb;
/// Transparent Ethernet bridging: GRE taps and NVGRE.
const GRE_ETHERNET: u16 = ETHERTYPE_FRAME;
/// Mirrors of NVIDIA's Spectrum switches.
const GRE_SPECTRUM: u16 = 0x8949;
/// Bytes that they put before the frame.
const SPECTRUM_BYTES: usize = 22;
const GRE_CHECKSUM: u16 = 0x8000;
const GRE_ROUTING: u16 = 0x4000;
const GRE_KEY: u16 = 0x2000;
const GRE_SEQUENCE: u16 = 0x1000;

/// The encapsulation of a mirrored frame. Counters and records use the numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Encapsulation {
    /// None: the frame is as it was on the wire.
    #[default]
    None = 0,
    /// ERSPAN type I: GRE without a sequence number.
    ErspanI = 1,
    /// ERSPAN type II.
    ErspanII = 2,
    /// ERSPAN type III.
    ErspanIII = 3,
    /// GRE around an Ethernet frame.
    Gre = 4,
    /// VXLAN.
    Vxlan = 5,
    /// An IPv6 packet in another packet, with or without a segment routing header: a frame as it was on the wire, unless
    /// it is in another tunnel, which is then its encapsulation.
    Ipv6 = 6,
    /// Geneve.
    Geneve = 7,
    /// An IPv4 packet in another packet, likewise.
    Ipv4 = 8,
    /// An Ethernet frame in MPLS.
    Mpls = 9,
}

impl Encapsulation {
    /// The number of kinds, including [`None`](Self::None).
    pub const COUNT: usize = 10;

    /// The name of each kind, in the order of their numbers.
    pub const NAMES: [&str; Self::COUNT] = [
        "none",
        "erspan_i",
        "erspan_ii",
        "erspan_iii",
        "gre",
        "vxlan",
        "ipv6",
        "geneve",
        "ipv4",
        "mpls",
    ];

    /// Whether a mirror may have cut the frame and added bytes to it.
    #[must_use]
    #[inline(always)]
    pub const fn is_mirror(self) -> bool {
        !matches!(self, Self::None | Self::Ipv6 | Self::Ipv4)
    }
}

/// The outer headers of a mirrored frame, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tunnel {
    /// Their kind.
    pub kind: Encapsulation,
    /// Offset of the inner header.
    pub inner_at: usize,
    /// Its ethertype; that of transparent Ethernet bridging, 0x6558, where it is an Ethernet header.
    pub ethertype: u16,
    /// Session id of ERSPAN (10 bits), else 0.
    pub session: u16,
    /// GRE sequence number, if any.
    pub sequence: Option<u32>,
    /// VXLAN network identifier, or [`NO_VNI`].
    pub vni: u32,
    /// Whether the switch reports that it truncated the inner frame (the T bit of ERSPAN II and III).
    pub truncated: bool,
}

/// The bytes of a tunnel's headers, from the GRE or VXLAN header to the inner frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TunnelBytes {
    bytes: [u8; Self::MAX],
    len: usize,
}

impl TunnelBytes {
    /// The maximum: GRE with a sequence number, and ERSPAN III.
    pub const MAX: usize = 20;

    fn extend<const N: usize>(mut self, bytes: [u8; N]) -> Self {
        if let Some(place) = self.bytes.get_mut(self.len..self.len + N) {
            place.copy_from_slice(&bytes);
            self.len += N;
        }
        self
    }
}

impl AsRef<[u8]> for TunnelBytes {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}

impl Tunnel {
    /// Memory to read into.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            kind: Encapsulation::None,
            inner_at: 0,
            ethertype: 0,
            session: 0,
            sequence: None,
            vni: NO_VNI,
            truncated: false,
        }
    }

    /// A header of this kind before `inner_at`, without a number, a network identifier or a cut.
    #[inline(always)]
    pub(crate) const fn set(&mut self, kind: Encapsulation, inner_at: usize, ethertype: u16) -> Found {
        self.kind = kind;
        self.inner_at = inner_at;
        self.ethertype = ethertype;
        self.session = 0;
        self.sequence = None;
        self.vni = NO_VNI;
        self.truncated = false;
        Found::Tunnel
    }

    /// The headers of this tunnel, around an Ethernet frame. Fields that [`Tunnel`] does not have are 0; ignores
    /// `inner_at`.
    ///
    /// ERSPAN I has no sequence number, ERSPAN II and III always one (0 where `sequence` is none).
    #[must_use]
    pub fn write(&self) -> TunnelBytes {
        let bytes = TunnelBytes {
            bytes: [0; TunnelBytes::MAX],
            len: 0,
        };
        let gre = |protocol: u16, sequence: Option<u32>| {
            let flags = if sequence.is_some() { GRE_SEQUENCE } else { 0 };
            let bytes = bytes.extend(flags.to_be_bytes()).extend(protocol.to_be_bytes());
            match sequence {
                Some(sequence) => bytes.extend(sequence.to_be_bytes()),
                None => bytes,
            }
        };
        // Version in the top four bits; the VLAN id, the class and the encapsulation bits stay 0.
        let session = |version: u32| version << 28 | u32::from(self.truncated) << 10 | u32::from(self.session & 0x03ff);
        match self.kind {
            // Without a header, or labels that are part of the link layer.
            Encapsulation::None | Encapsulation::Ipv4 | Encapsulation::Ipv6 | Encapsulation::Mpls => bytes,
            Encapsulation::Gre => gre(GRE_ETHERNET, self.sequence),
            Encapsulation::ErspanI => gre(GRE_ERSPAN_I_II, None),
            Encapsulation::ErspanII => {
                let sequence = Some(self.sequence.unwrap_or_default());
                gre(GRE_ERSPAN_I_II, sequence)
                    .extend(session(1).to_be_bytes())
                    .extend([0; 4])
            }
            Encapsulation::ErspanIII => {
                let sequence = Some(self.sequence.unwrap_or_default());
                gre(GRE_ERSPAN_III, sequence)
                    .extend(session(2).to_be_bytes())
                    .extend([0; 8])
            }
            Encapsulation::Vxlan => bytes.extend([0x08, 0, 0, 0]).extend((self.vni << 8).to_be_bytes()),
            Encapsulation::Geneve => bytes
                .extend([0, 0])
                .extend(self.ethertype.to_be_bytes())
                .extend((self.vni << 8).to_be_bytes()),
        }
    }
}

/// What there is at an offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Found {
    /// No tunnel around an Ethernet frame or an IP packet.
    None,
    /// One, now read.
    Tunnel,
    /// The frame ends inside its headers.
    Short,
}

/// Reads the GRE header at `at`, into memory of the caller: the kernel's verifier refuses the copies of larger results.
#[inline(always)]
pub fn gre<O: Octets + ?Sized>(frame: &O, at: usize, tunnel: &mut Tunnel) -> Found {
    let Some([f1, f0, p1, p0]) = frame.read::<4>(at) else {
        return Found::Short;
    };
    let (flags, protocol) = (u16::from_be_bytes([f1, f0]), u16::from_be_bytes([p1, p0]));
    // Only version 0; RFC 2784 removed source routing.
    if flags & 7 != 0 || flags & GRE_ROUTING != 0 {
        return Found::None;
    }
    let mut next = at + 4;
    if flags & GRE_CHECKSUM != 0 {
        next += 4;
    }
    if flags & GRE_KEY != 0 {
        next += 4;
    }
    tunnel.set(Encapsulation::Gre, next, ETHERTYPE_FRAME);
    if flags & GRE_SEQUENCE != 0 {
        let Some(number) = frame.be32(next) else {
            return Found::Short;
        };
        tunnel.sequence = Some(number);
        next += 4;
    }
    next = frame.settle(next);
    tunnel.inner_at = next;
    match protocol {
        GRE_ETHERNET => {}
        GRE_ERSPAN_I_II if flags & GRE_SEQUENCE == 0 => tunnel.kind = Encapsulation::ErspanI,
        GRE_ERSPAN_I_II => {
            let Some(word) = frame.be32(next) else {
                return Found::Short;
            };
            tunnel.kind = Encapsulation::ErspanII;
            tunnel.session = (word & 0x03ff) as u16;
            tunnel.truncated = word & 0x0400 != 0;
            tunnel.inner_at = next + 8;
        }
        GRE_ERSPAN_III => {
            // In one read: of two, the verifier does not see that the second implies the first.
            let Some([a, b, c, d, _, _, _, _, _, _, _, flags]) = frame.read::<12>(next) else {
                return Found::Short;
            };
            let word = u32::from_be_bytes([a, b, c, d]);
            tunnel.kind = Encapsulation::ErspanIII;
            tunnel.session = (word & 0x03ff) as u16;
            tunnel.truncated = word & 0x0400 != 0;
            // The O bit announces a platform subheader of eight bytes.
            tunnel.inner_at = next + if flags & 1 != 0 { 20 } else { 12 };
        }
        ETHERTYPE_IPV4 | ETHERTYPE_IPV6 | ETHERTYPE_MPLS => tunnel.ethertype = protocol,
        GRE_SPECTRUM => tunnel.inner_at = next + SPECTRUM_BYTES,
        // Operators choose the protocol of some mirrors, so the frame inside decides.
        _ if is_frame(frame, next) => {}
        _ => return Found::None,
    }
    Found::Tunnel
}

/// Reads the VXLAN header at `at`; none without a valid identifier.
#[inline(always)]
pub fn vxlan<O: Octets + ?Sized>(frame: &O, at: usize, tunnel: &mut Tunnel) -> Found {
    let Some([flags, _, _, _, a, b, c, d]) = frame.read::<8>(at) else {
        return Found::Short;
    };
    if flags & 0x08 == 0 {
        return Found::None;
    }
    tunnel.set(Encapsulation::Vxlan, at + 8, ETHERTYPE_FRAME);
    tunnel.vni = u32::from_be_bytes([a, b, c, d]) >> 8;
    Found::Tunnel
}

/// Reads the Geneve header at `at`.
#[inline(always)]
pub fn geneve<O: Octets + ?Sized>(frame: &O, at: usize, tunnel: &mut Tunnel) -> Found {
    let Some([first, _, p1, p0, a, b, c, d]) = frame.read::<8>(at) else {
        return Found::Short;
    };
    let ethertype = u16::from_be_bytes([p1, p0]);
    // Options, in units of four bytes; as chains of extension headers, they end where tunnels in them are within reach.
    let inner_at = at + 8 + usize::from(first & 0x3f) * 4;
    let is_read = matches!(ethertype, ETHERTYPE_FRAME | ETHERTYPE_IPV4 | ETHERTYPE_IPV6);
    if first >> 6 != 0 || !is_read || inner_at > EXTENSIONS_END {
        return Found::None;
    }
    tunnel.set(Encapsulation::Geneve, inner_at, ethertype);
    tunnel.vni = u32::from_be_bytes([a, b, c, d]) >> 8;
    Found::Tunnel
}

/// VXLAN or Geneve at `at`, behind a UDP port of neither: recognised by all fields of its header and by the frame inside.
#[inline(always)]
pub fn on_any_port<O: Octets + ?Sized>(frame: &O, at: usize, tunnel: &mut Tunnel) -> Found {
    let found = match frame.read::<8>(at) {
        Some([0x08, 0, 0, 0, _, _, _, 0]) => vxlan(frame, at, tunnel),
        Some([_, _, 0x65, 0x58, _, _, _, 0]) => geneve(frame, at, tunnel),
        _ => Found::None,
    };
    if found == Found::Tunnel && is_frame(frame, tunnel.inner_at) {
        Found::Tunnel
    } else {
        Found::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_tunnel_round_trips(
            kind in 1u8..7,
            session in 0u16..0x0400,
            sequence: u32,
            vni in 0u32..1 << 24,
            numbered: bool,
            truncated: bool,
        ) {
            let kind = [
                Encapsulation::None,
                Encapsulation::ErspanI,
                Encapsulation::ErspanII,
                Encapsulation::ErspanIII,
                Encapsulation::Gre,
                Encapsulation::Vxlan,
                Encapsulation::Geneve,
            ][usize::from(kind)];
            let overlay = matches!(kind, Encapsulation::Vxlan | Encapsulation::Geneve);
            let erspan = matches!(kind, Encapsulation::ErspanII | Encapsulation::ErspanIII);
            let tunnel = Tunnel {
                kind,
                inner_at: 0,
                ethertype: ETHERTYPE_FRAME,
                session: if erspan { session } else { 0 },
                sequence: (erspan || kind == Encapsulation::Gre && numbered).then_some(sequence),
                vni: if overlay { vni } else { NO_VNI },
                truncated: erspan && truncated,
            };
            let written = tunnel.write();
            let bytes = written.as_ref();
            let mut read = Tunnel::none();
            let found = match kind {
                Encapsulation::Vxlan => vxlan(bytes, 0, &mut read),
                Encapsulation::Geneve => geneve(bytes, 0, &mut read),
                _ => gre(bytes, 0, &mut read),
            };
            let expected = Tunnel { inner_at: bytes.len(), ..tunnel };
            prop_assert_eq!((found, read), (Found::Tunnel, expected));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..32)) {
            let (bytes, tunnel) = (&bytes[..], &mut Tunnel::none());
            let _ = (gre(bytes, 0, tunnel), vxlan(bytes, 0, tunnel), geneve(bytes, 0, tunnel));
            let _ = on_any_port(bytes, 0, tunnel);
        }
    }
}
