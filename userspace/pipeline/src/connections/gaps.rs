//! Gaps of a direction that are over: acknowledged by the peer, displaced, or left at the end.

use super::direction::Direction;
use super::gap_fate::GapFate;
use super::sequence::Gap;

impl Direction {
    /// Gaps that the peer has acknowledged passed by another way than the tap.
    pub(crate) fn settle(&mut self, is_blind: &dyn Fn(u64, u64) -> bool) {
        if self.requests.gaps().is_empty() || self.acked < self.requests.low() {
            return;
        }
        let mut requests = core::mem::take(&mut self.requests);
        requests.settle(self.acked, |gap| {
            let blind = is_blind(gap.before_ns, gap.opened_ns);
            self.count_lost_gap(&gap, blind);
        });
        self.requests = requests;
    }

    /// Counts a gap that was never filled.
    pub(crate) fn count_lost_gap(&mut self, gap: &Gap, is_blind: bool) {
        let fate = GapFate::of(gap, self.acked, is_blind);
        self.counts.lost_gaps.add(fate);
        self.counts.lost_gap_packets += gap.packets();
        if fate == GapFate::Acknowledged {
            self.counts.mirror_lost_packets += gap.packets();
        }
    }
}
