//! Overtaken, copied or sent again: how a run of requests came to pass, and why.

use super::direction::Direction;
use super::episode::{Doubt, Episode, Trigger};
use super::event::{Evidence, What, Where};
use super::left_out::Range;
use super::requests::Surroundings;
use super::sequence::{Place, Shown};
use alloc::boxed::Box;
use rocescope_record::RunRecord;
use rocescope_wire::Psn;

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

/// A run of requests, sorted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sorted {
    pub(crate) way: Way,
    pub(crate) first: Place,
    pub(crate) last: Place,
    /// What of it shows what.
    pub(crate) shown: Shown,
    /// PSNs at its front that were copied, behind which it goes onward.
    pub(crate) copied: Shown,
    /// A READ takes many PSNs with one packet; whether a READ was asked for from here before.
    pub(crate) read: Option<bool>,
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
        let of_its_own = self
            .episode
            .as_ref()
            .is_some_and(|e| e.trigger == Trigger::Timeout);
        if of_its_own && first > next && self.pass.is_back(first) {
            return Way::Returned;
        }
        if !self.requests.is_started() || first == next || first > self.requests.high() {
            return Way::Onward;
        }
        let now_ns = run.first_ns;
        let is_soon = |ns: u64| now_ns.saturating_sub(ns) <= self.reorder_ns(around);
        if let Some(gap) = self.requests.gap_at(first)
            && is_soon(gap.opened_ns)
            && gap.nak.is_none_or(|nak| nak > last)
        {
            // Also ahead of where the sender went back to: it comes from before that.
            return Way::Overtaken;
        }
        if first > next {
            return Way::Onward;
        }
        let at_once = is_soon(self.answered_ns);
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
            Some(out) if first == out.first && last < out.last => return Way::Resumed(out),
            Some(out) if is_soon(out.time_ns) => return Way::Overtaken,
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

    /// Counts a run by the way it came.
    pub(crate) fn classify(
        &mut self,
        run: &RunRecord,
        sorted: &Sorted,
        filled: &[(Place, Place)],
        around: &mut Surroundings<'_>,
    ) {
        let Sorted {
            way, first, last, ..
        } = *sorted;
        let shown = sorted.shown;
        let packets = |psns: u64| match sorted.read {
            Some(_) => psns.min(1),
            None => psns,
        };
        let repeated = match sorted.read {
            Some(before) => u64::from(before && shown.fresh == 0),
            None => sorted.copied.repeated + shown.repeated,
        };
        self.counts.repeated += repeated;
        let again = packets(shown.repeated + shown.filled);
        match way {
            Way::Copied => {
                self.counts.duplicate += packets(sorted.copied.repeated);
                self.counts.out_of_order += packets(sorted.copied.filled);
                self.onward(run, sorted, again, filled, around);
            }
            Way::Overtaken => {
                self.counts.out_of_order += packets(shown.filled + shown.below);
                // What passed before was sent again, and then overtaken.
                self.counts.retransmitted += packets(shown.repeated);
                self.left_out.fill(first, last);
            }
            Way::Resumed(out) => {
                self.left_out.fill(out.first, out.last);
                self.pass.rewind(first);
                self.onward(run, sorted, again, filled, around);
            }
            Way::Returned => {
                self.never_went_back();
                self.onward(run, sorted, again, filled, around);
            }
            Way::Onward => self.onward(run, sorted, again, filled, around),
            Way::Back(trigger) => {
                let again = again + packets(shown.below);
                self.counts.retransmitted += again;
                self.count_lost_before(run, sorted, filled, around);
                self.go_back(run, (first, last), trigger, again, around);
            }
        }
    }

    /// The run continues the pass: from where the pass began up to where it had come before, all is
    /// sent again.
    fn onward(
        &mut self,
        run: &RunRecord,
        sorted: &Sorted,
        again: u64,
        filled: &[(Place, Place)],
        around: &mut Surroundings<'_>,
    ) {
        let (from, until) = (self.pass.next(), self.pass.again_until());
        if sorted.first > from && from <= until && until > 0 {
            self.leave_out(from, until.min(sorted.first - 1), run.first_ns, around);
        }
        if again == 0 {
            if sorted.shown.fresh > 0 {
                self.end_episode(around.tell);
            }
            return;
        }
        self.counts.retransmitted += again;
        self.count_lost_before(run, sorted, filled, around);
        if let Some(episode) = &mut self.episode {
            episode.packets += again;
        }
    }

    /// What fills gaps when it is sent again was lost before the tap.
    fn count_lost_before(
        &mut self,
        run: &RunRecord,
        sorted: &Sorted,
        filled: &[(Place, Place)],
        around: &mut Surroundings<'_>,
    ) {
        for (first, last) in filled {
            let packets = match sorted.read {
                Some(_) => 1,
                None => last - first + 1,
            };
            self.counts.lost_before_tap += packets;
            let what = What::Loss {
                psn: Psn::new(*first as u32),
                packets,
                place: Where::BeforeTap,
                evidence: Evidence::Gap,
            };
            (around.tell)(run.first_ns, what);
        }
    }

    /// The sender goes through its packets again, and `first..=last` do not pass: lost before the
    /// tap, unless they come late, or were left out because they were acknowledged by then.
    fn leave_out(
        &mut self,
        first: Place,
        last: Place,
        time_ns: u64,
        around: &mut Surroundings<'_>,
    ) {
        let first = first.max(self.acked + 1);
        if first > last {
            return;
        }
        let out = Range {
            first,
            last,
            time_ns,
        };
        if let Some(oldest) = self.left_out.put(out) {
            self.count_left_out(oldest, around.tell);
        }
    }

    fn count_left_out(&mut self, out: Range, tell: &mut dyn FnMut(u64, What)) {
        let packets = out.last - out.first + 1;
        self.counts.lost_before_tap += packets;
        let what = What::Loss {
            psn: Psn::new(out.first as u32),
            packets,
            place: Where::BeforeTap,
            evidence: Evidence::LeftOut,
        };
        tell(out.time_ns, what);
    }

    /// What was left out did not come late either.
    pub(crate) fn settle_left_out(&mut self, tell: &mut dyn FnMut(u64, What)) {
        while let Some(out) = self.left_out.take_oldest() {
            self.count_left_out(out, tell);
        }
    }

    /// The sender went back to `first`: another pass and another episode.
    fn go_back(
        &mut self,
        run: &RunRecord,
        (first, last): (Place, Place),
        trigger: Trigger,
        packets: u64,
        around: &mut Surroundings<'_>,
    ) {
        self.end_episode(around.tell);
        self.settle_left_out(around.tell);
        // It goes back to what was asked for, or to what was not acknowledged: less passed if that
        // was lost on the way.
        let mut from = self.acked + 1;
        let mut reaction_ns = None;
        let mut refusals = self.refusals.iter().flatten();
        if matches!(trigger, Trigger::Nak | Trigger::Rnr)
            && let Some(refusal) = refusals.find(|r| r.asks(last))
        {
            from = from.max(refusal.place);
            let waited = run.first_ns.saturating_sub(refusal.time_ns);
            reaction_ns = (refusal.place == first).then_some(waited);
        }
        self.use_refusals(from);
        if trigger != Trigger::Response && first > from && self.requests.low() <= from {
            self.leave_out(from, first - 1, run.first_ns, around);
        }
        match trigger {
            Trigger::Nak => {
                self.counts.nak_episodes += 1;
                if let Some(ns) = reaction_ns {
                    self.latencies.others().reaction.add(ns);
                }
            }
            Trigger::Rnr => self.counts.rnr_episodes += 1,
            Trigger::Response => self.counts.response_episodes += 1,
            Trigger::Timeout => {
                let sent_ns = self.waiting.sent_ns(first);
                let waited_ns = sent_ns.map_or(0, |ns| run.first_ns.saturating_sub(ns));
                self.counts.timeouts += 1;
                self.tries += 1;
                self.try_interval_ns = self.try_interval_ns.max(waited_ns);
                // Where the receiver waits for what did not reach the tap, its silence is explained.
                let taken = self.receiver.has_taken(first);
                if first > self.acked && sent_ns.is_some() && taken {
                    self.doubt(first, waited_ns, run.first_ns, around);
                }
                // An answer may be for what was sent before or for what is sent now.
                self.waiting.blur(first);
            }
        }
        self.pass.begin(first, self.requests.high());
        self.episode = Some(Box::new(Episode {
            trigger,
            first,
            begun_ns: run.first_ns,
            packets,
            reaction_ns,
        }));
    }

    /// The run that seemed to begin a pass was alone: it came late, and no timer had run out.
    fn never_went_back(&mut self) {
        self.pass.resume();
        self.episode = None;
        self.doubt = None;
        self.counts.timeouts -= 1;
        self.tries = self.tries.saturating_sub(1);
        // What it seemed to leave out.
        self.left_out.clear();
    }

    /// The sender went back to `place`: it has heard what asked for that, or for less.
    fn use_refusals(&mut self, place: Place) {
        for refusal in self.refusals.iter_mut().flatten() {
            refusal.used |= refusal.place <= place;
        }
    }

    /// The sender's timer ran out for what had passed and was not acknowledged: whether it was
    /// lost, the next answer tells.
    fn doubt(&mut self, place: Place, waited_ns: u64, now_ns: u64, around: &mut Surroundings<'_>) {
        let times = match self.doubt {
            Some(doubt) if doubt.place == place => doubt.times + 1,
            _ => {
                self.settle_doubt(None, around.tell);
                1
            }
        };
        self.doubt = Some(Doubt {
            place,
            resent_ns: now_ns,
            times,
            waited_ns,
        });
    }

    /// The answer for all up to `answered` passed at its time, or none will any more.
    ///
    /// An answer that comes tells nothing of which copy it answers, but for one thing: when the
    /// sender had waited more than twice the longest round trip before it sent again, the first
    /// copy (or its answer) was lost. Else the answer may just have been slow.
    pub(crate) fn settle_doubt(
        &mut self,
        answered: Option<(Place, u64)>,
        tell: &mut dyn FnMut(u64, What),
    ) {
        let Some(doubt) = self.doubt else {
            return;
        };
        if let Some((place, now_ns)) = answered {
            if place < doubt.place {
                return;
            }
            self.doubt = None;
            let longest_ns = self.latencies.max_rtt_ns().unwrap_or(u64::MAX / 2);
            let soonest_ns = doubt.resent_ns + self.latencies.min_rtt_ns().unwrap_or(0);
            if doubt.waited_ns <= 2 * longest_ns || now_ns < soonest_ns {
                return;
            }
        }
        self.doubt = None;
        let packets = u64::from(doubt.times);
        self.counts.unanswered += packets;
        let what = What::Loss {
            psn: Psn::new(doubt.place as u32),
            packets,
            place: Where::AfterTap,
            evidence: Evidence::Timeout,
        };
        tell(doubt.resent_ns, what);
    }

    /// The receiver asked for what passed: lost behind the tap, so many times.
    pub(crate) fn lose(
        &mut self,
        (place, time_ns): (Place, u64),
        packets: u64,
        tell: &mut dyn FnMut(u64, What),
    ) {
        self.counts.lost_after_tap += packets;
        let what = What::Loss {
            psn: Psn::new(place as u32),
            packets,
            place: Where::AfterTap,
            evidence: Evidence::Nak,
        };
        tell(time_ns, what);
    }

    pub(crate) fn end_episode(&mut self, tell: &mut dyn FnMut(u64, What)) {
        if let Some(episode) = self.episode.take() {
            tell(episode.begun_ns, What::Retransmission(*episode));
        }
    }
}
