//! Counts a run of requests by its classification.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::losses::pending::{Recovered, SkippedRange};
use crate::connections::order::classification::Classification;
use crate::connections::order::psn_tracker::{Arrival, ExtendedPsn, Gap};
use crate::connections::order::retransmission_scheme::RetransmissionScheme;
use crate::connections::requests::recovery::{Episode, PendingNak, Trigger};
use crate::connections::rows::event::{EventDetail, LossEvidence};
use crate::time::EventTime;
use alloc::boxed::Box;
use rocescope_record::RunRecord;

/// Up to this many consecutive repeated packets may be late duplicates.
const MAX_LATE_DUPLICATES: u64 = 2;

/// Packets repeated beside the requested one, up to the newest, that show that the sender went back.
pub(crate) const EVIDENT: u64 = 2;

/// A run of requests and its classification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassifiedRun {
    pub(crate) classification: Classification,
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    /// Which of its PSNs are new, fill gaps or repeat.
    pub(crate) arrival: Arrival,
    /// Duplicate PSNs at its front, after which it continues in order.
    pub(crate) copied: Arrival,
    /// When the run before passed.
    pub(crate) before_ns: u64,
    /// Whether a READ already requested its response from here; a READ uses many PSNs with one packet.
    pub(crate) read: Option<bool>,
}

impl Direction {
    /// Counts a run by its classification.
    pub(crate) fn account(
        &mut self,
        run: &RunRecord,
        classified: &ClassifiedRun,
        filled: &[Gap],
        context: &mut Context<'_>,
    ) {
        let ClassifiedRun {
            classification,
            first,
            last,
            ..
        } = *classified;
        let arrival = classified.arrival;
        let packets = |psns: u64| match classified.read {
            Some(_) => psns.min(1),
            None => psns,
        };
        let repeated = match classified.read {
            Some(before) => u64::from(before && arrival.above == 0),
            None => classified.copied.repeated + arrival.repeated,
        };
        self.counts.repeated += repeated;
        let repeated_packets = packets(arrival.repeated + arrival.filled);
        match classification {
            Classification::Duplicate => {
                self.counts.duplicate += packets(classified.copied.repeated);
                self.counts.out_of_order += packets(classified.copied.filled);
                self.in_order(run, classified, repeated_packets, filled, context);
            }
            Classification::Reordered => {
                self.counts.out_of_order += packets(arrival.filled + arrival.below);
                // The packets before were retransmitted, then reordered.
                self.counts.retransmitted += packets(arrival.repeated);
                self.late_in_pass((first, last), run.first_ns);
                self.pending.note_late((first, last), run.first_ns);
            }
            Classification::Overtaken => {
                self.counts.out_of_order += repeated_packets;
                self.overtaken((first, last), run.first_ns);
            }
            Classification::Resumed(skipped) => {
                self.pending.passed(skipped.first, skipped.last);
                self.send_sequence.rewind(first);
                self.in_order(run, classified, repeated_packets, filled, context);
            }
            Classification::RewindRefuted => {
                self.rewind_refuted();
                self.in_order(run, classified, repeated_packets, filled, context);
            }
            Classification::InOrder => {
                self.in_order(run, classified, repeated_packets, filled, context);
            }
            Classification::Retransmitted(trigger) => {
                let repeated_packets = repeated_packets + packets(arrival.below);
                self.counts.retransmitted += repeated_packets;
                let is_alone = repeated_packets == arrival.filled && classified.read.is_none();
                if trigger == Trigger::Nak && is_alone {
                    self.suspect_loss(filled, run.first_ns, context);
                } else {
                    self.count_lost_before(run, classified, filled, context);
                }
                let fills = arrival.filled > 0 && arrival.repeated == 0;
                let may_be_late =
                    |episode: &Episode| episode.trigger == Trigger::Timeout && (fills || episode.before.is_some());
                if trigger == Trigger::Timeout
                    && self.send_sequence.is_single_run()
                    && self.episode.as_deref().is_some_and(may_be_late)
                {
                    // Several late packets in a row are not several timeouts.
                    self.rewind_refuted();
                }
                if trigger == Trigger::Nak && arrival.repeated > EVIDENT && arrival.above > 0 {
                    self.recoveries.went_back();
                }
                let may_be_late = repeated_packets <= MAX_LATE_DUPLICATES || arrival.repeated == 0;
                let is_repeat = !filled.iter().any(|gap| gap.holds(first)) && arrival.below == 0;
                let packets = (repeated_packets, arrival.repeated, may_be_late, is_repeat);
                let opened_ns = filled
                    .iter()
                    .find(|gap| gap.holds(first))
                    .map(|gap| gap.value.opened_ns);
                self.rewind(run, classified, trigger, packets, opened_ns, context);
            }
        }
    }

