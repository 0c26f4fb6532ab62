//! The rounds of responses that were requested again: what each go-back of the requester made due.

use crate::connections::order::intervals::{Interval, Intervals};
use crate::connections::order::psn_tracker::{ExtendedPsn, Gap, PsnTracker};
use crate::connections::responses::requester::Requester;
use crate::time::EventTime;
use alloc::vec::Vec;
use rocescope_record::RunRecord;

/// Rounds whose responses may still pass.
pub(crate) const MAX_ROUNDS: usize = 8;
/// Times that are kept of the highest PSN, and of other responses.
pub(crate) const TIMES: usize = 32;
pub(crate) const SPACING_NS: u64 = 2_000;
/// Repeated responses in order that show that a requester went back whose requests are not seen.
pub(crate) const EVIDENT: u64 = 2;
/// First responses of a round that may be missing where it is recognized.
pub(crate) const MISSING: u64 = 3;

/// A READ or atomic that was sent before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// The responses that it requests, in PSNs of the requester.
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    /// The requester goes back to it, and no NAK requested that: it lacks the first of them.
    pub(crate) names_missing: bool,
    /// A NAK that makes the requester go back, to this or to a later packet.
    pub(crate) nak_ns: Option<u64>,
    pub(crate) is_read: bool,
    /// A later request was acknowledged, so its responses had been sent.
    pub(crate) is_acknowledged: bool,
    /// It continues the request before it, so the requester did not go back to it.
    pub(crate) continues: bool,
    /// It is the rest of a READ.
    pub(crate) is_rest: bool,
    /// The network or the mirror may have copied it.
    pub(crate) may_be_copy: bool,
    /// When it was sent last.
    pub(crate) sent_ns: Option<u64>,
}

/// What the requester's direction knows of its times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequesterTimes {
    /// The shortest time from a request to its response.
    pub(crate) response_ns: u64,
    /// The longest.
    pub(crate) slowest_response_ns: u64,
    /// The shortest time from a NAK to what it requests.
    pub(crate) reaction_ns: Option<u64>,
}

/// What is known of the requester when a response passes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Awaited {
    /// A READ or atomic waits for a response between the highest that passed and this one.
    pub(crate) hole: bool,
    /// One waits for a response between the one that the requester accepts next and this one.
    pub(crate) expected: bool,
    /// The shortest time from a request to its response.
    pub(crate) response_ns: u64,
}

/// The responses that one go-back requested.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) from: ExtendedPsn,
    pub(crate) until: ExtendedPsn,
    pub(crate) asked_ns: u64,
    /// Those that have not passed since, with the first and last one of their READ; `None`: each has a request of its own.
    pub(crate) due: Intervals<Option<(ExtendedPsn, ExtendedPsn)>>,
    /// When the first of them passed.
    pub(crate) begun_ns: Option<u64>,
    /// The highest of them that has passed since, and when.
    pub(crate) progress: Option<(ExtendedPsn, u64)>,
}

impl Round {
    pub(crate) fn new((from, until): (ExtendedPsn, ExtendedPsn), is_read: bool, asked_ns: u64) -> Self {
        let mut round = Self {
            from,
            until,
            asked_ns,
            due: Intervals::default(),
            begun_ns: None,
            progress: None,
        };
        round.ask((from, until), is_read);
        round
    }

    pub(crate) fn ask(&mut self, (first, last): (ExtendedPsn, ExtendedPsn), is_read: bool) {
        self.due.remove(first, last, &mut |_| {});
        let _ = self.due.insert(Interval {
            first,
            last,
            value: is_read.then_some((first, last)),
        });
        self.until = self.until.max(last);
    }

    pub(crate) const fn holds(&self, psn: ExtendedPsn) -> bool {
        self.from <= psn && psn <= self.until
    }

