//! The headers between the BTH and the payload (IBTA volume 1, 9.3; annexes A14 and A19).
//!
//! Each is a plain value with `read` from its bytes and `write` back; every bit pattern is valid.

use crate::number::{Psn, Qpn};

const fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

const fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

const fn be64(bytes: &[u8], at: usize) -> u64 {
    (be32(bytes, at) as u64) << 32 | be32(bytes, at + 4) as u64
}

/// Datagram extended transport header: source queue pair and queue key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deth {
    /// Queue key.
    pub queue_key: u32,
    /// Source queue pair.
    pub src_qpn: Qpn,
}

impl Deth {
    /// Bytes on the wire.
    pub const LEN: usize = 8;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        Self {
            queue_key: be32(&bytes, 0),
            src_qpn: Qpn::new(be32(&bytes, 4)),
        }
    }

    /// The header's bytes; the reserved byte is 0.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let [a, b, c, d] = self.queue_key.to_be_bytes();
        let [e, f, g, h] = self.src_qpn.get().to_be_bytes();
        [a, b, c, d, e, f, g, h]
    }
}

/// RDMA extended transport header: address and length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reth {
    /// Virtual address at the responder.
    pub virtual_address: u64,
    /// Key of the memory region.
    pub remote_key: u32,
    /// Length of the whole message in bytes.
    pub dma_length: u32,
}

impl Reth {
    /// Bytes on the wire.
    pub const LEN: usize = 16;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        Self {
            virtual_address: be64(&bytes, 0),
            remote_key: be32(&bytes, 8),
            dma_length: be32(&bytes, 12),
        }
    }

    /// The header's bytes.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let [a, b, c, d, e, f, g, h] = self.virtual_address.to_be_bytes();
        let [i, j, k, l] = self.remote_key.to_be_bytes();
        let [m, n, o, p] = self.dma_length.to_be_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
    }
}

/// The meaning of an acknowledgement (IBTA volume 1, table 45 and 46).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acknowledgement {
    /// All up to the PSN has arrived; `credits` is the encoded credit count, 31 for none.
    Ack {
        /// Encoded end-to-end credits, 0 to 31.
        credits: u8,
    },
    /// Receiver not ready; retransmit after the timer.
    RnrNak {
        /// Encoded timer, 0 to 31: see [`rnr_timer_us`].
        timer: u8,
    },
    /// Negative acknowledgement.
    Nak(NakCode),
    /// A syndrome the specification reserves.
    Reserved(u8),
}

/// Why a responder refuses (IBTA volume 1, table 46).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum NakCode {
    PsnSequenceError,
    InvalidRequest,
    RemoteAccessError,
    RemoteOperationalError,
    InvalidRdRequest,
    /// A code the specification reserves.
    Reserved(u8),
}

/// ACK extended transport header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aeth {
    /// The syndrome byte.
    pub syndrome: Syndrome,
    /// Message sequence number, 24 bits: the count of messages completed by the responder.
    pub msn: u32,
}

impl Aeth {
    /// Bytes on the wire.
    pub const LEN: usize = 4;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        let [syndrome, a, b, c] = bytes;
        Self {
            syndrome: Syndrome(syndrome),
            msn: u32::from_be_bytes([0, a, b, c]),
        }
    }

    /// The header's bytes; truncates the MSN to 24 bits.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let [_, a, b, c] = self.msn.to_be_bytes();
        [self.syndrome.0, a, b, c]
    }
}

/// The syndrome byte of an AETH: a reserved bit, two bits of class, five of value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Syndrome(pub u8);

impl Syndrome {
    /// An acknowledgement without credits.
    pub const ACK: Self = Self(0x1f);
    /// Negative: the PSN was not the expected one.
    pub const NAK_PSN_SEQUENCE_ERROR: Self = Self(0x60);

    /// A receiver-not-ready NAK with this encoded timer.
    #[must_use]
    pub const fn rnr_nak(timer: u8) -> Self {
        Self(0x20 | timer & 0x1f)
    }

