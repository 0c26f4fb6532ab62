//! Ultra Ethernet Transport (UET): the headers of packet delivery (PDS), and the beginning of the semantic ones (SES).
//!
//! UET is not RoCE. It runs on UDP port 4793, or as IP protocol 253 behind an entropy header of four bytes. The layouts
//! come from two public sources that agree: Wireshark's dissector `packet-uet.c` (Keysight, specification 1.0.1) and the
//! reference provider `ultraethernet/uet-ref-prov` (`uet_pkt_hdr.h`), which uses another port. No packet of a real NIC was
//! seen. `docs/transports.md` lists what is unsure.
//!
//! ```text
//! prologue   type 5, next header (of control packets their type) 4, flags 7
//! request    prologue, offset of the clear PSN 16 | PSN 32 | source PDC 16, destination PDC 16
//! ACK        prologue, offset of the PSN 16 | cumulative PSN 32 | source PDC 16, destination PDC 16
//! SACK       of an ACK with congestion state, behind it: CC type 4, CC flags 4, range 8, offset of the bitmap 16 | bitmap 64
//! NACK       prologue, code 8, vendor 8 | PSN 32 | source PDC 16, destination PDC 16 | payload 32
//! SES        reserved 2, opcode 6 | version 2, flags 6 | message id 16 | generation 8, job id 24
//! ```

mod kind;
mod pds;
mod ses;

pub(crate) use kind::number_in;
pub use kind::{Kind, kind};
pub use pds::{NackCode, Pds, Prologue, Sack, TYPES};
pub use ses::Ses;

use crate::decode::Inner;
use crate::ip::PROTOCOL_UDP;
use crate::octets::Octets;
use crate::packet::FlowKey;
use crate::traffic_class::TrafficClass;
use crate::transport::{UDP_BYTES, inner_frame_bytes};
use crate::tunnel::Encapsulation;
use bytemuck::{Pod, Zeroable};

/// The UDP destination port of UET (IANA).
pub const UET_UDP_PORT: u16 = 4793;
/// The IP protocol of UET without UDP: one for experiments (RFC 3692), which others use too.
pub const PROTOCOL_UET: u8 = 253;
/// Bytes of the entropy header in place of UDP.
const ENTROPY_BYTES: usize = 4;

/// The headers of a UET packet, as far as a record keeps them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct UetPacket {
    /// PSN; of an ACK the cumulative one; of RUDI the number of the packet.
    pub psn: u32,
    /// The bitmap of a selective acknowledgement, its upper half first: see [`sack`](Self::sack).
    pub bitmap: [u32; 2],
    /// Bytes of the frame on the wire, without the encapsulation of a mirror.
    pub frame_bytes: u32,
    /// The job, of a request with a semantic header.
    pub job: u32,
    /// The packet delivery context at the source.
    pub src_pdc: u16,
    /// The one at the destination.
    pub dst_pdc: u16,
    /// The second field of the header: see [`Pds::second`].
    pub second: u16,
    /// From the cumulative PSN to that of the lowest bit.
    pub bitmap_offset: u16,
    /// Number of the message, of a request with a standard semantic header.
    pub message: u16,
    /// The PDS type.
    pub kind: u8,
    /// The header that follows, or the type of a control packet.
    pub next: u8,
    /// The flags of the prologue.
    pub flags: u8,
    /// The operation, of a request with a semantic header.
    pub opcode: u8,
    /// [`Self::SES`] and the like.
    pub marks: u8,
    /// TTL or hop limit.
    pub ttl: u8,
    /// [`TrafficClass`].
    pub traffic_class: u8,
    /// [`Encapsulation`] around the frame.
    pub encapsulation: u8,
    /// Always 0.
    pub reserved: [u8; 6],
}

impl UetPacket {
    /// The beginning of a semantic header was read.
    pub const SES: u8 = 1;
    /// A selective acknowledgement was read.
    pub const SACK: u8 = 2;
    /// A switch cut the payload: the packet was sent, and has not arrived.
    pub const TRIMMED: u8 = 4;
    /// ECN congestion experienced.
    pub const CONGESTION_EXPERIENCED: u8 = 8;
    /// The packet ends its message.
    pub const ENDS_MESSAGE: u8 = 16;

    /// The prologue.
    #[must_use]
    pub const fn prologue(&self) -> Prologue {
        Prologue {
            kind: self.kind,
            next: self.next,
            flags: self.flags,
        }
    }

    /// Whether one of these marks is set.
    #[must_use]
    pub const fn has(&self, mark: u8) -> bool {
        self.marks & mark != 0
    }

    /// Whether its sender marked it as a retransmission.
    #[must_use]
    pub const fn is_retransmission(&self) -> bool {
        !matches!(self.kind, 6..=10 | 12) && self.flags & Prologue::RETRANSMISSION != 0
    }

    /// Of a packet with [`Prologue::SYN`], its offset from the first PSN, in the low 12 bits of the destination's PDC.
    #[must_use]
    pub const fn psn_offset(&self) -> u32 {
        self.dst_pdc as u32 & 0x0fff
    }

    /// The code of a NACK.
    #[must_use]
    pub const fn nack_code(&self) -> NackCode {
        NackCode((self.second >> 8) as u8)
    }

    /// The PSN that an ACK answers; `None` of one that answers a probe.
    #[must_use]
    pub const fn acknowledged(&self) -> Option<u32> {
        if self.prologue().is_ack() && self.flags & Prologue::PROBE == 0 {
            Some(self.psn.wrapping_add(self.second.cast_signed() as u32))
        } else {
            None
        }
    }

