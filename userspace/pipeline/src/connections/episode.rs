//! Retransmission episodes: which packets were sent again in one go, and why.

use super::sequence::Place;

/// Why a sender went back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// A NAK for a PSN out of sequence.
    Nak,
    /// A receiver-not-ready NAK.
    Rnr,
    /// A READ or atomic response that did not come, though one behind it did.
    Response,
    /// Nothing that passed here: its timer ran out.
    Timeout,
}

impl Trigger {
    /// The name, as events show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nak => "nak",
            Self::Rnr => "rnr_nak",
            Self::Response => "response",
            Self::Timeout => "timeout",
        }
    }
}

/// A refusal by the peer that has not been followed by a retransmission yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub(crate) trigger: Trigger,
    pub(crate) place: Place,
    pub(crate) time_ns: u64,
    /// The sender has gone back for it.
    pub(crate) used: bool,
}

impl Refusal {
    /// Whether it explains why the sender goes back to a run that ends with `last`.
    pub(crate) const fn asks(&self, last: Place) -> bool {
        !self.used && self.place <= last
    }
}

/// Packets sent again in one go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    pub(crate) trigger: Trigger,
    pub(crate) first: Place,
    pub(crate) begun_ns: u64,
    pub(crate) packets: u64,
    /// From the NAK to its first packet.
    pub(crate) reaction_ns: Option<u64>,
}

/// READ responses that were asked for again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponsesAgain {
    /// The PSN that continues them.
    pub(crate) next: Place,
    /// The highest that had passed before.
    pub(crate) until: Place,
    /// Those that did not pass again.
    pub(crate) left_out: Option<(Place, Place)>,
}

/// RNR NAKs for one PSN, until it is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RnrEpisode {
    pub(crate) place: Place,
    pub(crate) begun_ns: u64,
    pub(crate) naks: u32,
    pub(crate) timer: u8,
}

/// A request that was sent again though nothing asked for it: lost, or only slow to be answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doubt {
    pub(crate) place: Place,
    /// When it was sent again last, and how often.
    pub(crate) resent_ns: u64,
    pub(crate) times: u32,
    /// How long its answer had been out by then, as far as is known.
    pub(crate) waited_ns: u64,
}
