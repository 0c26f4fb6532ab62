//! Packets that passed alone after a NAK for them: late, or transmitted again.
//!
//! The NAK makes the sender transmit them once more. If two copies pass, the first was only late; if one does, the first
//! was lost upstream.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::losses::pending::{Recovered, Suspect, SuspectedLoss};
use crate::connections::order::intervals::Interval;
use crate::connections::order::psn_tracker::{ExtendedPsn, Gap};
use crate::connections::order::retransmission_scheme::RetransmissionScheme;
use crate::connections::requests::recovery::PendingNak;
use crate::connections::rows::event::LossEvidence;
use crate::connections::spray::times::MANY_ROUND_TRIPS;
use crate::time::EventTime;
use alloc::vec::Vec;

/// A sender repeats what a NAK names within this many times the median of its reactions.
const REACTIONS: u64 = 4;

impl Direction {
    /// These filled gaps alone, after a NAK for them.
    pub(crate) fn suspect_loss(&mut self, filled: &[Gap], now_ns: u64, context: &Context<'_>) {
        for gap in filled.iter().filter(|gap| !context.may_have_passed(gap)) {
            let names = |nak: &&PendingNak| nak.psn <= gap.last;
            let nak_ns = self.naks.iter().flatten().find(names).map_or(now_ns, |nak| nak.time_ns);
            let loss = SuspectedLoss {
                evidence: LossEvidence::Gap,
                late_ns: now_ns.since(gap.value.opened_ns),
                nak_ns,
                passed_ns: now_ns,
            };
            self.pending.suspect_loss((gap.first, gap.last), loss);
        }
    }

    /// The longest time from a NAK to the packet that it requests.
    fn recovery_ns(&self, context: &Context<'_>) -> u64 {
        let rare = self.latencies.rare();
        let reaction_ns = rare.and_then(|rare| rare.reaction.max()).unwrap_or(context.reorder_ns);
        2 * reaction_ns.max(self.latencies.max_rtt_ns().unwrap_or(0))
    }

    /// No second copy passed in time: the first was lost.
    pub(crate) fn settle_suspected_losses(&mut self, now_ns: u64, context: &mut Context<'_>) {
        if self.pending.is_clear() {
            return;
        }
        self.settle_recovered(now_ns, context);
        let wait_ns = self.recovery_ns(context);
        let is_over = |loss: &SuspectedLoss| now_ns.since(loss.nak_ns) > wait_ns;
        let over: Vec<Interval<SuspectedLoss>> = self.pending.take_suspected(|loss| is_over(&loss.value));
        let is_selective = over.iter().any(|loss| self.left_alone(loss));
        for loss in &over {
            self.confirm_loss(loss, context);
        }
        if is_selective && self.sprayed.is_none() {
            self.recoveries.repeated_alone();
            self.ignore_order(now_ns, context);
        }
    }

    /// Retransmissions filled these gaps: the first copies were lost, unless they pass after them.
    pub(crate) fn recovered(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        value: Recovered,
        context: &mut Context<'_>,
    ) {
        if let Some(left) = self.pending.recover((first, last), value) {
            self.lost_upstream(
                (left.first, left.last),
                left.value.passed_ns,
                LossEvidence::Gap,
                context,
            );
        }
    }

    /// What can be no later than `reorder_ns` after its gap opened will not pass any more.
    pub(crate) fn settle_recovered(&mut self, now_ns: u64, context: &mut Context<'_>) {
        let wait_ns = self.reorder_ns(context);
        let Some(lists) = self.pending.get_mut() else {
            return;
        };
        let is_over = |left: &Interval<Recovered>| now_ns.since(left.value.opened_ns) > wait_ns;
        let over: Vec<Interval<Recovered>> = lists.recovered.iter().filter(|left| is_over(left)).copied().collect();
        for left in over {
            self.pending
                .lists()
                .recovered
                .remove(left.first, left.last, &mut |_| {});
            self.lost_upstream(
                (left.first, left.last),
                left.value.passed_ns,
                LossEvidence::Gap,
                context,
            );
        }
    }

    /// The first copies pass after their own retransmission, so they were not lost.
    pub(crate) fn overtaken(&mut self, (first, last): (ExtendedPsn, ExtendedPsn), now_ns: u64) {
        let position = (self.counts.request_packets, self.requests.high() - first);
        let reordering = &mut self.reordering;
        self.pending.lists().recovered.remove(first, last, &mut |part| {
            let late_ns = now_ns.since(part.value.opened_ns);
            reordering.learn(part.packets(), late_ns, position, now_ns);
        });
    }

    /// Whether the sender went on after this packet with new ones, though others were unacknowledged.
    fn left_alone(&self, loss: &Interval<SuspectedLoss>) -> bool {
        self.recoveries.scheme() == RetransmissionScheme::Unknown
            && self.send_sequence.next() > self.requests.high()
            && loss.last + 1 < self.requests.high()
    }

