//! The fields of a generated frame that a NIC acts on. Nothing here is shared with the decoder under test.

use std::net::{IpAddr, Ipv4Addr};

/// What a NIC reads of a RoCEv2 packet over IPv4 without options or tags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    pub(super) is_marked: bool,
    pub(super) opcode: u8,
    pub(super) dst_qpn: u32,
    pub(super) psn: u32,
    /// PSNs that it takes: those of the response, if it is a READ.
    pub(super) psns: u32,
    /// Syndrome of the acknowledgement, if it is one.
    pub(super) syndrome: Option<u8>,
}

const CNP: u8 = 0x81;
const READ: u8 = 0x0c;
/// The path MTU of the scenarios.
const MTU: u32 = 1_024;

impl Packet {
    pub(super) fn parse(frame: &[u8]) -> Option<Self> {
        let be = |at: usize, bytes: usize| {
            frame[at..at + bytes]
                .iter()
                .fold(0, |sum, byte| sum << 8 | u32::from(*byte))
        };
        let is_roce = frame.len() >= 58 && be(12, 2) == 0x0800 && frame[14] == 0x45 && be(36, 2) == 4791;
        let opcode = *frame.get(42)?;
        is_roce.then(|| Self {
            src: Ipv4Addr::from_bits(be(26, 4)).into(),
            dst: Ipv4Addr::from_bits(be(30, 4)).into(),
            is_marked: frame[15] & 3 == 3,
            opcode,
            dst_qpn: be(47, 3),
            psn: be(51, 3),
            psns: match opcode {
                READ => be(66, 4).div_ceil(MTU).max(1),
                _ => 1,
            },
            // Acknowledge, and the responses that have an acknowledgement.
            syndrome: matches!(opcode, 0x0d | 0x0f | 0x10 | 0x11 | 0x12).then(|| frame[54]),
        })
    }

    pub(super) const fn is_cnp(&self) -> bool {
        self.opcode == CNP
    }

    pub(super) const fn is_read(&self) -> bool {
        self.opcode == READ
    }

    /// The PSN of the next request.
    pub(super) const fn next_psn(&self) -> u32 {
        (self.psn + self.psns) & 0xff_ffff
    }

    /// A request of RC: below the first response.
    pub(super) const fn is_request(&self) -> bool {
        self.opcode <= 0x0c || matches!(self.opcode, 0x13 | 0x14 | 0x16 | 0x17)
    }
}
