//! Predicts the requester of READs and atomics from the order of responses at the tap.
//!
//! A requester that expects order accepts the response that is next, drops what comes before it is due, and requests the
//! next one again when a later response or an acknowledgement shows that it is missing. Its input is what the tap sees,
//! so it is known which requests the order at the tap explains. One that names a response which passed in order does not:
//! that response was lost downstream, if it had time to arrive.

use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::responses::rounds::{Passed, SPACING_NS, TIMES};
use crate::time::EventTime;

/// Responses that passed in the order that the requester expects.
#[derive(Clone, Copy, Debug, Default)]
struct Accepted {
    passed: Passed,
    /// Later ones had passed before the first of them: the requester may have requested it already.
    was_overtaken: bool,
}

/// What the requester, as the order at the tap shows it, has of a response that it requests again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// It waits for this one.
    Next,
    /// It waits for a lower one.
    Lower,
    /// It accepted this one, which passed at `passed_ns`; the one before had passed at `before_ns`.
    Accepted { passed_ns: u64, before_ns: u64 },
    /// It accepted this one, but may have requested it before.
    Overtaken,
    /// It accepted this one long ago, before the given time.
    Before(u64),
}

/// The requester of one direction's responses, as far as the tap can predict it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requester {
    /// It accepts this one next.
    expected: ExtendedPsn,
    /// It has requested that one again: all others are dropped.
    is_asked: bool,
    /// When something later passed first, while it waited.
    overtaken_ns: Option<u64>,
    /// When a response was overtaken that the requester has since accepted, while no request followed: it may go back to
    /// the next one that it lacks.
    unanswered_ns: Option<u64>,
    /// The shortest time from a response that overtakes the expected one to the request for that.
    reaction_ns: Option<u64>,
    /// A ring.
    accepted: [Accepted; TIMES],
    newest: u8,
    /// The last acknowledgement, and when it passed.
    acknowledged: (ExtendedPsn, u64),
    /// A time was no whole microsecond.
    is_fine: bool,
    /// It requested responses that had passed behind one that it lacked: it keeps nothing that comes early.
    replays: bool,
}

impl Requester {
    /// It accepts `expected` next; `passed` is the last run of responses before.
    pub(crate) fn new(expected: ExtendedPsn, passed: Passed) -> Self {
        let mut requester = Self {
            expected,
            ..Self::default()
        };
        requester.accepted[0].passed = passed;
        requester
    }

    pub(crate) const fn expected(&self) -> ExtendedPsn {
        self.expected
    }

    pub(crate) const fn reaction_ns(&self) -> Option<u64> {
        self.reaction_ns
    }

    pub(crate) const fn replays(&self) -> bool {
        self.replays
    }

    /// The resolution of the times: a capture may have whole microseconds.
    pub(crate) const fn resolution_ns(&self) -> u64 {
        if self.is_fine { 0 } else { 1_000 }
    }

    const fn see(&mut self, time_ns: u64) {
        self.is_fine |= !time_ns.is_multiple_of(1_000);
    }

    /// Responses pass; `waits`: a READ or atomic waits for one between the expected one and these.
    pub(crate) fn pass(&mut self, passed: Passed, waits: bool) {
        self.see(passed.first_ns);
        self.see(passed.last_ns);
        if passed.last < self.expected {
            return;
        }
        if passed.first > self.expected && (self.is_asked || waits) {
            if !self.is_asked {
                let _ = self.overtaken_ns.get_or_insert(passed.first_ns);
            }
            return;
        }
        let (psn, acknowledged_ns) = self.acknowledged;
        if let Some(overtaken_ns) = self.overtaken_ns {
            self.unanswered_ns = Some(overtaken_ns);
        }
        let was_overtaken = self.overtaken_ns.take().is_some()
            || psn >= passed.first && passed.first_ns < acknowledged_ns + self.resolution_ns();
        let passed = Passed {
            first: passed.first.max(self.expected),
            ..passed
        };
        (self.expected, self.is_asked) = (passed.last + 1, false);
        if let Some(newest) = self.accepted.get_mut(self.newest as usize)
            && !was_overtaken
            && self.is_fine
            && newest.passed.last_ns > 0
            && newest.passed.last + 1 == passed.first
            && passed.last_ns < newest.passed.first_ns.saturating_add(SPACING_NS)
        {
            (newest.passed.last, newest.passed.last_ns) = (passed.last, newest.passed.last_ns.max(passed.last_ns));
            return;
        }
        self.newest = (self.newest + 1) % TIMES as u8;
        if let Some(slot) = self.accepted.get_mut(self.newest as usize) {
            *slot = Accepted { passed, was_overtaken };
        }
    }

    /// The responder acknowledges `psn`; `waits` as above. Which of two came first is unknown within
    /// the resolution of the times.
    pub(crate) fn acknowledged(&mut self, psn: ExtendedPsn, now_ns: u64, waits: bool) {
        self.see(now_ns);
        if !self.is_asked && psn >= self.expected && waits {
            let _ = self.overtaken_ns.get_or_insert(now_ns);
        }
        self.acknowledged = (psn, now_ns);
        let resolution_ns = self.resolution_ns();
        for accepted in &mut self.accepted {
            let passed = accepted.passed;
            accepted.was_overtaken |= passed.first <= psn && now_ns < passed.first_ns + resolution_ns;
        }
    }

