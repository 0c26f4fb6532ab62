//! A group of flows that differ only in addresses and numbers.

use super::impairment::{Ecn, Impairment, Refuse, Rnr, Spray};
use super::pool::Pool;
use super::units::{Nanos, Rate, Size};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::net::IpAddr;

/// A group of flows: each is one requester and one responder, with their replies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// A name for the truth file.
    #[serde(default)]
    pub name: String,
    /// The number of flows.
    #[serde(default = "one")]
    pub count: usize,
    /// Addresses of the requesters.
    pub src: Pool,
    /// Addresses of the responders.
    pub dst: Pool,
    /// VLAN ids, the outer one first.
    #[serde(default)]
    pub vlan: Vec<u16>,
    /// Priority bits of every VLAN tag.
    #[serde(default)]
    pub vlan_priority: u8,
    /// The encapsulation by the mirror.
    pub encapsulation: Option<Encapsulated>,
    /// Differentiated services code point.
    #[serde(default)]
    pub dscp: u8,
    /// TTL or hop limit.
    #[serde(default = "ttl")]
    pub ttl: u8,
    /// Lowest and highest UDP source port.
    #[serde(default = "src_ports")]
    pub src_ports: [u16; 2],
    /// Queue pair of the first responder; the others follow.
    pub qpn: Option<u32>,
    /// Queue pair of the first requester; the others follow.
    pub src_qpn: Option<u32>,
    /// The transport service.
    #[serde(default)]
    pub service: Service,
    /// The operation of the requests.
    #[serde(default)]
    pub operation: Operation,
    /// Several kinds of requests, drawn by weight, instead of `operation` and `message`.
    #[serde(default)]
    pub operations: Vec<Share>,
    /// Bytes of a message.
    #[serde(default)]
    pub message: Length,
    /// Path MTU.
    #[serde(default = "mtu")]
    pub mtu: u32,
    /// Rate of each flow, in frame bits.
    pub rate: Option<Rate>,
    /// Rate of all flows of the group together.
    pub group_rate: Option<Rate>,
    /// Exponent of a Zipf distribution of the flows' rates; 0 for equal rates.
    #[serde(default)]
    pub zipf: f64,
    /// Rates that apply from given times on.
    #[serde(default)]
    pub rate_changes: Vec<RateChange>,
    /// Send the packets of a message at this rate, and wait between messages.
    pub line_rate: Option<Rate>,
    /// When the flows begin.
    #[serde(default)]
    pub start: Nanos,
    /// Each flow begins at a random time within this span after `start`.
    pub spread: Option<Nanos>,
    /// The time after which no message is started.
    pub stop: Option<Nanos>,
    /// The number of messages of each flow.
    pub messages: Option<u64>,
    /// The maximum number of unacknowledged messages.
    #[serde(default = "depth")]
    pub depth: usize,
    /// Both sides send requests.
    #[serde(default)]
    pub bidirectional: bool,
    /// First PSN of the requesters; random by default.
    pub start_psn: Option<u32>,
    /// Time from a request at the tap to its answer at the tap.
    #[serde(default = "delay")]
    pub delay: Nanos,
    /// A random part of `delay` on top, up to this.
    #[serde(default)]
    pub delay_jitter: Nanos,
    /// Time from an answer at the tap to the requester's reaction at the tap.
    #[serde(default = "near_delay")]
    pub near_delay: Nanos,
    /// Request an acknowledgement also every N packets, not only at message ends.
    pub ack_every: Option<u64>,
    /// Acknowledge up to N requests with one packet.
    #[serde(default = "one_u8")]
    pub ack_coalesce: u8,
    /// How long the responder waits for more requests to acknowledge.
    #[serde(default)]
    pub ack_delay: Nanos,
    /// What the responder does with packets after a gap.
    #[serde(default)]
    pub receiver: Receiver,
    /// The number of packets behind a gap that a tolerant or selective receiver keeps.
    #[serde(default = "window")]
    pub window: u64,
    /// How long a selective receiver waits before it asks for what is missing.
    #[serde(default)]
    pub nak_delay: Nanos,
    /// What the requester sends again after a NAK.
    #[serde(default)]
    pub sender: Sender,
    /// NAKs of a selective receiver tell the sender all that is missing.
    #[serde(default)]
    pub sack: bool,
    /// Which side's packets pass the tap.
    #[serde(default)]
    pub tap: Tap,
    /// Packets that take several paths.
    #[serde(default)]
    pub spray: Vec<Spray>,
    /// The time without progress after which the requester retransmits.
    #[serde(default = "timeout")]
    pub timeout: Nanos,
    /// The number of timeouts without progress after which it gives up.
    #[serde(default = "retries")]
    pub retries: u8,
    /// Set the connection up and take it down with CM datagrams.
    #[serde(default)]
    pub cm: bool,
    /// Port of the service in the CM request.
    #[serde(default = "service_port")]
    pub service_port: u16,
    /// Lost packets.
    #[serde(default)]
    pub loss: Vec<Impairment>,
    /// Duplicated packets.
    #[serde(default)]
    pub duplicate: Vec<Impairment>,
    /// Reordered packets.
    #[serde(default)]
    pub reorder: Vec<Impairment>,
    /// Damaged packets.
    #[serde(default)]
    pub corrupt: Vec<Impairment>,
    /// Congestion.
    pub ecn: Option<Ecn>,
    /// Receivers that are not ready.
    pub rnr: Option<Rnr>,
    /// A message that is refused.
    pub refuse: Option<Refuse>,
}

