//! Names and numbers that the whole agent uses.

use crate::icmp::Answer;
use crate::payload::Payload;
use std::fmt;
use std::net::IpAddr;
use std::ops::{Add, Sub};
use std::time::Duration;

/// An instant of the agent's clock in nanoseconds since 1970, or the time between two.
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

/// Which NIC of the host, from 0.
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

/// What stamps (2) and (3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// As it stands in the rows: `kernel software`, `nic hardware`, `cpu`, `simulated`.
    pub source: &'static str,
    /// Bound on the error of the difference of two stamps.
    pub error: Nanos,
    /// Each NIC has a clock of its own; else one clock stamps for all.
    pub own: bool,
}

/// What probes and traces are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// It is measured.
    Probe,
    /// It asks the hop at which its TTL ends for its address.
    Trace {
        /// Number of the trace.
        id: u16,
        /// The TTL that it left with.
        ttl: u8,
    },
}

/// A datagram to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// By which NIC.
    pub src: NicIndex,
    /// To which.
    pub dst: NicIndex,
    /// UDP source port.
    pub port: u16,
    /// Number of the probe; of a trace, 0.
    pub sequence: Sequence,
    /// What for.
    pub kind: DatagramKind,
    /// When the agent sends it (1).
    pub sent: Nanos,
    /// Number of the agent, against datagrams of others.
    pub agent: u64,
}

/// What a backend saw happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A datagram left (2).
    Sent {
        /// What it carries.
        payload: Payload,
        /// When, on the clock of the sending NIC.
        nic_sent: Nanos,
    },
    /// A datagram that was to leave did not.
    Refused {
        /// Which.
        outgoing: Outgoing,
        /// Why not.
        why: Refusal,
    },
    /// A datagram came in.
    Arrived {
        /// By which NIC.
        nic: NicIndex,
        /// What it carries.
        payload: Payload,
        /// Every byte is as it was sent.
        intact: bool,
        /// When, on the clock of the receiving NIC (3).
        nic_received: Option<Nanos>,
        /// When the agent had it in hand (4).
        received: Nanos,
    },
    /// Something came in on the agent's port that is no datagram of any agent.
    Stranger,
    /// A datagram came in so damaged that nobody can say whose it was.
    Unreadable,
    /// A router answered.
    Answered {
        /// What it said.
        answer: Answer,
        /// When it was heard.
        at: Nanos,
    },
    /// The interface of a NIC is not there any more, or cannot be probed.
    Gone {
        /// Which.
        nic: NicIndex,
    },
    /// There is an interface of its name again, or it is another than it was.
    Back {
        /// Which.
        nic: NicIndex,
        /// The address that it is probed at from now on.
        address: IpAddr,
    },
    /// The clock of the agent was set: it is so much further than it would have been.
    Stepped {
        /// By how much.
        by: Nanos,
    },
}

/// What became of the interface of a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is not there any more.
    Gone,
    /// It is there again, or another of its name is.
    Back,
}

/// Why a datagram was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The queue of the NIC is full.
    Full,
    /// The NIC is down or gone.
    Down,
    /// There is no route out of this NIC, or its next hop does not say where it is.
    Unreachable,
    /// The queue pair of the NIC failed, and with it what was under way in it; it begins anew.
    QueuePair,
    /// Anything else that the kernel refuses for.
    Other,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the queue of the NIC was full",
            Self::Down => "the NIC was down",
            Self::Unreachable => "no next hop answers",
            Self::QueuePair => "its queue pair failed and began anew",
            Self::Other => "the kernel refused",
        })
    }
}
