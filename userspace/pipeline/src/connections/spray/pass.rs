//! A pass of a sender of a sprayed direction: it goes back, and everything from there on is due once more.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::intervals::Interval;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::order::retransmission_scheme::RetransmissionScheme;
use crate::connections::requests::recovery::{Episode, Trigger};
use crate::connections::spray::state::{EVIDENT, Sprayed};
use alloc::boxed::Box;

/// The sender went back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    pub(crate) from: ExtendedPsn,
    /// The highest PSN before.
    pub(crate) until: ExtendedPsn,
    pub(crate) begun_ns: u64,
    /// `from` itself has passed: what passes before it may belong to the pass before.
    pub(crate) is_begun: bool,
    /// Packets of it that have passed, those of them that repeated others without a request, and the highest.
    pub(crate) passed: u64,
    pub(crate) repeated: u64,
    pub(crate) progress: ExtendedPsn,
    /// Acknowledged sooner than the pass can have caused it: the sender may have left it out.
    pub(crate) acked: ExtendedPsn,
}

impl Pass {
    /// Whether it repeats everything in sequence; late packets may still be missing.
    pub(crate) const fn is_in_sequence(&self) -> bool {
        self.repeated >= EVIDENT && 4 * self.passed > 3 * (self.progress - self.from)
    }
}

impl Direction {
    /// These belong to the current pass; `unasked` of them were not requested.
    pub(crate) fn sprayed_pass(
        &mut self,
        sprayed: &mut Sprayed,
        (first, last): (ExtendedPsn, ExtendedPsn),
        now_ns: u64,
        unasked: u64,
    ) {
        self.sprayed_copy(sprayed, (first, last), now_ns);
        if let Some(pass) = &mut sprayed.pass {
            pass.repeated += unasked;
        }
    }

    /// Copies of the current pass pass, or late ones of an earlier pass.
    pub(crate) fn sprayed_copy(&self, sprayed: &mut Sprayed, (first, last): (ExtendedPsn, ExtendedPsn), now_ns: u64) {
        let bound_ns = self.late_bound_ns();
        let Sprayed {
            pass,
            due,
            skipped,
            was_due,
            ..
        } = sprayed;
        // One copy may be that of either pass: then none of them shows that it is missing.
        let mut before = skipped.remove(first, last, &mut |_| {});
        due.remove(first, last, &mut |_| {});
        let Some(pass) = pass else {
            return;
        };
        if now_ns <= pass.begun_ns + bound_ns {
            before += was_due.remove(first, last, &mut |_| {});
        }
        pass.is_begun |= (first..=last).contains(&pass.from);
        pass.until = pass.until.max(last);
        if before > 0 {
            // It may belong to the pass before.
            return;
        }
        pass.passed += last - first + 1;
        pass.progress = pass.progress.max(last);
        // A sender does not repeat what was acknowledged.
        let from = pass.from.max(self.acked + 1);
        if from >= pass.progress {
            return;
        }
        due.remove(from, pass.progress - 1, &mut |part| {
            skipped.remove(part.first, part.last, &mut |_| {});
            let _ = skipped.insert(Interval {
                first: part.first,
                last: part.last,
                value: now_ns,
            });
        });
        sprayed.deadline_ns = sprayed.deadline_ns.min(now_ns + bound_ns);
    }

    /// The sender goes back to `from`; `last` is the last packet of it that has passed.
    pub(crate) fn begin_pass(
        &mut self,
        sprayed: &mut Sprayed,
        from: ExtendedPsn,
        (last, now_ns): (ExtendedPsn, u64),
        (trigger, reaction_ns): (Trigger, Option<u64>),
        context: &mut Context<'_>,
    ) {
        self.end_pass(sprayed, false, context);
        sprayed.use_asks(last);
        let has_passed = self.requests.gap_at(from).is_none();
        self.count_recovery((trigger, reaction_ns), (from, now_ns), has_passed, context);
        let until = self.requests.high().max(last);
        // A timer makes the sender go back to the first unacknowledged packet.
        let is_timeout =
            trigger == Trigger::Timeout && self.recoveries.scheme() != RetransmissionScheme::SelectiveRepeat;
        let from = if is_timeout { 0 } else { from };
        let from = from.max(self.acked + 1).min(last);
        if self.recoveries.scheme() != RetransmissionScheme::SelectiveRepeat {
            let _ = sprayed.due.insert(Interval {
                first: from,
                last: until,
                value: (),
            });
        }
        sprayed.pass = Some(Pass {
            from,
            until,
            begun_ns: now_ns,
            is_begun: false,
            passed: 0,
            repeated: 0,
            progress: from,
            acked: self.acked,
        });
        self.episode = Some(Box::new(Episode {
            trigger,
            first: from,
            begun_ns: now_ns,
            packets: 0,
            is_repeat: false,
            is_needed: false,
            passed_before_ns: 0,
            reaction_ns,
            before: None,
        }));
    }

    /// The pass is over: learns the sender's way. `went_on`: new packets pass, so what has not been repeated will not be. A
    /// pass that the next NAK cuts short, or an acknowledgement, shows nothing but what it repeated.
    pub(crate) fn end_pass(&mut self, sprayed: &mut Sprayed, went_on: bool, context: &mut Context<'_>) {
        self.end_episode(context.emit);
        let Some(pass) = sprayed.pass.take() else {
            return;
        };
        if pass.is_in_sequence() {
            self.recoveries.went_back();
        } else if went_on
            && pass.is_begun
            && pass.repeated <= EVIDENT
            && pass.until > pass.acked.max(pass.from) + EVIDENT
        {
            self.recoveries.repeated_alone();
        }
        sprayed.was_due = core::mem::take(&mut sprayed.due);
    }
}
