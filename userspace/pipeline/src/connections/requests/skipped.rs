//! PSNs that a sender did not repeat while it retransmitted: lost, late, or acknowledged already.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::losses::pending::SuspectedLoss;
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
    pub(crate) fn skip(&mut self, first: ExtendedPsn, last: ExtendedPsn, time_ns: u64, context: &mut Context<'_>) {
        let first = first.max(self.acked + 1);
        if first > last {
            return;
        }
        // An earlier retransmission had skipped them, too.
        self.confirm_skipped((first, last), (0, None), context.emit);
        // Without room, the fate of the lowest is unknown.
        let _ = self.pending.lists().skipped.insert(Interval {
            first,
            last,
            value: time_ns,
        });
    }

    fn count_skipped(&mut self, skipped: &Interval<u64>, emit: &mut dyn FnMut(u64, EventDetail)) {
        // For a READ one packet was skipped, whatever its length.
        let psns = skipped.packets();
        let packets = psns.saturating_sub(self.outstanding.asked_for(skipped.first, skipped.last));
        self.lose_upstream((skipped.first, packets), skipped.value, LossEvidence::Skipped, emit);
    }

    /// Counts skipped packets as lost: they did not arrive late.
    pub(crate) fn settle_skipped(&mut self, emit: &mut dyn FnMut(u64, EventDetail)) {
        self.confirm_skipped((0, ExtendedPsn::MAX - 1), (0, None), emit);
    }

    /// The sender retransmits these: those that were skipped before were lost, unless this is the late packet itself, which
    /// passes alone at the given time.
    pub(crate) fn confirm_skipped(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        (repeated, alone_ns): (u64, Option<u64>),
        emit: &mut dyn FnMut(u64, EventDetail),
    ) {
        let is_one_sided = self.is_one_sided();
        let Some(lists) = self.pending.get_mut() else {
            return;
        };
        // After a NAK, only a sender that goes back repeats as many in order; after its timer others do, too.
        let episode = self.episode.as_deref();
        let is_nak = alone_ns.is_some() || episode.is_some_and(|episode| episode.trigger == Trigger::Nak);
        let is_long = repeated > EVIDENT && (is_nak || is_one_sided);
        // The NAK that it answers named the first of them.
        let naks = self.naks;
        let is_start = |part: &Interval<u64>| {
            let mut naks = naks.iter().flatten();
            naks.any(|nak| nak.psn == part.first && nak.time_ns < part.value)
        };
        let mut lost = Vec::new();
        lists.skipped.remove(first, last, &mut |part| lost.push(part));
        for part in lost {
            // A selective sender skips everything. Where packets are late, a pass that another NAK cuts short looks the
            // same: only a NAK proves the loss.
            let names = |nak: &&PendingNak| part.holds(nak.psn) && nak.time_ns >= part.value;
            let nak = self.naks.iter().flatten().find(names).map(|nak| nak.time_ns);
            let goes_back = match self.recoveries.scheme() {
                RetransmissionScheme::GoBackN => true,
                RetransmissionScheme::Unknown => is_long || is_start(&part) || repeated > 1 && nak.is_some(),
                RetransmissionScheme::SelectiveRepeat => false,
            };
            if !goes_back || self.reordering.packets() > 0 && nak.is_none() {
                continue;
            }
            // A READ is one packet, whatever the PSNs of its response.
            let is_read = self.outstanding.asked_for(part.first, part.last) > 0;
            match (alone_ns, nak) {
                (Some(passed_ns), Some(nak_ns)) if (part.first, part.last) == (first, last) && !is_read => {
                    let loss = SuspectedLoss {
                        evidence: LossEvidence::Skipped,
                        late_ns: passed_ns.since(part.value),
                        nak_ns,
                        passed_ns,
                    };
                    self.pending.suspect_loss((first, last), loss);
                }
                _ => self.count_skipped(&part, emit),
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
                let late_ns = now_ns.since(part.value);
                let extent = next.saturating_sub(part.first + 1);
                reordering.learn(part.packets(), late_ns, (position, extent), now_ns);
            });
        }
    }
}
