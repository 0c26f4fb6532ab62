//! Multipath Reliable Connection (MRC): RDMA writes over many paths, with selective acknowledgement.
//!
//! MRC runs on `RoCEv2`'s UDP port with opcodes of the manufacturers' range, 0xC6 to 0xDE. The opcodes and the layout of
//! all headers here are second-hand: they come from a public emulator, `anichol67/MRC-Client` (`core/mrc_headers.py`),
//! which cites the tables of the OCP specification "Multipath Reliable Connection" 1.0 of 2026-03-21. No packet of a real
//! NIC was seen. `docs/transports.md` lists what is unsure.
//!
//! ```text
//! BTH byte 8   acknowledge request 1, r 1, retransmission 1, timestamp 1, reserved 4
//! RDMA WRITE   METH 4, TSETH 4 if the timestamp bit is set, RETH 16, immediate 4
//! METH         request MSN 16, MSN 16
//! TSETH        timestamp 16, tsr 1, reserved 11, type 4
//! SETH         type 4, next 5, m 2, reserved 3, probe response 1, reserved 1, offset of the PSN 16 | entropy 32
//!              | source 16, destination 16 | reserved 8, cumulative PSN 24 | CC type 4, CC flags 4, range 8,
//!              offset of the bitmap 16 | bitmap 64 | CC state 64
//! NETH         type 4, next 5, reserved 7, reason 8, vendor 8 | entropy 32 | source 16, destination 16
//!              | reserved 8, PSN 24 | CC type 4, CC flags 4, reserved 8, timestamp 16
//! ```

use crate::bth::{Bth, RawBth};
use crate::extension::{Aeth, Reth, Syndrome};
use crate::meaning::{Meaning, Operation};
use crate::number::Psn;
use crate::octets::Octets;
use crate::packet::Packet;

/// Message extended transport header: the numbers of a write's message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meth {
    /// Message sequence number of the requester.
    pub request_msn: u16,
    /// Message sequence number.
    pub msn: u16,
}

impl Meth {
    /// Bytes on the wire.
    pub const LEN: usize = 4;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        let [a, b, c, d] = bytes;
        Self {
            request_msn: u16::from_be_bytes([a, b]),
            msn: u16::from_be_bytes([c, d]),
        }
    }

    /// The header's bytes.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let ([a, b], [c, d]) = (self.request_msn.to_be_bytes(), self.msn.to_be_bytes());
        [a, b, c, d]
    }
}

/// Timestamp extended transport header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tseth {
    /// The sender's clock, in a unit that the source does not state.
    pub timestamp: u16,
    /// The receiver shall respond with its timestamp.
    pub respond: bool,
    /// The type of the header, 4 bits: 1.
    pub kind: u8,
}

impl Tseth {
    /// Bytes on the wire.
    pub const LEN: usize = 4;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        let [a, b, flags, kind] = bytes;
        Self {
            timestamp: u16::from_be_bytes([a, b]),
            respond: flags & 0x80 != 0,
            kind: kind & 0x0f,
        }
    }

    /// The header's bytes; reserved bits are 0.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let [a, b] = self.timestamp.to_be_bytes();
        [a, b, (self.respond as u8) << 7, self.kind & 0x0f]
    }
}

/// Header of a selective acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seth {
    /// What the sender shall do about the path of [`entropy`](Self::entropy): 0 nothing, 1 skip it once, 2 avoid it.
    pub path_advice: u8,
    /// The acknowledgement answers a probe.
    pub probe_response: bool,
    /// From the cumulative PSN to that of the packet which is acknowledged.
    pub psn_offset: i16,
    /// The entropy of that packet, which names its path: 16 bits of the IPv6 flow label, then the UDP source port.
    pub entropy: u32,
    /// Everything up to this PSN has arrived.
    pub cumulative_psn: Psn,
    /// From the cumulative PSN to that of the lowest bit of the bitmap.
    pub bitmap_offset: i16,
    /// PSNs that have arrived.
    pub bitmap: u64,
    /// State of the congestion control, which is not read.
    pub congestion_state: u64,
}