    /// The run continues the send sequence: from the first PSN of the sequence to the highest one sent
    /// before it, all packets are retransmissions.
    fn in_order(
        &mut self,
        run: &RunRecord,
        classified: &ClassifiedRun,
        repeated_packets: u64,
        filled: &[Gap],
        context: &mut Context<'_>,
    ) {
        let (from, until) = (self.send_sequence.next(), self.send_sequence.resent_until());
        if repeated_packets > 0 {
            self.rewind_confirmed(classified.before_ns, context);
            self.confirm_pass(classified.first, context);
            let psns = (classified.first, classified.last);
            self.confirm_skipped(psns, (classified.arrival.repeated, None), context);
        }
        let is_nak = self
            .episode
            .as_deref()
            .is_some_and(|episode| episode.trigger == Trigger::Nak);
        if is_nak && repeated_packets > 0 && classified.first == from && from <= until && classified.last >= until {
            self.recoveries.went_back();
        }
        if classified.first > from && from <= until && until > 0 {
            let skipped = SkippedRange {
                first: from,
                last: until.min(classified.first - 1),
                time_ns: run.first_ns,
            };
            let is_needed = self.episode.as_deref().is_some_and(|episode| episode.is_needed);
            self.skip(
                skipped,
                classified.before_ns,
                (repeated_packets > 0, is_needed),
                context,
            );
            // Where packets are late, one of this pass may have overtaken those before it.
            let overtakers = self.send_sequence.passed_near(from);
            for (first, last) in overtakers.filter(|_| self.reordering.packets() > 0) {
                let (first, last) = (first.max(skipped.first), last.min(skipped.last));
                if first <= last {
                    self.pending.passed(first, last);
                }
            }
        }
        if repeated_packets == 0 {
            if classified.arrival.above > 0 {
                self.end_episode(context.emit);
            }
            return;
        }
        self.counts.retransmitted += repeated_packets;
        self.count_lost_before(run, classified, filled, context);
        if let Some(episode) = &mut self.episode {
            episode.packets += repeated_packets;
        }
    }

    /// Retransmissions that fill gaps were lost upstream of the tap.
    fn count_lost_before(
        &mut self,
        run: &RunRecord,
        classified: &ClassifiedRun,
        filled: &[Gap],
        context: &mut Context<'_>,
    ) {
        for gap in filled {
            if self.may_be_late_in_pass(classified, gap) {
                continue;
            }
            // One that names the first of them names them all: the mirror lost none of them.
            let is_named = match gap.value.nak {
                Some(psn) => {
                    psn == gap.value.first && !(context.mirror_loss.is_numbered() && context.may_have_passed(gap))
                }
                None => false,
            };
            if !is_named
                && (context.may_have_passed(gap)
                    || gap.value.nak.is_none() && context.mirror_loss.is_likely(gap.value.packets))
            {
                // What a NAK names did not arrive, whatever else was missing here.
                if let Some(psn) = gap.value.nak.filter(|psn| gap.holds(*psn)) {
                    self.lose_upstream((psn, 1), run.first_ns, LossEvidence::Gap, context.emit);
                }
                continue;
            }
            if is_named {
                context.mirror_loss.fabric_lost(gap.value.packets);
            }
            if classified.read.is_some() {
                self.lose_upstream((gap.first, 1), run.first_ns, LossEvidence::Gap, context.emit);
                continue;
            }
            let recovered = Recovered {
                opened_ns: gap.value.opened_ns,
                passed_ns: run.first_ns,
            };
            self.recovered((gap.first, gap.last), recovered, context);
        }
    }

    /// Whether what follows the packet of a NAK and fills a gap may as well be late: no NAK names it, and nothing has shown
    /// that the sender repeats what was not asked for.
    fn may_be_late_in_pass(&self, classified: &ClassifiedRun, gap: &Gap) -> bool {
        let is_nak = self
            .episode
            .as_deref()
            .is_some_and(|episode| episode.trigger == Trigger::Nak);
        is_nak
            && !matches!(classified.classification, Classification::Retransmitted(_))
            && classified.arrival.repeated == 0
            && self.reordering.packets() > 0
            && self.recoveries.scheme() == RetransmissionScheme::Unknown
            && gap.value.nak.is_none_or(|psn| psn < gap.first)
    }

    /// The send sequence continued: the sender did go back.
    fn rewind_confirmed(&mut self, before_ns: u64, context: &mut Context<'_>) {
        let before = self.episode.as_mut().and_then(|episode| episode.before.take());
        if let Some(skipped) = before {
            self.skip(skipped, before_ns.min(skipped.time_ns), (true, true), context);
        }
    }

