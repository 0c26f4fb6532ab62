//! Requests that the fabric sprays over paths of unequal length: there order shows nothing.
//!
//! What remains is arithmetic and time. A NAK makes the sender transmit a PSN, or everything from it on, once more; so
//! one more copy is *due*. The first copy of a PSN that passes may be the late original or the next one, but if all
//! copies pass, none was lost, and if one does not pass within the time by which the fabric reorders, one was lost
//! upstream. A packet that fills a gap sooner after the NAK than the NAK can reach the sender was late; one that is
//! older than the fabric makes packets late was transmitted again.

use super::context::Context;
use super::direction::Direction;
use super::event::{EventDetail, LossEvidence, LossLocation};
use super::intervals::{Interval, Intervals};
use super::psn_tracker::{Arrival, ExtendedPsn, Gap};
use super::recovery::{Episode, Trigger};
use super::responder::NakMeaning;
use super::send_sequence::SendSequence;
use super::sender_way::Way;
use alloc::boxed::Box;
use alloc::vec::Vec;
use rocescope_record::RunRecord;
use rocescope_wire::Psn;

/// NAKs kept until the sender reacts to them.
const MAX_ASKS: usize = 8;
/// Packets that a NAK named although they had passed, until their acknowledgement.
const MAX_SUSPECTS: usize = 32;
/// Times of the highest PSN that are kept, and the time between them: 128 µs in all.
const TIMES: usize = 64;
const SPACING_NS: u64 = 2_000;
/// Late packets kept.
const LATE: usize = 64;
/// Packets repeated without a request that show that the sender went back.
const EVIDENT: u64 = 2;
/// Reordered packets without a NAK that show that the receiver keeps early packets.
const MANY_KEPT: u32 = 8;

/// A NAK, and whether the sender has reacted to it.
#[derive(Clone, Copy, Debug)]
struct Ask {
    trigger: Trigger,
    psn: ExtendedPsn,
    time_ns: u64,
    used: bool,
}

/// The sender went back.
#[derive(Clone, Copy, Debug)]
struct Pass {
    from: ExtendedPsn,
    /// The highest PSN before.
    until: ExtendedPsn,
    begun_ns: u64,
    /// Packets of it that have passed, those of them that repeated others without a request, and the highest.
    passed: u64,
    repeated: u64,
    progress: ExtendedPsn,
}

/// A packet that passed and that a NAK named.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    psn: ExtendedPsn,
    nak_ns: u64,
    resent_ns: Option<u64>,
}

/// What a sprayed direction needs beside its tracker.
#[derive(Clone, Debug)]
pub(crate) struct Sprayed {
    asks: Vec<Ask>,
    pass: Option<Pass>,
    /// Copies of the current pass that have not passed.
    due: Intervals<()>,
    /// Copies that later ones of their pass overtook, and when.
    skipped: Intervals<u64>,
    /// Packets of the last pass that passed.
    passed: u64,
    /// What was due of the pass before at its end.
    was_due: Intervals<()>,
    /// Those of them that a NAK named: lost unless they pass before this time.
    overdue: Intervals<u64>,
    /// Filled a gap at this time, after a NAK: late, or transmitted again.
    doubtful: Intervals<u64>,
    suspects: Vec<Suspect>,
    /// Nothing of these ends before.
    deadline_ns: u64,
    /// The shortest and the longest time from the last packet of a message, however late, to its acknowledgement.
    round_trips_ns: Option<(u64, u64)>,
    /// Reordered packets at the last answer, and those between two answers without a NAK, and with one for one of them.
    reordered: u32,
    /// The last packets that were late, a ring.
    late: [ExtendedPsn; LATE],
    kept: u32,
    refused: u32,
    times: [(ExtendedPsn, u64); TIMES],
    newest: u8,
}