    pub(crate) fn pass(&mut self, first: ExtendedPsn, last: ExtendedPsn, now_ns: u64) {
        self.due.remove(first, last, &mut |_| {});
        let _ = self.begun_ns.get_or_insert(now_ns);
        let highest = self.progress.map_or(last, |(highest, _)| highest.max(last));
        self.progress = Some((highest, now_ns));
    }
}

/// A run of responses that passed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    pub(crate) first_ns: u64,
    /// 0: unused.
    pub(crate) last_ns: u64,
}

impl Passed {
    pub(crate) fn of(run: &RunRecord, (first, last): (ExtendedPsn, ExtendedPsn)) -> Self {
        Self {
            first,
            last,
            first_ns: run.first_ns,
            last_ns: run.last_ns(),
        }
    }

    pub(crate) const fn holds(&self, psn: ExtendedPsn) -> bool {
        self.last_ns > 0 && self.first <= psn && psn <= self.last
    }

    /// When the PSN passed, as if all had been spaced evenly; the end of the run for PSNs before it.
    pub(crate) fn time_of(&self, psn: ExtendedPsn) -> u64 {
        let duration_ns = self.last_ns.since(self.first_ns);
        let (at, all) = (psn.saturating_sub(self.first), self.last - self.first);
        self.first_ns + (duration_ns * at).checked_div(all).unwrap_or(0)
    }
}

/// Responses that filled a gap although no request for them was seen: late, or the start of a repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoneFill {
    pub(crate) gap: Gap,
    pub(crate) ns: u64,
}

/// The state of responses once one was missing or requested again.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResponseRecovery {
    pub(crate) rounds: Vec<Round>,
    pub(crate) requester: Requester,
    /// The round that passes now.
    pub(crate) current: Option<usize>,
    /// The PSN after the last response of the round.
    pub(crate) next: ExtendedPsn,
    /// Overtaken at the tap, or ahead of one that was: a requester that expects order drops these.
    pub(crate) disordered: Intervals<()>,
    /// Filled a gap after they were requested again, at this time, but not later than others are late.
    pub(crate) suspected: Intervals<u64>,
    pub(crate) lone: Option<LoneFill>,
    pub(crate) is_sprayed: bool,
    /// It requested what was only late.
    pub(crate) is_impatient: bool,
    /// It requests a whole READ again, from wherever a response was missing.
    pub(crate) asks_whole: bool,
    /// It has requested the rest of a READ, so a whole one names its first response.
    pub(crate) asks_rest: bool,
    pub(crate) highs: [Passed; TIMES],
    pub(crate) others: [Passed; TIMES],
    pub(crate) newest: [u8; 2],
}

impl ResponseRecovery {
    pub(crate) fn heap_bytes(&self) -> usize {
        let due: usize = self.rounds.iter().map(|round| round.due.heap_bytes()).sum();
        size_of::<Self>()
            + self.rounds.capacity() * size_of::<Round>()
            + due
            + self.disordered.heap_bytes()
            + self.suspected.heap_bytes()
    }

    pub(crate) fn note(&mut self, passed: Passed, is_high: bool) {
        let at = usize::from(is_high);
        let ring = if is_high { &mut self.highs } else { &mut self.others };
        let Some(newest) = self.newest.get_mut(at) else { return };
        let before_ns = ring.get(*newest as usize).map_or(0, |before| before.last_ns);
        if is_high && passed.last_ns < before_ns.saturating_add(SPACING_NS) {
            return;
        }
        *newest = (*newest + 1) % TIMES as u8;
        if let Some(slot) = ring.get_mut(*newest as usize) {
            *slot = passed;
        }
    }

    /// About when `psn` last passed; `None` if that is long ago.
    pub(crate) fn time_of(&self, psn: ExtendedPsn) -> Option<u64> {
        let others = self.others.iter().filter(|passed| passed.holds(psn));
        let again = others.map(|passed| passed.time_of(psn)).max();
        let known = || self.highs.iter().filter(|passed| passed.last_ns > 0);
        let before = known().any(|passed| passed.first <= psn);
        let after = known().filter(|passed| passed.last >= psn);
        let first = after.map(|passed| passed.time_of(psn)).min();
        again.or_else(|| first.filter(|_| before))
    }

