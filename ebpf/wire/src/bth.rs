//! The base transport header: twelve bytes behind UDP (IBTA volume 1, 9.2).
//!
//! ```text
//! opcode 8 | SE 1, M 1, pad 2, TVer 4 | P_Key 16
//! FECN 1, BECN 1, reserved 6 | destination QP 24
//! A 1, reserved 7 | PSN 24
//! ```

use crate::number::{Psn, Qpn};
use crate::opcode::Opcode;

/// A base transport header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bth {
    /// What the packet is.
    pub opcode: Opcode,
    /// The responder shall raise an event.
    pub solicited_event: bool,
    /// Migration state.
    pub migrated: bool,
    /// Bytes of padding behind the payload, 0 to 3.
    pub pad_bytes: u8,
    /// Version of the transport header, 0 in all that exists, 0 to 15.
    pub version: u8,
    /// Partition key.
    pub partition_key: u16,
    /// Forward explicit congestion notification: this packet met congestion.
    pub fecn: bool,
    /// Backward explicit congestion notification: the peer's packets met congestion.
    pub becn: bool,
    /// The six reserved bits beside FECN and BECN.
    pub reserved6: u8,
    /// Destination queue pair.
    pub dst_qpn: Qpn,
    /// The requester asks for an acknowledgement.
    pub ack_request: bool,
    /// The seven reserved bits beside the acknowledge request.
    pub reserved7: u8,
    /// Packet sequence number.
    pub psn: Psn,
}

impl Bth {
    /// Bytes on the wire.
    pub const LEN: usize = 12;

    /// A header with this opcode, destination and PSN, the default partition and nothing else set.
    #[must_use]
    pub const fn new(opcode: Opcode, dst_qpn: Qpn, psn: Psn) -> Self {
        Self {
            opcode,
            solicited_event: false,
            migrated: true,
            pad_bytes: 0,
            version: 0,
            partition_key: 0xffff,
            fecn: false,
            becn: false,
            reserved6: 0,
            dst_qpn,
            ack_request: false,
            reserved7: 0,
            psn,
        }
    }

    /// The header of a congestion notification to `dst_qpn`: BECN set, PSN 0 (A17.9.3).
    #[must_use]
    pub const fn cnp(dst_qpn: Qpn) -> Self {
        Self {
            becn: true,
            ..Self::new(Opcode::CNP, dst_qpn, Psn::new(0))
        }
    }

    /// Reads a header; every bit pattern is one.
    #[must_use]
    #[inline(always)]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = bytes;
        RawBth {
            first: u32::from_be_bytes([a, b, c, d]),
            second: u32::from_be_bytes([e, f, g, h]),
            third: u32::from_be_bytes([i, j, k, l]),
        }
        .unpack()
    }

    /// The header's bytes. Fields wider than their place on the wire lose their high bits.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let [key_high, key_low] = self.partition_key.to_be_bytes();
        let [_, qp2, qp1, qp0] = self.dst_qpn.get().to_be_bytes();
        let [_, psn2, psn1, psn0] = self.psn.get().to_be_bytes();
        [
            self.opcode.0,
            (self.solicited_event as u8) << 7
                | (self.migrated as u8) << 6
                | (self.pad_bytes & 3) << 4
                | self.version & 0x0f,
            key_high,
            key_low,
            (self.fecn as u8) << 7 | (self.becn as u8) << 6 | self.reserved6 & 0x3f,
            qp2,
            qp1,
            qp0,
            (self.ack_request as u8) << 7 | self.reserved7 & 0x7f,
            psn2,
            psn1,
            psn0,
        ]
    }
}

/// A base transport header as it was read: three words in host order.
///
/// A decoded packet keeps this, because few of the fields are used of most packets, and a store for each of
/// them took a third of the time of decoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct RawBth {
    /// Opcode, flags, pad, version, partition key.
    pub(crate) first: u32,
    /// FECN, BECN, destination QP.
    pub(crate) second: u32,
    /// Acknowledge request, PSN.
    pub(crate) third: u32,
}

impl RawBth {
    /// A header of zeros.
    pub const ZERO: Self = Self {
        first: 0,
        second: 0,
        third: 0,
    };

    /// All fields.
    #[must_use]
    #[inline(always)]
    pub const fn unpack(self) -> Bth {
        Bth {
            opcode: self.opcode(),
            solicited_event: self.solicited_event(),
            migrated: self.first & 0x40_0000 != 0,
            pad_bytes: self.pad_bytes(),
            version: (self.first >> 16 & 0x0f) as u8,
            partition_key: self.first as u16,
            fecn: self.second & 0x8000_0000 != 0,
            becn: self.becn(),
            reserved6: (self.second >> 24 & 0x3f) as u8,
            dst_qpn: self.dst_qpn(),
            ack_request: self.ack_request(),
            reserved7: (self.third >> 24 & 0x7f) as u8,
            psn: self.psn(),
        }
    }

    /// [`Bth::opcode`].
    #[must_use]
    #[inline(always)]
    pub const fn opcode(self) -> Opcode {
        Opcode((self.first >> 24) as u8)
    }

    /// [`Bth::solicited_event`].
    #[must_use]
    #[inline(always)]
    pub const fn solicited_event(self) -> bool {
        self.first >> 23 & 1 != 0
    }

    /// [`Bth::pad_bytes`].
    #[must_use]
    #[inline(always)]
    pub const fn pad_bytes(self) -> u8 {
        (self.first >> 20 & 3) as u8
    }

    /// [`Bth::becn`].
    #[must_use]
    #[inline(always)]
    pub const fn becn(self) -> bool {
        self.second >> 30 & 1 != 0
    }

    /// [`Bth::dst_qpn`].
    #[must_use]
    #[inline(always)]
    pub const fn dst_qpn(self) -> Qpn {
        Qpn::new(self.second)
    }

    /// [`Bth::ack_request`].
    #[must_use]
    #[inline(always)]
    pub const fn ack_request(self) -> bool {
        self.third >> 31 != 0
    }

    /// [`Bth::psn`].
    #[must_use]
    #[inline(always)]
    pub const fn psn(self) -> Psn {
        Psn::new(self.third)
    }

    /// Sets the 24 bits of the PSN.
    #[inline(always)]
    pub(crate) const fn set_psn(&mut self, psn: u32) {
        self.third = self.third & 0xff00_0000 | psn & 0x00ff_ffff;
    }

    /// Whether its sender marked it as a retransmission: of MRC packets only, see [`mrc`](crate::mrc).
    #[must_use]
    #[inline(always)]
    pub const fn is_retransmission(self) -> bool {
        self.third >> 29 & 1 != 0
    }

    /// Whether a timestamp header follows: of MRC packets only.
    #[must_use]
    #[inline(always)]
    pub const fn has_timestamp(self) -> bool {
        self.third >> 28 & 1 != 0
    }
}

impl From<Bth> for RawBth {
    fn from(bth: Bth) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = bth.write();
        Self {
            first: u32::from_be_bytes([a, b, c, d]),
            second: u32::from_be_bytes([e, f, g, h]),
            third: u32::from_be_bytes([i, j, k, l]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_twelve_bytes_come_back(bytes: [u8; 12]) {
            let bth = Bth::read(bytes);
            prop_assert_eq!(bth.write(), bytes);
            prop_assert_eq!(RawBth::from(bth).unpack(), bth);
        }
    }
}
