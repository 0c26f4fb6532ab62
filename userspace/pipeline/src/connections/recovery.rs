//! Retransmission episodes: which packets were retransmitted in one go, and why.

use super::psn_tracker::ExtendedPsn;
use super::skipped_ranges::SkippedRange;

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
    /// Whether it explains why the sender goes back to a run that ends with `last`.
    pub(crate) const fn asks(&self, last: ExtendedPsn) -> bool {
        !self.used && self.psn <= last
    }
}

/// Packets retransmitted in one go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    pub(crate) trigger: Trigger,
    pub(crate) first: ExtendedPsn,
    pub(crate) begun_ns: u64,
    pub(crate) packets: u64,
    /// From the NAK to its first packet.
    pub(crate) reaction_ns: Option<u64>,
    /// Before it the sender, gone back of its own, must have sent these too. It counts once more of
    /// the episode has passed: a packet that only comes late looks like its first one.
    pub(crate) before: Option<SkippedRange>,
}

/// READ responses that were asked for again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseRetry {
    /// The PSN that continues them.
    pub(crate) next: ExtendedPsn,
    /// The highest that had passed before.
    pub(crate) until: ExtendedPsn,
    /// Those that did not pass again.
    pub(crate) skipped: Option<(ExtendedPsn, ExtendedPsn)>,
}

/// RNR NAKs for one PSN, until it is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RnrEpisode {
    pub(crate) psn: ExtendedPsn,
    pub(crate) begun_ns: u64,
    pub(crate) naks: u32,
    pub(crate) timer: u8,
}

/// A request that was retransmitted though nothing asked for it: lost, or only slow to be answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingTimeout {
    pub(crate) psn: ExtendedPsn,
    /// When it was retransmitted last, and how often.
    pub(crate) resent_ns: u64,
    pub(crate) times: u32,
    /// How long its answer had been out by then, as far as is known.
    pub(crate) waited_ns: u64,
}
