//! What a run of requests counts as, by the way it came: overtaken, copied or sent again.

use super::context::Surroundings;
use super::direction::Direction;
use super::episode::{Episode, Trigger};
use super::event::{Evidence, What, Where};
use super::left_out::Range;
use super::sequence::{Place, Shown};
use super::way::Way;
use alloc::boxed::Box;
use rocescope_record::RunRecord;
use rocescope_wire::Psn;

/// So many that passed before, one behind the other, may be copies that come late.
const FEW: u64 = 2;

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
                let fills = shown.filled > 0 && shown.repeated == 0;
                let may_be_late = |episode: &Episode| {
                    episode.trigger == Trigger::Timeout && (fills || episode.before.is_some())
                };
                if trigger == Trigger::Timeout
                    && self.pass.is_alone()
                    && self.episode.as_deref().is_some_and(may_be_late)
                {
                    // One late packet behind the other is no timer that runs out again and again.
                    self.never_went_back();
                }
                let may_be_late = again <= FEW || shown.repeated == 0;
                self.go_back(run, (first, last), trigger, (again, may_be_late), around);
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
        if again > 0 {
            self.went_back(around);
            self.confirm_left_out((sorted.first, sorted.last), around.tell);
        }
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
        // Of a READ one packet was left out, whatever it asks for.
        let psns = out.last - out.first + 1;
        let packets = psns.saturating_sub(self.waiting.asked_for(out.first, out.last));
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

    /// The sender sends these again, so what of them did not pass before was lost.
    fn confirm_left_out(&mut self, (first, last): (Place, Place), tell: &mut dyn FnMut(u64, What)) {
        let mut left_out = core::mem::take(&mut self.left_out);
        left_out.confirm(first, last, |out| self.count_left_out(out, tell));
        self.left_out = left_out;
    }

    /// More of the pass has come: the sender did go back.
    fn went_back(&mut self, around: &mut Surroundings<'_>) {
        let before = self
            .episode
            .as_mut()
            .and_then(|episode| episode.before.take());
        if let Some(out) = before {
            self.leave_out(out.first, out.last, out.time_ns, around);
        }
    }

    /// The sender went back to `first`: another pass and another episode.
    fn go_back(
        &mut self,
        run: &RunRecord,
        (first, last): (Place, Place),
        trigger: Trigger,
        (packets, may_be_late): (u64, bool),
        around: &mut Surroundings<'_>,
    ) {
        self.end_episode(around.tell);
        self.confirm_left_out((first, last), around.tell);
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
        let mut before = None;
        if trigger != Trigger::Response && first > from && self.requests.low() <= from {
            if trigger == Trigger::Timeout && may_be_late {
                // New ones that follow at once tell that it is none.
                before = (last < self.pass.next()).then_some(Range {
                    first: from,
                    last: first - 1,
                    time_ns: run.first_ns,
                });
            } else {
                self.leave_out(from, first - 1, run.first_ns, around);
            }
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
            before,
        }));
    }

    /// The run that seemed to begin a pass was alone: it came late, and its sender had not gone back.
    fn never_went_back(&mut self) {
        self.pass.resume();
        match self.episode.take().map(|episode| episode.trigger) {
            Some(Trigger::Timeout) => {
                self.doubt = None;
                self.counts.timeouts -= 1;
                self.tries = self.tries.saturating_sub(1);
            }
            Some(Trigger::Nak) => {
                // Its sender is still to hear that NAK.
                self.counts.nak_episodes -= 1;
                if let Some(refusal) = &mut self.refusals[0] {
                    refusal.used = false;
                }
            }
            _ => {}
        }
    }

    /// The sender went back to `place`: it has heard what asked for that, or for less.
    fn use_refusals(&mut self, place: Place) {
        for refusal in self.refusals.iter_mut().flatten() {
            refusal.used |= refusal.place <= place;
        }
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
