//! Requests that the fabric sprays over paths of unequal length: there order shows nothing.
//!
//! What remains is arithmetic and time. A NAK makes the sender transmit a PSN, or everything from it on, once more; so
//! one more copy is *due*. The first copy of a PSN that passes may be the late original or the next one, but if all
//! copies pass, none was lost, and if one does not pass within the time by which the fabric reorders, one was lost
//! upstream. A packet that fills a gap sooner after the NAK than the NAK can reach the sender was late; one that is
//! older than the fabric makes packets late was transmitted again.

use super::context::Context;
use super::direction::Direction;
use super::event::LossEvidence;
use super::intervals::{Interval, Intervals};
use super::psn_tracker::{Arrival, ExtendedPsn, Gap};
use super::recovery::Trigger;
use super::send_sequence::SendSequence;
use super::sender_way::Way;
use super::sprayed_pass::Pass;
use super::undecided::Suspect;
use crate::time::EventTime;
use alloc::boxed::Box;
use alloc::vec::Vec;
use rocescope_record::RunRecord;
use rocescope_wire::Operation;

/// NAKs kept until the sender reacts to them.
pub(super) const MAX_ASKS: usize = 32;
/// Times of the highest PSN that are kept, and the time between them: 128 µs in all.
const TIMES: usize = 64;
const SPACING_NS: u64 = 2_000;
/// Late packets kept.
const LATE: usize = 64;
/// Packets repeated without a request that show that the sender went back.
pub(super) const EVIDENT: u64 = 2;
/// Reordered packets without a NAK that show that the receiver keeps early packets.
const MANY_KEPT: u32 = 8;

/// A NAK, and whether the sender has reacted to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) trigger: Trigger,
    pub(super) psn: ExtendedPsn,
    pub(super) time_ns: u64,
    pub(super) used: bool,
}

/// What a sprayed direction needs beside its tracker.
#[derive(Clone, Debug)]
pub(crate) struct Sprayed {
    pub(super) asks: Vec<Ask>,
    pub(super) pass: Option<Pass>,
    /// Copies of the current pass that have not passed.
    pub(super) due: Intervals<()>,
    /// Copies that later ones of their pass overtook, and when.
    pub(super) skipped: Intervals<u64>,
    /// What was due of the pass before at its end.
    pub(super) was_due: Intervals<()>,
    /// Those of them that a NAK named: lost unless they pass before this time.
    pub(super) overdue: Intervals<u64>,
    /// Filled a gap at this time, after a NAK: late, or transmitted again.
    pub(super) doubtful: Intervals<u64>,
    pub(super) suspects: Vec<Suspect>,
    /// PSNs that were lost downstream if the receiver keeps early packets, and when a NAK named them.
    pub(super) unproven: Vec<(ExtendedPsn, u64)>,
    /// Nothing of these ends before.
    pub(super) deadline_ns: u64,
    /// When the run before passed.
    pub(super) last_ns: u64,
    /// The run is a READ, which is one packet, whatever the PSNs of its response.
    pub(super) is_read: bool,
    /// The shortest and the longest time from the last packet of a message, however late, to its acknowledgement.
    pub(super) round_trips_ns: Option<(u64, u64)>,
    /// Reordered packets at the last answer, those between two answers without a NAK, and NAKs.
    pub(super) reordered: u32,
    /// The last packets that were late, and when they passed, a ring.
    pub(super) late: [(ExtendedPsn, u64); LATE],
    pub(super) kept: u32,
    pub(super) refused: u32,
    pub(super) times: [(ExtendedPsn, u64); TIMES],
    pub(super) newest: u8,
}

