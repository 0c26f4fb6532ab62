//! Responses that were requested again: which were lost, and on which side of the tap.
//!
//! A requester that lacks a response sends its READ or atomic again, from the missing PSN on: a *question*. The first
//! question of a go-back names what is missing; those that follow it in PSN order are only a replay. Answers that were
//! in flight when it asked pass before the repeated ones; they are stale copies. So each go-back is a *round*: the PSNs
//! that it requested are due once more, and a later PSN of the same round shows which of them were lost on the way.

use super::context::Context;
use super::direction::Direction;
use super::event::{EventDetail, LossEvidence, LossLocation};
use super::intervals::Interval;
use super::new_payload::begins;
use super::psn_tracker::{Arrival, ExtendedPsn, Gap, PsnTracker};
use super::requester::{Expectation, Requester};
use super::response_rounds::{Awaited, EVIDENT, LoneFill, Passed, Question, RequesterTimes, ResponseRecovery, Round};
use crate::time::EventTime;
use alloc::boxed::Box;
use rocescope_record::RunRecord;
use rocescope_wire::Psn;

impl Direction {
    /// The state of repeated responses. The highest PSN before this run was `high`.
    fn response_recovery(&mut self, high: ExtendedPsn) -> &mut ResponseRecovery {
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

    fn response_bound_ns(&self) -> u64 {
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
        self.settle_doubtful(&mut recovery, now_ns, response_ns, context);
        if is_one_sided {
            self.settle_lone(&mut recovery, (first, arrival), context);
        }
        // The second copy passes, so the first was late.
        let mut copied = 0;
        recovery
            .doubtful
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
            let _ = recovery.doubtful.insert(Interval {
                first: gap.first,
                last: gap.last,
                value: now_ns,
            });
        } else {
            self.counts.retransmitted += packets;
            if !recovery.was_cut(gap, response_ns) {
                self.lost_upstream((gap.first, gap.last), now_ns, LossEvidence::Gap, context);
            }
        }
    }

    /// Doubtful ones of which no second copy passed in time.
    fn settle_doubtful(
        &mut self,
        recovery: &mut ResponseRecovery,
        now_ns: u64,
        response_ns: u64,
        context: &mut Context<'_>,
    ) {
        if recovery.doubtful.is_empty() {
            return;
        }
        let bound_ns = self.response_bound_ns();
        let wait_ns = 2 * (bound_ns + response_ns);
        let doubtful = core::mem::take(&mut recovery.doubtful);
        for doubt in doubtful.iter() {
            let is_over = match recovery.has_repeated(doubt.last, now_ns, bound_ns) {
                Some(has_repeated) => has_repeated,
                None => doubt.value.saturating_add(wait_ns) <= now_ns,
            };
            if !is_over {
                let _ = recovery.doubtful.insert(*doubt);
            } else {
                self.counts.out_of_order -= doubt.packets();
                self.counts.retransmitted += doubt.packets();
                self.lost_upstream((doubt.first, doubt.last), doubt.value, LossEvidence::Gap, context);
            }
        }
    }