    /// The same with a selective acknowledgement.
    #[must_use]
    pub const fn with_sack(self, sack: Sack) -> Self {
        Self {
            bitmap: [(sack.bitmap >> 32) as u32, sack.bitmap as u32],
            bitmap_offset: sack.offset.cast_unsigned(),
            marks: self.marks | Self::SACK,
            ..self
        }
    }

    /// The selective acknowledgement: the PSN of the lowest bit, and the bits.
    #[must_use]
    pub const fn sack(&self) -> Option<(u32, u64)> {
        if !self.has(Self::SACK) {
            return None;
        }
        let [high, low] = self.bitmap;
        let lowest = self.psn.wrapping_add(self.bitmap_offset.cast_signed() as u32);
        Some((lowest, (high as u64) << 32 | low as u64))
    }
}

/// Reads the UET packet of a decoded frame, for which [`Inner::uet`] is not 0. `flow` gets its addresses and tags, and in
/// place of a UDP source port the entropy. Returns whether the headers were captured and are readable: an encrypted packet
/// has none. Returns a number for the kernel's verifier.
#[cfg_attr(target_arch = "bpf", inline(never))]
pub fn read_into<O: Octets + ?Sized>(
    frame: &O,
    inner: &Inner,
    encapsulation: Encapsulation,
    flow: &mut FlowKey,
    packet: &mut UetPacket,
) -> u32 {
    u32::from(fields(frame, inner, encapsulation, flow, packet).is_some())
}

#[inline(always)]
fn fields<O: Octets + ?Sized>(
    frame: &O,
    inner: &Inner,
    encapsulation: Encapsulation,
    flow: &mut FlowKey,
    packet: &mut UetPacket,
) -> Option<()> {
    let ip = &inner.ip;
    let is_udp = ip.protocol == PROTOCOL_UDP;
    // Both have the entropy first.
    let entropy = frame.be16(ip.payload_at)?;
    let udp_bytes = if is_udp {
        u32::from(frame.be16(ip.payload_at + 4)?)
    } else {
        ip.payload_bytes
    };
    let [a, b, c, d] = inner.network.address_words(frame)?;
    let words = flow.words_mut();
    words[0] = a.to_le();
    words[1] = b.to_le();
    words[2] = c.to_le();
    words[3] = d.to_le();
    words[4] = u64::from(inner.vni).to_le();
    words[5] =
        (u64::from(entropy) | u64::from(inner.network.vlan) << 16 | u64::from(inner.network.inner_vlan) << 32).to_le();
    *packet = UetPacket::zeroed();
    packet.ttl = inner.outer.ttl;
    packet.traffic_class = TrafficClass::of(inner.outer.traffic_class).0;
    packet.encapsulation = encapsulation as u8;
    if (inner.outer.traffic_class & 3 == 3) | (ip.traffic_class & 3 == 3) {
        packet.marks |= UetPacket::CONGESTION_EXPERIENCED;
    }
    packet.frame_bytes = if encapsulation.is_mirror() {
        inner_frame_bytes(inner.lengths, inner.frame_at, ip)
    } else {
        inner.lengths.original
    };
    let header_bytes = if is_udp { UDP_BYTES as usize } else { ENTROPY_BYTES };
    let at = frame.settle(ip.payload_at + header_bytes);
    let prologue = Prologue::read(frame.read::<2>(at)?);
    packet.kind = prologue.kind;
    packet.next = prologue.next;
    packet.flags = prologue.flags;
    // As MRC: a switch leaves the length of the UDP header, and may leave that of the IP header.
    let missing = ip.payload_at as u64 + u64::from(udp_bytes) > u64::from(inner.lengths.original);
    if prologue.is_request() && (udp_bytes > ip.payload_bytes || missing && !encapsulation.is_mirror()) {
        packet.marks |= UetPacket::TRIMMED;
    }
    match prologue.kind {
        6 => {}
        // Of the two layouts that with a reserved field; with the other one request and response do not match.
        4 | 5 => packet.psn = frame.be32(at + 4)?,
        2 | 3 | 7..=14 => {
            packet.second = frame.be16(at + 2)?;
            packet.psn = frame.be32(at + 4)?;
            packet.src_pdc = frame.be16(at + 8)?;
            packet.dst_pdc = frame.be16(at + 10)?;
        }
        // Encrypted.
        _ => return None,
    }
    if matches!(prologue.kind, 8 | 9) {
        // A switch or the capture may have cut it: then the cumulative PSN is all that is known.
        if let (Some(offset), Some(high), Some(low)) = (frame.be16(at + 14), frame.be32(at + 16), frame.be32(at + 20)) {
            packet.bitmap_offset = offset;
            packet.bitmap = [high, low];
            packet.marks |= UetPacket::SACK;
        }
    }
    let request_bytes = prologue.request_bytes();
    if request_bytes != 0 && matches!(prologue.next, 1..=3) {
        let ses_at = frame.settle(at + request_bytes);
        if let Some(bytes) = frame.read::<{ Ses::LEN }>(ses_at) {
            let ses = Ses::read(bytes);
            packet.opcode = ses.opcode;
            packet.job = ses.job;
            // Small and medium requests are messages of one packet: they have no number and no offset.
            if prologue.next == 3 {
                packet.message = ses.message;
            }
            let ends = if ses.ends || prologue.next != 3 {
                UetPacket::ENDS_MESSAGE
            } else {
                0
            };
            packet.marks |= UetPacket::SES | ends;
        }
    }
    Some(())
}