    /// Whether a later response passed after that time.
    pub(crate) fn has_later(&self, psn: ExtendedPsn, since_ns: u64) -> bool {
        let mut all = self.highs.iter().chain(&self.others);
        all.any(|passed| passed.last_ns > since_ns && passed.last > psn)
    }

    /// Whether this response was requested again and did not pass since.
    pub(crate) fn is_due(&self, psn: ExtendedPsn) -> bool {
        self.rounds.iter().any(|round| round.due.at(psn).is_some())
    }

    /// Whether this gap is the end of a READ, and the responder had received a request for it again when it opened, and not
    /// begun to answer that: it may have given up its answer to the request before.
    pub(crate) fn was_cut(&self, gap: &Gap, response_ns: u64) -> bool {
        let opened_ns = gap.value.opened_ns;
        let mut rounds = self.rounds.iter().filter(|round| round.holds(gap.first));
        rounds.any(|round| {
            let read = round.due.at(gap.last).and_then(|due| due.value);
            let is_end = gap.packets() > 1 && read.is_some_and(|(_, last)| last == gap.last);
            let is_before = round.begun_ns.is_none_or(|begun_ns| opened_ns < begun_ns);
            is_end && is_before && round.asked_ns + response_ns / 2 <= opened_ns
        })
    }

    /// Whether the responses that repeat those around `psn` have all passed, by `now_ns`; `None` if no other one is repeated.
    pub(crate) fn has_repeated(&self, psn: ExtendedPsn, now_ns: u64, bound_ns: u64) -> Option<bool> {
        let mut rounds = self.rounds.iter().rev().filter(|round| round.holds(psn)).peekable();
        let has_passed = |round: &Round| {
            let passed = round.progress;
            passed.is_some_and(|(highest, ns)| highest > psn && now_ns.since(ns) > bound_ns)
        };
        let is_last = rounds.peek().is_none_or(|round| round.until == psn);
        (!is_last).then(|| rounds.any(has_passed))
    }

    /// The round that requested `psn` so long before that its response may pass now.
    pub(crate) fn asked(&self, psn: ExtendedPsn, before_ns: u64) -> Option<&Round> {
        let mut rounds = self.rounds.iter().rev();
        rounds.find(|round| round.holds(psn) && round.asked_ns <= before_ns)
    }

    /// A run of responses passes: finds its round.
    pub(crate) fn pass(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        (is_begun, is_repeat): (bool, bool),
        (now_ns, response_ns): (u64, u64),
    ) {
        let is_due = |round: &Round| now_ns >= round.asked_ns + response_ns / 2;
        if self.is_sprayed {
            for round in self.rounds.iter_mut().filter(|round| is_due(round)) {
                if is_repeat && round.due.overlaps(first, last) {
                    round.pass(first, last, now_ns);
                } else {
                    // Late, of a round before, or the first of this one.
                    round.due.remove(first, last, &mut |_| {});
                }
            }
            return;
        }
        let is_open = |round: &Round| round.progress.is_none() && is_due(round);
        let begins = |round: &Round| is_open(round) && round.from == first && is_begun;
        let begun = self.rounds.iter().position(begins).or_else(|| {
            let is_near = |round: &Round| round.from < first && first <= round.from + MISSING && round.holds(first);
            let at = self.rounds.iter().position(|round| is_open(round) && is_near(round));
            at.filter(|_| first < self.next)
        });
        if let Some(at) = begun {
            (self.current, self.next) = (Some(at), first);
        }
        if first < self.next {
            // Late, of whichever round, or stale.
            self.disorder(first, self.next - 1);
            for round in &mut self.rounds {
                round.due.remove(first, last, &mut |_| {});
            }
        } else if let Some(round) = self.current.and_then(|at| self.rounds.get_mut(at)) {
            round.pass(first, last, now_ns);
        }
        self.next = self.next.max(last + 1);
    }