impl Default for Sprayed {
    fn default() -> Self {
        Self {
            asks: Vec::new(),
            pass: None,
            due: Intervals::default(),
            skipped: Intervals::default(),
            passed: 0,
            was_due: Intervals::default(),
            overdue: Intervals::default(),
            doubtful: Intervals::default(),
            suspects: Vec::new(),
            deadline_ns: u64::MAX,
            round_trips_ns: None,
            reordered: 0,
            late: [0; LATE],
            kept: 0,
            refused: 0,
            times: [(0, 0); TIMES],
            newest: 0,
        }
    }
}

impl Sprayed {
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.asks.capacity() * size_of::<Ask>()
            + self.suspects.capacity() * size_of::<Suspect>()
            + self.due.heap_bytes()
            + self.skipped.heap_bytes()
            + self.was_due.heap_bytes()
            + self.overdue.heap_bytes()
            + self.doubtful.heap_bytes()
    }

    /// Whether nothing is open.
    pub(crate) const fn is_clear(&self) -> bool {
        self.pass.is_none()
            && self.skipped.is_empty()
            && self.overdue.is_empty()
            && self.doubtful.is_empty()
            && self.suspects.is_empty()
    }

    /// An acknowledgement followed `ns` after what it answers.
    pub(crate) fn learn_round_trip(&mut self, ns: u64) {
        let (min, max) = self.round_trips_ns.unwrap_or((ns, ns));
        self.round_trips_ns = Some((min.min(ns), max.max(ns)));
    }

    /// The highest PSN is `psn` at `now_ns`.
    fn note(&mut self, psn: ExtendedPsn, now_ns: u64) {
        let newest = self.times.get(self.newest as usize).copied().unwrap_or_default();
        if now_ns < newest.1.saturating_add(SPACING_NS) {
            return;
        }
        self.newest = (self.newest + 1) % TIMES as u8;
        if let Some(slot) = self.times.get_mut(self.newest as usize) {
            *slot = (psn, now_ns);
        }
    }

    /// The times between which `psn` became the highest; `None` if that is too long ago.
    fn time_of(&self, psn: ExtendedPsn) -> Option<(u64, u64)> {
        let known = || self.times.iter().filter(|(_, ns)| *ns > 0);
        let before = known().filter(|(high, _)| *high < psn).map(|(_, ns)| *ns).max()?;
        let after = known().filter(|(high, _)| *high >= psn).map(|(_, ns)| *ns).min();
        Some((before, after.unwrap_or(before)))
    }

    /// The NAK that explains that `first..=last` are transmitted again: one that names one of them, else the newest for
    /// a lower PSN.
    fn ask_for(&mut self, first: ExtendedPsn, last: ExtendedPsn) -> Option<&mut Ask> {
        let open = |ask: &Ask| !ask.used && ask.psn <= last;
        let named = self.asks.iter().rposition(|ask| open(ask) && ask.psn >= first);
        let at = named.or_else(|| self.asks.iter().rposition(open))?;
        self.asks.get_mut(at)
    }

    fn use_asks(&mut self, psn: ExtendedPsn) {
        for ask in &mut self.asks {
            ask.used |= ask.psn <= psn;
        }
        self.asks.retain(|ask| !ask.used);
    }
}

impl Direction {
    /// Sees whether the fabric sprays this direction.
    pub(crate) fn learn_spray(&mut self, now_ns: u64, context: &mut Context<'_>) {
        if self.sprayed.is_none() && self.reordering.is_sprayed() {
            self.ignore_order(now_ns, context);
        }
    }

