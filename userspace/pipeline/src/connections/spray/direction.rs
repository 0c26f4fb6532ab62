//! Requests that the fabric sprays over paths of unequal length: there order shows nothing.
//!
//! What remains is arithmetic and time. A NAK makes the sender transmit a PSN, or everything from it on, once more; so
//! one more copy is *due*. The first copy of a PSN that passes may be the late original or the next one, but if all
//! copies pass, none was lost, and if one does not pass within the time by which the fabric reorders, one was lost
//! upstream. A packet that fills a gap sooner after the NAK than the NAK can reach the sender was late; one that is
//! older than the fabric makes packets late was transmitted again.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::losses::pending::Suspect;
use crate::connections::order::intervals::Interval;
use crate::connections::order::psn_tracker::{Arrival, ExtendedPsn, Gap};
use crate::connections::order::retransmission_scheme::RetransmissionScheme;
use crate::connections::order::send_sequence::SendSequence;
use crate::connections::requests::recovery::Trigger;
use crate::connections::rows::event::LossEvidence;
use crate::connections::spray::pass::Pass;
use crate::time::EventTime;
use alloc::boxed::Box;
use rocescope_record::RunRecord;
use rocescope_wire::Operation;

use crate::connections::spray::state::{Ask, EVIDENT, SPACING_NS, Sprayed};

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
        // What was sent before the pass may still pass, also the new packets: they show nothing of the sender.
        let is_late = self.reordering.packets() > 0 && now_ns <= episode.begun_ns + self.reordering.bound_ns();
        if self.sprayed.is_some()
            || episode.trigger != Trigger::Nak
            || self.recoveries.scheme() == RetransmissionScheme::GoBackN
            || self.pending.is_suspected(episode.first)
            || first <= self.requests.high()
        {
            return;
        }
        // In this time the sender may have repeated them all, and a failed path lost them.
        let missing = (self.send_sequence.resent_until() + 1).saturating_sub(next);
        let silent_ns = now_ns.since(self.last_request_ns);
        if self.may_be_burst(missing, silent_ns) {
            return;
        }
        let open = next.max(self.acked + 1)..=self.send_sequence.resent_until();
        let passed = open.filter(|psn| self.requests.has(*psn)).take(EVIDENT as usize);
        if passed.count() < EVIDENT as usize {
            return;
        }
        let (from, begun_ns) = (episode.first, episode.begun_ns);
        if !is_late {
            self.recoveries.repeated_alone();
        }
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
                acked: self.acked,
            });
        }
    }

    /// From now on the order of requests shows nothing.
    pub(crate) fn ignore_order(&mut self, now_ns: u64, context: &mut Context<'_>) {
        self.end_episode(context.emit);
        let mut sprayed = Box::<Sprayed>::default();
        for loss in self
            .pending
            .take_suspected(|loss| loss.value.evidence == LossEvidence::Gap)
        {
            self.counts.retransmitted -= loss.packets();
            self.counts.out_of_order += loss.packets();
            let _ = sprayed.suspected.insert(Interval {
                first: loss.first,
                last: loss.last,
                value: loss.value.passed_ns,
            });
            sprayed.deadline_ns = 0;
        }
        let mut late = None;
        if let Some(lists) = self.pending.get_mut() {
            sprayed.suspects = core::mem::take(&mut lists.suspects);
            late = lists.late;
        }
        self.pending.clear();
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
                late_ns: late.filter(|late| late.holds(psn)).map(|late| late.value),
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
        sprayed.note_late((gap.first, gap.last), now_ns);
        let (bound_ns, reaction_ns) = (self.late_bound_ns(), self.reaction_ns());
        let is_old = late_ns > self.reordering.old_ns(context.reorder_ns);
        let scheme = self.recoveries.scheme();
        let is_timeout = self.is_timeout(sprayed, now_ns, context);
        let in_pass = sprayed
            .pass
            .as_ref()
            .is_some_and(|pass| pass.from <= gap.first && gap.first <= pass.until);
        // What was not named is transmitted again only by a sender that goes back.
        let is_repeating = sprayed.pass.as_ref().is_some_and(Pass::is_in_sequence);
        // Where no packet was ever late, what passes a round trip after a request for a lower one was repeated.
        let shortest_ns = self.shortest_rtt_ns(sprayed).unwrap_or(0);
        let is_in_order = bound_ns == 0 && (scheme == RetransmissionScheme::Unknown || late_ns >= shortest_ns);
        let goes_back = scheme == RetransmissionScheme::GoBackN
            || scheme == RetransmissionScheme::Unknown && is_repeating
            || is_in_order;
        let ask = sprayed.ask_for(gap.first, gap.last);
        let ask = ask.filter(|ask| ask.psn >= gap.first || goes_back);
        let Some(ask) = ask.copied().filter(|ask| is_old || now_ns >= ask.time_ns + reaction_ns) else {
            // A selective sender repeats one packet after its timer; no packet was ever late.
            let rtt_ns = self.longest_rtt_ns(sprayed);
            let is_alone =
                scheme == RetransmissionScheme::SelectiveRepeat && bound_ns == 0 && rtt_ns > 0 && late_ns > 2 * rtt_ns;
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
            if is_named && !sprayed.is_read && !context.may_have_passed(gap) {
                self.suspect_copies(sprayed, gap, (goes_back, now_ns));
            }
        }
    }

    /// What fills a gap after a NAK may be the copy that it requested. What was not named may not have been repeated at
    /// all, unless the sender `goes_back`.
    fn suspect_copies(&self, sprayed: &mut Sprayed, gap: &Gap, (goes_back, now_ns): (bool, u64)) {
        let Sprayed { asks, suspected, .. } = sprayed;
        let named = asks.iter().filter(|ask| !ask.used && gap.holds(ask.psn));
        let copies = |psn| if goes_back { (psn, gap.last) } else { (psn, psn) };
        for (first, last) in named.map(|ask| copies(ask.psn)) {
            suspected.remove(first, last, &mut |_| {});
            let _ = suspected.insert(Interval {
                first,
                last,
                value: now_ns,
            });
        }
        sprayed.deadline_ns = sprayed.deadline_ns.min(now_ns + self.settled_ns(sprayed));
    }

    /// It was overtaken.
    fn sprayed_late(&mut self, sprayed: &mut Sprayed, gap: &Gap, late_ns: u64, now_ns: u64) {
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
        if !context.may_have_passed(gap) {
            self.lose_upstream((gap.first, packets), now_ns, LossEvidence::Gap, context.emit);
        }
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
        let refuted = sprayed.suspected.remove(first, last, &mut |_| {});
        let mut overdue = sprayed.overdue.remove(first, last, &mut |_| {});
        if sprayed.pass.is_none() {
            overdue += sprayed.skipped.remove(first, last, &mut |_| {});
        }
        for suspect in &mut sprayed.suspects {
            if (first..=last).contains(&suspect.psn) {
                suspect.resent_ns.get_or_insert(now_ns);
            }
        }
        let scheme = self.recoveries.scheme();
        let ask = sprayed
            .ask_for(first, last)
            .filter(|ask| ask.psn >= first || scheme != RetransmissionScheme::SelectiveRepeat);
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
        } else if refuted < packets {
            let is_exact = |(from_ns, to_ns): &(u64, u64)| *to_ns <= from_ns + 4 * SPACING_NS;
            let seen = sprayed.time_of(first).filter(is_exact).map(|(_, to_ns)| to_ns);
            let seen_ns = seen.or_else(|| self.send_sequence.time_of(first));
            if seen_ns.is_some_and(|seen_ns| now_ns.since(seen_ns) <= context.duplicate_ns) {
                self.counts.duplicate += sprayed.packets(packets);
                return;
            }
        }
        if refuted < packets && sprayed.pass.is_none() && self.is_timeout(sprayed, now_ns, context) {
            self.begin_pass(sprayed, first, (last, now_ns), (Trigger::Timeout, None), context);
            self.sprayed_pass(sprayed, (first, last), now_ns, packets);
        }
        let packets = sprayed.packets(packets);
        self.counts.retransmitted += packets;
        if let Some(episode) = &mut self.episode {
            episode.packets += packets;
        }
    }

    /// What is outstanding of repeated packets: an answer waits for a copy of what was lost downstream, not of what was
    /// requested because it was late.
    pub(crate) fn sprayed_repeated(&mut self, (first, last): (ExtendedPsn, ExtendedPsn), now_ns: u64) {
        let Some(sprayed) = &self.sprayed else {
            return;
        };
        let round_trip_ns = self.latencies.min_rtt_ns();
        let is_lost = |suspect: &Suspect| {
            (first..=last).contains(&suspect.psn) && !suspect.was_late(suspect.nak_ns, round_trip_ns)
        };
        let mut late = (first..=last).map(|psn| sprayed.late_at(psn).is_some());
        if sprayed.suspects.iter().any(is_lost) || self.recoveries.scheme() == RetransmissionScheme::GoBackN {
            self.outstanding.retransmitted(first, last, now_ns);
        } else if round_trip_ns.is_some() && late.clone().all(|is_late| is_late) {
            self.outstanding.repeated(first, last);
        } else if late.any(|is_late| is_late) {
            self.outstanding.mark_ambiguous(first);
        } else {
            self.outstanding.retransmitted(first, last, now_ns);
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
