//! Settles what is open in a sprayed direction: what has not passed in time was lost.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::intervals::Interval;
use crate::connections::order::retransmission_scheme::RetransmissionScheme;
use crate::connections::rows::event::LossEvidence;
use crate::connections::spray::state::Sprayed;
use alloc::vec::Vec;

impl Direction {
    /// Whether a pass has everything that is not acknowledged: the sender goes back, when its timer expires alone. A NAK may
    /// cut a pass short, and a selective sender repeats less.
    fn repeats_all(&self, sprayed: &Sprayed) -> bool {
        sprayed.refused == 0 && sprayed.keeps_early() && self.recoveries.scheme() == RetransmissionScheme::GoBackN
    }

    /// What has not passed by now was lost.
    pub(crate) fn settle_sprayed(&mut self, sprayed: &mut Sprayed, now_ns: u64, context: &mut Context<'_>) {
        if now_ns < sprayed.deadline_ns {
            return;
        }
        sprayed.deadline_ns = u64::MAX;
        let mut lost: Vec<(Interval<u64>, LossEvidence)> = Vec::new();
        let overdue = core::mem::take(&mut sprayed.overdue);
        for left in overdue.iter() {
            if left.value > now_ns {
                let _ = sprayed.overdue.insert(*left);
                sprayed.deadline_ns = sprayed.deadline_ns.min(left.value);
            } else {
                lost.push((*left, LossEvidence::Skipped));
            }
        }
        let wait_ns = self.settled_ns(sprayed);
        let bound_ns = self.late_bound_ns();
        let forget_ns = bound_ns + wait_ns;
        let repeats_all = self.repeats_all(sprayed);
        let skipped = core::mem::take(&mut sprayed.skipped);
        for left in skipped.iter() {
            if left.value + forget_ns >= now_ns {
                let _ = sprayed.skipped.insert(*left);
                sprayed.deadline_ns = sprayed.deadline_ns.min(left.value + forget_ns + 1);
            } else if repeats_all
                && left.value + bound_ns <= sprayed.last_ns
                && !context.is_blind(left.value.saturating_sub(bound_ns), left.value)
            {
                lost.push((*left, LossEvidence::Skipped));
            }
        }
        let suspected = core::mem::take(&mut sprayed.suspected);
        for loss in suspected.iter() {
            if loss.value + wait_ns > now_ns {
                let _ = sprayed.suspected.insert(*loss);
                sprayed.deadline_ns = sprayed.deadline_ns.min(loss.value + wait_ns);
            } else {
                self.counts.out_of_order -= loss.packets();
                self.counts.retransmitted += loss.packets();
                lost.push((*loss, LossEvidence::Gap));
            }
        }
        for (left, evidence) in lost {
            self.lost_upstream((left.first, left.last), left.value, evidence, context);
        }
    }
}
