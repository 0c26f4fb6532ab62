//! The 256 opcodes of the BTH: what each means, and its name in the specification.
//!
//! Source: IBTA volume 1, table 38 (RC, UC, UD), the XRC annex (A14), the memory placement
//! extensions annex (A19: FLUSH and ATOMIC WRITE) and the RoCEv2 annex (A17.9.3: CNP). Those of MRC: see
//! [`mrc`](crate::mrc).

use crate::meaning::{self, Meaning, Operation, Position, Stream, Suffix, TABLE, Transport};
use core::fmt;

/// The opcode byte of a BTH.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Opcode(pub u8);

impl Opcode {
    /// `RC_ACKNOWLEDGE`.
    pub const RC_ACKNOWLEDGE: Self = Self(0x11);
    /// `RC_RDMA_READ_REQUEST`.
    pub const RC_RDMA_READ_REQUEST: Self = Self(0x0c);
    /// `UD_SEND_ONLY`.
    pub const UD_SEND_ONLY: Self = Self(0x64);
    /// `CNP`.
    pub const CNP: Self = Self(0x81);

    /// Its meaning.
    #[must_use]
    #[inline(always)]
    pub fn meaning(self) -> Meaning {
        // An index of type u8 cannot leave a table of 256.
        TABLE[self.0 as usize]
    }

    /// The transport service; opcodes 0xC0 and above are a manufacturer's, but for those of MRC.
    #[must_use]
    pub const fn transport(self) -> Transport {
        match self.0 >> 5 {
            0 => Transport::Rc,
            1 => Transport::Uc,
            2 => Transport::Rd,
            3 => Transport::Ud,
            4 => Transport::Cnp,
            5 => Transport::Xrc,
            6 if matches!(meaning::mrc(self.0 & 0x1f).operation, Operation::Unknown) => Transport::Vendor,
            6 => Transport::Mrc,
            _ => Transport::Vendor,
        }
    }

    /// The operation of the packet.
    #[must_use]
    #[inline(always)]
    pub fn operation(self) -> Operation {
        self.meaning().operation
    }

    /// Its position in the message.
    #[must_use]
    #[inline(always)]
    pub fn position(self) -> Position {
        self.meaning().position()
    }

    /// What ends the message besides its payload.
    #[must_use]
    #[inline(always)]
    pub fn suffix(self) -> Suffix {
        self.meaning().suffix()
    }

    /// Its PSN space.
    #[must_use]
    #[inline(always)]
    pub fn stream(self) -> Stream {
        self.meaning().stream
    }

    /// Bytes of headers between the BTH and the payload; 0 for an unknown opcode, whose headers
    /// count as payload.
    #[must_use]
    #[inline(always)]
    pub fn extension_bytes(self) -> u32 {
        u32::from(self.meaning().extension_bytes)
    }

    /// Whether the specification defines this opcode.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.operation() != Operation::Unknown
    }

    /// Whether the packet ends a message: its name has LAST or ONLY in it. READ requests, atomics
    /// and acknowledgements are operations, not messages.
    #[must_use]
    #[inline(always)]
    pub fn ends_message(self) -> bool {
        matches!(
            self.operation(),
            Operation::Send | Operation::RdmaWrite | Operation::RdmaReadResponse
        ) && matches!(self.position(), Position::Last | Position::Only)
    }

    /// The opcode of the same transport and operation at another position, for operations with several
    /// packets; otherwise the same opcode.
    #[must_use]
    pub fn at(self, position: Position, suffix: Suffix) -> Self {
        let base = self.0 & 0xe0;
        let low = match (self.operation(), position, suffix) {
            (Operation::Send, Position::First, _) => 0x00,
            (Operation::Send, Position::Middle, _) => 0x01,
            (Operation::Send, Position::Last, Suffix::None) => 0x02,
            (Operation::Send, Position::Last, Suffix::Immediate) => 0x03,
            (Operation::Send, Position::Only, Suffix::None) => 0x04,
            (Operation::Send, Position::Only, Suffix::Immediate) => 0x05,
            (Operation::Send, Position::Last, Suffix::Invalidate) => 0x16,
            (Operation::Send, Position::Only, Suffix::Invalidate) => 0x17,
            (Operation::RdmaWrite, Position::First, _) => 0x06,
            (Operation::RdmaWrite, Position::Middle, _) => 0x07,
            (Operation::RdmaWrite, Position::Last, Suffix::Immediate) => 0x09,
            (Operation::RdmaWrite, Position::Last, _) => 0x08,
            (Operation::RdmaWrite, Position::Only, Suffix::Immediate) => 0x0b,
            (Operation::RdmaWrite, Position::Only, _) => 0x0a,
            (Operation::RdmaReadResponse, Position::First, _) => 0x0d,
            (Operation::RdmaReadResponse, Position::Middle, _) => 0x0e,
            (Operation::RdmaReadResponse, Position::Last, _) => 0x0f,
            (Operation::RdmaReadResponse, Position::Only, _) => 0x10,
            _ => self.0 & 0x1f,
        };
        Self(base | low)
    }

    /// The name in the specification, if it has one.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        let names = match self.transport() {
            Transport::Rc => &RC_NAMES,
            Transport::Uc => &UC_NAMES,
            Transport::Xrc => &XRC_NAMES,
            Transport::Mrc => &MRC_NAMES,
            _ => {
                return match self.0 {
                    0x64 => Some("UD_SEND_ONLY"),
                    0x65 => Some("UD_SEND_ONLY_WITH_IMMEDIATE"),
                    0x81 => Some("CNP"),
                    _ => None,
                };
            }
        };
        if self.is_known() {
            names.get(usize::from(self.0 & 0x1f)).copied().flatten()
        } else {
            None
        }
    }

    /// The opcode with the name `name`: the inverse of [`Display`](fmt::Display), including numbers.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(digits) = name.strip_prefix("OPCODE_0x") {
            return u8::from_str_radix(digits, 16).ok().map(Self);
        }
        (0..=255).map(Self).find(|opcode| opcode.name() == Some(name))
    }
}