    /// The sender went back to `first`: another send sequence and another episode.
    fn rewind(
        &mut self,
        run: &RunRecord,
        classified: &ClassifiedRun,
        trigger: Trigger,
        (packets, repeated, may_be_late, is_repeat): (u64, u64, bool, bool),
        opened_ns: Option<u64>,
        context: &mut Context<'_>,
    ) {
        let (first, last) = (classified.first, classified.last);
        // Its timer restarts with every answer.
        let passed_ns = opened_ns.or_else(|| self.send_sequence.time_of(first)).unwrap_or(0);
        let passed_ns = passed_ns.max(self.answered_ns);
        self.end_episode(context.emit);
        let alone_ns = (trigger == Trigger::Nak).then_some(run.first_ns);
        self.confirm_skipped((first, last), (repeated, alone_ns), context);
        // A sender goes back to the PSN of the NAK, or to the first unacknowledged one. If the run begins
        // later, the packets before it were lost.
        let mut from = self.acked + 1;
        let mut reaction_ns = None;
        // Of two NAKs, the sender answers each with a pass: this one names where it begins.
        let names = |nak: &&PendingNak| nak.asks(last) && nak.psn == first;
        let named = self.naks.iter().flatten().find(names);
        let answered = named.map(|nak| nak.psn);
        let nak = named.or_else(|| self.naks.iter().flatten().find(|nak| nak.asks(last)));
        if matches!(trigger, Trigger::Nak | Trigger::Rnr)
            && let Some(nak) = nak
        {
            from = from.max(nak.psn);
            let waited = run.first_ns.since(nak.time_ns);
            // A packet that passes alone may have been late.
            let is_certain = !self.pending.is_suspected(first);
            reaction_ns = (nak.psn == first && is_certain).then_some(waited);
        }
        let is_needed = named.is_some_and(|nak| self.is_needed(nak, is_repeat));
        self.consume_naks(answered.unwrap_or(from));
        let mut before = None;
        if trigger != Trigger::Response && first > from && self.requests.low() <= from {
            let skipped = SkippedRange {
                first: from,
                last: first - 1,
                time_ns: run.first_ns,
            };
            if trigger == Trigger::Timeout && may_be_late {
                // New packets directly after it show that it is not one.
                before = (last < self.send_sequence.next()).then_some(skipped);
            } else {
                // Where the sender began is a guess, which an acknowledgement refutes.
                self.skip(skipped, classified.before_ns, (true, true), context);
            }
        }
        // If the responder waits for a packet that did not reach the tap, that explains its silence.
        let taken = self.responder.has_taken(first);
        self.count_recovery((trigger, reaction_ns), (first, run.first_ns), taken, context);
        self.send_sequence.begin(first, self.requests.high());
        self.episode = Some(Box::new(Episode {
            trigger,
            first,
            begun_ns: run.first_ns,
            packets,
            is_repeat,
            is_needed,
            passed_before_ns: run.first_ns.since(passed_ns),
            reaction_ns,
            before,
        }));
    }

    /// Whether the receiver dropped what passed before this pass, which the NAK for its first packet begins: no copy of that
    /// packet was under way when the receiver sent the NAK. `is_repeat`: it had passed before.
    fn is_needed(&self, nak: &PendingNak, is_repeat: bool) -> bool {
        let passed_ns = if is_repeat {
            self.send_sequence.passed_before(nak.psn)
        } else {
            0
        };
        let is_later = |round_trip_ns: u64| nak.time_ns.since(passed_ns) >= round_trip_ns;
        nak.trigger == Trigger::Nak && (!is_repeat || self.latencies.usual_rtt_ns().is_some_and(is_later))
    }

    /// The sender goes back to `first` at `now_ns`. `may_be_lost`: that it did not arrive would explain a timeout.
    pub(crate) fn count_recovery(
        &mut self,
        (trigger, reaction_ns): (Trigger, Option<u64>),
        (first, now_ns): (ExtendedPsn, u64),
        may_be_lost: bool,
        context: &mut Context<'_>,
    ) {
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
                let sent_ns = self.outstanding.sent_ns(first);
                let waited_ns = sent_ns.map_or(0, |ns| now_ns.since(ns));
                self.counts.timeouts += 1;
                self.tries += 1;
                self.try_interval_ns = self.try_interval_ns.max(waited_ns);
                self.report_silence((first, now_ns), context.emit);
                if first > self.acked && sent_ns.is_some() && may_be_lost {
                    self.suspect_timeout_loss(first, waited_ns, now_ns, context);
                }
                // An answer may belong to the first transmission or to this one.
                self.outstanding.mark_ambiguous(first);
            }
        }
    }

    /// Undoes a rewind: its only run was just late, the sender had not gone back.
    fn rewind_refuted(&mut self) {
        self.send_sequence.resume();
        match self.episode.take().map(|episode| episode.trigger) {
            Some(Trigger::Timeout) => {
                self.pending_timeout = None;
                self.counts.timeouts -= 1;
                self.tries = self.tries.saturating_sub(1);
            }
            Some(Trigger::Nak) => {
                // The NAK has not reached the sender yet.
                self.counts.nak_episodes -= 1;
                if let Some(nak) = &mut self.naks[0] {
                    nak.used = false;
                }
            }
            _ => {}
        }
    }

    /// The sender went back to `psn`: it has received the NAKs up to there.
    pub(crate) fn consume_naks(&mut self, psn: ExtendedPsn) {
        for nak in self.naks.iter_mut().flatten() {
            nak.used |= nak.psn <= psn;
        }
    }

    pub(crate) fn end_episode(&mut self, emit: &mut dyn FnMut(u64, EventDetail)) {
        if let Some(episode) = self.episode.take() {
            emit(episode.begun_ns, EventDetail::Retransmission(*episode));
        }
    }
}