impl Default for Sprayed {
    fn default() -> Self {
        Self {
            asks: Vec::new(),
            pass: None,
            due: Intervals::default(),
            skipped: Intervals::default(),
            was_due: Intervals::default(),
            overdue: Intervals::default(),
            doubtful: Intervals::default(),
            suspects: Vec::new(),
            unproven: Vec::new(),
            deadline_ns: u64::MAX,
            last_ns: 0,
            is_read: false,
            round_trips_ns: None,
            reordered: 0,
            late: [(0, 0); LATE],
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
            + self.unproven.capacity() * size_of::<(ExtendedPsn, u64)>()
            + self.due.heap_bytes()
            + self.skipped.heap_bytes()
            + self.was_due.heap_bytes()
            + self.overdue.heap_bytes()
            + self.doubtful.heap_bytes()
    }

    /// The packets of the run that have these PSNs.
    pub(super) const fn packets(&self, psns: u64) -> u64 {
        if self.is_read && psns > 1 { 1 } else { psns }
    }

    /// Whether nothing is open.
    pub(crate) const fn is_clear(&self) -> bool {
        self.pass.is_none()
            && self.skipped.is_empty()
            && self.overdue.is_empty()
            && self.doubtful.is_empty()
            && self.suspects.is_empty()
    }

    /// Whether acknowledgements passed late packets without a NAK for them.
    pub(super) const fn keeps_early(&self) -> bool {
        self.kept >= MANY_KEPT && self.kept / 4 > self.refused
    }

    /// Whether a NAK names `psn`, and the sender has not reacted to it.
    pub(crate) fn is_requested(&self, psn: ExtendedPsn) -> bool {
        self.asks.iter().any(|ask| ask.psn == psn && !ask.used)
    }

    /// Whether a READ for `psn` is only transmitted again because the sender went back to an earlier packet.
    pub(crate) fn is_replayed(&self, psn: ExtendedPsn) -> bool {
        let in_pass = |pass: &Pass| pass.from < psn && psn <= pass.until && pass.repeated >= EVIDENT;
        self.pass.as_ref().is_some_and(in_pass)
    }

    /// An acknowledgement followed `ns` after what it answers.
    pub(crate) fn learn_round_trip(&mut self, ns: u64) {
        let (min, max) = self.round_trips_ns.unwrap_or((ns, ns));
        self.round_trips_ns = Some((min.min(ns), max.max(ns)));
    }

    /// The highest PSN is `psn` at `now_ns`.
    pub(super) fn note(&mut self, psn: ExtendedPsn, now_ns: u64) {
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
    pub(super) fn time_of(&self, psn: ExtendedPsn) -> Option<(u64, u64)> {
        let known = || self.times.iter().filter(|(_, ns)| *ns > 0);
        let before = known().filter(|(high, _)| *high < psn).map(|(_, ns)| *ns).max()?;
        let after = known().filter(|(high, _)| *high >= psn).map(|(_, ns)| *ns).min();
        Some((before, after.unwrap_or(before)))
    }

    /// When `psn` passed, if it was late.
    pub(super) fn late_at(&self, psn: ExtendedPsn) -> Option<u64> {
        let found = self.late.iter().find(|(late, _)| *late == psn);
        found.map(|(_, ns)| *ns)
    }

    /// The NAK that explains that `first..=last` are transmitted again: one that names one of them, else the newest for
    /// a lower PSN.
    pub(super) fn ask_for(&mut self, first: ExtendedPsn, last: ExtendedPsn) -> Option<&mut Ask> {
        let open = |ask: &Ask| !ask.used && ask.psn <= last;
        let named = self.asks.iter().rposition(|ask| open(ask) && ask.psn >= first);
        let at = named.or_else(|| self.asks.iter().rposition(open))?;
        self.asks.get_mut(at)
    }

    pub(super) fn use_asks(&mut self, psn: ExtendedPsn) {
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
            || self.undecided.is_doubtful(episode.first)
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
                is_begun: true,
                passed: 0,
                repeated: 0,
                progress: from,
            });
        }
    }

    /// From now on the order of requests shows nothing.
    pub(super) fn ignore_order(&mut self, now_ns: u64, context: &mut Context<'_>) {
        self.end_episode(context.emit);
        let mut sprayed = Box::<Sprayed>::default();
        for doubt in self
            .undecided
            .take_doubts(|doubt| doubt.value.evidence == LossEvidence::Gap)
        {
            self.counts.retransmitted -= doubt.packets();
            self.counts.out_of_order += doubt.packets();
            let _ = sprayed.doubtful.insert(Interval {
                first: doubt.first,
                last: doubt.last,
                value: doubt.value.passed_ns,
            });
            sprayed.deadline_ns = 0;
        }
        if let Some(lists) = self.undecided.get_mut() {
            sprayed.suspects = core::mem::take(&mut lists.suspects);
        }
        self.undecided.clear();
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
                is_kept: true,
            });
        }
        let high = self.requests.high();
        sprayed.note(high, now_ns);
        self.send_sequence = SendSequence::default();
        self.send_sequence.reserve(high);
        self.sprayed = Some(sprayed);
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
        sprayed.is_read = run.opcode().operation() == Operation::RdmaReadRequest;
        self.counts.out_of_order += sprayed.packets(arrival.below);
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
                self.end_pass(&mut sprayed, true, context);
            }
        }
        sprayed.last_ns = run.last_ns();
        self.sprayed = Some(sprayed);
    }

    /// A packet fills a gap.
    fn sprayed_fill(&mut self, sprayed: &mut Sprayed, gap: &Gap, now_ns: u64, context: &mut Context<'_>) {
        let late_ns = now_ns.since(gap.value.opened_ns);
        let (bound_ns, reaction_ns) = (self.late_bound_ns(), self.reaction_ns());
        let is_old = late_ns > self.reordering.old_ns(context.reorder_ns);
        let way = self.sender_way.way();
        let is_timeout = self.is_timeout(sprayed, now_ns, context);
        let in_pass = sprayed
            .pass
            .as_ref()
            .is_some_and(|pass| pass.from <= gap.first && gap.first <= pass.until);
        // What was not named is transmitted again only by a sender that goes back.
        let is_repeating = sprayed.pass.as_ref().is_some_and(Pass::is_in_sequence);
        // Where no packet was ever late, what passes a round trip after a request for a lower one was repeated.
        let shortest_ns = self.shortest_rtt_ns(sprayed).unwrap_or(0);
        let is_in_order = bound_ns == 0 && (way == Way::Unknown || late_ns >= shortest_ns);
        let goes_back = way == Way::GoBackN || way == Way::Unknown && is_repeating || is_in_order;
        let ask = sprayed.ask_for(gap.first, gap.last);
        let ask = ask.filter(|ask| ask.psn >= gap.first || goes_back);
        let Some(ask) = ask.copied().filter(|ask| is_old || now_ns >= ask.time_ns + reaction_ns) else {
            // A selective sender repeats one packet after its timer; no packet was ever late.
            let rtt_ns = self.longest_rtt_ns(sprayed);
            let is_alone = way == Way::SelectiveRepeat && bound_ns == 0 && rtt_ns > 0 && late_ns > 2 * rtt_ns;
            let oldest_ns = self.reordering.oldest_ns(context.reorder_ns);
            let is_certain = late_ns > oldest_ns;
            if is_alone || in_pass && (is_certain || is_old && goes_back) {
                return self.sprayed_lost(sprayed, gap, now_ns, context);
            }
            if is_timeout && is_certain && Self::a_timer_may_expire_within(late_ns) {
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
            return self.sprayed_late(sprayed, gap, late_ns, now_ns);
        };
        let is_named = ask.psn >= gap.first;
        if is_old {
            let reaction = (is_named && ask.trigger == Trigger::Nak)
                .then(|| now_ns.checked_since(ask.time_ns))
                .flatten();
            self.begin_pass(
                sprayed,
                ask.psn.min(gap.first),
                (gap.last, now_ns),
                (ask.trigger, reaction),
                context,
            );
            self.sprayed_lost(sprayed, gap, now_ns, context);
        } else {
            self.counts.out_of_order += sprayed.packets(gap.packets());
            // What was not named may not have been repeated at all.
            if is_named && !sprayed.is_read {
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
    fn sprayed_late(&mut self, sprayed: &mut Sprayed, gap: &Gap, late_ns: u64, now_ns: u64) {
        if let Some(slot) = sprayed.late.get_mut(gap.first as usize % LATE) {
            *slot = (gap.first, now_ns);
        }
        self.counts.out_of_order += sprayed.packets(gap.packets());
        let high = self.requests.high();
        self.reordering.learn(
            gap.packets(),
            late_ns,
            (self.counts.request_packets, high - gap.first),
            now_ns,
        );
    }

    /// Its first copy was lost upstream.
    fn sprayed_lost(&mut self, sprayed: &mut Sprayed, gap: &Gap, now_ns: u64, context: &mut Context<'_>) {
        let packets = sprayed.packets(gap.packets());
        self.counts.retransmitted += packets;
        self.sprayed_copy(sprayed, (gap.first, gap.last), now_ns);
        if let Some(episode) = &mut self.episode {
            episode.packets += packets;
        }
        self.lose_upstream((gap.first, packets), now_ns, LossEvidence::Gap, context.emit);
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
            let reaction = (is_named && ask.trigger == Trigger::Nak)
                .then(|| now_ns.checked_since(ask.time_ns))
                .flatten();
            self.begin_pass(sprayed, ask.psn, (last, now_ns), (ask.trigger, reaction), context);
            let requested = u64::from(is_named);
            self.sprayed_pass(sprayed, (first, last), now_ns, packets - requested);
        } else if sprayed.pass.as_ref().is_some_and(|pass| pass.from <= last) {
            self.sprayed_pass(sprayed, (first, last), now_ns, packets);
        } else if doubted < packets {
            let is_exact = |(from_ns, to_ns): &(u64, u64)| *to_ns <= from_ns + 4 * SPACING_NS;
            let seen = sprayed.time_of(first).filter(is_exact).map(|(_, to_ns)| to_ns);
            let seen_ns = seen.or_else(|| self.send_sequence.time_of(first));
            if seen_ns.is_some_and(|seen_ns| now_ns.since(seen_ns) <= context.duplicate_ns) {
                self.counts.duplicate += sprayed.packets(packets);
                return;
            }
        }
        if doubted < packets && sprayed.pass.is_none() && self.is_timeout(sprayed, now_ns, context) {
            self.begin_pass(sprayed, first, (last, now_ns), (Trigger::Timeout, None), context);
            self.sprayed_pass(sprayed, (first, last), now_ns, packets);
        }
        let packets = sprayed.packets(packets);
        self.counts.retransmitted += packets;
        if let Some(episode) = &mut self.episode {
            episode.packets += packets;
        }
    }

    /// No packet follows.
    pub(crate) fn end_sprayed(&mut self, context: &mut Context<'_>) {
        let Some(mut sprayed) = self.sprayed.take() else {
            return;
        };
        self.end_pass(&mut sprayed, false, context);
        self.settle_sprayed(&mut sprayed, u64::MAX, context);
        for suspect in core::mem::take(&mut sprayed.suspects) {
            if suspect.resent_ns.is_some() {
                self.lose_suspect(&mut sprayed, suspect, suspect.nak_ns, context);
            }
        }
        sprayed.unproven.clear();
        self.sprayed = Some(sprayed);
    }
}
