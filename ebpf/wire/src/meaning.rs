//! What each of the 256 opcodes means: transport, operation, position in the message, PSN space, headers.
//!
//! Source: see [`opcode`](crate::opcode).

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
pub(crate) const fn mrc(low: u8) -> Meaning {
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

pub(crate) static TABLE: [Meaning; 256] = table();
