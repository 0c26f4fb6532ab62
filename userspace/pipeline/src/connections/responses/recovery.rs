//! Responses that were requested again: which were lost, and on which side of the tap.
//!
//! A requester that lacks a response sends its READ or atomic again, from the missing PSN on: a *question*. The first
//! question of a go-back names what is missing; those that follow it in PSN order are only a replay. Answers that were
//! in flight when it asked pass before the repeated ones; they are stale copies. So each go-back is a *round*: the PSNs
//! that it requested are due once more, and a later PSN of the same round shows which of them were lost on the way.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::intervals::Interval;
use crate::connections::order::psn_tracker::{Arrival, ExtendedPsn, Gap};
use crate::connections::requests::new_payload::begins;
use crate::connections::responses::requester::Requester;
use crate::connections::responses::rounds::{Awaited, EVIDENT, LoneFill, Passed, ResponseRecovery, Round};
use crate::connections::rows::event::LossEvidence;
use crate::time::EventTime;
use alloc::boxed::Box;
use rocescope_record::RunRecord;

impl Direction {
    /// The state of repeated responses. The highest PSN before this run was `high`.
    pub(crate) fn response_recovery(&mut self, high: ExtendedPsn) -> &mut ResponseRecovery {
        let passed = self.last_responses;
        self.response_recovery.get_or_insert_with(|| {
            Box::new(ResponseRecovery {
                next: high + 1,
                requester: Requester::new(high + 1, passed),
                ..ResponseRecovery::default()
            })
        })
    }

    /// Whether a repeated run can only be a copy: no request was seen to ask for it again, or, where requests are not
    /// seen, it is one packet out of the middle, where no response begins.
    fn is_copy(&self, run: &RunRecord, first: ExtendedPsn) -> bool {
        let recovery = self.response_recovery.as_ref();
        if self.peer.is_some() {
            return recovery.is_none_or(|recovery| recovery.asked(first, u64::MAX).is_none());
        }
        let is_stray = |recovery: &ResponseRecovery| first < recovery.next && recovery.rounds.is_empty();
        run.packets == 1 && run.only == 0 && recovery.is_none_or(|recovery| is_stray(recovery))
    }

    pub(crate) fn response_bound_ns(&self) -> u64 {
        self.response_reordering.as_ref().map_or(0, |known| known.bound_ns())
    }

    /// A run of responses passed; `filled` are the gaps that it filled. `high` was the highest PSN before;
    /// `hole_is_silent`: no responses are missing before it.
    pub(crate) fn response_passed(
        &mut self,
        run: &RunRecord,
        (first, last): (ExtendedPsn, ExtendedPsn),
        (arrival, filled): (&Arrival, &[Gap]),
        (high, hole_is_silent): (ExtendedPsn, bool),
        awaited: Awaited,
        context: &mut Context<'_>,
    ) {
        let response_ns = awaited.response_ns;
        if arrival.restarted {
            self.response_recovery = None;
        }
        if self.is_copy(run, first) {
            self.counts.duplicate += arrival.repeated;
        } else {
            self.counts.retransmitted += arrival.repeated;
        }
        let opens_gap = arrival.above > 0 && first > high + 1 && !hole_is_silent;
        if self.response_recovery.is_none() && !opens_gap && filled.is_empty() && arrival.repeated == 0 {
            return;
        }
        let now_ns = run.first_ns;
        let mut recovery = core::mem::take(self.response_recovery(high));
        let is_one_sided = self.peer.is_none();
        recovery.is_sprayed |= self
            .response_reordering
            .as_ref()
            .is_some_and(|known| known.is_sprayed());
        self.settle_suspected(&mut recovery, now_ns, response_ns, context);
        if is_one_sided {
            self.settle_lone(&mut recovery, (first, arrival), context);
        }
        // The second copy passes, so the first was late.
        let mut copied = 0;
        recovery
            .suspected
            .remove(first, last, &mut |part| copied += part.packets());
        recovery.disordered.remove(first, last, &mut |_| {});
        if hole_is_silent
            && first > recovery.next
            && let Some(round) = recovery.current.and_then(|at| recovery.rounds.get_mut(at))
            && is_one_sided
        {
            // Other operations use these PSNs.
            round.due.remove(recovery.next, first - 1, &mut |_| {});
        }
        for gap in filled {
            self.response_fills(&mut recovery, gap, (last, arrival), (now_ns, response_ns), context);
        }
        if is_one_sided && !recovery.is_sprayed && first < recovery.next && arrival.repeated >= EVIDENT {
            self.unseen_round(&mut recovery, (first, high.max(last)), context);
        }
        let is_begun = begins(run) || is_one_sided;
        recovery.pass((first, last), (is_begun, arrival.repeated > 0), (now_ns, response_ns));
        let passed = Passed::of(run, (first, last));
        recovery.note(passed, arrival.above > 0);
        recovery.requester.pass(passed, awaited.expected);
        if let Some(slot) = &mut self.response_recovery {
            **slot = recovery;
        }
    }

