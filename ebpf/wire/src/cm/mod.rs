//! Connection management: the datagrams on queue pair 1 that set up and take down connections
//! (IBTA volume 1, chapter 12; the common header is 13.4.2).
//!
//! A CM datagram is a `UD_SEND_ONLY` to [`Qpn::GSI`](crate::Qpn::GSI) whose payload is a management
//! datagram of 256 bytes: [`Mad::read`] takes those, [`Mad::write`] makes them.
//!
//! | module | messages |
//! |---|---|
//! | [`request`] | REQ, and the paths in it |
//! | [`reply`] | REP, RTU and MRA |
//! | [`release`] | REJ, DREQ and DREP |
//! | [`sidr`] | SIDR REQ and REP: a queue pair for datagrams |
//! | [`ip`] | what the IP addressing annex (A11) puts into service id and private data |
//!
//! Reserved bits are not kept. Private data is always as long as its message has room for; what is
//! shorter when written is filled with zeros, what is longer loses its end.

mod field;
pub mod ip;
pub mod release;
pub mod reply;
pub mod request;
pub mod sidr;

pub use field::CommunicationId;
use field::{Fields, FieldsMut};
pub use release::{DisconnectReply, DisconnectRequest, Reject, RejectReason};
pub use reply::{MessageReceipt, ReadyToUse, Reply};
pub use request::{Path, Request, TransportService};
pub use sidr::{SidrReply, SidrRequest};

/// Bytes of a management datagram.
pub const MAD_BYTES: usize = 256;
/// Bytes of the common header.
const HEADER_BYTES: usize = 24;
/// Bytes of every CM message.
const MESSAGE_BYTES: usize = MAD_BYTES - HEADER_BYTES;

/// The management class of connection management.
pub const CLASS: u8 = 0x07;
const BASE_VERSION: u8 = 1;
const CLASS_VERSION: u8 = 2;

/// The method of everything but an answer to a directed question.
pub const METHOD_SEND: u8 = 3;

/// What kind of message a CM datagram carries: its attribute id (IBTA volume 1, table 99).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct Attribute(pub u16);

impl Attribute {
    /// Connection request.
    pub const REQ: Self = Self(0x0010);
    /// Message receipt acknowledgement: the answer takes longer.
    pub const MRA: Self = Self(0x0011);
    /// Rejection.
    pub const REJ: Self = Self(0x0012);
    /// Reply to a connection request.
    pub const REP: Self = Self(0x0013);
    /// Ready to use.
    pub const RTU: Self = Self(0x0014);
    /// Disconnection request.
    pub const DREQ: Self = Self(0x0015);
    /// Reply to a disconnection request.
    pub const DREP: Self = Self(0x0016);
    /// Service id resolution request.
    pub const SIDR_REQ: Self = Self(0x0017);
    /// Service id resolution reply.
    pub const SIDR_REP: Self = Self(0x0018);

    /// The name in the specification, `None` where we know none.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::REQ => "REQ",
            Self::MRA => "MRA",
            Self::REJ => "REJ",
            Self::REP => "REP",
            Self::RTU => "RTU",
            Self::DREQ => "DREQ",
            Self::DREP => "DREP",
            Self::SIDR_REQ => "SIDR_REQ",
            Self::SIDR_REP => "SIDR_REP",
            _ => return None,
        })
    }
}

/// Why bytes are no CM datagram.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MadError {
    /// Fewer bytes than a datagram has.
    Short {
        /// How many there are, instead of [`MAD_BYTES`].
        found: usize,
    },
    /// Another base version than 1, or another class version than 2.
    Version {
        /// The base version.
        base: u8,
        /// The version of the class.
        class: u8,
    },
    /// Another management class: performance, subnet management and so on.
    Class(u8),
}

/// A CM datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mad<'a> {
    /// The method: [`METHOD_SEND`] in all of CM.
    pub method: u8,
    /// Status of the method, 0 for success.
    pub status: u16,
    /// Links the messages of one connection's setup; each side's disconnection has its own.
    pub transaction_id: u64,
    /// Attribute modifier, 0 in all of CM.
    pub modifier: u32,
    /// Its content.
    pub message: Message<'a>,
}

