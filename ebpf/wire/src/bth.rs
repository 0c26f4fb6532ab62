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
        let mut bth = Self::new(Opcode(0), Qpn::new(0), Psn::new(0));
        bth.read_first(u32::from_be_bytes([a, b, c, d]));
        bth.read_second(u32::from_be_bytes([e, f, g, h]));
        bth.read_third(u32::from_be_bytes([i, j, k, l]));
        bth
    }

    /// Reads the first four bytes, in network order.
    #[inline(always)]
    pub(crate) const fn read_first(&mut self, word: u32) {
        self.opcode = Opcode((word >> 24) as u8);
        self.solicited_event = word & 0x80_0000 != 0;
        self.migrated = word & 0x40_0000 != 0;
        self.pad_bytes = (word >> 20 & 3) as u8;
        self.version = (word >> 16 & 0x0f) as u8;
        self.partition_key = word as u16;
    }

    /// Reads the second four.
    #[inline(always)]
    pub(crate) const fn read_second(&mut self, word: u32) {
        self.fecn = word & 0x8000_0000 != 0;
        self.becn = word & 0x4000_0000 != 0;
        self.reserved6 = (word >> 24 & 0x3f) as u8;
        self.dst_qpn = Qpn::new(word & 0xff_ffff);
    }

    /// Reads the last four.
    #[inline(always)]
    pub(crate) const fn read_third(&mut self, word: u32) {
        self.ack_request = word & 0x8000_0000 != 0;
        self.reserved7 = (word >> 24 & 0x7f) as u8;
        self.psn = Psn::new(word & 0xff_ffff);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_twelve_bytes_come_back(bytes: [u8; 12]) {
            prop_assert_eq!(Bth::read(bytes).write(), bytes);
        }
    }
}
