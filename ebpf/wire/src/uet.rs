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

use crate::decode::Inner;
use crate::ip::{Ip, PROTOCOL_UDP};
use crate::octets::Octets;
use crate::packet::FlowKey;
use crate::traffic_class::TrafficClass;
use crate::transport::{UDP_BYTES, inner_frame_bytes, is_roce_port};
use crate::tunnel::Encapsulation;
use bytemuck::{Pod, Zeroable};

/// The UDP destination port of UET (IANA).
pub const UET_UDP_PORT: u16 = 4793;
/// The IP protocol of UET without UDP: one for experiments (RFC 3692), which others use too.
pub const PROTOCOL_UET: u8 = 253;
/// Bytes of the entropy header in place of UDP.
const ENTROPY_BYTES: usize = 4;

/// The name of each PDS type, in the order of their numbers; 15 and above are `reserved`.
pub const TYPES: [&str; 16] = [
    "reserved_0",
    "encrypted",
    "rud_request",
    "rod_request",
    "rudi_request",
    "rudi_response",
    "uud_request",
    "ack",
    "ack_cc",
    "ack_ccx",
    "nack",
    "control",
    "nack_ccx",
    "rud_cc_request",
    "rod_cc_request",
    "reserved",
];

/// The first two bytes of a PDS header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prologue {
    /// The PDS type, 5 bits: see [`TYPES`].
    pub kind: u8,
    /// The header that follows, or the type of a control packet, 4 bits.
    pub next: u8,
    /// Flags, 7 bits, whose meaning depends on the type.
    pub flags: u8,
}

impl Prologue {
    /// Flag of requests and control packets: a retransmission.
    pub const RETRANSMISSION: u8 = 0x10;
    /// Flag of requests and control packets: sets up the PDC.
    pub const SYN: u8 = 0x04;
    /// Flag of control packets: the PDC delivers in order (ROD).
    pub const IS_ROD: u8 = 0x20;
    /// Flag of ACKs: they answer a probe, and name no PSN.
    pub const PROBE: u8 = 0x08;
    /// Flag of NACKs: they answer a packet without a PDC (RUDI).
    pub const NO_PDC: u8 = 0x08;
    /// Flag of ACKs and NACKs: the packet that they answer was marked with congestion experienced.
    pub const ECN_ECHO: u8 = 0x20;

    /// Reads the prologue.
    #[must_use]
    pub const fn read(bytes: [u8; 2]) -> Self {
        let word = u16::from_be_bytes(bytes);
        Self {
            kind: (word >> 11) as u8,
            next: (word >> 7 & 0x0f) as u8,
            flags: (word & 0x7f) as u8,
        }
    }

    /// The prologue's bytes. Fields wider than their place lose their high bits.
    #[must_use]
    pub const fn write(&self) -> [u8; 2] {
        ((self.kind as u16 & 0x1f) << 11 | (self.next as u16 & 0x0f) << 7 | self.flags as u16 & 0x7f).to_be_bytes()
    }

    /// A request of any delivery mode.
    #[must_use]
    pub const fn is_request(&self) -> bool {
        matches!(self.kind, 2..=6 | 13 | 14)
    }

    /// A positive acknowledgement.
    #[must_use]
    pub const fn is_ack(&self) -> bool {
        matches!(self.kind, 7..=9)
    }

    /// A negative acknowledgement.
    #[must_use]
    pub const fn is_nack(&self) -> bool {
        matches!(self.kind, 10 | 12)
    }

    /// A control packet.
    #[must_use]
    pub const fn is_control(&self) -> bool {
        self.kind == 11
    }

    /// Bytes before the semantic header of a request; 0 for other types, and for RUDI, on whose header the sources
    /// disagree: 6 bytes or 8.
    #[must_use]
    pub const fn request_bytes(&self) -> usize {
        match self.kind {
            2 | 3 => Pds::LEN,
            13 | 14 => Pds::LEN + 4,
            6 => 4,
            _ => 0,
        }
    }

    /// The flag that counts: the retransmission of a request or control packet, the echo of an ACK or NACK.
    const fn has_counted_flag(&self) -> bool {
        let flag = match self.kind {
            2..=5 | 11 | 13 | 14 => Self::RETRANSMISSION,
            7..=10 | 12 => Self::ECN_ECHO,
            _ => 0,
        };
        self.flags & flag != 0
    }
}

/// The first twelve bytes of a request, ACK, NACK or control packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pds {
    /// What the packet is.
    pub prologue: Prologue,
    /// Of a request the offset of the clear PSN, of an ACK that of the acknowledged PSN, of a NACK its code and a byte of
    /// the manufacturer.
    pub second: u16,
    /// Of an ACK the cumulative one.
    pub psn: u32,
    /// The packet delivery context at the source.
    pub src_pdc: u16,
    /// The one at the destination; with [`Prologue::SYN`] the offset from the first PSN instead.
    pub dst_pdc: u16,
}