    /// The sender repeated what a NAK requested, and new packets, from `first` on, follow before it repeated the rest: it
    /// repeats selectively, so that its order shows nothing either.
    pub(crate) fn learn_selective(&mut self, first: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) {
        let Some(episode) = self.episode.as_deref() else {
            return;
        };
        let next = self.send_sequence.next();
        if self.sprayed.is_some()
            || episode.trigger != Trigger::Nak
            || self.sender_way.way() == Way::GoBackN
            || first <= self.requests.high()
        {
            return;
        }
        let open = next.max(self.acked + 1)..=self.send_sequence.resent_until();
        let passed = open.filter(|psn| self.requests.has(*psn)).take(EVIDENT as usize);
        if passed.count() < EVIDENT as usize {
            return;
        }
        let (from, begun_ns) = (episode.first, episode.begun_ns);
        self.sender_way.repeated_alone();
        self.ignore_order(now_ns, context);
        if let Some(sprayed) = &mut self.sprayed {
            sprayed.pass = Some(Pass {
                from,
                until: self.requests.high(),
                begun_ns,
                passed: 0,
                repeated: 0,
                progress: from,
            });
        }
    }

    /// From now on the order of requests shows nothing.
    fn ignore_order(&mut self, now_ns: u64, context: &mut Context<'_>) {
        if self.counts.reads + self.counts.atomics > 0 {
            return;
        }
        self.end_episode(context.emit);
        self.skipped.clear();
        let mut sprayed = Box::<Sprayed>::default();
        for nak in self.naks.iter().rev().flatten().filter(|nak| !nak.used) {
            sprayed.asks.push(Ask {
                trigger: nak.trigger,
                psn: nak.psn,
                time_ns: nak.time_ns,
                used: false,
            });
        }
        if let Some((psn, nak_ns)) = self.responder.take_lost() {
            sprayed.suspects.push(Suspect {
                psn,
                nak_ns,
                resent_ns: None,
            });
        }
        let high = self.requests.high();
        sprayed.note(high, now_ns);
        self.send_sequence = SendSequence::default();
        self.send_sequence.reserve(high);
        self.sprayed = Some(sprayed);
    }

    /// Later than this, a packet was not reordered.
    fn late_bound_ns(&self) -> u64 {
        self.reordering.bound_ns()
    }

    /// What a NAK requests cannot pass sooner: half of the shortest such time, less the difference of the paths.
    fn reaction_ns(&self) -> u64 {
        let reaction = self.latencies.rare().and_then(|rare| rare.reaction.min());
        reaction.map_or(0, |ns| ns / 2).saturating_sub(self.late_bound_ns())
    }

    /// Whether the sender's timer may have expired: without an answer for so long.
    fn is_timeout(&self, now_ns: u64, context: &Context<'_>) -> bool {
        // A timer is longer than every round trip.
        let unknown_ns = || self.reordering.oldest_ns(context.reorder_ns);
        let timer_ns = self.latencies.max_rtt_ns().map_or_else(unknown_ns, |ns| 2 * ns);
        now_ns.saturating_sub(self.answered_ns.max(self.first_request_ns)) > timer_ns
    }

    fn shortest_rtt_ns(&self, sprayed: &Sprayed) -> Option<u64> {
        let late = sprayed.round_trips_ns.map(|(min, _)| min);
        self.latencies.min_rtt_ns().into_iter().chain(late).min()
    }

    fn longest_rtt_ns(&self, sprayed: &Sprayed) -> u64 {
        let late = sprayed.round_trips_ns.map(|(_, max)| max);
        self.latencies.max_rtt_ns().into_iter().chain(late).max().unwrap_or(0)
    }

    /// The time within which everything that was sent has passed.
    fn settled_ns(&self, sprayed: &Sprayed) -> u64 {
        let round_trip = self.longest_rtt_ns(sprayed);
        2 * round_trip.max(self.late_bound_ns())
    }

