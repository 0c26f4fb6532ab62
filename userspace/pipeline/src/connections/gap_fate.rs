//! The fate of gaps that were never filled: the one place where it is decided.

use super::psn_tracker::{ExtendedPsn, Gap};

/// What became of the packets of a gap that no later packet filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GapFate {
    /// The peer acknowledged them: they took another path than past the tap, or the mirror lost them.
    Acknowledged,
    /// A NAK asked for them, and they were never retransmitted.
    NakWithoutRetransmission,
    /// Neither acknowledged nor asked for.
    Unanswered,
    /// The capture lost runs at that time: nothing can be concluded.
    Unknown,
}

impl GapFate {
    /// The fate of `gap`, when the peer has all PSNs up to `acked`.
    pub(crate) const fn of(gap: &Gap, acked: ExtendedPsn, overlaps_capture_loss: bool) -> Self {
        if overlaps_capture_loss {
            Self::Unknown
        } else if gap.nak.is_some() {
            Self::NakWithoutRetransmission
        } else if gap.last <= acked {
            Self::Acknowledged
        } else {
            Self::Unanswered
        }
    }
}

/// Gaps that were never filled, by fate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LostGaps {
    pub(crate) acknowledged: u32,
    pub(crate) nak: u32,
    pub(crate) unanswered: u32,
    pub(crate) unknown: u32,
}

impl LostGaps {
    pub(crate) const fn add(&mut self, fate: GapFate) {
        let count = match fate {
            GapFate::Acknowledged => &mut self.acknowledged,
            GapFate::NakWithoutRetransmission => &mut self.nak,
            GapFate::Unanswered => &mut self.unanswered,
            GapFate::Unknown => &mut self.unknown,
        };
        *count = count.saturating_add(1);
    }

    pub(crate) fn total(&self) -> u64 {
        let all = [self.acknowledged, self.nak, self.unanswered, self.unknown];
        all.map(u64::from).iter().sum()
    }
}