macro_rules! names {
    ($($table:ident $prefix:literal),*) => {$(
        const $table: [Option<&str>; 32] = {
            let mut names = [None; 32];
            names[0x00] = Some(concat!($prefix, "_SEND_FIRST"));
            names[0x01] = Some(concat!($prefix, "_SEND_MIDDLE"));
            names[0x02] = Some(concat!($prefix, "_SEND_LAST"));
            names[0x03] = Some(concat!($prefix, "_SEND_LAST_WITH_IMMEDIATE"));
            names[0x04] = Some(concat!($prefix, "_SEND_ONLY"));
            names[0x05] = Some(concat!($prefix, "_SEND_ONLY_WITH_IMMEDIATE"));
            names[0x06] = Some(concat!($prefix, "_RDMA_WRITE_FIRST"));
            names[0x07] = Some(concat!($prefix, "_RDMA_WRITE_MIDDLE"));
            names[0x08] = Some(concat!($prefix, "_RDMA_WRITE_LAST"));
            names[0x09] = Some(concat!($prefix, "_RDMA_WRITE_LAST_WITH_IMMEDIATE"));
            names[0x0a] = Some(concat!($prefix, "_RDMA_WRITE_ONLY"));
            names[0x0b] = Some(concat!($prefix, "_RDMA_WRITE_ONLY_WITH_IMMEDIATE"));
            names[0x0c] = Some(concat!($prefix, "_RDMA_READ_REQUEST"));
            names[0x0d] = Some(concat!($prefix, "_RDMA_READ_RESPONSE_FIRST"));
            names[0x0e] = Some(concat!($prefix, "_RDMA_READ_RESPONSE_MIDDLE"));
            names[0x0f] = Some(concat!($prefix, "_RDMA_READ_RESPONSE_LAST"));
            names[0x10] = Some(concat!($prefix, "_RDMA_READ_RESPONSE_ONLY"));
            names[0x11] = Some(concat!($prefix, "_ACKNOWLEDGE"));
            names[0x12] = Some(concat!($prefix, "_ATOMIC_ACKNOWLEDGE"));
            names[0x13] = Some(concat!($prefix, "_COMPARE_SWAP"));
            names[0x14] = Some(concat!($prefix, "_FETCH_ADD"));
            names[0x16] = Some(concat!($prefix, "_SEND_LAST_WITH_INVALIDATE"));
            names[0x17] = Some(concat!($prefix, "_SEND_ONLY_WITH_INVALIDATE"));
            names[0x1c] = Some(concat!($prefix, "_FLUSH"));
            names[0x1d] = Some(concat!($prefix, "_ATOMIC_WRITE"));
            names
        };
    )*};
}

names!(RC_NAMES "RC", UC_NAMES "UC", XRC_NAMES "XRC", MRC_LIKE_RC "MRC");

static MRC_NAMES: [Option<&str>; 32] = {
    let mut names = MRC_LIKE_RC;
    names[0x18] = Some("MRC_ENDPOINT_REQUEST");
    names[0x19] = Some("MRC_ENDPOINT_RESPONSE");
    names[0x1c] = Some("MRC_SACK");
    names[0x1d] = Some("MRC_NACK");
    names[0x1e] = Some("MRC_PROBE");
    names
};

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "OPCODE_0x{:02x}", self.0),
        }
    }
}

impl fmt::Debug for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn every_opcode_name_round_trips() {
        for number in 0..=255 {
            let opcode = Opcode(number);
            assert_eq!(Opcode::from_name(&opcode.to_string()), Some(opcode));
            assert_eq!(opcode.name().is_some(), opcode.is_known(), "{number:#x}");
        }
    }

    #[test]
    fn names_and_meaning_agree() {
        for opcode in (0..=255).map(Opcode).filter(|opcode| opcode.is_known()) {
            let name = opcode.to_string();
            assert_eq!(name.contains("LAST") || name.contains("ONLY"), opcode.ends_message());
            assert_eq!(name.contains("IMMEDIATE"), opcode.suffix() == Suffix::Immediate);
            assert_eq!(name.contains("INVALIDATE"), opcode.suffix() == Suffix::Invalidate);
            assert_eq!(name.contains("FIRST"), opcode.position() == Position::First);
            assert_eq!(name.contains("MIDDLE"), opcode.position() == Position::Middle);
            assert_eq!(opcode.at(opcode.position(), opcode.suffix()), opcode);
        }
    }

    #[test]
    fn the_specification_defines_this_many() {
        let known = |transport| {
            (0..=255)
                .map(Opcode)
                .filter(|opcode| opcode.is_known() && opcode.transport() == transport)
                .count()
        };
        assert_eq!(known(Transport::Rc), 25);
        assert_eq!(known(Transport::Uc), 12);
        assert_eq!(known(Transport::Ud), 2);
        assert_eq!(known(Transport::Xrc), 25);
        assert_eq!(known(Transport::Cnp), 1);
        assert_eq!(known(Transport::Mrc), 12);
        assert_eq!(known(Transport::Vendor), 0);
    }

    #[test]
    fn an_unknown_opcode_shows_its_number() {
        assert_eq!(Opcode(0x15).to_string(), "OPCODE_0x15");
        assert_eq!(Opcode(0xc1).to_string(), "OPCODE_0xc1");
        assert_eq!(Opcode(0x2c).to_string(), "OPCODE_0x2c");
    }
}
