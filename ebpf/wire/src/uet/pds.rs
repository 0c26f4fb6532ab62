//! Packet delivery (PDS): what every UET packet begins with.

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
    pub(super) const fn has_counted_flag(&self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn headers_round_trip(prologue: [u8; 2], pds: [u8; Pds::LEN], sack: [u8; Sack::LEN]) {
            prop_assert_eq!(Prologue::read(prologue).write(), prologue);
            prop_assert_eq!(Pds::read(pds).write(), pds);
            let read = Sack::read(sack);
            prop_assert_eq!(Sack::read(read.write()), read);
        }
    }
}
