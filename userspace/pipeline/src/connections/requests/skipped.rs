//! PSNs that a sender did not repeat while it retransmitted: lost, late, or acknowledged already.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::losses::pending::{Skip, SkippedRange, SuspectedLoss};
use crate::connections::order::intervals::Interval;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::order::retransmission_scheme::RetransmissionScheme;
use crate::connections::requests::recovery::{PendingNak, Trigger};
use crate::connections::requests::retransmission::EVIDENT;
use crate::connections::rows::event::{EventDetail, LossEvidence};
use crate::time::EventTime;
use alloc::vec::Vec;

impl Direction {
    /// During a retransmission `first..=last` do not pass: lost upstream of the tap, unless they arrive late, or were
    /// skipped because they were already acknowledged.
    /// The packet before the next one passed at `before_ns`.
    pub(crate) fn skip(
        &mut self,
        skipped: SkippedRange,
        before_ns: u64,
        (is_within, is_needed): (bool, bool),
        context: &mut Context<'_>,
    ) {
        let (first, last) = (skipped.first.max(self.acked + 1), skipped.last);
        let time_ns = skipped.time_ns;
        if first > last {
            return;
        }
        // An earlier retransmission had skipped them, too.
        self.confirm_skipped((first, last), (0, None), context);
        // A sender that goes on to new packets may repeat selectively: what has never passed was lost once.
        let is_burst = self.may_be_burst(last - first + 1, time_ns.since(before_ns));
        let leaves_gaps = !is_within && !is_burst && self.recoveries.scheme() != RetransmissionScheme::GoBackN;
        context.mirror_loss.opened(before_ns, time_ns);
        let value = Skip {
            time_ns,
            is_within,
            is_needed,
            is_burst,
            before_ns,
            packets: last - first + 1,
        };
        let skipped = &mut self.pending.lists().skipped;
        // Without room, the fate of the lowest is unknown.
        let _ = skipped.insert(Interval { first, last, value });
        if leaves_gaps {
            let gaps = self.requests.gaps().iter();
            let open = gaps
                .skip_while(|gap| gap.last < first)
                .take_while(|gap| gap.first <= last);
            for gap in open {
                skipped.remove(gap.first, gap.last, &mut |_| {});
            }
        }
    }

    /// Whether the sender had the time to repeat so long a part of its pass, which a failed path then lost. It did not wait
    /// for the next NAK.
    pub(crate) fn may_be_burst(&self, packets: u64, silent_ns: u64) -> bool {
        let begun_ns = self.episode.as_ref().map_or(0, |episode| episode.begun_ns);
        let mut naks = self.naks.iter().flatten();
        self.send_sequence.is_long_burst(packets, silent_ns) && naks.all(|nak| nak.time_ns <= begun_ns)
    }

    fn count_skipped(&mut self, skipped: &Interval<Skip>, emit: &mut dyn FnMut(u64, EventDetail)) {
        // For a READ one packet was skipped, whatever its length.
        let psns = skipped.packets();
        let packets = psns.saturating_sub(self.outstanding.asked_for(skipped.first, skipped.last));
        self.lose_upstream(
            (skipped.first, packets),
            skipped.value.time_ns,
            LossEvidence::Skipped,
            emit,
        );
    }

    /// Counts skipped packets as lost: they did not arrive late.
    pub(crate) fn settle_skipped(&mut self, context: &mut Context<'_>) {
        self.confirm_skipped((0, ExtendedPsn::MAX - 1), (0, None), context);
    }