    /// An acknowledgement of the requests of the peer passed; `waits`: for a response that it should have followed.
    pub(crate) fn responses_acknowledged(&mut self, run: &RunRecord, waits: bool) {
        let psn = self.responses.extended(run.last_psn());
        if let Some(recovery) = &mut self.response_recovery {
            recovery.requester.acknowledged(psn, run.first_ns, waits);
        }
    }

    /// The requests are not seen, and the responses begin again: its round.
    fn unseen_round(
        &mut self,
        recovery: &mut ResponseRecovery,
        (from, until): (ExtendedPsn, ExtendedPsn),
        context: &mut Context<'_>,
    ) {
        let _ = self.lose_skipped(recovery, u64::MAX, context);
        recovery.rounds.clear();
        recovery.current = None;
        recovery.begin_round(Round::new((from, until), true, 0));
    }

    /// What the responses before it left open: whether a gap was filled by the start of a repeat.
    fn settle_lone(
        &mut self,
        recovery: &mut ResponseRecovery,
        (first, arrival): (ExtendedPsn, &Arrival),
        context: &mut Context<'_>,
    ) {
        let Some(LoneFill { gap, ns }) = recovery.lone.take() else {
            return;
        };
        if first == gap.last + 1 && arrival.repeated > 0 {
            self.counts.out_of_order -= gap.packets();
            self.counts.retransmitted += gap.packets();
            self.unseen_round(recovery, (gap.first, self.responses.high()), context);
            recovery.pass((gap.first, gap.last), (true, true), (ns, 0));
            self.lost_upstream((gap.first, gap.last), ns, LossEvidence::Gap, context);
        } else {
            self.learn_late_response(recovery, &gap, ns);
        }
    }

    fn learn_late_response(&mut self, recovery: &mut ResponseRecovery, gap: &Gap, now_ns: u64) {
        let high = self.responses.high();
        let late_ns = now_ns.since(gap.value.opened_ns);
        let reordering = self.response_reordering.get_or_insert_default();
        reordering.learn(gap.packets(), late_ns, (high, high - gap.first), now_ns);
        recovery.disorder(gap.first, high);
    }

