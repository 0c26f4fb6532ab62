//! The peer requests responses again: what that shows of them.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::psn_tracker::{ExtendedPsn, Gap, PsnTracker};
use crate::connections::responses::requester::Expectation;
use crate::connections::responses::rounds::{Question, RequesterTimes, ResponseRecovery, Round};
use crate::connections::rows::event::{EventDetail, LossEvidence, LossLocation};
use crate::time::EventTime;
use rocescope_wire::Psn;

impl Direction {
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
                self.counts.lost_downstream += 1;
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
        if !self.responses.has(first) || recovery.suspected.at(first).is_some() {
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
}

impl PsnTracker {
    /// Whether any of these is in a gap.
    fn misses_any(&self, first: ExtendedPsn, last: ExtendedPsn) -> bool {
        self.gaps().overlaps(first, last)
    }
}