    /// A run of requests of a sprayed direction: `filled` gaps, the rest is new or repeats.
    pub(crate) fn sprayed_requests(
        &mut self,
        run: &RunRecord,
        (first, last): (ExtendedPsn, ExtendedPsn),
        arrival: &Arrival,
        filled: &[Gap],
        context: &mut Context<'_>,
    ) {
        let Some(mut sprayed) = self.sprayed.take() else {
            return;
        };
        let now_ns = run.first_ns;
        self.settle_sprayed(&mut sprayed, now_ns, context);
        self.counts.out_of_order += arrival.below;
        // The pieces of the run, in order: what fills a gap, what repeats, what is new.
        let new_from = last + 1 - arrival.above;
        let mut at = first + arrival.below;
        for gap in filled {
            if at < gap.first {
                self.sprayed_repeat(&mut sprayed, (at, gap.first - 1), now_ns, context);
            }
            self.sprayed_fill(&mut sprayed, gap, now_ns, context);
            at = gap.last + 1;
        }
        if at < new_from {
            self.sprayed_repeat(&mut sprayed, (at, new_from - 1), now_ns, context);
        }
        if arrival.above > 0 {
            sprayed.note(last, now_ns);
            let bound_ns = self.late_bound_ns();
            let is_over = |pass: &Pass| now_ns > pass.begun_ns + bound_ns;
            if sprayed.pass.as_ref().is_some_and(is_over) {
                self.end_pass(&mut sprayed, context);
            }
        }
        self.sprayed = Some(sprayed);
    }

    /// A packet fills a gap.
    fn sprayed_fill(&mut self, sprayed: &mut Sprayed, gap: &Gap, now_ns: u64, context: &mut Context<'_>) {
        let late_ns = now_ns.saturating_sub(gap.value.opened_ns);
        let (bound_ns, reaction_ns) = (self.late_bound_ns(), self.reaction_ns());
        let is_old = late_ns > bound_ns;
        let way = self.sender_way.way();
        let is_timeout = self.is_timeout(now_ns, context);
        let in_pass = sprayed
            .pass
            .as_ref()
            .is_some_and(|pass| pass.from <= gap.first && gap.first <= pass.until);
        let ask = sprayed.ask_for(gap.first, gap.last);
        let ask = ask.filter(|ask| ask.psn >= gap.first || way != Way::SelectiveRepeat);
        let Some(ask) = ask.copied().filter(|ask| is_old || now_ns >= ask.time_ns + reaction_ns) else {
            // A selective sender repeats one packet after its timer; no packet was ever late.
            let rtt_ns = self.longest_rtt_ns(sprayed);
            let is_alone = way == Way::SelectiveRepeat && bound_ns == 0 && rtt_ns > 0 && late_ns > 2 * rtt_ns;
            if is_alone || in_pass && is_old {
                return self.sprayed_lost(sprayed, gap, now_ns, context);
            }
            if is_timeout && late_ns > self.reordering.oldest_ns(context.reorder_ns) {
                // Nothing requested it, and it is too old to be late: the timer expired.
                self.begin_pass(
                    sprayed,
                    gap.first,
                    (gap.last, now_ns),
                    (Trigger::Timeout, None),
                    context,
                );
                return self.sprayed_lost(sprayed, gap, now_ns, context);
            }
            return self.sprayed_late(sprayed, gap, late_ns);
        };
        let is_named = ask.psn >= gap.first;
        if is_old {
            let waited_ns = now_ns - ask.time_ns;
            let reaction = (is_named && ask.trigger == Trigger::Nak).then_some(waited_ns);
            self.begin_pass(
                sprayed,
                ask.psn.min(gap.first),
                (gap.last, now_ns),
                (ask.trigger, reaction),
                context,
            );
            self.sprayed_lost(sprayed, gap, now_ns, context);
        } else {
            self.counts.out_of_order += gap.packets();
            if is_named || in_pass {
                let doubt = Interval {
                    first: gap.first,
                    last: gap.last,
                    value: now_ns,
                };
                let _ = sprayed.doubtful.insert(doubt);
                sprayed.deadline_ns = sprayed.deadline_ns.min(now_ns + self.settled_ns(sprayed));
            }
        }
    }