    /// It requests `first` again; `names_missing`: because it lacks that one.
    pub(crate) fn asks(&mut self, first: ExtendedPsn, now_ns: u64, names_missing: bool) -> Expectation {
        self.see(now_ns);
        if first > self.expected {
            self.replays |= !names_missing;
            if names_missing && !self.is_asked {
                // It has the expected one, which did not pass.
                self.expect(first);
            }
            return Expectation::Lower;
        }
        if first == self.expected {
            if let Some(overtaken_ns) = self.overtaken_ns.filter(|_| !self.is_asked && names_missing) {
                let ns = now_ns.since(overtaken_ns);
                self.reaction_ns = Some(self.reaction_ns.map_or(ns, |least| least.min(ns)));
            }
            self.expect(first);
            return Expectation::Next;
        }
        let used = || self.accepted.iter().filter(|accepted| accepted.passed.last_ns > 0);
        let holding = used().filter(|accepted| accepted.passed.holds(first));
        let Some(accepted) = holding.max_by_key(|accepted| accepted.passed.first_ns) else {
            let oldest = used().min_by_key(|accepted| accepted.passed.first);
            let oldest = oldest.filter(|oldest| first < oldest.passed.first);
            return oldest.map_or(Expectation::Lower, |oldest| Expectation::Before(oldest.passed.first_ns));
        };
        let is_first = accepted.passed.first == first;
        let passed_ns = accepted.passed.time_of(first);
        let unanswered_ns = self.unanswered_ns.take_if(|_| names_missing);
        if is_first && accepted.was_overtaken || unanswered_ns.is_some_and(|ns| ns <= passed_ns) {
            return Expectation::Overtaken;
        }
        let earlier = used().filter(|other| other.passed.last < accepted.passed.first);
        let before_ns = earlier
            .map(|other| other.passed.last_ns)
            .filter(|ns| *ns <= passed_ns)
            .max();
        Expectation::Accepted {
            passed_ns,
            before_ns: if is_first { before_ns.unwrap_or(0) } else { passed_ns },
        }
    }

    /// It lacks this one.
    pub(crate) const fn expect(&mut self, psn: ExtendedPsn) {
        (self.expected, self.is_asked, self.overtaken_ns) = (psn, true, None);
        self.unanswered_ns = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{Expectation, Requester};
    use crate::connections::responses::rounds::Passed;

    fn run(first: u64, last: u64, first_ns: u64) -> Passed {
        let last_ns = first_ns + 100 * (last - first);
        Passed {
            first,
            last,
            first_ns,
            last_ns,
        }
    }

    /// It expects 10; all times are known to the nanosecond.
    fn requester() -> Requester {
        let mut requester = Requester::new(10, run(5, 9, 1_001));
        requester.pass(run(10, 19, 4_001), false);
        requester
    }

    #[test]
    fn a_response_that_passed_in_order_does_not_explain_its_request() {
        let passed_ns = 4_301;
        let mut at_all = requester();
        assert_eq!(
            at_all.asks(13, 9_000, true),
            Expectation::Accepted {
                passed_ns,
                before_ns: passed_ns
            }
        );
        // What it requests next is only a replay, and so is what it accepted before.
        at_all.expect(13);
        assert_eq!(at_all.asks(20, 9_100, false), Expectation::Lower);
        assert!(at_all.replays());
        // It drops 20 while it waits for 13.
        at_all.pass(run(20, 29, 9_200), true);
        at_all.pass(run(13, 19, 9_900), false);
        assert_eq!(at_all.expected(), 20);
    }

    #[test]
    fn the_order_at_the_tap_explains_a_request() {
        // 20 left a gap; the time to the request is that of a reaction.
        let mut overtaken = requester();
        overtaken.pass(run(21, 29, 6_001), true);
        assert_eq!(overtaken.expected(), 20);
        assert_eq!(overtaken.asks(20, 11_001, true), Expectation::Next);
        assert_eq!(overtaken.reaction_ns(), Some(5_000));

        // 20 passes late, before its request.
        let mut late = requester();
        late.pass(run(21, 29, 6_001), true);
        late.pass(run(20, 20, 7_001), false);
        assert_eq!(late.asks(20, 8_001, true), Expectation::Overtaken);

        // An acknowledgement of a later request overtakes 20.
        let mut acknowledged = requester();
        acknowledged.acknowledged(25, 6_001, true);
        acknowledged.pass(run(20, 24, 6_101), false);
        assert_eq!(acknowledged.asks(20, 8_001, true), Expectation::Overtaken);
        // Nothing waits for responses that the acknowledgement covers.
        let mut writes = requester();
        writes.acknowledged(25, 6_001, false);
        writes.pass(run(26, 28, 6_101), false);
        assert!(matches!(writes.asks(26, 8_001, true), Expectation::Accepted { .. }));
    }

    #[test]
    fn a_requester_that_went_back_may_begin_with_the_next_one_that_it_lacks() {
        let mut requester = requester();
        requester.acknowledged(25, 6_001, true);
        requester.pass(run(20, 20, 6_101), false);
        requester.pass(run(21, 21, 9_101), false);
        assert_eq!(requester.asks(21, 9_201, true), Expectation::Overtaken);
        // Only once.
        assert!(matches!(requester.asks(21, 19_201, true), Expectation::Accepted { .. }));
    }

    #[test]
    fn which_of_two_passed_first_is_unknown_within_a_microsecond_of_coarse_times() {
        let mut coarse = Requester::new(10, run(5, 9, 1_000));
        coarse.pass(run(10, 10, 2_000), false);
        coarse.acknowledged(25, 2_000, true);
        assert_eq!(coarse.asks(10, 8_000, true), Expectation::Overtaken);
        assert_eq!(coarse.resolution_ns(), 1_000);
        assert_eq!(requester().resolution_ns(), 0);
    }
}