    /// Its content.
    #[must_use]
    pub const fn meaning(self) -> Acknowledgement {
        let value = self.0 & 0x1f;
        match self.0 >> 5 {
            0 => Acknowledgement::Ack { credits: value },
            1 => Acknowledgement::RnrNak { timer: value },
            3 => Acknowledgement::Nak(match value {
                0 => NakCode::PsnSequenceError,
                1 => NakCode::InvalidRequest,
                2 => NakCode::RemoteAccessError,
                3 => NakCode::RemoteOperationalError,
                4 => NakCode::InvalidRdRequest,
                code => NakCode::Reserved(code),
            }),
            _ => Acknowledgement::Reserved(self.0),
        }
    }

    /// Whether it is a positive acknowledgement.
    #[must_use]
    #[inline(always)]
    pub const fn is_ack(self) -> bool {
        self.0 >> 5 == 0
    }

    /// The name of its kind in JSON and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.meaning() {
            Acknowledgement::Ack { .. } => "ack",
            Acknowledgement::RnrNak { .. } => "rnr_nak",
            Acknowledgement::Nak(NakCode::PsnSequenceError) => "nak_psn_sequence_error",
            Acknowledgement::Nak(NakCode::InvalidRequest) => "nak_invalid_request",
            Acknowledgement::Nak(NakCode::RemoteAccessError) => "nak_remote_access_error",
            Acknowledgement::Nak(NakCode::RemoteOperationalError) => "nak_remote_operational_error",
            Acknowledgement::Nak(NakCode::InvalidRdRequest) => "nak_invalid_rd_request",
            Acknowledgement::Nak(NakCode::Reserved(_)) => "nak_reserved",
            Acknowledgement::Reserved(_) => "reserved_syndrome",
        }
    }
}

/// The delay of an encoded RNR timer in microseconds (IBTA volume 1, table 47).
#[must_use]
pub const fn rnr_timer_us(timer: u8) -> u32 {
    const TIMERS: [u32; 32] = [
        655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1_280, 1_920, 2_560, 3_840, 5_120, 7_680,
        10_240, 15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760, 327_680, 491_520,
    ];
    TIMERS[(timer & 0x1f) as usize]
}

/// Atomic extended transport header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtomicEth {
    /// Virtual address at the responder.
    pub virtual_address: u64,
    /// Key of the memory region.
    pub remote_key: u32,
    /// The value to swap in, or to add.
    pub swap_or_add: u64,
    /// The value to compare with.
    pub compare: u64,
}

impl AtomicEth {
    /// Bytes on the wire.
    pub const LEN: usize = 28;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        Self {
            virtual_address: be64(&bytes, 0),
            remote_key: be32(&bytes, 8),
            swap_or_add: be64(&bytes, 12),
            compare: be64(&bytes, 20),
        }
    }

    /// The header's bytes.
    #[must_use]
    pub fn write(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.virtual_address.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.remote_key.to_be_bytes());
        bytes[12..20].copy_from_slice(&self.swap_or_add.to_be_bytes());
        bytes[20..].copy_from_slice(&self.compare.to_be_bytes());
        bytes
    }
}

/// The value before an atomic operation: eight bytes after the AETH.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtomicAckEth {
    /// The original value.
    pub original: u64,
}

impl AtomicAckEth {
    /// Bytes on the wire.
    pub const LEN: usize = 8;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        Self {
            original: u64::from_be_bytes(bytes),
        }
    }

    /// The header's bytes.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        self.original.to_be_bytes()
    }
}

/// Immediate data: four bytes handed to the receiver's completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImmDt(pub [u8; 4]);

impl ImmDt {
    /// Bytes on the wire.
    pub const LEN: usize = 4;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The header's bytes.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        self.0
    }
}

/// Invalidate extended transport header: the remote key to invalidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ieth {
    /// The key.
    pub remote_key: u32,
}

impl Ieth {
    /// Bytes on the wire.
    pub const LEN: usize = 4;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        Self {
            remote_key: u32::from_be_bytes(bytes),
        }
    }

    /// The header's bytes.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        self.remote_key.to_be_bytes()
    }
}

/// XRC extended transport header (annex A14): the shared receive queue a request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XrcEth {
    /// Shared receive queue number, 24 bits.
    pub srqn: Qpn,
}

impl XrcEth {
    /// Bytes on the wire.
    pub const LEN: usize = 4;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        Self {
            srqn: Qpn::new(u32::from_be_bytes(bytes)),
        }
    }

    /// The header's bytes; the reserved byte is 0.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        self.srqn.get().to_be_bytes()
    }
}

