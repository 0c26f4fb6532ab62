//! The 256 opcodes of the BTH: what each means, and its name in the specification.
//!
//! Source: IBTA volume 1, table 38 (RC, UC, UD), the XRC annex (A14), the memory placement
//! extensions annex (A19: FLUSH and ATOMIC WRITE) and the RoCEv2 annex (A17.9.3: CNP). Those of MRC: see
//! [`mrc`](crate::mrc).

use core::fmt;

/// The opcode byte of a BTH.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Opcode(pub u8);

/// The transport service in the top three bits of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Transport {
    /// Reliable connection.
    Rc = 0,
    /// Unreliable connection.
    Uc = 1,
    /// Reliable datagram: no adapter supports it; its opcodes are counted by number.
    Rd = 2,
    /// Unreliable datagram.
    Ud = 3,
    /// Congestion notification.
    Cnp = 4,
    /// Extended reliable connection.
    Xrc = 5,
    /// Reserved for manufacturers (IBTA volume 1, 9.2.1).
    Vendor = 6,
    /// Multipath Reliable Connection: see [`mrc`](crate::mrc).
    Mrc = 7,
}

impl Transport {
    /// The name in the field: `RC`, `UC`, `UD`, …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rc => "RC",
            Self::Uc => "UC",
            Self::Rd => "RD",
            Self::Ud => "UD",
            Self::Cnp => "CNP",
            Self::Xrc => "XRC",
            Self::Vendor => "VENDOR",
            Self::Mrc => "MRC",
        }
    }
}

/// The operation of a packet, whatever its position in the message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum Operation {
    Send = 0,
    RdmaWrite = 1,
    RdmaReadRequest = 2,
    RdmaReadResponse = 3,
    Acknowledge = 4,
    AtomicAcknowledge = 5,
    CompareSwap = 6,
    FetchAdd = 7,
    Resync = 8,
    Flush = 9,
    AtomicWrite = 10,
    Cnp = 11,
    /// An opcode that the specification does not define: counted by its number.
    Unknown = 12,
    SelectiveAcknowledge = 13,
    NegativeAcknowledge = 14,
    Probe = 15,
    EndpointRequest = 16,
    EndpointResponse = 17,
}

/// The position of a packet in its message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Position {
    /// The first of several.
    First = 0,
    /// Neither first nor last.
    Middle = 1,
    /// The last of several.
    Last = 2,
    /// The whole message, request or response in one packet.
    Only = 3,
}

/// What a LAST or ONLY packet carries besides its payload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Suffix {
    /// Nothing.
    None = 0,
    /// Four bytes of immediate data.
    Immediate = 1,
    /// The remote key to invalidate.
    Invalidate = 2,
}

/// The PSN space a packet counts in. One flow carries several: requests use the sender's own PSNs,
/// acknowledgements and READ responses the peer's, a CNP always 0, and a datagram counts over all
/// destinations of its QP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Stream {
    /// Requests of a connection.
    Request = 0,
    /// READ responses and atomic acknowledgements.
    Response = 1,
    /// Acknowledgements, negative ones too.
    Acknowledge = 2,
    /// Datagrams.
    Datagram = 3,
    /// Congestion notifications.
    Cnp = 4,
    /// Opcodes the specification does not define.
    Unknown = 5,
    /// Probes and messages about ports and paths, which count in no PSN space.
    Control = 6,
    /// Requests without their payload, which a switch cut: their PSNs have not arrived.
    Trimmed = 7,
}

impl Stream {
    /// How many streams there are.
    pub const COUNT: usize = 8;

    /// The stream with the number `value` in a record.
    #[must_use]
    pub const fn from_number(value: u8) -> Self {
        match value {
            0 => Self::Request,
            1 => Self::Response,
            2 => Self::Acknowledge,
            3 => Self::Datagram,
            4 => Self::Cnp,
            6 => Self::Control,
            7 => Self::Trimmed,
            _ => Self::Unknown,
        }
    }
}

