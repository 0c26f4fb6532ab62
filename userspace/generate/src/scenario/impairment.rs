//! What happens to packets on their way, and what receivers have against them.

use super::units::{Nanos, Probability};
use serde::Deserialize;

/// Which packets of a flow meet an impairment: some by chance, some by their number, and only in a
/// span of time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Impairment {
    /// The chance of each packet.
    pub probability: Probability,
    /// These packets, counted from 0 over all that the sender sends, retransmissions included.
    pub packets: Vec<u64>,
    /// On which side of the tap it happens.
    #[serde(rename = "where")]
    pub side: Side,
    /// Which packets are meant and counted.
    pub of: Of,
    /// From when on.
    pub from: Nanos,
    /// Until when, for ever where it is not given.
    pub until: Option<Nanos>,
    /// By how many packets a reordered packet is late.
    pub by: Option<u32>,
    /// How long at most a reordered packet is held, when no packets pass it.
    pub hold: Option<Nanos>,
}

/// Where something happens, seen along a packet's way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Before the tap: the capture sees the result.
    #[default]
    BeforeTap,
    /// Behind the tap: the capture sees the packet as it was sent.
    AfterTap,
}

/// Which packets of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// Those of the requester.
    #[default]
    Requests,
    /// Acknowledgements, READ responses and atomic responses.
    Responses,
}

/// Congestion: marks on the way, notifications back, and what the sender does about them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ecn {
    /// The chance of each request packet to be marked before the tap.
    pub mark: Probability,
    /// From when on.
    #[serde(default)]
    pub from: Nanos,
    /// Until when.
    pub until: Option<Nanos>,
    /// The receiver sends at most one CNP in this time.
    #[serde(default = "cnp_interval")]
    pub cnp_interval: Nanos,
    /// By which share of the rate a CNP slows the sender, 0 to 1.
    #[serde(default)]
    pub cut: f64,
    /// After how long half of what was cut is given back.
    #[serde(default = "recovery")]
    pub recovery: Nanos,
}

/// A receiver that is not ready.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rnr {
    /// The chance of each message that needs a receive buffer.
    pub probability: Probability,
    /// Encoded timer of the NAK, 0 to 31.
    #[serde(default = "rnr_timer")]
    pub timer: u8,
    /// How many NAKs in a row.
    #[serde(default = "once")]
    pub repeat: u8,
}

/// A receiver that refuses a message for good.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refuse {
    /// Which message of the flow, from 0.
    pub message: u64,
    /// What its NAK says.
    pub nak: FatalNak,
}

/// NAKs after which a queue pair is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FatalNak {
    /// Code 1.
    InvalidRequest,
    /// Code 2.
    RemoteAccessError,
    /// Code 3.
    RemoteOperationalError,
}

const fn cnp_interval() -> Nanos {
    Nanos(50_000)
}

const fn recovery() -> Nanos {
    Nanos(1_000_000)
}

const fn rnr_timer() -> u8 {
    14
}

const fn once() -> u8 {
    1
}