/// The content of a CM datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message<'a> {
    /// REQ.
    Request(Request<'a>),
    /// MRA.
    MessageReceipt(MessageReceipt<'a>),
    /// REJ.
    Reject(Reject<'a>),
    /// REP.
    Reply(Reply<'a>),
    /// RTU.
    ReadyToUse(ReadyToUse<'a>),
    /// DREQ.
    DisconnectRequest(DisconnectRequest<'a>),
    /// DREP.
    DisconnectReply(DisconnectReply<'a>),
    /// `SIDR_REQ`.
    SidrRequest(SidrRequest<'a>),
    /// `SIDR_REP`.
    SidrReply(SidrReply<'a>),
    /// An unsupported message: path migration, and later additions.
    Other {
        /// Its kind.
        attribute: Attribute,
        /// All bytes after the common header.
        bytes: &'a [u8],
    },
}

impl<'a> Mad<'a> {
    /// A datagram that sends `message`.
    #[must_use]
    pub const fn send(transaction_id: u64, message: Message<'a>) -> Self {
        Self {
            method: METHOD_SEND,
            status: 0,
            transaction_id,
            modifier: 0,
            message,
        }
    }

    /// Reads the payload of a `UD_SEND_ONLY` to QP 1. Ignores bytes after the datagram.
    ///
    /// # Errors
    /// [`MadError`]: the payload is too short or not a CM datagram.
    pub fn read(payload: &'a [u8]) -> Result<Self, MadError> {
        let Some((header, rest)) = payload.split_first_chunk::<HEADER_BYTES>() else {
            return Err(MadError::Short { found: payload.len() });
        };
        let Some(bytes) = rest.first_chunk::<MESSAGE_BYTES>() else {
            return Err(MadError::Short { found: payload.len() });
        };
        let header = Fields(header);
        let (base, class) = (header.u8(0), header.u8(2));
        if header.u8(1) != CLASS {
            return Err(MadError::Class(header.u8(1)));
        }
        if (base, class) != (BASE_VERSION, CLASS_VERSION) {
            return Err(MadError::Version { base, class });
        }
        Ok(Self {
            method: header.u8(3),
            status: header.u16(4),
            transaction_id: header.u64(8),
            modifier: header.u32(20),
            message: Message::read(Attribute(header.u16(16)), bytes),
        })
    }

    /// The datagram's bytes.
    #[must_use]
    pub fn write(&self) -> [u8; MAD_BYTES] {
        let mut bytes = [0; MAD_BYTES];
        let mut header = FieldsMut(&mut bytes);
        header.put(0, [BASE_VERSION, CLASS, CLASS_VERSION, self.method]);
        header.put(4, self.status.to_be_bytes());
        header.put(8, self.transaction_id.to_be_bytes());
        header.put(16, self.message.attribute().0.to_be_bytes());
        header.put(20, self.modifier.to_be_bytes());
        if let Some(rest) = bytes.get_mut(HEADER_BYTES..) {
            self.message.write(FieldsMut(rest));
        }
        bytes
    }
}

impl<'a> Message<'a> {
    fn read(attribute: Attribute, bytes: &'a [u8; MESSAGE_BYTES]) -> Self {
        let fields = Fields(bytes);
        match attribute {
            Attribute::REQ => Self::Request(Request::read(fields)),
            Attribute::MRA => Self::MessageReceipt(MessageReceipt::read(fields)),
            Attribute::REJ => Self::Reject(Reject::read(fields)),
            Attribute::REP => Self::Reply(Reply::read(fields)),
            Attribute::RTU => Self::ReadyToUse(ReadyToUse::read(fields)),
            Attribute::DREQ => Self::DisconnectRequest(DisconnectRequest::read(fields)),
            Attribute::DREP => Self::DisconnectReply(DisconnectReply::read(fields)),
            Attribute::SIDR_REQ => Self::SidrRequest(SidrRequest::read(fields)),
            Attribute::SIDR_REP => Self::SidrReply(SidrReply::read(fields)),
            attribute => Self::Other { attribute, bytes },
        }
    }

    fn write(&self, fields: FieldsMut<'_>) {
        match self {
            Self::Request(message) => message.write(fields),
            Self::MessageReceipt(message) => message.write(fields),
            Self::Reject(message) => message.write(fields),
            Self::Reply(message) => message.write(fields),
            Self::ReadyToUse(message) => message.write(fields),
            Self::DisconnectRequest(message) => message.write(fields),
            Self::DisconnectReply(message) => message.write(fields),
            Self::SidrRequest(message) => message.write(fields),
            Self::SidrReply(message) => message.write(fields),
            Self::Other { bytes, .. } => {
                let mut fields = fields;
                fields.tail(0, bytes);
            }
        }
    }

    /// Its kind.
    #[must_use]
    pub const fn attribute(&self) -> Attribute {
        match self {
            Self::Request(_) => Attribute::REQ,
            Self::MessageReceipt(_) => Attribute::MRA,
            Self::Reject(_) => Attribute::REJ,
            Self::Reply(_) => Attribute::REP,
            Self::ReadyToUse(_) => Attribute::RTU,
            Self::DisconnectRequest(_) => Attribute::DREQ,
            Self::DisconnectReply(_) => Attribute::DREP,
            Self::SidrRequest(_) => Attribute::SIDR_REQ,
            Self::SidrReply(_) => Attribute::SIDR_REP,
            Self::Other { attribute, .. } => *attribute,
        }
    }
}