/// FLUSH extended transport header (annex A19): what to flush, and how far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feth {
    /// Placement type bits: 1 global visibility, 2 persistence.
    pub placement: u8,
    /// Selectivity level: 0 a range, 1 the memory region, 2 all.
    pub selectivity: u8,
}

impl Feth {
    /// Bytes on the wire.
    pub const LEN: usize = 4;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        let low = be16(&bytes, 2);
        Self {
            placement: (low & 0x0f) as u8,
            selectivity: ((low >> 4) & 0x03) as u8,
        }
    }

    /// The header's bytes; reserved bits are 0.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        [0, 0, 0, (self.selectivity & 3) << 4 | self.placement & 0x0f]
    }
}

/// The 16 reserved bytes after the BTH of a congestion notification (A17.9.3). The
/// message itself is the BECN bit of [`Bth::cnp`](crate::Bth::cnp).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cnp;

impl Cnp {
    /// Bytes on the wire.
    pub const LEN: usize = 16;

    /// The header's bytes: zeros.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        [0; Self::LEN]
    }
}

/// The PSN of the request after a READ request, from its PSN and length: one for
/// each packet of the response (IBTA volume 1, 9.4.4).
#[must_use]
pub const fn psn_after_read(psn: Psn, dma_length: u32, path_mtu: u32) -> Psn {
    let packets = if path_mtu == 0 {
        1
    } else {
        dma_length.div_ceil(path_mtu)
    };
    psn.plus(if packets == 0 { 1 } else { packets })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whole_headers_round_trip(
            reth: [u8; Reth::LEN],
            atomic: [u8; AtomicEth::LEN],
            ack: [u8; AtomicAckEth::LEN],
            aeth: [u8; Aeth::LEN],
            ieth: [u8; Ieth::LEN],
        ) {
            prop_assert_eq!(Reth::read(reth).write(), reth);
            prop_assert_eq!(AtomicEth::read(atomic).write(), atomic);
            prop_assert_eq!(AtomicAckEth::read(ack).write(), ack);
            prop_assert_eq!(Aeth::read(aeth).write(), aeth);
            prop_assert_eq!(Ieth::read(ieth).write(), ieth);
        }

        #[test]
        fn headers_round_trip_without_reserved_bits(
            deth: [u8; Deth::LEN],
            xrc: [u8; XrcEth::LEN],
            feth: [u8; Feth::LEN],
        ) {
            let read = Deth::read(deth);
            prop_assert_eq!(Deth::read(read.write()), read);
            let read = XrcEth::read(xrc);
            prop_assert_eq!(XrcEth::read(read.write()), read);
            let read = Feth::read(feth);
            prop_assert_eq!(Feth::read(read.write()), read);
        }
    }

    #[test]
    fn syndromes_are_named_by_class() {
        assert_eq!(Syndrome(0x00).name(), "ack");
        assert_eq!(Syndrome(0x1f).name(), "ack");
        assert_eq!(Syndrome(0x2e).meaning(), Acknowledgement::RnrNak { timer: 14 });
        assert_eq!(Syndrome(0x60).name(), "nak_psn_sequence_error");
        assert_eq!(Syndrome(0x63).name(), "nak_remote_operational_error");
        assert_eq!(Syndrome(0x7f).name(), "nak_reserved");
        assert_eq!(Syndrome(0x40).name(), "reserved_syndrome");
        assert_eq!(Syndrome(0x80).name(), "reserved_syndrome");
    }

    #[test]
    fn rnr_timers_match_the_table() {
        assert_eq!(rnr_timer_us(0), 655_360);
        assert_eq!(rnr_timer_us(14), 1_280);
        assert_eq!(rnr_timer_us(31), 491_520);
    }

    #[test]
    fn a_read_uses_a_psn_for_each_packet_of_its_response() {
        let psn = Psn::new(0x00ff_ffff);
        assert_eq!(psn_after_read(psn, 0, 1024), Psn::new(0));
        assert_eq!(psn_after_read(psn, 1024, 1024), Psn::new(0));
        assert_eq!(psn_after_read(psn, 1025, 1024), Psn::new(1));
    }
}
