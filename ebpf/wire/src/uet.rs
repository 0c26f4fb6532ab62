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
//! NACK       prologue, code 8, vendor 8 | PSN 32 | source PDC 16, destination PDC 16 | payload 32
//! SES        reserved 2, opcode 6 | version 2, flags 6 | message id 16 | generation 8, job id 24
//! ```

use crate::ip::{Ip, PROTOCOL_UDP};
use crate::octets::Octets;
use crate::transport::{UDP_BYTES, is_roce_port};

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

    const fn is_nack(&self) -> bool {
        matches!(self.kind, 10 | 12)
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
            _ => "reserved",
        }
    }
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
        fn headers_round_trip(prologue: [u8; 2], pds: [u8; Pds::LEN], ses: [u8; Ses::LEN]) {
            prop_assert_eq!(Prologue::read(prologue).write(), prologue);
            prop_assert_eq!(Pds::read(pds).write(), pds);
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