impl Pds {
    /// Bytes on the wire.
    pub const LEN: usize = 12;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = bytes;
        Self {
            prologue: Prologue::read([a, b]),
            second: u16::from_be_bytes([c, d]),
            psn: u32::from_be_bytes([e, f, g, h]),
            src_pdc: u16::from_be_bytes([i, j]),
            dst_pdc: u16::from_be_bytes([k, l]),
        }
    }

    /// The header's bytes.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let ([a, b], [c, d]) = (self.prologue.write(), self.second.to_be_bytes());
        let [e, f, g, h] = self.psn.to_be_bytes();
        let ([i, j], [k, l]) = (self.src_pdc.to_be_bytes(), self.dst_pdc.to_be_bytes());
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }

    /// The code of a NACK.
    #[must_use]
    pub const fn nack_code(&self) -> Option<NackCode> {
        if self.prologue.is_nack() {
            Some(NackCode((self.second >> 8) as u8))
        } else {
            None
        }
    }
}

/// The selective acknowledgement in an ACK with congestion state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sack {
    /// From the cumulative PSN to that of the lowest bit.
    pub offset: i16,
    /// PSNs that have arrived, the lowest in bit 0.
    pub bitmap: u64,
}

impl Sack {
    /// Bytes on the wire, with the type of the congestion state before it.
    pub const LEN: usize = 12;

    /// Reads what follows the ACK.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        let [_, _, o1, o0, a, b, c, d, e, f, g, h] = bytes;
        Self {
            offset: i16::from_be_bytes([o1, o0]),
            bitmap: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        }
    }

    /// The header's bytes; what has no field is 0.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let [o1, o0] = self.offset.to_be_bytes();
        let [a, b, c, d, e, f, g, h] = self.bitmap.to_be_bytes();
        [0, 0, o1, o0, a, b, c, d, e, f, g, h]
    }
}

/// Why a receiver refuses a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NackCode(pub u8);

impl NackCode {
    /// Whether a switch cut the payload of the packet: anywhere, at the last hop, or that of an ACK with data.
    #[must_use]
    pub const fn is_trimmed(self) -> bool {
        matches!(self.0, 1..=3)
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            0x01 => "trimmed",
            0x02 => "trimmed_last_hop",
            0x03 => "trimmed_ack",
            0x04 => "no_pdc",
            0x05 => "no_congestion_context",
            0x06 => "no_bitmap",
            0x07 => "no_packet_buffer",
            0x08 => "no_guaranteed_delivery",
            0x09 => "no_message",
            0x0a => "no_resource",
            0x0b => "psn_out_of_window",
            0x0d => "out_of_order",
            0x0e => "invalid_pdc",
            0x0f => "header_mismatch",
            0x10 => "closing",
            0x11 => "closing_in_error",
            0x12 => "packet_not_received",
            0x13 => "response_unavailable",
            0x14 => "ack_with_data",
            0x15 => "invalid_syn",
            0x16 => "mode_mismatch",
            0x17 => "new_start_psn",
            0x18 => "message_in_progress",
            0x19 => "unexpected_event",
            0x1a => "receiver_inferred_loss",
            0xfd..=0xff => "experimental",
            _ => "reserved",
        }
    }
}

/// The common beginning of a standard SES request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ses {
    /// The operation, 6 bits: see [`operation`](Self::operation).
    pub opcode: u8,
    /// The packet begins its message.
    pub starts: bool,
    /// The packet ends its message.
    pub ends: bool,
    /// Number of the message; of small and medium requests its length in bytes.
    pub message: u16,
    /// The job, 24 bits.
    pub job: u32,
}

impl Ses {
    /// Bytes on the wire, of this part.
    pub const LEN: usize = 8;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        let [opcode, flags, m1, m0, _, j2, j1, j0] = bytes;
        Self {
            opcode: opcode & 0x3f,
            starts: flags & 1 != 0,
            ends: flags & 2 != 0,
            message: u16::from_be_bytes([m1, m0]),
            job: u32::from_be_bytes([0, j2, j1, j0]),
        }
    }

    /// The header's bytes; what has no field is 0.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let [m1, m0] = self.message.to_be_bytes();
        let [_, j2, j1, j0] = self.job.to_be_bytes();
        let flags = self.starts as u8 | (self.ends as u8) << 1;
        [self.opcode & 0x3f, flags, m1, m0, 0, j2, j1, j0]
    }

    /// The name of the operation.
    #[must_use]
    pub const fn operation(&self) -> &'static str {
        match self.opcode {
            0x00 => "no_op",
            0x01 => "write",
            0x02 => "read",
            0x03 => "atomic",
            0x04 => "fetching_atomic",
            0x05 => "send",
            0x06 => "rendezvous_send",
            0x07 => "datagram_send",
            0x08 => "deferrable_send",
            0x09 => "tagged_send",
            0x0a => "rendezvous_tagged_send",
            0x0b => "deferrable_tagged_send",
            0x0c => "ready_to_restart",
            0x0d => "tagged_send_atomic",
            0x0e => "tagged_send_fetching_atomic",
            0x0f => "message_error",
            0x10 => "sync_write",
            0x11 => "sync_atomic",
            _ => "reserved",
        }
    }
}

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

