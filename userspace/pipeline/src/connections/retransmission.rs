//! Overtaken, copied or sent again: what a run of requests does below the highest PSN, and why.

use super::direction::Direction;
use super::episode::{Doubt, Episode, Trigger};
use super::event::{Evidence, What, Where};
use super::requests::Surroundings;
use super::sequence::{Place, Shown};
use rocescope_record::RunRecord;
use rocescope_wire::Psn;

/// A pause after which packets sent again are another episode, unless a round trip is longer.
const PAUSE_NS: u64 = 1_000_000;

impl Direction {
    /// Sorts the packets of a run into those that were overtaken, copied or sent again.
    pub(crate) fn classify(
        &mut self,
        run: &RunRecord,
        (first, last): (Place, Place),
        shown: &Shown,
        is_read: bool,
        around: &mut Surroundings<'_>,
    ) {
        // A READ is one packet, though it takes many PSNs.
        let packets = |psns: u64| if is_read { psns.min(1) } else { psns };
        let new = shown.fresh + shown.below + shown.out_of_order + shown.recovered;
        let repeated = if is_read && new > 0 {
            0
        } else {
            packets(shown.repeated)
        };
        let recovered = packets(shown.recovered);
        self.counts.out_of_order += packets(shown.out_of_order);
        if shown.out_of_order > 0 {
            self.overtaken = Some((first, last));
        }
        let mut again = recovered;
        // The first packet that was sent again, and whether it had passed before.
        let (mut again_first, mut had_passed) = (first, false);
        if shown.below > 0 {
            if self.start_is_open {
                self.counts.out_of_order += packets(shown.below);
            } else {
                again += packets(shown.below);
            }
        }
        self.counts.lost_before_tap += recovered;
        self.counts.repeated += repeated;
        if repeated > 0 {
            let place = shown.first_repeated.unwrap_or(first);
            let copies = self
                .copies(place, last, run.first_ns, around.duplicate_ns)
                .min(repeated);
            self.counts.duplicate += copies;
            if repeated > copies {
                again += repeated - copies;
                again_first = if recovered > 0 { first } else { place + copies };
                had_passed = again_first == place + copies;
            }
        }
        self.counts.retransmitted += again;
        if recovered > 0 {
            let asked = self.refusal.is_some_and(|refusal| refusal.place <= last);
            let evidence = if asked {
                Evidence::Nak
            } else {
                Evidence::Timeout
            };
            self.tell_lost_before(first, recovered, evidence, run.first_ns, around);
        }
        let sent_ns = self.waiting.sent_ns(again_first);
        if repeated > 0 || recovered > 0 {
            self.waiting.again(first, last, run.last_ns());
        }
        if again > 0 {
            let waited_ns = sent_ns.map_or(0, |ns| run.first_ns.saturating_sub(ns));
            let waited_ns = had_passed.then_some(waited_ns);
            self.went_back(run, (again_first, last), again, waited_ns, around);
        } else if shown.fresh > 0 {
            self.end_episode(around.tell);
        }
    }

    fn tell_lost_before(
        &mut self,
        first: Place,
        packets: u64,
        evidence: Evidence,
        time_ns: u64,
        around: &mut Surroundings<'_>,
    ) {
        let what = What::Loss {
            psn: Psn::new(first as u32),
            packets,
            place: Where::BeforeTap,
            evidence,
        };
        (around.tell)(time_ns, what);
    }

    /// How many packets from `place` on are copies: soon behind the first, and not asked for.
    fn copies(&self, place: Place, last: Place, now_ns: u64, duplicate_ns: u64) -> u64 {
        let Some(shown_ns) = self.recent.time_of(place) else {
            return 0;
        };
        let asked = self
            .refusal
            .is_some_and(|refusal| refusal.place <= place && refusal.time_ns >= shown_ns);
        if asked || now_ns.saturating_sub(shown_ns) > duplicate_ns {
            return 0;
        }
        // Behind the end of the run before, packets are copies only if that run began with them.
        let end = match self.recent.last() {
            before if place <= before => before.min(last),
            _ => last,
        };
        end - place + 1
    }

    /// Packets were sent again: a new episode, or more of the one under way. `waited_ns`: how long
    /// the first of them had been out, where it had passed before.
    fn went_back(
        &mut self,
        run: &RunRecord,
        (first, last): (Place, Place),
        packets: u64,
        waited_ns: Option<u64>,
        around: &mut Surroundings<'_>,
    ) {
        let asked = self
            .refusal
            .is_some_and(|refusal| !refusal.used && (first..=last).contains(&refusal.place));
        let pause_ns = self.latencies.min_rtt_ns().unwrap_or(0).max(PAUSE_NS);
        let paused = run.first_ns.saturating_sub(self.recent.last_ns()) > pause_ns;
        if let Some(episode) = &mut self.episode
            && !asked
            && (episode.next == first || episode.next < first && !paused)
        {
            let skipped = (episode.next, first);
            episode.next = last + 1;
            episode.packets += packets;
            self.skip(skipped, run.first_ns, around);
            return;
        }
        self.end_episode(around.tell);
        let refusal = self.refusal.as_mut().filter(|_| asked);
        let (trigger, reaction_ns) = match refusal {
            Some(refusal) => {
                refusal.used = true;
                let waited = run.first_ns.saturating_sub(refusal.time_ns);
                (refusal.trigger, (refusal.place == first).then_some(waited))
            }
            None => (Trigger::Timeout, None),
        };
        match trigger {
            Trigger::Nak => {
                self.counts.nak_episodes += 1;
                if let Some(ns) = reaction_ns {
                    self.latencies.others().reaction.add(ns);
                }
            }
            Trigger::Rnr => self.counts.rnr_episodes += 1,
            Trigger::Timeout => {
                self.counts.timeouts += 1;
                self.tries += 1;
                self.try_interval_ns = self.try_interval_ns.max(waited_ns.unwrap_or(0));
                if let Some(waited_ns) = waited_ns.filter(|_| first > self.acked) {
                    self.doubt(first, waited_ns, run.first_ns, around);
                }
            }
        }
        self.episode = Some(Episode {
            trigger,
            first,
            next: last + 1,
            begun_ns: run.first_ns,
            packets,
            reaction_ns,
        });
    }

    /// The sender goes through its packets again, and some did not pass: lost before the tap,
    /// unless it left out what was acknowledged by then.
    fn skip(&mut self, (from, to): (Place, Place), now_ns: u64, around: &mut Surroundings<'_>) {
        let from = from.max(self.acked + 1);
        if from >= to {
            return;
        }
        self.skipped = Some((from, to - 1));
        self.counts.lost_before_tap += to - from;
        self.tell_lost_before(from, to - from, Evidence::Timeout, now_ns, around);
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
        self.lose(doubt, Evidence::Timeout, tell);
    }

    /// What was in doubt is lost.
    pub(crate) fn lose(
        &mut self,
        doubt: Doubt,
        evidence: Evidence,
        tell: &mut dyn FnMut(u64, What),
    ) {
        self.counts.lost_after_tap += u64::from(doubt.times);
        let what = What::Loss {
            psn: Psn::new(doubt.place as u32),
            packets: u64::from(doubt.times),
            place: Where::AfterTap,
            evidence,
        };
        tell(doubt.resent_ns, what);
    }

    pub(crate) fn end_episode(&mut self, tell: &mut dyn FnMut(u64, What)) {
        if let Some(episode) = self.episode.take() {
            tell(episode.begun_ns, What::Retransmission(episode));
        }
    }
}
