//! Closes gaps of a direction: acknowledged by the peer, without room, or left at the end.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::gap_fate::GapFate;
use crate::connections::order::psn_tracker::Gap;

impl Direction {
    /// Gaps that the peer has acknowledged passed on another path than the tap.
    pub(crate) fn settle_gaps(&mut self, context: &mut Context<'_>) {
        if self.requests.gaps().is_empty() || self.acked < self.requests.low() {
            return;
        }
        let mut requests = core::mem::take(&mut self.requests);
        requests.settle(self.acked, |gap| {
            let (from_ns, to_ns) = (gap.value.before_ns, gap.value.opened_ns);
            let is_unknown = context.capture_loss.overlaps(from_ns, to_ns);
            self.count_unfilled_gap(&gap, is_unknown);
            if !is_unknown && gap.value.nak.is_none() {
                context.mirror_loss.add(from_ns, to_ns);
                context.mirror_loss.acknowledged(gap.packets());
            }
        });
        self.requests = requests;
    }

    /// Counts a gap that was never filled; `is_unknown`: because the capture or its memory had no room for it.
    pub(crate) fn count_unfilled_gap(&mut self, gap: &Gap, is_unknown: bool) {
        let fate = GapFate::of(gap, self.acked, is_unknown);
        self.counts.unfilled_gaps.add(fate);
        self.counts.unfilled_gap_packets += gap.packets();
        if fate == GapFate::Acknowledged {
            self.counts.mirror_lost_packets += gap.packets();
        }
    }
}