/// What counts of a UET packet, in six bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind(u8);

impl Kind {
    /// The number of kinds.
    pub const COUNT: usize = 64;
    const FLAG: u8 = 0x10;
    const TRIMMED: u8 = 0x20;

    /// The kind with this number.
    #[must_use]
    pub const fn from_number(number: u8) -> Self {
        Self(number & 0x3f)
    }

    /// Its number, below [`COUNT`](Self::COUNT).
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The PDS type, an index of [`TYPES`].
    #[must_use]
    pub const fn pds_type(self) -> u8 {
        self.0 & 0x0f
    }

    /// Whether its sender marked it as a retransmission.
    #[must_use]
    pub const fn is_retransmission(self) -> bool {
        self.0 & Self::FLAG != 0 && !self.is_answer()
    }

    /// Whether it is an ACK or NACK of a packet that was marked with congestion experienced.
    #[must_use]
    pub const fn is_ecn_echo(self) -> bool {
        self.0 & Self::FLAG != 0 && self.is_answer()
    }

    /// Whether it is a NACK for a trimmed packet.
    #[must_use]
    pub const fn is_nack_trimmed(self) -> bool {
        self.0 & Self::TRIMMED != 0
    }

    const fn is_answer(self) -> bool {
        matches!(self.pds_type(), 7..=10 | 12)
    }
}

/// The number of the [`Kind`] of the UET packet in this IP packet; 0 if it is not UET, its type is reserved, or the frame
/// ends before it.
///
/// A subprogram in the kernel, which returns a number: its verifier refuses what an `Option` leaves unset.
#[cfg_attr(target_arch = "bpf", inline(never))]
#[cfg_attr(not(target_arch = "bpf"), inline(always))]
pub(crate) fn number_in<O: Octets + ?Sized>(frame: &O, ip: &Ip, ports: &[u16; 4]) -> u32 {
    if ip.fragment {
        return 0;
    }
    match ip.protocol {
        PROTOCOL_UET => number(frame, ip.payload_at + ENTROPY_BYTES),
        PROTOCOL_UDP => match frame.be16(ip.payload_at + 2) {
            Some(UET_UDP_PORT) if !is_roce_port(UET_UDP_PORT, ports) => {
                number(frame, ip.payload_at + UDP_BYTES as usize)
            }
            _ => 0,
        },
        _ => 0,
    }
}

/// The kind of the packet whose PDS header is at `at`; `None` if the frame ends before it, or its type is reserved.
#[must_use]
pub fn kind<O: Octets + ?Sized>(frame: &O, at: usize) -> Option<Kind> {
    match number(frame, at) {
        0 => None,
        number => Some(Kind(number as u8)),
    }
}

#[inline(always)]
fn number<O: Octets + ?Sized>(frame: &O, at: usize) -> u32 {
    let Some(bytes) = frame.read::<3>(at) else {
        return 0;
    };
    let [a, b, code] = bytes;
    let prologue = Prologue::read([a, b]);
    if prologue.kind == 0 || prologue.kind > 14 {
        return 0;
    }
    let mut kind = prologue.kind;
    if prologue.has_counted_flag() {
        kind |= Kind::FLAG;
    }
    if prologue.is_nack() && NackCode(code).is_trimmed() {
        kind |= Kind::TRIMMED;
    }
    u32::from(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn headers_round_trip(prologue: [u8; 2], pds: [u8; Pds::LEN], sack: [u8; Sack::LEN], ses: [u8; Ses::LEN]) {
            prop_assert_eq!(Prologue::read(prologue).write(), prologue);
            prop_assert_eq!(Pds::read(pds).write(), pds);
            let read = Sack::read(sack);
            prop_assert_eq!(Sack::read(read.write()), read);
            let read = Ses::read(ses);
            prop_assert_eq!(Ses::read(read.write()), read);
        }

        #[test]
        fn a_kind_is_that_of_its_prologue(kind in 0u8..32, flags in 0u8..128, code: u8) {
            let prologue = Prologue { kind, next: 0, flags };
            let [a, b] = prologue.write();
            let found = super::kind(&[a, b, code][..], 0);
            prop_assert_eq!(found.is_some(), (1..15).contains(&kind));
            if let Some(found) = found {
                let is_answer = matches!(kind, 7..=10 | 12);
                prop_assert_eq!(found.pds_type(), kind);
                prop_assert_eq!(found.is_ecn_echo(), is_answer && flags & 0x20 != 0);
                let may_be_marked = !is_answer && kind != 1 && kind != 6;
                prop_assert_eq!(found.is_retransmission(), may_be_marked && flags & 0x10 != 0);
                prop_assert_eq!(found.is_nack_trimmed(), matches!(kind, 10 | 12) && (1..4).contains(&code));
                prop_assert_eq!(Kind::from_number(found.number()), found);
            }
        }
    }
}
