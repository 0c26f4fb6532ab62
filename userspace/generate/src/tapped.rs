//! What passes the tap, and how it came to.

use super::fate::Fate;
use super::message::Request;
use super::responder::Replied;
use super::session::Datagram;

/// How a packet came to pass the tap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// As it should.
    Original,
    /// Its sender has sent it before.
    Retransmission,
    /// The network made a second one.
    Copy,
    /// Behind packets that were sent after it.
    Late,
}

/// What passes the tap.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Request(Request),
    Reply(Replied),
    Cnp,
    Session(Datagram),
}

/// Something that passes the tap.
#[derive(Clone, Debug)]
pub(super) struct Tapped {
    /// Whose requests it is about: 0 the first side's, 1 the second's.
    pub(super) channel: usize,
    pub(super) content: Content,
    pub(super) cause: Cause,
    pub(super) fate: Fate,
}

impl Tapped {
    /// Which side sent it.
    pub(super) fn from(&self) -> usize {
        match &self.content {
            Content::Request(_) => self.channel,
            Content::Reply(_) | Content::Cnp => 1 - self.channel,
            Content::Session(datagram) => datagram.from(),
        }
    }

    /// Whether its ICRC is wrong.
    pub(super) fn is_damaged(&self) -> bool {
        self.fate.damaged
    }
}