    /// It was overtaken.
    fn sprayed_late(&mut self, sprayed: &mut Sprayed, gap: &Gap, late_ns: u64) {
        if let Some(slot) = sprayed.late.get_mut(gap.first as usize % LATE) {
            *slot = gap.first;
        }
        self.counts.out_of_order += gap.packets();
        let high = self.requests.high();
        self.reordering.learn(gap.packets(), late_ns, (high, high - gap.first));
    }

    /// Its first copy was lost upstream.
    fn sprayed_lost(&mut self, sprayed: &mut Sprayed, gap: &Gap, now_ns: u64, context: &mut Context<'_>) {
        self.counts.retransmitted += gap.packets();
        self.sprayed_copy(sprayed, (gap.first, gap.last), now_ns);
        if let Some(episode) = &mut self.episode {
            episode.packets += gap.packets();
        }
        self.lost_upstream((gap.first, gap.last), now_ns, LossEvidence::Gap, context);
    }

    pub(crate) fn lost_upstream(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        now_ns: u64,
        evidence: LossEvidence,
        context: &mut Context<'_>,
    ) {
        let packets = last - first + 1;
        self.counts.lost_before_tap += packets;
        let detail = EventDetail::Loss {
            psn: Psn::new(first as u32),
            packets,
            location: LossLocation::Upstream,
            evidence,
        };
        (context.emit)(now_ns, detail);
    }

    /// Packets pass that had passed before.
    fn sprayed_repeat(
        &mut self,
        sprayed: &mut Sprayed,
        (first, last): (ExtendedPsn, ExtendedPsn),
        now_ns: u64,
        context: &mut Context<'_>,
    ) {
        let packets = last - first + 1;
        let reaction_ns = self.reaction_ns();
        // The copy that a NAK requested passes, so the one before was late.
        let doubted = sprayed.doubtful.remove(first, last, &mut |_| {});
        let mut overdue = sprayed.overdue.remove(first, last, &mut |_| {});
        if sprayed.pass.is_none() {
            overdue += sprayed.skipped.remove(first, last, &mut |_| {});
        }
        for suspect in &mut sprayed.suspects {
            if (first..=last).contains(&suspect.psn) {
                suspect.resent_ns.get_or_insert(now_ns);
            }
        }
        let way = self.sender_way.way();
        let ask = sprayed
            .ask_for(first, last)
            .filter(|ask| ask.psn >= first || way != Way::SelectiveRepeat);
        let ask = ask.copied();
        let ask = ask.filter(|ask| ask.psn >= first || now_ns >= ask.time_ns + reaction_ns);
        if overdue == packets {
            // Late, of an earlier pass.
        } else if let Some(ask) = ask {
            let is_named = ask.psn >= first;
            let waited_ns = now_ns - ask.time_ns;
            let reaction = (is_named && ask.trigger == Trigger::Nak).then_some(waited_ns);
            self.begin_pass(sprayed, ask.psn, (last, now_ns), (ask.trigger, reaction), context);
            let requested = u64::from(is_named);
            self.sprayed_pass(sprayed, (first, last), now_ns, packets - requested);
        } else if sprayed.pass.as_ref().is_some_and(|pass| pass.from <= last) {
            self.sprayed_pass(sprayed, (first, last), now_ns, packets);
        } else if doubted < packets {
            let is_exact = |(from_ns, to_ns): &(u64, u64)| *to_ns <= from_ns + 4 * SPACING_NS;
            let seen = sprayed.time_of(first).filter(is_exact).map(|(_, to_ns)| to_ns);
            let seen_ns = seen.or_else(|| self.send_sequence.time_of(first));
            if seen_ns.is_some_and(|seen_ns| now_ns.saturating_sub(seen_ns) <= context.duplicate_ns) {
                self.counts.duplicate += packets;
                return;
            }
        }
        if doubted < packets && sprayed.pass.is_none() && self.is_timeout(now_ns, context) {
            self.begin_pass(sprayed, first, (last, now_ns), (Trigger::Timeout, None), context);
            self.sprayed_pass(sprayed, (first, last), now_ns, packets);
        }
        self.counts.retransmitted += packets;
        if let Some(episode) = &mut self.episode {
            episode.packets += packets;
        }
    }

