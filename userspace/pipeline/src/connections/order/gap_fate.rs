//! Decides the fate of gaps that were never filled.

use crate::connections::order::psn_tracker::{ExtendedPsn, Gap};

/// The fate of the packets of a gap that no later packet filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GapFate {
    /// The peer acknowledged them: they took a path without the tap, or the mirror lost them.
    Acknowledged,
    /// A NAK named them, and they were never retransmitted.
    NakWithoutRetransmission,
    /// Neither acknowledged nor named by a NAK.
    Unanswered,
    /// The capture lost runs at that time, or there was no room for more gaps: nothing can be concluded.
    Unknown,
}

impl GapFate {
    /// The fate of `gap` if the peer has all PSNs up to `acked`.
    pub(crate) const fn of(gap: &Gap, acked: ExtendedPsn, is_unknown: bool) -> Self {
        if is_unknown {
            Self::Unknown
        } else if gap.value.nak.is_some() {
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