    /// Copies that a round lost. Returns the lowest of them.
    fn lose_skipped(
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

    /// The peer requests responses again at `now_ns`.
    pub(crate) fn response_asked_again(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        question: &Question,
        times: RequesterTimes,
        now_ns: u64,
        context: &mut Context<'_>,
    ) {
        // A requester asks for the rest only of what it has received in part.
        if !self.responses.is_started() || question.is_rest && !self.responses.has(first - 1) {
            return;
        }
        if question.may_be_copy && !self.responses.misses_any(first, last) {
            return;
        }
        let high = self.responses.high();
        let mut recovery = core::mem::take(self.response_recovery(high));
        let expectation = recovery
            .requester
            .asks(first, now_ns, question.names_missing && !question.continues);
        let is_ordered = !recovery.is_sprayed && (expectation != Expectation::Lower || recovery.requester.replays());
        let skipped = self.lose_skipped(&mut recovery, now_ns, context);
        // The rest of a READ begins with what is missing; a whole one may be requested for any of its responses.
        recovery.asks_rest |= question.is_rest;
        let until = if recovery.asks_rest { first } else { last };
        // A requester does not go past what it lacks: with a lower one missing, this is a replay whose start was lost.
        let lacks_lower = skipped.is_some_and(|skipped| skipped <= until)
            || !recovery.is_sprayed && self.lacks_lower(first, now_ns, context);
        let is_skipped = skipped.is_some_and(|skipped| skipped <= first);
        let is_lost = if is_ordered {
            !is_skipped && self.is_refuted(&recovery, (first, last), question, (expectation, times), now_ns)
        } else {
            question.names_missing
                && !lacks_lower
                && self.is_lost_downstream(&recovery, (first, last), question, now_ns)
        };
        let never_passed = first.max(self.responses.high() + 1)..=last;
        // A responder that was asked for others since may have given up this answer.
        let is_given_up = question
            .sent_ns
            .is_some_and(|sent_ns| recovery.rounds.iter().any(|round| round.asked_ns > sent_ns));
        if question.is_acknowledged
            && !never_passed.is_empty()
            && !is_given_up
            && !recovery.is_sprayed
            && recovery.asked(first, now_ns).is_none()
        {
            let psns = (*never_passed.start(), last);
            self.lost_upstream(psns, now_ns, LossEvidence::Response, context);
        }
        if matches!(expectation, Expectation::Accepted { .. } | Expectation::Before(_)) {
            recovery.requester.expect(first);
        }
        if question.names_missing || is_lost {
            if is_lost {
                self.counts.lost_after_tap += 1;
                let detail = EventDetail::Loss {
                    psn: Psn::new(first as u32),
                    packets: 1,
                    location: LossLocation::Downstream,
                    evidence: LossEvidence::Response,
                };
                (context.emit)(now_ns, detail);
            } else if self.responses.has(first) && self.responses.misses_any(first, until)
                || skipped.is_some_and(|skipped| first < skipped && skipped <= until)
            {
                recovery.asks_whole = true;
            }
            recovery.begin_round(Round::new((first, last), question.is_read, now_ns));
        } else if let Some(round) = recovery.rounds.last_mut().filter(|round| round.progress.is_none()) {
            round.from = round.from.min(first);
            round.ask((first, last), question.is_read);
        } else {
            recovery.begin_round(Round::new((first, last), question.is_read, now_ns));
        }
        if let Some(slot) = &mut self.response_recovery {
            **slot = recovery;
        }
    }

    /// Whether a response below `psn` left a gap so soon before that the requester must lack it too.
    fn lacks_lower(&self, psn: ExtendedPsn, now_ns: u64, context: &Context<'_>) -> bool {
        let is_recent = |gap: &Gap| now_ns.since(gap.value.opened_ns) <= context.reorder_ns;
        let mut lower = self.responses.gaps().iter().take_while(|gap| gap.first < psn);
        lower.any(is_recent)
    }

    /// Whether the order at the tap does not explain the question of a requester that expects order, and no NAK and no timer
    /// does.
    fn is_refuted(
        &self,
        recovery: &ResponseRecovery,
        (first, last): (ExtendedPsn, ExtendedPsn),
        question: &Question,
        (expectation, times): (Expectation, RequesterTimes),
        now_ns: u64,
    ) -> bool {
        // When the response passed, and how long it had been quiet before.
        let (passed_ns, waited_ns) = match expectation {
            Expectation::Accepted { passed_ns, before_ns } => {
                let waited_ns = passed_ns.since(before_ns.max(question.sent_ns.unwrap_or(0)));
                (passed_ns, waited_ns)
            }
            Expectation::Before(ns) => (ns, 0),
            Expectation::Next | Expectation::Lower | Expectation::Overtaken => return false,
        };
        let names_missing = question.names_missing && !question.continues;
        if !(names_missing || question.nak_ns.is_some()) {
            return false;
        }
        // A gap in the answers of that READ explains the question.
        let may_be_any = !question.is_rest && !recovery.asks_rest && last > first;
        if may_be_any && (recovery.asks_whole || self.responses.misses_any(first, last)) {
            return false;
        }
        let known = [times.reaction_ns, recovery.requester.reaction_ns()];
        let reaction_ns = known.into_iter().flatten().min();
        if reaction_ns.is_some_and(|ns| now_ns >= passed_ns + ns + 2 * recovery.requester.resolution_ns()) {
            return true;
        }
        match question.nak_ns {
            Some(nak_ns) => nak_ns >= passed_ns + recovery.requester.resolution_ns(),
            // A timer is longer than the round trip: a response that came no later than others was there before it expired.
            None => passed_ns < now_ns && waited_ns <= 2 * times.slowest_response_ns,
        }
    }

    /// Whether the response that the requester lacks passed the tap in time, and in an order that it accepts.
    fn is_lost_downstream(
        &self,
        recovery: &ResponseRecovery,
        (first, last): (ExtendedPsn, ExtendedPsn),
        question: &Question,
        now_ns: u64,
    ) -> bool {
        if !self.responses.has(first) || recovery.doubtful.at(first).is_some() {
            return false;
        }
        // It did not pass since it was requested last.
        let newest = recovery.rounds.iter().rev().find(|round| round.holds(first));
        if newest.is_some_and(|round| round.due.at(first).is_some()) {
            return false;
        }
        // A gap in the answers of that READ explains the question.
        let may_be_any = !question.is_rest && !recovery.asks_rest && last > first;
        let is_explained = may_be_any && (recovery.asks_whole || self.responses.misses_any(first, last));
        // One that keeps what comes early expects no order.
        if is_explained || recovery.is_impatient && recovery.disordered.at(first).is_some() {
            return false;
        }
        let sent_ns = question.sent_ns.unwrap_or(0);
        match recovery.time_of(first) {
            Some(passed_ns) => {
                let is_late = recovery.is_sprayed && now_ns <= passed_ns + self.response_bound_ns();
                let waited_ns = passed_ns.since(sent_ns);
                !is_late && (recovery.has_later(first, passed_ns) || now_ns >= passed_ns + waited_ns)
            }
            None => {
                let waited_ns = self.last_ns.since(sent_ns);
                self.responses.high() > first || now_ns >= self.last_ns + waited_ns
            }
        }
    }

    /// No response follows.
    pub(crate) fn end_responses(&mut self, context: &mut Context<'_>) {
        let mut recovery = match &mut self.response_recovery {
            Some(recovery) => core::mem::take(&mut **recovery),
            None => ResponseRecovery::default(),
        };
        self.settle_doubtful(&mut recovery, u64::MAX, 0, context);
        let _ = self.lose_skipped(&mut recovery, u64::MAX, context);
        while let Some(gap) = self.responses.take_gap() {
            if self.peer.is_some() && recovery.is_due(gap.first) {
                // Requested again, and never seen.
                let ns = self.last_ns;
                self.lost_upstream((gap.first, gap.last), ns, LossEvidence::Skipped, context);
            } else {
                self.counts.lost_response_gaps += 1;
            }
        }
    }
}

impl PsnTracker {
    /// Whether any of these is in a gap.
    fn misses_any(&self, first: ExtendedPsn, last: ExtendedPsn) -> bool {
        self.gaps().overlaps(first, last)
    }
}