/// The meaning of an opcode: one row of the opcode table, four bytes so that the kernel's copy is a
/// kilobyte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Meaning {
    /// The operation of the packet.
    pub operation: Operation,
    /// Position in the low two bits, suffix in the next two, then [`MRC_WRITE`].
    place: u8,
    /// Its PSN space.
    pub stream: Stream,
    /// Bytes of headers between the BTH and the payload.
    pub extension_bytes: u8,
}

impl Meaning {
    /// The position of the packet in its message.
    #[must_use]
    #[inline(always)]
    pub const fn position(self) -> Position {
        match self.place & 3 {
            0 => Position::First,
            1 => Position::Middle,
            2 => Position::Last,
            _ => Position::Only,
        }
    }

    /// Whether it is an RDMA write of MRC.
    #[must_use]
    #[inline(always)]
    pub const fn is_mrc_write(self) -> bool {
        self.place & MRC_WRITE != 0
    }

    /// What ends the message besides its payload.
    #[must_use]
    #[inline(always)]
    pub const fn suffix(self) -> Suffix {
        match self.place >> 2 & 3 {
            0 => Suffix::None,
            1 => Suffix::Immediate,
            _ => Suffix::Invalidate,
        }
    }
}

/// Bit of [`Meaning::place`]: an RDMA write of MRC.
const MRC_WRITE: u8 = 0x10;

const DETH: u8 = 8;
const RETH: u8 = 16;
const AETH: u8 = 4;
const ATOMIC_ETH: u8 = 28;
const ATOMIC_ACK_ETH: u8 = 8;
const IMM_DT: u8 = 4;
const IETH: u8 = 4;
const FETH: u8 = 4;
const XRC_ETH: u8 = 4;
/// The 16 reserved bytes of a CNP are header, not payload (A17.9.3).
const CNP_RESERVED: u8 = 16;
const METH: u8 = 4;
const SETH: u8 = 36;
const NETH: u8 = 20;
/// Headers of the reliability probe and of requests and responses between endpoints.
const PETH: u8 = 16;
const ERTH: u8 = 16;
const EETH: u8 = 36;

pub(crate) const UNKNOWN: Meaning = row(Operation::Unknown, Position::Only, Suffix::None, Stream::Unknown, 0);

const fn row(operation: Operation, position: Position, suffix: Suffix, stream: Stream, extension_bytes: u8) -> Meaning {
    Meaning {
        operation,
        place: position as u8 | (suffix as u8) << 2,
        stream,
        extension_bytes,
    }
}

/// The row of the five low bits of an opcode on a connected service. `prefix` is the length of the header
/// before the other extension headers: the XRCETH of XRC requests.
const fn connected(low: u8, prefix: u8) -> Meaning {
    use Operation as O;
    use Position as P;
    use Suffix as S;
    let (operation, position, suffix, extension) = match low {
        0x00 => (O::Send, P::First, S::None, 0),
        0x01 => (O::Send, P::Middle, S::None, 0),
        0x02 => (O::Send, P::Last, S::None, 0),
        0x03 => (O::Send, P::Last, S::Immediate, IMM_DT),
        0x04 => (O::Send, P::Only, S::None, 0),
        0x05 => (O::Send, P::Only, S::Immediate, IMM_DT),
        0x06 => (O::RdmaWrite, P::First, S::None, RETH),
        0x07 => (O::RdmaWrite, P::Middle, S::None, 0),
        0x08 => (O::RdmaWrite, P::Last, S::None, 0),
        0x09 => (O::RdmaWrite, P::Last, S::Immediate, IMM_DT),
        0x0a => (O::RdmaWrite, P::Only, S::None, RETH),
        0x0b => (O::RdmaWrite, P::Only, S::Immediate, RETH + IMM_DT),
        0x0c => (O::RdmaReadRequest, P::Only, S::None, RETH),
        0x0d => (O::RdmaReadResponse, P::First, S::None, AETH),
        0x0e => (O::RdmaReadResponse, P::Middle, S::None, 0),
        0x0f => (O::RdmaReadResponse, P::Last, S::None, AETH),
        0x10 => (O::RdmaReadResponse, P::Only, S::None, AETH),
        0x11 => (O::Acknowledge, P::Only, S::None, AETH),
        0x12 => (O::AtomicAcknowledge, P::Only, S::None, AETH + ATOMIC_ACK_ETH),
        0x13 => (O::CompareSwap, P::Only, S::None, ATOMIC_ETH),
        0x14 => (O::FetchAdd, P::Only, S::None, ATOMIC_ETH),
        0x16 => (O::Send, P::Last, S::Invalidate, IETH),
        0x17 => (O::Send, P::Only, S::Invalidate, IETH),
        0x1c => (O::Flush, P::Only, S::None, FETH + RETH),
        0x1d => (O::AtomicWrite, P::Only, S::None, RETH),
        _ => return UNKNOWN,
    };
    let (stream, prefix) = match operation {
        O::Acknowledge => (Stream::Acknowledge, 0),
        O::RdmaReadResponse | O::AtomicAcknowledge => (Stream::Response, 0),
        _ => (Stream::Request, prefix),
    };
    row(operation, position, suffix, stream, extension + prefix)
}