impl Seth {
    /// Bytes on the wire, with the state of the congestion control.
    pub const LEN: usize = 36;

    /// Reads the header.
    #[must_use]
    pub fn read(bytes: [u8; Self::LEN]) -> Self {
        let half = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        let long = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
        Self {
            path_advice: bytes[1] >> 5 & 3,
            probe_response: bytes[1] & 2 != 0,
            psn_offset: half(2).cast_signed(),
            entropy: word(4),
            cumulative_psn: Psn::new(word(12)),
            bitmap_offset: half(18).cast_signed(),
            bitmap: long(20),
            congestion_state: long(28),
        }
    }

    /// The header's bytes; what has no field is 0.
    #[must_use]
    pub fn write(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[1] = (self.path_advice & 3) << 5 | u8::from(self.probe_response) << 1;
        bytes[2..4].copy_from_slice(&self.psn_offset.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.entropy.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.cumulative_psn.get().to_be_bytes());
        bytes[18..20].copy_from_slice(&self.bitmap_offset.to_be_bytes());
        bytes[20..28].copy_from_slice(&self.bitmap.to_be_bytes());
        bytes[28..].copy_from_slice(&self.congestion_state.to_be_bytes());
        bytes
    }

    /// Whether the bitmap states that `psn` has arrived; `None` for a PSN that it does not cover.
    #[must_use]
    pub const fn has(&self, psn: Psn) -> Option<bool> {
        let lowest = self.cumulative_psn.plus(self.bitmap_offset as u32);
        let bit = psn.distance_from(lowest);
        if bit < u64::BITS {
            Some(self.bitmap >> bit & 1 != 0)
        } else {
            None
        }
    }
}

/// Why a receiver refuses a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NackReason(pub u8);

impl NackReason {
    /// A switch cut its payload.
    pub const TRIMMED: Self = Self(0x01);
    /// The last switch before the receiver cut its payload.
    pub const TRIMMED_LAST_HOP: Self = Self(0x02);

    /// Whether it arrived without its payload.
    #[must_use]
    pub const fn is_trimmed(self) -> bool {
        matches!(self, Self::TRIMMED | Self::TRIMMED_LAST_HOP)
    }

    /// The name, as events show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            0x01 => "nack_trimmed",
            0x02 => "nack_trimmed_last_hop",
            0x06 => "nack_no_bitmap",
            0x07 => "nack_no_packet_buffer",
            0x0a => "nack_no_resource",
            0x0b => "nack_psn_out_of_window",
            0x19 => "nack_unexpected_event",
            _ => "nack_reserved",
        }
    }
}

/// Header of a negative acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neth {
    /// Why.
    pub reason: NackReason,
    /// Information of the manufacturer.
    pub vendor: u8,
    /// The entropy of the packet that is refused.
    pub entropy: u32,
    /// Its PSN.
    pub psn: Psn,
    /// Its timestamp.
    pub timestamp: u16,
}

impl Neth {
    /// Bytes on the wire.
    pub const LEN: usize = 20;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        let [
            _,
            _,
            reason,
            vendor,
            a,
            b,
            c,
            d,
            _,
            _,
            _,
            _,
            _,
            p2,
            p1,
            p0,
            _,
            _,
            t1,
            t0,
        ] = bytes;
        Self {
            reason: NackReason(reason),
            vendor,
            entropy: u32::from_be_bytes([a, b, c, d]),
            psn: Psn::new(u32::from_be_bytes([0, p2, p1, p0])),
            timestamp: u16::from_be_bytes([t1, t0]),
        }
    }

    /// The header's bytes; what has no field is 0, but for the type 2 of the congestion state.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let [a, b, c, d] = self.entropy.to_be_bytes();
        let [_, p2, p1, p0] = self.psn.get().to_be_bytes();
        let [t1, t0] = self.timestamp.to_be_bytes();
        [
            0,
            0,
            self.reason.0,
            self.vendor,
            a,
            b,
            c,
            d,
            0,
            0,
            0,
            0,
            0,
            p2,
            p1,
            p0,
            0x20,
            0,
            t1,
            t0,
        ]
    }
}