    /// These belong to the current pass; `unasked` of them were not requested.
    fn sprayed_pass(
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
    fn sprayed_copy(&self, sprayed: &mut Sprayed, (first, last): (ExtendedPsn, ExtendedPsn), now_ns: u64) {
        let bound_ns = self.late_bound_ns();
        let Sprayed {
            pass,
            due,
            skipped,
            was_due,
            ..
        } = sprayed;
        let mut before = skipped.remove(first, last, &mut |_| {});
        if before == 0 {
            due.remove(first, last, &mut |_| {});
        }
        let Some(pass) = pass else {
            return;
        };
        if now_ns <= pass.begun_ns + bound_ns {
            before += was_due.remove(first, last, &mut |_| {});
        }
        pass.until = pass.until.max(last);
        if before > 0 {
            // It may belong to the pass before.
            return;
        }
        pass.passed += last - first + 1;
        pass.progress = pass.progress.max(last);
        sprayed.passed = pass.passed;
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
    fn begin_pass(
        &mut self,
        sprayed: &mut Sprayed,
        from: ExtendedPsn,
        (last, now_ns): (ExtendedPsn, u64),
        (trigger, reaction_ns): (Trigger, Option<u64>),
        context: &mut Context<'_>,
    ) {
        self.end_pass(sprayed, context);
        sprayed.use_asks(last);
        match trigger {
            Trigger::Nak => {
                self.counts.nak_episodes += 1;
                if let Some(ns) = reaction_ns {
                    self.latencies.rare_mut().reaction.add(ns);
                }
            }
            Trigger::Rnr => self.counts.rnr_episodes += 1,
            Trigger::Response => self.counts.response_episodes += 1,
            Trigger::Unseen => {}
            Trigger::Timeout => {
                let sent_ns = self.outstanding.sent_ns(from);
                let waited_ns = sent_ns.map_or(0, |ns| now_ns.saturating_sub(ns));
                self.counts.timeouts += 1;
                self.tries += 1;
                self.try_interval_ns = self.try_interval_ns.max(waited_ns);
                if from > self.acked && sent_ns.is_some() && self.requests.gap_at(from).is_none() {
                    self.suspect_timeout_loss(from, waited_ns, now_ns, context);
                }
                self.outstanding.mark_ambiguous(from);
            }
        }
        let until = self.requests.high().max(last);
        // A timer makes the sender go back to the first unacknowledged packet.
        let is_timeout = trigger == Trigger::Timeout && self.sender_way.way() != Way::SelectiveRepeat;
        let from = if is_timeout { 0 } else { from };
        let from = from.max(self.acked + 1).min(last);
        if self.sender_way.way() != Way::SelectiveRepeat {
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
            passed: 0,
            repeated: 0,
            progress: from,
        });
        self.episode = Some(Box::new(Episode {
            trigger,
            first: from,
            begun_ns: now_ns,
            packets: 0,
            reaction_ns,
            before: None,
        }));
    }

    /// The pass is over: learns the sender's way.
    fn end_pass(&mut self, sprayed: &mut Sprayed, context: &mut Context<'_>) {
        self.end_episode(context.emit);
        let Some(pass) = sprayed.pass.take() else {
            return;
        };
        // Of all that a sender goes back to, most passes.
        let missing = sprayed.skipped.within(pass.from, pass.progress);
        if pass.repeated >= EVIDENT && pass.passed > missing {
            self.sender_way.went_back();
        } else if pass.repeated == 0 && pass.until > pass.from + EVIDENT || missing > 4 * pass.passed {
            self.sender_way.repeated_alone();
        }
        sprayed.was_due = core::mem::take(&mut sprayed.due);
    }

    /// What has not passed by now was lost.
    pub(crate) fn settle_sprayed(&mut self, sprayed: &mut Sprayed, now_ns: u64, context: &mut Context<'_>) {
        if now_ns < sprayed.deadline_ns {
            return;
        }
        sprayed.deadline_ns = u64::MAX;
        let mut lost: Vec<(ExtendedPsn, ExtendedPsn, LossEvidence)> = Vec::new();
        let overdue = core::mem::take(&mut sprayed.overdue);
        for left in overdue.iter() {
            if left.value > now_ns {
                let _ = sprayed.overdue.insert(*left);
                sprayed.deadline_ns = sprayed.deadline_ns.min(left.value);
            } else {
                lost.push((left.first, left.last, LossEvidence::Skipped));
            }
        }
        let late_ns = self.late_bound_ns();
        let skipped = core::mem::take(&mut sprayed.skipped);
        let missing: u64 = skipped.iter().map(Interval::packets).sum();
        let goes_back = self.sender_way.way() == Way::GoBackN && missing < sprayed.passed;
        for left in skipped.iter() {
            if left.value + late_ns >= now_ns {
                let _ = sprayed.skipped.insert(*left);
                sprayed.deadline_ns = sprayed.deadline_ns.min(left.value + late_ns + 1);
            } else if goes_back {
                lost.push((left.first, left.last, LossEvidence::Skipped));
            }
        }
        let wait_ns = self.settled_ns(sprayed);
        let doubtful = core::mem::take(&mut sprayed.doubtful);
        for doubt in doubtful.iter() {
            if doubt.value + wait_ns > now_ns {
                let _ = sprayed.doubtful.insert(*doubt);
                sprayed.deadline_ns = sprayed.deadline_ns.min(doubt.value + wait_ns);
            } else {
                self.counts.out_of_order -= doubt.packets();
                self.counts.retransmitted += doubt.packets();
                lost.push((doubt.first, doubt.last, LossEvidence::Gap));
            }
        }
        for (first, last, evidence) in lost {
            self.lost_upstream((first, last), now_ns, evidence, context);
        }
    }

    /// A NAK of the peer for a sprayed direction.
    pub(crate) fn sprayed_ask(&mut self, trigger: Trigger, psn: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) {
        let Some(mut sprayed) = self.sprayed.take() else {
            return;
        };
        self.settle_sprayed(&mut sprayed, now_ns, context);
        if sprayed.asks.len() >= MAX_ASKS {
            sprayed.asks.remove(0);
        }
        sprayed.asks.push(Ask {
            trigger,
            psn,
            time_ns: now_ns,
            used: false,
        });
        if trigger == Trigger::Nak {
            let reordered = self.reordering.packets();
            let since = reordered - core::mem::replace(&mut sprayed.reordered, reordered);
            if sprayed.late.contains(&psn) {
                sprayed.refused += since.max(1);
            }
            self.miss(&mut sprayed, psn, now_ns);
            self.suspect(&mut sprayed, psn, now_ns, context);
        }
        self.sprayed = Some(sprayed);
    }

    /// The NAK names a packet that the current pass should have brought: it is lost once it is not late any more.
    fn miss(&self, sprayed: &mut Sprayed, psn: ExtendedPsn, now_ns: u64) {
        // What passed later than this did not cause the NAK.
        let Some(since_ns) = self.shortest_rtt_ns(sprayed) else {
            return;
        };
        if sprayed
            .skipped
            .at(psn)
            .is_none_or(|left| left.value + since_ns > now_ns)
        {
            return;
        }
        sprayed.skipped.remove(psn, psn, &mut |_| {});
        let deadline_ns = now_ns + self.late_bound_ns().saturating_sub(since_ns);
        sprayed.overdue.remove(psn, psn, &mut |_| {});
        let _ = sprayed.overdue.insert(Interval {
            first: psn,
            last: psn,
            value: deadline_ns,
        });
        sprayed.deadline_ns = sprayed.deadline_ns.min(deadline_ns);
    }

    /// The NAK names a packet that may have passed: it was lost downstream if its acknowledgement waits for the next copy.
    fn suspect(&mut self, sprayed: &mut Sprayed, psn: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) {
        let has_passed = self.requests.has(psn);
        let meaning = self.responder.nak(psn, has_passed.then_some(now_ns));
        let _ = self.responder.take_lost();
        // A receiver that keeps early packets requests none of them; the order explains the NAKs of others.
        let is_selective = self.sender_way.way() == Way::SelectiveRepeat;
        let keeps = is_selective || sprayed.kept >= MANY_KEPT && sprayed.kept / 4 > sprayed.refused;
        let min_rtt_ns = self.shortest_rtt_ns(sprayed);
        if min_rtt_ns.is_none() && !keeps {
            return;
        }
        let min_rtt_ns = min_rtt_ns.map_or(0, |ns| ns / 2);
        if let Some(at) = sprayed.suspects.iter().position(|suspect| suspect.psn == psn) {
            let suspect = &mut sprayed.suspects[at];
            let Some(resent_ns) = suspect.resent_ns.filter(|resent_ns| now_ns >= resent_ns + min_rtt_ns) else {
                return;
            };
            let nak_ns = core::mem::replace(&mut suspect.nak_ns, resent_ns.max(now_ns));
            suspect.resent_ns = None;
            self.lose((psn, nak_ns), 1, context.emit);
            return;
        }
        let seen_ns = sprayed.time_of(psn).map_or(0, |(from_ns, _)| from_ns);
        let had_time = now_ns >= seen_ns + min_rtt_ns;
        if has_passed && had_time && (keeps || meaning == NakMeaning::Loss) && sprayed.suspects.len() < MAX_SUSPECTS {
            sprayed.suspects.push(Suspect {
                psn,
                nak_ns: now_ns,
                resent_ns: None,
            });
        }
    }

    /// An acknowledgement passes: a receiver that drops early packets would have sent a NAK before.
    pub(crate) fn sprayed_acknowledged(&mut self) {
        let reordered = self.reordering.packets();
        if let Some(sprayed) = &mut self.sprayed {
            sprayed.kept += reordered - core::mem::replace(&mut sprayed.reordered, reordered);
        }
    }

    /// The peer has everything up to `psn`. Paths downstream of the tap may be shorter than those of all round trips so
    /// far: half of the shortest decides.
    pub(crate) fn sprayed_progress(&mut self, psn: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) {
        let Some(mut sprayed) = self.sprayed.take() else {
            return;
        };
        self.settle_sprayed(&mut sprayed, now_ns, context);
        let min_rtt_ns = self.shortest_rtt_ns(&sprayed).unwrap_or(0);
        let min_rtt_ns = min_rtt_ns / 2;
        sprayed.suspects.retain(|suspect| {
            if suspect.psn > psn {
                return true;
            }
            if suspect
                .resent_ns
                .is_some_and(|resent_ns| now_ns >= resent_ns + min_rtt_ns)
            {
                self.lose((suspect.psn, suspect.nak_ns), 1, context.emit);
            }
            false
        });
        self.sprayed = Some(sprayed);
    }

    /// No packet follows.
    pub(crate) fn end_sprayed(&mut self, context: &mut Context<'_>) {
        let Some(mut sprayed) = self.sprayed.take() else {
            return;
        };
        self.end_pass(&mut sprayed, context);
        self.settle_sprayed(&mut sprayed, u64::MAX, context);
        for suspect in sprayed.suspects.iter().filter(|suspect| suspect.resent_ns.is_some()) {
            self.lose((suspect.psn, suspect.nak_ns), 1, context.emit);
        }
        sprayed.suspects.clear();
        self.sprayed = Some(sprayed);
    }
}
