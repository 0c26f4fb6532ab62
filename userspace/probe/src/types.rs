//! Types that the whole agent uses.

use crate::icmp::Answer;
use crate::payload::Payload;
use crate::peers::receipt_message::{Inquiry, Receipt};
use std::fmt;
use std::net::IpAddr;
use std::ops::{Add, Sub};
use std::time::Duration;

/// An instant of the agent's clock in nanoseconds since 1970, or the difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub i64);

impl Nanos {
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000);
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }
}

impl Add for Nanos {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Number of a NIC of the host, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NicIndex(pub u16);

impl NicIndex {
    /// As the index of a slice.
    #[must_use]
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// Number of a probe, counted by the NIC that sends it, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

/// A NIC as the agent sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nic {
    /// Its name.
    pub name: String,
    /// The address that it is probed at.
    pub address: IpAddr,
}

/// The clock that stamps (2) and (3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The name in the rows: `kernel software`, `nic hardware`, `cpu`, `simulated`.
    pub source: &'static str,
    /// Bound on the error of the difference of two stamps.
    pub error: Nanos,
    /// Each NIC has its own clock; otherwise one clock stamps for all.
    pub own: bool,
}

/// The kind of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// A probe, which is measured.
    Probe,
    /// A packet of a trace: the hop at which its TTL expires answers with its address.
    Trace {
        /// Number of the trace.
        id: u16,
        /// The initial TTL.
        ttl: u8,
    },
    /// A probe along the path of a flow, which the agent of another host answers.
    Question,
    /// That answer.
    Answer {
        /// How long the agent held the probe, in nanoseconds.
        held_ns: u32,
    },
    /// A probe to a NIC of another host, whose agent answers it.
    PeerProbe(Inquiry),
    /// That answer.
    PeerAnswer {
        /// How long the agent held the probe, in nanoseconds.
        held_ns: u32,
        /// What it knows about the 5-tuple that the probe asked about, if it knows anything.
        receipt: Option<Receipt>,
    },
}

impl DatagramKind {
    /// Whether the agent of the host that it is addressed to may answer it.
    #[must_use]
    pub const fn is_answered(self) -> bool {
        matches!(self, Self::Question | Self::PeerProbe(_) | Self::Trace { .. })
    }
}

/// A datagram to send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The sending NIC.
    pub src: NicIndex,
    /// The receiving NIC.
    pub dst: NicIndex,
    /// The address of another host, in place of the receiving NIC.
    pub remote: Option<IpAddr>,
    /// UDP source port.
    pub port: u16,
    /// The class of service, 0 to 63.
    pub dscp: u8,
    /// Number of the probe; of a trace, 0.
    pub sequence: Sequence,
    /// A probe or a packet of a trace.
    pub kind: DatagramKind,
    /// When the agent sends it (1).
    pub sent: Nanos,
    /// Number of the agent, which distinguishes it from other agents.
    pub agent: u64,
}

/// An event of a backend.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A datagram left (2).
    Sent {
        /// Its payload.
        payload: Payload,
        /// When, on the clock of the sending NIC.
        nic_sent: Nanos,
    },
    /// A datagram did not leave.
    Refused {
        /// The datagram.
        outgoing: Outgoing,
        /// The reason.
        why: Refusal,
    },
    /// A datagram arrived.
    Arrived {
        /// The receiving NIC.
        nic: NicIndex,
        /// Its payload.
        payload: Payload,
        /// The address that sent it, if the backend reports it.
        from: Option<IpAddr>,
        /// Whether all bytes are unchanged.
        intact: bool,
        /// When, on the clock of the receiving NIC (3).
        nic_received: Option<Nanos>,
        /// When the agent received it (4).
        received: Nanos,
    },
    /// A packet that is not from an agent arrived on the agent's port.
    Stranger,
    /// A datagram arrived that is too damaged to identify.
    Unreadable,
    /// A router answered.
    Answered {
        /// The answer.
        answer: Answer,
        /// When it arrived.
        at: Nanos,
    },
    /// The interface of a NIC disappeared or cannot be probed.
    Gone {
        /// The NIC.
        nic: NicIndex,
    },
    /// The interface returned, or another one of the same name replaced it.
    Back {
        /// The NIC.
        nic: NicIndex,
        /// The new address of the NIC.
        address: IpAddr,
    },
    /// The clock of the agent was set.
    Stepped {
        /// How far it moved forward.
        by: Nanos,
    },
}

/// A change of a NIC's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It disappeared.
    Gone,
    /// It returned, or another one of the same name did.
    Back,
}

/// Why a datagram was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The queue of the NIC is full.
    Full,
    /// The NIC is down or gone.
    Down,
    /// There is no route out of this NIC.
    NoRoute,
    /// The next hop was asked for its MAC address and may still answer.
    Resolving,
    /// The next hop does not answer.
    Unreachable,
    /// The queue pair of the NIC failed and was reset; its datagrams in flight are lost.
    QueuePair,
    /// The backend sends between the NICs of this host only.
    Remote,
    /// Any other error of the kernel.
    Other,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the queue of the NIC was full",
            Self::Down => "the NIC was down",
            Self::NoRoute => "it has no route to the destination",
            Self::Resolving => "its next hop had not answered yet",
            Self::Unreachable => "its next hop does not answer",
            Self::QueuePair => "its queue pair failed and was reset",
            Self::Remote => "the backend sends only within the host",
            Self::Other => "the kernel refused",
        })
    }
}

impl Refusal {
    /// The name in the column `unsent_reason`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "queue_full",
            Self::Down => "nic_down",
            Self::NoRoute => "no_route",
            Self::Resolving => "resolving",
            Self::Unreachable => "no_next_hop",
            Self::QueuePair => "queue_pair",
            Self::Remote => "remote",
            Self::Other => "other",
        }
    }
}