    fn confirm_loss(&mut self, loss: &Interval<SuspectedLoss>, context: &mut Context<'_>) {
        let SuspectedLoss {
            evidence,
            passed_ns,
            nak_ns,
            late_ns,
        } = loss.value;
        if evidence == LossEvidence::Gap {
            let opened_ns = passed_ns.saturating_sub(late_ns);
            let recovered = Recovered { opened_ns, passed_ns };
            self.recovered((loss.first, loss.last), recovered, context);
        } else {
            self.lost_upstream((loss.first, loss.last), passed_ns, evidence, context);
        }
        if let Some(reaction_ns) = passed_ns.checked_since(nak_ns).filter(|ns| *ns > 0) {
            self.latencies.rare_mut().reaction.add(reaction_ns);
        }
    }

    /// The pass goes on at `first`: what passed just before was the begin of it.
    pub(crate) fn confirm_pass(&mut self, first: ExtendedPsn, context: &mut Context<'_>) {
        if self.pending.is_clear() {
            return;
        }
        let newest_ns = self.naks.iter().flatten().map(|nak| nak.time_ns).max();
        let is_begin = |loss: &Interval<SuspectedLoss>| {
            loss.last + 1 == first && newest_ns.is_none_or(|nak_ns| nak_ns <= loss.value.passed_ns)
        };
        for loss in self.pending.take_suspected(is_begin) {
            self.confirm_loss(&loss, context);
        }
    }

    /// Second copies pass: the first ones were late, unless the receiver requested them again.
    pub(crate) fn refute_losses(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        now_ns: u64,
        context: &mut Context<'_>,
    ) {
        if self.pending.is_clear() {
            return;
        }
        let round_trip_ns = self.latencies.min_rtt_ns().unwrap_or(0);
        let reaction = self.latencies.rare().and_then(|rare| rare.reaction.quantile(0.5));
        let repeated_ns = reaction.map_or(u64::MAX, |ns| REACTIONS * ns);
        let mut passed = Vec::new();
        self.pending
            .lists()
            .suspected
            .remove(first, last, &mut |part| passed.push(part));
        for part in passed {
            let asks = |nak: &PendingNak| {
                part.holds(nak.psn) && nak.time_ns >= part.value.passed_ns + round_trip_ns - round_trip_ns / 4
            };
            // What the NAK made the sender transmit passes soon after it; later copies are those of another pass.
            let is_other_pass = now_ns.since(part.value.nak_ns) > repeated_ns;
            if is_other_pass || self.naks.iter().flatten().any(asks) {
                self.confirm_loss(&part, context);
                continue;
            }
            let packets = part.packets();
            if part.value.evidence == LossEvidence::Gap {
                self.counts.retransmitted -= packets;
                self.counts.out_of_order += packets;
            }
            let high = self.requests.high();
            self.reordering.learn(
                packets,
                part.value.late_ns,
                (self.counts.request_packets, high - part.first),
                now_ns,
            );
        }
        self.learn_spray(now_ns, context);
    }
}

/// Packets that a NAK named although they had passed, and that were transmitted again: the answer decides.
impl Direction {
    /// No answer to a packet comes sooner than this.
    pub(crate) fn soonest_answer_ns(&self) -> u64 {
        let shortest_ns = self.latencies.min_rtt_ns().unwrap_or(0);
        if self.latencies.rtt.samples() >= MANY_ROUND_TRIPS {
            shortest_ns - shortest_ns / 4
        } else {
            shortest_ns / 2
        }
    }

    /// The peer has everything up to `psn`: what it has sooner than the copy could arrive was only late downstream.
    pub(crate) fn settle_suspects(&mut self, psn: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) {
        let soonest_ns = self.soonest_answer_ns();
        let Some(lists) = self.pending.get_mut() else {
            return;
        };
        let suspects = core::mem::take(&mut lists.suspects);
        for suspect in suspects {
            if suspect.psn > psn {
                self.pending.lists().suspects.push(suspect);
            } else if suspect
                .resent_ns
                .is_some_and(|resent_ns| now_ns >= resent_ns + soonest_ns)
            {
                self.lose_requested(&suspect, context);
            }
        }
    }

    /// A NAK named it, and no other copy arrived before the answer: it was lost, unless it was requested because it was late.
    fn lose_requested(&mut self, suspect: &Suspect, context: &mut Context<'_>) {
        if !suspect.was_late(suspect.nak_ns, self.latencies.min_rtt_ns()) {
            self.lose((suspect.psn, suspect.nak_ns), 1, context.emit);
        }
    }

    /// A NAK names `psn`: if its copy had time to arrive, both were lost.
    pub(crate) fn suspect_requested(&mut self, psn: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) {
        let soonest_ns = self.soonest_answer_ns();
        let Some(lists) = self.pending.get_mut() else {
            return;
        };
        let is_lost = |suspect: &mut Suspect| {
            suspect.psn == psn
                && suspect
                    .resent_ns
                    .is_some_and(|resent_ns| now_ns >= resent_ns + soonest_ns)
        };
        let lost: Vec<Suspect> = lists.suspects.extract_if(.., is_lost).collect();
        for suspect in lost {
            self.lose_requested(&suspect, context);
        }
    }

    /// No packet follows.
    pub(crate) fn end_pending(&mut self, context: &mut Context<'_>) {
        for loss in self.pending.take_suspected(|_| true) {
            self.confirm_loss(&loss, context);
        }
        self.settle_recovered(u64::MAX, context);
        if let Some(lists) = self.pending.get_mut() {
            for suspect in core::mem::take(&mut lists.suspects) {
                self.lose_requested(&suspect, context);
            }
        }
    }
}
