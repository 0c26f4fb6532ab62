//! Impairments of packets in flight, and refusals by receivers.

use super::units::{Nanos, Probability};
use serde::Deserialize;

/// Which packets of a flow an impairment affects: at random or by number, within a span of time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Impairment {
    /// The probability for each packet.
    pub probability: Probability,
    /// The numbers of the packets, counted from 0 over all that the sender sends, including retransmissions.
    pub packets: Vec<u64>,
    /// How many packets in a row are lost.
    pub burst: Option<u64>,
    /// The side of the tap where it happens.
    #[serde(rename = "where")]
    pub side: Side,
    /// The packets that it affects and counts.
    pub of: Of,
    /// The start time.
    pub from: Nanos,
    /// The end time; by default it never ends.
    pub until: Option<Nanos>,
    /// The number of packets that overtake a reordered packet.
    pub by: Option<u32>,
    /// The maximum time that a reordered packet is held when no packets overtake it.
    pub hold: Option<Nanos>,
}

/// Several paths of unequal length, one drawn for each packet.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spray {
    /// The number of paths.
    pub paths: u32,
    /// How much longer the longest path takes than the shortest.
    pub skew: Nanos,
    /// The side of the tap where the paths are.
    #[serde(default, rename = "where")]
    pub side: Side,
    /// The packets that take them.
    #[serde(default)]
    pub of: Sprayed,
    /// How packets get their UDP source ports.
    #[serde(default)]
    pub ports: Ports,
}

/// Which packets of a connection are sprayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sprayed {
    /// The packets of the requester.
    #[default]
    Requests,
    /// READ responses and atomic responses.
    Responses,
    /// Acknowledgements, positive or not.
    Acknowledgements,
}

/// How sprayed packets get their UDP source ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ports {
    /// All packets of a direction have the same: switches choose the path.
    #[default]
    One,
    /// One for each path.
    Path,
    /// Another for each packet.
    Packet,
}

/// The place of an impairment on a packet's path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Upstream of the tap: the capture sees the result.
    #[default]
    Upstream,
    /// Downstream of the tap: the capture sees the packet as it was sent.
    Downstream,
}

/// Which packets of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// The packets of the requester.
    #[default]
    Requests,
    /// Acknowledgements, READ responses and atomic responses.
    Responses,
}

/// Congestion: marks in flight, notifications back, and the reaction of the sender.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ecn {
    /// The probability that a request packet is marked upstream of the tap.
    pub mark: Probability,
    /// The start time.
    #[serde(default)]
    pub from: Nanos,
    /// The end time.
    pub until: Option<Nanos>,
    /// The receiver sends at most one CNP in this time.
    #[serde(default = "cnp_interval")]
    pub cnp_interval: Nanos,
    /// The share of the rate that a CNP takes from the sender, 0 to 1.
    #[serde(default)]
    pub cut: f64,
    /// The time after which half of the cut is restored.
    #[serde(default = "recovery")]
    pub recovery: Nanos,
}

/// A receiver that is not ready.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rnr {
    /// The probability for each message that needs a receive buffer.
    pub probability: Probability,
    /// Encoded timer of the NAK, 0 to 31.
    #[serde(default = "rnr_timer")]
    pub timer: u8,
    /// The number of consecutive NAKs.
    #[serde(default = "once")]
    pub repeat: u8,
}

/// A receiver that refuses a message permanently.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refuse {
    /// The number of the message in the flow, from 0.
    pub message: u64,
    /// The code of its NAK.
    pub nak: FatalNak,
}

/// NAKs that end a queue pair.
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
