//! Headers that a mirror puts around the frame it copies: ERSPAN over GRE, and VXLAN.
//!
//! ERSPAN type I is bare GRE around the frame; types II and III add a header with the session
//! (draft-foschiano-erspan-03). VXLAN is RFC 7348.

use crate::octets::Octets;

/// UDP destination port of VXLAN.
pub const VXLAN_UDP_PORT: u16 = 4789;
/// Stands where a frame has no VXLAN network identifier.
pub const NO_VNI: u32 = 0xffff_ffff;

const GRE_ERSPAN_I_II: u16 = 0x88be;
const GRE_ERSPAN_III: u16 = 0x22eb;
/// Transparent Ethernet bridging: GRE taps and NVGRE.
const GRE_ETHERNET: u16 = 0x6558;
const GRE_CHECKSUM: u16 = 0x8000;
const GRE_ROUTING: u16 = 0x4000;
const GRE_KEY: u16 = 0x2000;
const GRE_SEQUENCE: u16 = 0x1000;

/// What surrounds a mirrored frame. The numbers stand in counters and records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Encapsulation {
    /// Nothing: the frame is as it was on the wire.
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
}

impl Encapsulation {
    /// How many kinds there are, [`None`](Self::None) included.
    pub const COUNT: usize = 6;

    /// The name of each kind, in the order of their numbers.
    pub const NAMES: [&str; Self::COUNT] = [
        "none",
        "erspan_i",
        "erspan_ii",
        "erspan_iii",
        "gre",
        "vxlan",
    ];
}

/// The outer headers of a mirrored frame, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tunnel {
    /// What they are.
    pub kind: Encapsulation,
    /// Offset of the inner Ethernet header.
    pub inner_at: usize,
    /// Session id of ERSPAN (10 bits), else 0.
    pub session: u16,
    /// GRE sequence number, where there is one.
    pub sequence: Option<u32>,
    /// VXLAN network identifier, [`NO_VNI`] where there is none.
    pub vni: u32,
    /// Whether the switch says that it cut the inner frame (the T bit of ERSPAN II and III).
    pub truncated: bool,
}

/// Reads the GRE header at `at`. `Ok(None)` when it carries something else than an Ethernet frame.
///
/// # Errors
/// `Err(())` when the frame ends inside the headers.
#[inline(always)]
#[expect(
    clippy::result_unit_err,
    reason = "the one thing that can be wrong is that it ends"
)]
pub fn gre<O: Octets + ?Sized>(frame: &O, at: usize) -> Result<Option<Tunnel>, ()> {
    let (Some(flags), Some(protocol)) = (frame.be16(at), frame.be16(at + 2)) else {
        return Err(());
    };
    // Version 0 alone; source routing has been gone since RFC 2784.
    if flags & 7 != 0 || flags & GRE_ROUTING != 0 {
        return Ok(None);
    }
    let mut next = at + 4;
    if flags & GRE_CHECKSUM != 0 {
        next += 4;
    }
    if flags & GRE_KEY != 0 {
        next += 4;
    }
    let mut sequence = None;
    if flags & GRE_SEQUENCE != 0 {
        let Some(number) = frame.be32(next) else {
            return Err(());
        };
        sequence = Some(number);
        next += 4;
    }
    let mut tunnel = Tunnel {
        kind: Encapsulation::Gre,
        inner_at: next,
        session: 0,
        sequence,
        vni: NO_VNI,
        truncated: false,
    };
    match protocol {
        GRE_ETHERNET => {}
        GRE_ERSPAN_I_II if sequence.is_none() => tunnel.kind = Encapsulation::ErspanI,
        GRE_ERSPAN_I_II => {
            let Some(word) = frame.be32(next) else {
                return Err(());
            };
            tunnel.kind = Encapsulation::ErspanII;
            tunnel.session = (word & 0x03ff) as u16;
            tunnel.truncated = word & 0x0400 != 0;
            tunnel.inner_at = next + 8;
        }
        GRE_ERSPAN_III => {
            let (Some(word), Some(flags)) = (frame.be32(next), frame.be16(next + 10)) else {
                return Err(());
            };
            tunnel.kind = Encapsulation::ErspanIII;
            tunnel.session = (word & 0x03ff) as u16;
            tunnel.truncated = word & 0x0400 != 0;
            // The O bit announces a platform subheader of eight bytes.
            tunnel.inner_at = next + if flags & 1 != 0 { 20 } else { 12 };
        }
        _ => return Ok(None),
    }
    Ok(Some(tunnel))
}

/// Reads the VXLAN header at `at`. `Ok(None)` when it does not carry a valid identifier.
///
/// # Errors
/// `Err(())` when the frame ends inside the header.
#[inline(always)]
#[expect(
    clippy::result_unit_err,
    reason = "the one thing that can be wrong is that it ends"
)]
pub fn vxlan<O: Octets + ?Sized>(frame: &O, at: usize) -> Result<Option<Tunnel>, ()> {
    let (Some(flags), Some(word)) = (frame.u8(at), frame.be32(at + 4)) else {
        return Err(());
    };
    if flags & 0x08 == 0 {
        return Ok(None);
    }
    Ok(Some(Tunnel {
        kind: Encapsulation::Vxlan,
        inner_at: at + 8,
        session: 0,
        sequence: None,
        vni: word >> 8,
        truncated: false,
    }))
}
