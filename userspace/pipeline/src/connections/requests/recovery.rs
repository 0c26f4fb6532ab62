//! Retransmission episodes: packets retransmitted together, and why.

use crate::connections::losses::pending::SkippedRange;
use crate::connections::order::psn_tracker::ExtendedPsn;

/// Why a sender went back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Trigger {
    /// A PSN sequence error NAK.
    Nak,
    /// A receiver-not-ready NAK.
    Rnr,
    /// A READ or atomic response did not arrive, though a later one did.
    Response,
    /// No visible trigger: its timer expired.
    Timeout,
    /// The other direction is not seen: a NAK or its timer.
    Unseen,
}

impl Trigger {
    /// The name in events, with its article.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Nak => "a NAK",
            Self::Rnr => "an RNR NAK",
            Self::Response => "a response",
            Self::Timeout => "a timeout",
            Self::Unseen => "a NAK or a timeout, unseen",
        }
    }
}

/// A NAK by the peer that has not been followed by a retransmission yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingNak {
    pub(crate) trigger: Trigger,
    pub(crate) psn: ExtendedPsn,
    pub(crate) time_ns: u64,
    /// The sender has gone back for it.
    pub(crate) used: bool,
}

impl PendingNak {
    /// Whether it explains that the sender goes back to a run that ends with `last`.
    pub(crate) const fn asks(&self, last: ExtendedPsn) -> bool {
        !self.used && self.psn <= last
    }
}

/// Packets retransmitted together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    pub(crate) trigger: Trigger,
    pub(crate) first: ExtendedPsn,
    pub(crate) begun_ns: u64,
    pub(crate) packets: u64,
    /// Its first packet had passed before.
    pub(crate) is_repeat: bool,
    /// The receiver had dropped whatever passed before it.
    pub(crate) is_needed: bool,
    /// How long before its begin its first packet passed, those around it, or an answer: its timer had run for no longer. 0:
    /// unknown.
    pub(crate) passed_before_ns: u64,
    /// From the NAK to its first packet.
    pub(crate) reaction_ns: Option<u64>,
    /// The sender went back on its own, so it must have sent these too. They count once more of the episode has passed:
    /// a late packet looks like its first one.
    pub(crate) before: Option<SkippedRange>,
}

/// RNR NAKs for one PSN, until it is accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RnrEpisode {
    pub(crate) psn: ExtendedPsn,
    pub(crate) begun_ns: u64,
    pub(crate) naks: u32,
    pub(crate) timer: u8,
}

/// A request that was retransmitted without a NAK: lost, or only answered slowly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingTimeout {
    pub(crate) psn: ExtendedPsn,
    /// The time of the last retransmission, and their number.
    pub(crate) resent_ns: u64,
    pub(crate) times: u32,
    /// How long the sender had waited for its answer by then, if known.
    pub(crate) waited_ns: u64,
    /// No other packet was unacknowledged.
    pub(crate) is_alone: bool,
    /// It is a READ or atomic: a response answers it.
    pub(crate) is_read: bool,
    /// Once it is answered: if no second answer passes until then, one transmission was lost.
    pub(crate) decide_ns: u64,
}