    /// These passed in another order than they were sent.
    pub(crate) fn disorder(&mut self, first: ExtendedPsn, last: ExtendedPsn) {
        self.disordered.remove(first, last, &mut |_| {});
        let _ = self.disordered.insert(Interval { first, last, value: () });
    }

    pub(crate) fn begin_round(&mut self, round: Round) {
        if self.rounds.len() >= MAX_ROUNDS {
            self.rounds.remove(0);
            self.current = self.current.and_then(|at| at.checked_sub(1));
        }
        self.rounds.push(round);
    }

    /// Copies that a later one of their round shows to be lost; `until_ns`: one that passed until then. What left a gap
    /// since the round began was lost once, which its repeat will show.
    pub(crate) fn skipped(&mut self, until_ns: u64, responses: &PsnTracker) -> Vec<(ExtendedPsn, ExtendedPsn)> {
        let mut lost = Vec::new();
        for round in &mut self.rounds {
            let asked_ns = round.asked_ns;
            let is_new = |psn| responses.gap_at(psn).is_some_and(|gap| gap.value.opened_ns >= asked_ns);
            if let Some((highest, ns)) = round.progress
                && ns <= until_ns
            {
                round.due.remove(round.from, highest, &mut |part| {
                    // If none of its responses passed, the request itself may be lost.
                    let is_whole = part.value.is_none_or(|read| read == (part.first, part.last));
                    if !is_new(part.first) && !is_whole {
                        lost.push((part.first, part.last));
                    }
                });
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::{ResponseRecovery, Round};
    use crate::connections::order::psn_tracker::{Gap, Opened, PsnTracker};

    fn gap(first: u64, last: u64, opened_ns: u64) -> Gap {
        let value = Opened {
            before_ns: opened_ns,
            opened_ns,
            nak: None,
            first,
            packets: last + 1 - first,
        };
        Gap { first, last, value }
    }

    /// READs of 8 responses from 100 and from 108 on, requested again at 1,000 ns.
    fn asked() -> ResponseRecovery {
        let mut recovery = ResponseRecovery::default();
        let mut round = Round::new((100, 107), true, 1_000);
        round.ask((108, 115), true);
        recovery.begin_round(round);
        recovery
    }

    #[test]
    fn a_request_may_be_lost_itself_if_none_of_its_responses_pass() {
        let mut recovery = asked();
        // Of the first READ 104 is missing; of the second all are, and the third begins.
        recovery.rounds[0].ask((116, 117), true);
        recovery.rounds[0].pass(100, 103, 5_000);
        recovery.rounds[0].pass(105, 107, 5_100);
        recovery.rounds[0].pass(116, 117, 5_200);
        assert_eq!(recovery.skipped(9_000, &PsnTracker::default()), [(104, 104)]);
        // Atomics have one response each.
        let mut atomics = ResponseRecovery::default();
        atomics.begin_round(Round::new((100, 103), false, 1_000));
        atomics.rounds[0].pass(100, 101, 5_000);
        atomics.rounds[0].pass(103, 103, 5_100);
        assert_eq!(atomics.skipped(9_000, &PsnTracker::default()), []);
    }

    #[test]
    fn a_responder_that_is_asked_again_may_cut_its_answer_short() {
        let mut recovery = asked();
        // The end of the first READ, when the request was there, and before its answer began.
        assert!(recovery.was_cut(&gap(105, 107, 3_000), 2_000));
        // Before the request could be there; in the middle of the READ.
        assert!(!recovery.was_cut(&gap(105, 107, 1_500), 2_000));
        assert!(!recovery.was_cut(&gap(103, 105, 3_000), 2_000));
        // During the answer.
        recovery.rounds[0].pass(100, 102, 4_000);
        assert!(!recovery.was_cut(&gap(105, 107, 5_000), 2_000));
    }
}
