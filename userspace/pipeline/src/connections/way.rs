//! How a run of requests came to pass, told from what passed before it.

use super::context::Surroundings;
use super::direction::Direction;
use super::episode::{Episode, Trigger};
use super::left_out::Range;
use super::sequence::Place;
use rocescope_record::RunRecord;

/// When more than these would be lost in a row, it was rather the first one that came late.
const MOST_LOST: u64 = 3;

/// How a run came to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It continues what its sender is sending, new or again.
    Onward,
    /// It continues what its sender is sending; the run before came from an earlier pass.
    Resumed(Range),
    /// It continues what its sender was sending before it seemed to go back of its own: the run before
    /// only came very late.
    Returned,
    /// Others that were sent behind it came first.
    Overtaken,
    /// The network made a second one of what passed just now.
    Copied,
    /// Its sender went back to it.
    Back(Trigger),
}

impl Direction {
    /// How a run came to pass. `is_answered`: a READ or atomic, whose response is its acknowledgement.
    pub(crate) fn way(
        &self,
        run: &RunRecord,
        (first, last): (Place, Place),
        is_answered: bool,
        around: &Surroundings<'_>,
    ) -> Way {
        let next = self.pass.next();
        let own = self.episode.as_ref();
        let own = own.filter(|episode| episode.trigger == Trigger::Timeout);
        let of_its_own = own.is_some();
        // A copy of what passed last is followed by the same as a pass that begins there. But of a
        // pass that had begun earlier, more would have passed.
        let may_be_copy = own.is_some_and(|episode| episode.before.is_some());
        if of_its_own && (first > next || first == next && may_be_copy) && self.pass.is_back(first)
        {
            return Way::Returned;
        }
        let is_single = |episode: &Episode| {
            episode.trigger == Trigger::Nak && episode.first + 1 == self.pass.next()
        };
        let is_single = self.episode.as_deref().is_some_and(is_single);
        if is_single && self.pass.continues_before(first) && first - next > MOST_LOST {
            return Way::Returned;
        }
        if !self.requests.is_started() || first == next || first > self.requests.high() {
            return Way::Onward;
        }
        let now_ns = run.first_ns;
        let is_soon = |ns: u64| now_ns.saturating_sub(ns) <= self.reorder_ns(around);
        // The timer begins anew with every answer.
        let at_once = is_soon(self.answered_ns);
        if let Some(gap) = self.requests.gap_at(first)
            && is_soon(gap.opened_ns)
            && gap.nak.is_none_or(|nak| nak > last)
        {
            // Also ahead of where the sender went back to: it comes from before that.
            return Way::Overtaken;
        }
        if first > next {
            // What an earlier pass seemed to leave out.
            let late = self.left_out.at(first);
            let is_late = |out: Range| last <= out.last && (at_once || is_soon(out.time_ns));
            return if late.is_some_and(is_late) {
                Way::Overtaken
            } else if of_its_own
                && self.pass.is_alone()
                && (may_be_copy || self.fills_gap(first, last))
            {
                // Another late one.
                Way::Back(Trigger::Timeout)
            } else {
                Way::Onward
            };
        }
        let back = Way::Back(self.trigger(first, last, is_answered && at_once));
        if self.requests.gap_at(first).is_some() {
            return back;
        }
        if first < self.requests.low() {
            return if self.start_is_open && is_soon(self.first_request_ns) {
                Way::Overtaken
            } else {
                back
            };
        }
        // A NAK may pass before what it asks for passes again for another one's sake; what was
        // acknowledged since then its sender leaves out.
        let mut refusals = self.refusals.iter().flatten();
        if refusals.any(|r| !r.used && r.place.max(self.acked + 1) == first) {
            return back;
        }
        match self.left_out.at(first) {
            // What left them out came from before the sender went back, and it goes on here.
            Some(out) if first == out.first && last != out.last => return Way::Resumed(out),
            Some(out) if at_once || is_soon(out.time_ns) => return Way::Overtaken,
            _ => {}
        }
        let Some(shown_ns) = self.pass.time_of(first) else {
            return back;
        };
        let mut refusals = self.refusals.iter().flatten();
        let asked = refusals.any(|r| r.place <= first && r.time_ns >= shown_ns);
        let unanswered = back == Way::Back(Trigger::Response);
        if asked || unanswered || now_ns.saturating_sub(shown_ns) > around.duplicate_ns {
            back
        } else {
            Way::Copied
        }
    }

    /// What fills a gap within this time may have been overtaken.
    fn reorder_ns(&self, around: &Surroundings<'_>) -> u64 {
        self.latencies
            .min_rtt_ns()
            .map_or(around.reorder_ns, |rtt| rtt.max(around.reorder_ns))
    }

    /// Whether none of these has passed, and no NAK asked for them.
    fn fills_gap(&self, first: Place, last: Place) -> bool {
        let gap = self.requests.gap_at(first);
        gap.is_some_and(|gap| last <= gap.last && gap.nak.is_none())
    }

    /// Why the sender goes back to `first`.
    fn trigger(&self, first: Place, last: Place, is_answered: bool) -> Trigger {
        match self.refusals.iter().flatten().find(|r| r.asks(last)) {
            Some(refusal) => refusal.trigger,
            // The request arrived, for it or one behind it was answered just now: what it asked for
            // did not.
            _ if is_answered && first < self.acked => Trigger::Response,
            _ => Trigger::Timeout,
        }
    }
}
