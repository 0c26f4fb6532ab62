//! What is traced, within which limits, and the result.

use crate::route::{Hop, RowReason};
use crate::types::{Nanos, NicIndex};
use std::net::IpAddr;

/// A 5-tuple: protocol and destination port are the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tuple {
    /// The NIC that sends.
    pub src: NicIndex,
    /// The NIC that receives; of a flow to another host, the sending one again.
    pub dst: NicIndex,
    /// UDP source port.
    pub port: u16,
    /// The address of the other host, of a flow to one.
    pub remote: Option<IpAddr>,
}

impl Tuple {
    /// That of a flow to another host.
    #[must_use]
    pub const fn to(src: NicIndex, remote: IpAddr, port: u16) -> Self {
        Self {
            src,
            dst: src,
            port,
            remote: Some(remote),
        }
    }
}

/// The limits of traces.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time between two traces of one NIC; `None` for no traces.
    pub interval: Option<Nanos>,
    /// Answers per second from one address.
    pub answers_per_second: f64,
    /// Maximum number of hops, at most [`TTL_LIMIT`](super::TTL_LIMIT).
    pub ttl_max: u8,
    /// Timeout of answers.
    pub timeout: Nanos,
    /// An unchanged path is written again after this time.
    pub refresh: Nanos,
}

/// The packets of a trace that has just begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// Of what.
    pub tuple: Tuple,
    /// Its number.
    pub id: u16,
    /// The maximum TTL; the trace uses 1 to this.
    pub ttl_max: u8,
}

/// The result of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Of what.
    pub tuple: Tuple,
    /// When.
    pub at: Nanos,
    /// The path, if the destination was reached, and why it gets a row, if it does.
    pub path: Option<(Vec<Hop>, Option<RowReason>)>,
    /// Of a 5-tuple whose destination no trace has reached: the hops up to the last one that answered, if they are news.
    pub cut: Option<(Vec<Hop>, RowReason)>,
}

/// How an answer matches the traces in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A hop of a trace in flight.
    Hop,
    /// The trace cannot go on from there.
    Unreachable,
    /// It matches no trace.
    Unmatched,
}
