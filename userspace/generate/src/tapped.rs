//! What passes the tap, and why.

use super::delivery::Delivery;
use super::message::Request;
use super::responder::Replied;
use super::session::Datagram;

/// Why a packet passes the tap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// Transmitted for the first time.
    Original,
    /// Retransmitted by its sender.
    Retransmission,
    /// Duplicated by the network.
    Copy,
    /// Copied by the mirror: its receiver does not get it.
    MirrorCopy,
    /// Overtaken by packets sent after it.
    Late,
}

/// What passes the tap.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    Request(Request),
    Reply(Replied),
    Cnp,
    Session(Datagram),
}

/// How a packet passed the tap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Passage {
    /// When, if its PSN passed for the first time.
    pub(super) first_at: Option<u64>,
    /// No lower PSN was missing.
    pub(super) in_order: bool,
}

/// Something that passes the tap.
#[derive(Clone, Debug)]
pub(super) struct TapView {
    /// The side whose requests it belongs to: 0 the first, 1 the second.
    pub(super) channel: usize,
    pub(super) content: Content,
    pub(super) cause: Cause,
    pub(super) delivery: Delivery,
}

impl TapView {
    /// The side that sent it.
    pub(super) fn from(&self) -> usize {
        match &self.content {
            Content::Request(_) => self.channel,
            Content::Reply(_) | Content::Cnp => 1 - self.channel,
            Content::Session(datagram) => datagram.from(),
        }
    }

    /// Whether its ICRC is wrong.
    pub(super) fn is_damaged(&self) -> bool {
        self.delivery.damaged
    }
}