/// A transport service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// Reliable connection.
    #[default]
    Rc,
    /// Unreliable connection.
    Uc,
    /// Unreliable datagram.
    Ud,
}

/// The operation of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// SEND.
    Send,
    /// SEND with immediate data.
    SendWithImmediate,
    /// SEND with invalidate.
    SendWithInvalidate,
    /// RDMA WRITE.
    #[default]
    Write,
    /// RDMA WRITE with immediate data.
    WriteWithImmediate,
    /// RDMA READ.
    Read,
    /// Atomic `FETCH_ADD`.
    FetchAdd,
    /// Atomic `CMP_SWAP`.
    CompareSwap,
}

impl Operation {
    /// Whether the responder answers with data.
    #[must_use]
    pub const fn has_response(self) -> bool {
        matches!(self, Self::Read | Self::FetchAdd | Self::CompareSwap)
    }

    /// Whether it is an atomic operation: eight bytes in the headers.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::FetchAdd | Self::CompareSwap)
    }
}

/// A share of the requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The operation.
    pub operation: Operation,
    /// The weight relative to the others.
    #[serde(default = "one_u32")]
    pub weight: u32,
    /// Bytes of a message.
    #[serde(default)]
    pub message: Length,
}

/// The length of messages in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// A fixed length.
    Fixed(u32),
    /// Between two lengths, inclusive.
    Uniform(u32, u32),
}

impl Default for Length {
    fn default() -> Self {
        Self::Fixed(65_536)
    }
}

impl Length {
    /// The maximum.
    #[must_use]
    pub const fn max(self) -> u32 {
        match self {
            Self::Fixed(bytes) | Self::Uniform(_, bytes) => bytes,
        }
    }
}

/// What a responder does with packets after a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Receiver {
    /// Sends a NAK and drops them, like adapters without selective repeat.
    #[default]
    Strict,
    /// Keeps them, up to the window, and waits for the missing packets.
    Tolerant,
    /// Keeps them too, and asks for the first missing packet.
    Selective,
}

/// What a requester sends again when a NAK requests a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sender {
    /// This packet and all that follow it.
    #[default]
    GoBackN,
    /// Only what is missing.
    Selective,
}

/// Which packets pass the tap: all, or those of one side where the answers take another way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tap {
    /// Those of both sides.
    #[default]
    Both,
    /// Those that `src` sends.
    FromSrc,
    /// Those that `dst` sends.
    FromDst,
}

impl Tap {
    /// Whether it sees what this side sends: 0 is `src`.
    pub(crate) const fn sees(self, side: usize) -> bool {
        match self {
            Self::Both => true,
            Self::FromSrc => side == 0,
            Self::FromDst => side == 1,
        }
    }
}

/// A new rate.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateChange {
    /// The start time.
    pub at: Nanos,
    /// The rate of each flow, or of the group if `group_rate` is set.
    pub rate: Rate,
}

/// The encapsulation by the mirror.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encapsulated {
    /// The kind of encapsulation.
    pub kind: Tunnel,
    /// Source address of the mirror.
    pub src: IpAddr,
    /// Destination address of the mirror.
    pub dst: IpAddr,
    /// VXLAN network identifier.
    #[serde(default)]
    pub vni: u32,
    /// Session of ERSPAN II and III.
    #[serde(default)]
    pub session: u16,
    /// Truncate the mirrored frame to this many bytes.
    pub truncate: Option<u32>,
}

/// Kinds of encapsulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tunnel {
    /// GRE around the frame.
    ErspanI,
    /// With sequence number and session.
    ErspanIi,
    /// Also with a timestamp.
    ErspanIii,
    /// VXLAN.
    Vxlan,
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Range {
            uniform: [Size; 2],
        }
        fn bytes<E: Error>(size: Size) -> Result<u32, E> {
            match u32::try_from(size.0) {
                Ok(bytes) if bytes <= 1 << 31 => Ok(bytes),
                _ => Err(E::custom("a message must have at most 2 GiB")),
            }
        }
        struct Lengths;
        impl<'de> Visitor<'de> for Lengths {
            type Value = Length;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as 4096 or \"64KiB\", or { uniform = [64, 4096] }")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Length, E> {
                let size = Size::deserialize(serde::de::value::StrDeserializer::new(text))?;
                bytes(size).map(Length::Fixed)
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Length, E> {
                let size = Size::deserialize(serde::de::value::I64Deserializer::new(number))?;
                bytes(size).map(Length::Fixed)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Length, A::Error> {
                let [low, high] = Range::deserialize(MapAccessDeserializer::new(map))?.uniform;
                if low > high {
                    return Err(A::Error::custom("the first length must not be above the second"));
                }
                Ok(Length::Uniform(bytes(low)?, bytes(high)?))
            }
        }
        deserializer.deserialize_any(Lengths)
    }
}

const fn one() -> usize {
    1
}
const fn one_u8() -> u8 {
    1
}
const fn one_u32() -> u32 {
    1
}
const fn ttl() -> u8 {
    64
}
const fn src_ports() -> [u16; 2] {
    [49_152, 65_535]
}
const fn mtu() -> u32 {
    1024
}
const fn window() -> u64 {
    63
}
const fn depth() -> usize {
    64
}
const fn delay() -> Nanos {
    Nanos(10_000)
}
const fn near_delay() -> Nanos {
    Nanos(2_000)
}
/// 4.096 µs × 2^10: short, because files are small; adapters use 67 ms and more.
const fn timeout() -> Nanos {
    Nanos(4_194_304)
}
const fn retries() -> u8 {
    7
}
const fn service_port() -> u16 {
    18_515
}
