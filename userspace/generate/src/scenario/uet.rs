//! Packet delivery contexts of Ultra Ethernet Transport (UET), in the mode RUD.

use super::pool::Pool;
use super::units::{Nanos, Probability};
use serde::Deserialize;

/// PDCs with the same keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uet {
    /// Addresses of the sides that send requests.
    pub src: Pool,
    /// Addresses of the sides that answer.
    pub dst: Pool,
    /// The number of PDCs.
    #[serde(default = "one")]
    pub count: u32,
    /// Packets that each PDC sends, retransmissions not included.
    pub packets: u32,
    /// Packets of a message.
    #[serde(default = "message")]
    pub message: u32,
    /// Bytes after the headers of a packet.
    #[serde(default = "payload")]
    pub payload: u16,
    /// The job.
    #[serde(default)]
    pub job: u32,
    /// Whether packets are on IP alone, without UDP.
    #[serde(default)]
    pub ip: bool,
    /// The time of the first packet.
    #[serde(default)]
    pub start: Nanos,
    /// Time between two packets of a PDC.
    #[serde(default = "interval")]
    pub interval: Nanos,
    /// Packets without an acknowledgement, at most.
    #[serde(default = "window")]
    pub window: u32,
    /// From the tap to the receiver and back.
    #[serde(default = "delay")]
    pub delay: Nanos,
    /// From the tap to the sender and back.
    #[serde(default = "delay")]
    pub near_delay: Nanos,
    /// Paths over which a PDC sprays its packets.
    #[serde(default = "one")]
    pub paths: u32,
    /// Between the shortest path and the longest, on each side of the tap.
    #[serde(default)]
    pub skew: Nanos,
    /// The share of requests that the fabric loses upstream of the tap.
    #[serde(default)]
    pub loss_before: Probability,
    /// The same downstream of the tap.
    #[serde(default)]
    pub loss_after: Probability,
    /// The share of requests that a switch upstream of the tap trims.
    #[serde(default)]
    pub trim_before: Probability,
    /// The same downstream of the tap.
    #[serde(default)]
    pub trim_after: Probability,
    /// The share of answers that the fabric loses upstream of the tap.
    #[serde(default)]
    pub answer_loss: Probability,
    /// The share of requests that a switch upstream of the tap marks with congestion experienced.
    #[serde(default)]
    pub ecn: Probability,
    /// Packets for which the receiver sends one acknowledgement.
    #[serde(default = "ack_every")]
    pub ack_every: u32,
    /// A packet is retransmitted when one that was sent this much later has arrived.
    #[serde(default = "patience")]
    pub patience: Nanos,
    /// A packet is retransmitted after this time without an acknowledgement.
    #[serde(default = "timeout")]
    pub timeout: Nanos,
}

const fn one() -> u32 {
    1
}

const fn message() -> u32 {
    4
}

const fn payload() -> u16 {
    1_024
}

const fn interval() -> Nanos {
    Nanos(1_000)
}

const fn window() -> u32 {
    256
}

const fn delay() -> Nanos {
    Nanos(10_000)
}

const fn ack_every() -> u32 {
    4
}

const fn patience() -> Nanos {
    Nanos(60_000)
}

const fn timeout() -> Nanos {
    Nanos(1_000_000)
}