    /// Responses fill a gap: late, or repeated.
    fn response_fills(
        &mut self,
        recovery: &mut ResponseRecovery,
        gap: &Gap,
        (last, arrival): (ExtendedPsn, &Arrival),
        (now_ns, response_ns): (u64, u64),
        context: &mut Context<'_>,
    ) {
        let late_ns = now_ns.since(gap.value.opened_ns);
        let bound_ns = self.response_bound_ns();
        let packets = gap.packets();
        if self.peer.is_none() {
            let knows = self.response_reordering.as_ref().is_some_and(|known| known.is_known());
            let is_repeat = if recovery.is_sprayed {
                knows && late_ns > 3 * bound_ns
            } else {
                last > gap.last && arrival.repeated > 0
            };
            if is_repeat {
                self.counts.retransmitted += packets;
                if context.may_have_passed(gap) {
                    return;
                }
                self.lost_upstream((gap.first, gap.last), now_ns, LossEvidence::Gap, context);
                return;
            }
            self.counts.out_of_order += packets;
            if recovery.is_sprayed {
                self.learn_late_response(recovery, gap, now_ns);
            } else {
                recovery.lone = Some(LoneFill { gap: *gap, ns: now_ns });
            }
            return;
        }
        let asked = recovery.asked(gap.first, now_ns).is_some();
        let answered = now_ns.saturating_sub(response_ns / 2);
        if recovery.asked(gap.first, answered).is_none() {
            // Sooner than an answer to the question could be here.
            recovery.is_impatient |= asked;
            self.counts.out_of_order += packets;
            self.learn_late_response(recovery, gap, now_ns);
        } else if recovery.is_sprayed && late_ns <= bound_ns {
            self.counts.out_of_order += packets;
            let _ = recovery.suspected.insert(Interval {
                first: gap.first,
                last: gap.last,
                value: now_ns,
            });
        } else {
            self.counts.retransmitted += packets;
            if !recovery.was_cut(gap, response_ns) && !context.may_have_passed(gap) {
                self.lost_upstream((gap.first, gap.last), now_ns, LossEvidence::Gap, context);
            }
        }
    }

    /// Doubtful ones of which no second copy passed in time.
    fn settle_suspected(
        &mut self,
        recovery: &mut ResponseRecovery,
        now_ns: u64,
        response_ns: u64,
        context: &mut Context<'_>,
    ) {
        if recovery.suspected.is_empty() {
            return;
        }
        let bound_ns = self.response_bound_ns();
        let wait_ns = 2 * (bound_ns + response_ns);
        let suspected = core::mem::take(&mut recovery.suspected);
        for loss in suspected.iter() {
            let is_over = match recovery.has_repeated(loss.last, now_ns, bound_ns) {
                Some(has_repeated) => has_repeated,
                None => loss.value.saturating_add(wait_ns) <= now_ns,
            };
            if !is_over {
                let _ = recovery.suspected.insert(*loss);
            } else {
                self.counts.out_of_order -= loss.packets();
                self.counts.retransmitted += loss.packets();
                self.lost_upstream((loss.first, loss.last), loss.value, LossEvidence::Gap, context);
            }
        }
    }

    /// Copies that a round lost. Returns the lowest of them.
    pub(crate) fn lose_skipped(
        &mut self,
        recovery: &mut ResponseRecovery,
        now_ns: u64,
        context: &mut Context<'_>,
    ) -> Option<ExtendedPsn> {
        let until_ns = now_ns.saturating_sub(self.response_bound_ns());
        let skipped = recovery.skipped(until_ns, &self.responses);
        for lost in &skipped {
            let ns = now_ns.min(self.last_ns);
            self.lost_upstream(*lost, ns, LossEvidence::Skipped, context);
        }
        skipped.iter().map(|(first, _)| *first).min()
    }

    /// No response follows.
    pub(crate) fn end_responses(&mut self, context: &mut Context<'_>) {
        let mut recovery = match &mut self.response_recovery {
            Some(recovery) => core::mem::take(&mut **recovery),
            None => ResponseRecovery::default(),
        };
        self.settle_suspected(&mut recovery, u64::MAX, 0, context);
        let _ = self.lose_skipped(&mut recovery, u64::MAX, context);
        while let Some(gap) = self.responses.take_gap() {
            if self.peer.is_some() && recovery.is_due(gap.first) && !context.may_have_passed(&gap) {
                // Requested again, and never seen.
                let ns = self.last_ns;
                self.lost_upstream((gap.first, gap.last), ns, LossEvidence::Skipped, context);
            } else {
                self.counts.unfilled_response_gaps += 1;
            }
        }
    }
}