    /// The sender retransmits these: those that were skipped before were lost, unless this is the late packet itself, which
    /// passes alone at the given time.
    pub(crate) fn confirm_skipped(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        (repeated, alone_ns): (u64, Option<u64>),
        context: &mut Context<'_>,
    ) {
        let is_one_sided = self.is_one_sided();
        let soonest_ns = self.soonest_answer_ns();
        let Some(lists) = self.pending.get_mut() else {
            return;
        };
        // After a NAK, only a sender that goes back repeats as many in order; after its timer others do, too.
        let episode = self.episode.as_deref();
        let is_nak = alone_ns.is_some() || episode.is_some_and(|episode| episode.trigger == Trigger::Nak);
        let is_long = repeated > EVIDENT && (is_nak || is_one_sided);
        // The NAK that it answers named the first of them.
        let naks = self.naks;
        let is_start = |part: &Interval<Skip>| {
            let mut naks = naks.iter().flatten();
            naks.any(|nak| nak.psn == part.first && nak.time_ns < part.value.time_ns)
        };
        // Without NAKs, a sender begins with what is not acknowledged.
        let begun = episode.filter(|episode| episode.trigger == Trigger::Timeout);
        let begun = begun.map_or(first, |episode| episode.first);
        let acked = self.acked;
        let is_unanswered = |part: &Interval<Skip>| part.value.is_within && begun <= acked + 1 && part.first > acked;
        let mut lost = Vec::new();
        lists.skipped.remove(first, last, &mut |part| lost.push(part));
        for part in lost {
            // A selective sender skips everything. Where packets are late, a pass that another NAK cuts short looks the
            // same: only a NAK proves the loss.
            let names = |nak: &&PendingNak| part.holds(nak.psn) && nak.time_ns >= part.value.time_ns;
            let nak = self.naks.iter().flatten().find(names).map(|nak| nak.time_ns);
            let goes_back = match self.recoveries.scheme() {
                RetransmissionScheme::GoBackN => true,
                RetransmissionScheme::Unknown => {
                    is_long
                        || part.value.is_burst
                        || is_start(&part)
                        || repeated > 1 && nak.is_some()
                        || repeated > 0 && is_unanswered(&part)
                }
                RetransmissionScheme::SelectiveRepeat => false,
            };
            let is_named = nak.is_some() || is_start(&part);
            // A NAK sooner than an answer was sent because of what passed before.
            let is_requested = nak.is_some_and(|nak_ns| nak_ns >= part.value.time_ns + soonest_ns);
            let is_blind = context.is_blind(part.value.before_ns, part.value.time_ns);
            if !goes_back
                || self.reordering.packets() > 0 && !is_requested
                || !is_named && (is_blind || context.mirror_loss.is_likely(part.value.packets))
            {
                continue;
            }
            if is_named {
                context.mirror_loss.fabric_lost(part.value.packets);
            }
            if is_blind {
                // What a NAK names did not arrive, whatever else was missing here.
                let named = self.naks.iter().flatten().find(|nak| part.holds(nak.psn));
                let psn = named.map_or(part.first, |nak| nak.psn);
                let time_ns = part.value.time_ns;
                self.lose_upstream((psn, 1), time_ns, LossEvidence::Skipped, context.emit);
                continue;
            }
            // A READ is one packet, whatever the PSNs of its response.
            let is_read = self.outstanding.asked_for(part.first, part.last) > 0;
            match (alone_ns, nak) {
                (Some(passed_ns), Some(nak_ns)) if (part.first, part.last) == (first, last) && !is_read => {
                    let loss = SuspectedLoss {
                        evidence: LossEvidence::Skipped,
                        late_ns: passed_ns.since(part.value.time_ns),
                        nak_ns,
                        passed_ns,
                    };
                    self.pending.suspect_loss((first, last), loss);
                }
                _ => self.count_skipped(&part, context.emit),
            }
        }
    }

    /// Late packets of the current pass.
    pub(crate) fn late_in_pass(&mut self, (first, last): (ExtendedPsn, ExtendedPsn), now_ns: u64) {
        let position = self.counts.request_packets;
        let next = self.send_sequence.next();
        let reordering = &mut self.reordering;
        if let Some(lists) = self.pending.get_mut() {
            lists.skipped.remove(first, last, &mut |part| {
                let late_ns = now_ns.since(part.value.time_ns);
                let extent = next.saturating_sub(part.first + 1);
                reordering.learn(part.packets(), late_ns, (position, extent), now_ns);
            });
        }
    }
}
