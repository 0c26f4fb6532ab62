//! What counts of a UET packet: its type, and one property of it.

use super::{ENTROPY_BYTES, NackCode, PROTOCOL_UET, Prologue, UET_UDP_PORT};
use crate::ip::{Ip, PROTOCOL_UDP};
use crate::octets::Octets;
use crate::transport::{UDP_BYTES, is_roce_port};

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

    /// The PDS type, an index of [`TYPES`](super::TYPES).
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
