//! Settles what is open in a sprayed direction: what has not passed in time was lost.

use super::context::Context;
use super::direction::Direction;
use super::event::LossEvidence;
use super::intervals::Interval;
use super::sprayed::Sprayed;
use alloc::vec::Vec;

impl Direction {
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
        // A receiver that has an earlier copy does not need them, and nothing shows whether they were sent.
        let forget_ns = self.late_bound_ns() + wait_ns;
        let skipped = core::mem::take(&mut sprayed.skipped);
        for left in skipped.iter().filter(|left| left.value + forget_ns >= now_ns) {
            let _ = sprayed.skipped.insert(*left);
            sprayed.deadline_ns = sprayed.deadline_ns.min(left.value + forget_ns + 1);
        }
        let doubtful = core::mem::take(&mut sprayed.doubtful);
        for doubt in doubtful.iter() {
            if doubt.value + wait_ns > now_ns {
                let _ = sprayed.doubtful.insert(*doubt);
                sprayed.deadline_ns = sprayed.deadline_ns.min(doubt.value + wait_ns);
            } else {
                self.counts.out_of_order -= doubt.packets();
                self.counts.retransmitted += doubt.packets();
                lost.push((*doubt, LossEvidence::Gap));
            }
        }
        for (left, evidence) in lost {
            self.lost_upstream((left.first, left.last), left.value, evidence, context);
        }
    }
}