/// Whether the BTH at `at` is that of an RDMA write of MRC, whose payload a switch may cut.
///
/// A subprogram in the kernel: what its verifier learns of the opcode here must not reach the index into the table.
#[cfg_attr(target_arch = "bpf", inline(never))]
#[cfg_attr(not(target_arch = "bpf"), inline(always))]
pub(crate) fn is_write_at<O: Octets + ?Sized>(frame: &O, at: usize) -> bool {
    frame
        .read::<{ Bth::LEN }>(at)
        .is_some_and(|[opcode, ..]| matches!(opcode, 0xc6..=0xcb))
}

/// Bytes of the timestamp header, which the opcode does not tell.
#[inline(always)]
pub(crate) const fn timestamp_bytes(meaning: Meaning, bth: RawBth) -> u32 {
    if meaning.is_mrc_write() && bth.has_timestamp() {
        Tseth::LEN as u32
    } else {
        0
    }
}

/// Reads what a record keeps of the headers at `at` into `packet`; `None` if it was not captured.
///
/// The PSN of a selective or negative acknowledgement becomes that of its own header: the one up to which all has
/// arrived, or the one that is refused. `msn_or_dma_length` is the reason of a negative one.
#[inline(always)]
pub(crate) fn extension<O: Octets + ?Sized>(frame: &O, at: usize, packet: &mut Packet) -> Option<()> {
    match packet.meaning.operation {
        Operation::RdmaWrite => {
            let reth_at = at + Meth::LEN + timestamp_bytes(packet.meaning, packet.bth) as usize;
            packet.msn_or_dma_length = frame.be32(reth_at + Reth::LEN - 4)?;
        }
        Operation::Acknowledge => {
            let aeth = Aeth::read(frame.read::<{ Aeth::LEN }>(at)?);
            packet.msn_or_dma_length = aeth.msn;
            packet.syndrome = aeth.syndrome;
            return Some(());
        }
        Operation::SelectiveAcknowledge => {
            packet.bth.set_psn(frame.be32(at + 12)?);
            packet.syndrome = Syndrome::ACK;
            return Some(());
        }
        Operation::NegativeAcknowledge => {
            packet.bth.set_psn(frame.be32(at + 12)?);
            packet.msn_or_dma_length = u32::from(frame.u8(at + 2)?);
            // No syndrome: it must not count as an acknowledgement.
            return Some(());
        }
        _ => {}
    }
    packet.syndrome = Syndrome(0);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn headers_round_trip(meth: [u8; Meth::LEN], tseth: [u8; Tseth::LEN], seth: [[u8; 18]; 2], neth: [u8; Neth::LEN]) {
            prop_assert_eq!(Meth::read(meth).write(), meth);
            let read = Tseth::read(tseth);
            prop_assert_eq!(Tseth::read(read.write()), read);
            let mut bytes = [0; Seth::LEN];
            bytes.copy_from_slice(seth.as_flattened());
            let read = Seth::read(bytes);
            prop_assert_eq!(Seth::read(read.write()), read);
            let read = Neth::read(neth);
            prop_assert_eq!(Neth::read(read.write()), read);
        }
    }

    #[test]
    fn a_bitmap_covers_64_psns() {
        let seth = Seth {
            path_advice: 0,
            probe_response: false,
            psn_offset: 0,
            entropy: 0,
            cumulative_psn: Psn::new(0x00ff_fffe),
            bitmap_offset: 1,
            bitmap: 0b110,
            congestion_state: 0,
        };
        let has = |psn| seth.has(Psn::new(psn));
        assert_eq!([has(0x00ff_fffe), has(0x00ff_ffff)], [None, Some(false)]);
        assert_eq!([has(0), has(1), has(2)], [Some(true), Some(true), Some(false)]);
        assert_eq!([has(62), has(63)], [Some(false), None]);
    }
}