/// The row of the five low bits of an opcode of MRC, whose writes have a RETH in every packet.
const fn mrc(low: u8) -> Meaning {
    use Operation as O;
    use Position as P;
    use Stream as St;
    use Suffix as S;
    let (operation, position, suffix, stream, extension) = match low {
        0x06 => (O::RdmaWrite, P::First, S::None, St::Request, METH + RETH),
        0x07 => (O::RdmaWrite, P::Middle, S::None, St::Request, METH + RETH),
        0x08 => (O::RdmaWrite, P::Last, S::None, St::Request, METH + RETH),
        0x09 => (O::RdmaWrite, P::Last, S::Immediate, St::Request, METH + RETH + IMM_DT),
        0x0a => (O::RdmaWrite, P::Only, S::None, St::Request, METH + RETH),
        0x0b => (O::RdmaWrite, P::Only, S::Immediate, St::Request, METH + RETH + IMM_DT),
        0x11 => (O::Acknowledge, P::Only, S::None, St::Acknowledge, AETH),
        0x18 => (O::EndpointRequest, P::Only, S::None, St::Control, ERTH),
        0x19 => (O::EndpointResponse, P::Only, S::None, St::Control, EETH),
        0x1c => (O::SelectiveAcknowledge, P::Only, S::None, St::Acknowledge, SETH),
        0x1d => (O::NegativeAcknowledge, P::Only, S::None, St::Acknowledge, NETH),
        0x1e => (O::Probe, P::Only, S::None, St::Control, PETH),
        _ => return UNKNOWN,
    };
    let row = row(operation, position, suffix, stream, extension);
    let is_write = matches!(operation, O::RdmaWrite);
    Meaning {
        place: row.place | if is_write { MRC_WRITE } else { 0 },
        ..row
    }
}

const fn table() -> [Meaning; 256] {
    let mut rows = [UNKNOWN; 256];
    let mut low = 0u8;
    while low < 32 {
        rows[low as usize] = connected(low, 0);
        // UC has only SEND and RDMA WRITE, without the invalidating SENDs.
        if low <= 0x0b {
            rows[0x20 | low as usize] = connected(low, 0);
        }
        rows[0xa0 | low as usize] = connected(low, XRC_ETH);
        rows[0xc0 | low as usize] = mrc(low);
        low += 1;
    }
    rows[0x64] = row(Operation::Send, Position::Only, Suffix::None, Stream::Datagram, DETH);
    rows[0x65] = row(
        Operation::Send,
        Position::Only,
        Suffix::Immediate,
        Stream::Datagram,
        DETH + IMM_DT,
    );
    rows[0x81] = row(Operation::Cnp, Position::Only, Suffix::None, Stream::Cnp, CNP_RESERVED);
    rows
}

static TABLE: [Meaning; 256] = table();

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
            6 if matches!(mrc(self.0 & 0x1f).operation, Operation::Unknown) => Transport::Vendor,
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
