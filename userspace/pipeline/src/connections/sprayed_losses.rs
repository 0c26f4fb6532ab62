//! Settles what is open in a sprayed direction: what has not passed in time was lost.

use super::context::Context;
use super::direction::Direction;
use super::event::LossEvidence;
use super::intervals::Interval;
use super::sender_way::Way;
use super::sprayed::Sprayed;
use super::sprayed_pass::Pass;
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
        let late_ns = self.late_bound_ns();
        let skipped = core::mem::take(&mut sprayed.skipped);
        let missing: u64 = skipped.iter().map(Interval::packets).sum();
        // A receiver that drops early packets would have requested it.
        let is_going = sprayed.pass.as_ref().is_some_and(Pass::is_in_sequence);
        let goes_back =
            (is_going || self.sender_way.way() == Way::GoBackN) && missing < sprayed.passed && sprayed.keeps_early();
        for left in skipped.iter() {
            if left.value + late_ns >= now_ns {
                let _ = sprayed.skipped.insert(*left);
                sprayed.deadline_ns = sprayed.deadline_ns.min(left.value + late_ns + 1);
            } else if goes_back {
                lost.push((*left, LossEvidence::Skipped));
            }
        }
        let wait_ns = self.settled_ns(sprayed);
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
