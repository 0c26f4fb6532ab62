//! Classifies a run of requests by the packets before it: in order, reordered, duplicate or retransmitted.
//!
//! [`classify`](Direction::classify) only decides; `retransmission` counts.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::losses::pending::SkippedRange;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::order::retransmission_scheme::RetransmissionScheme;
use crate::connections::requests::recovery::{PendingNak, Trigger};
use crate::time::EventTime;
use rocescope_record::RunRecord;
use rocescope_wire::Operation;

/// If more than these would be lost in a row, the first one was more likely late.
const MAX_LOST: u64 = 3;

/// Up to this many packets in order may be copies that the network made.
const MAX_DUPLICATES: u64 = 2;

/// A sender that was silent for this long before it repeats packets waited for its timer: 2 ms.
pub(crate) const TIMER_NS: u64 = 2_000_000;

/// How a run of requests relates to earlier packets of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Classification {
    /// It continues the send sequence, with new or with retransmitted PSNs.
    InOrder,
    /// It continues the send sequence; the run before belonged to an earlier one and was late.
    Resumed(SkippedRange),
    /// It continues the send sequence before a supposed timeout or NAK recovery: the only run of that
    /// recovery was just late.
    RewindRefuted,
    /// Packets sent after it passed the tap earlier.
    Reordered,
    /// Its own retransmission passed the tap earlier.
    Overtaken,
    /// The network duplicated a packet that just passed.
    Duplicate,
    /// Its sender went back to it.
    Retransmitted(Trigger),
}

impl Direction {
    /// Classifies a run. `is_answered`: a READ or atomic, whose response is its acknowledgement.
    pub(crate) fn classify(
        &self,
        run: &RunRecord,
        (first, last): (ExtendedPsn, ExtendedPsn),
        is_answered: bool,
        context: &Context<'_>,
    ) -> Classification {
        if self.refutes_rewind(first) {
            return Classification::RewindRefuted;
        }
        let next = self.send_sequence.next();
        if !self.requests.is_started() || first == next || first > self.requests.high() {
            return Classification::InOrder;
        }
        let now_ns = run.first_ns;
        if self.is_overtaken((first, last), now_ns) {
            return Classification::Overtaken;
        }
        let is_soon = |ns: u64| now_ns.since(ns) <= self.reorder_ns(context);
        if self.is_one_sided()
            && let Some(gap) = self.requests.gap_at(first)
        {
            // What repeats others in order is transmitted again; one alone may have been reordered.
            return if last > gap.last + 1 {
                Classification::Retransmitted(self.unseen_trigger(now_ns))
            } else {
                Classification::Reordered
            };
        }
        if let Some(gap) = self.requests.gap_at(first)
            && is_soon(gap.value.opened_ns)
            && gap.value.nak.is_none_or(|nak| nak > last)
            && !self.continues_pass(first, last, gap.last)
        {
            let in_pass = next <= self.requests.high();
            if !in_pass && self.duplicates_by_delay.is_none() && last.min(self.requests.high()) > gap.last + 1 {
                // The packets after a late one are new: these are repeated in order, and the NAK did not pass here.
                return Classification::Retransmitted(Trigger::Unseen);
            }
            // Also if the PSN is ahead of where the sender went back to: it was sent before that.
            return Classification::Reordered;
        }
        if first > next {
            return self.classify_ahead((first, last), now_ns, context);
        }
        self.classify_back(run, (first, last), is_answered && is_soon(self.answered_ns), context)
    }

    /// Whether it continues the send sequence from before a supposed timeout or NAK recovery.
    fn refutes_rewind(&self, first: ExtendedPsn) -> bool {
        let next = self.send_sequence.next();
        let Some(episode) = self.episode.as_deref() else {
            return false;
        };
        match episode.trigger {
            // A duplicate of the last packet is followed by the same PSNs as a send sequence that begins
            // there. But more packets of a sequence that began earlier would have passed.
            Trigger::Timeout => {
                (first > next || first == next && episode.before.is_some())
                    && self.send_sequence.rejoins_previous(first)
            }
            Trigger::Nak => {
                episode.first + 1 == next && self.send_sequence.continues_previous(first) && first - next > MAX_LOST
            }
            _ => false,
        }
    }

    /// Classifies a run above what the send sequence expects, and not above the highest PSN.
    fn classify_ahead(
        &self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        now_ns: u64,
        context: &Context<'_>,
    ) -> Classification {
        let is_soon = |ns: u64| now_ns.since(ns) <= self.reorder_ns(context);
        let timeout = self
            .episode
            .as_deref()
            .filter(|episode| episode.trigger == Trigger::Timeout);
        // The retransmission timer restarts with every answer.
        let at_once = is_soon(self.answered_ns);
        // An earlier send sequence seemed to skip it.
        let is_ordered = self.reordering.packets() == 0 && self.recoveries.scheme() == RetransmissionScheme::GoBackN;
        // Where nothing was late before, it belongs to the pass that passes now.
        let late = self.pending.skipped_at(first).filter(|_| !is_ordered);
        let is_late = |skipped: SkippedRange| last <= skipped.last && (at_once || is_soon(skipped.time_ns));
        if late.is_some_and(is_late) {
            Classification::Reordered
        } else if self.send_sequence.is_single_run()
            && timeout.is_some_and(|episode| episode.before.is_some() || self.fills_gap(first, last))
        {
            // Another late run.
            Classification::Retransmitted(Trigger::Timeout)
        } else {
            Classification::InOrder
        }
    }

    /// Classifies a run below what the send sequence expects. `is_answered_now`: a READ or atomic just after an answer.
    fn classify_back(
        &self,
        run: &RunRecord,
        (first, last): (ExtendedPsn, ExtendedPsn),
        is_answered_now: bool,
        context: &Context<'_>,
    ) -> Classification {
        let now_ns = run.first_ns;
        let is_soon = |ns: u64| now_ns.since(ns) <= self.reorder_ns(context);
        let back = Classification::Retransmitted(self.trigger(first, last, is_answered_now));
        if self.is_one_sided() {
            let skipped = self.pending.skipped_at(first);
            let is_late = |skipped: SkippedRange| last <= skipped.last && is_soon(skipped.time_ns);
            if last - first < MAX_DUPLICATES && skipped.is_some_and(is_late) {
                return Classification::Reordered;
            }
            return self.classify_one_sided(run, (first, last), context);
        }
        if self.requests.gap_at(first).is_some() {
            return back;
        }
        if first < self.requests.low() {
            return if self.start_is_open && is_soon(self.first_request_ns) {
                Classification::Reordered
            } else {
                back
            };
        }
        // A NAK may pass while its PSN is being retransmitted for another reason. The sender skips what
        // was acknowledged since then, if it knows already.
        let mut naks = self.naks.iter().flatten();
        if naks.any(|nak| !nak.used && (nak.psn == first || nak.psn.max(self.acked + 1) == first)) {
            return back;
        }
        match self.pending.skipped_at(first) {
            // The run that skipped them was sent before the sender went back; the sequence continues here.
            Some(skipped) if first == skipped.first && last != skipped.last => {
                return Classification::Resumed(skipped);
            }
            Some(skipped) if is_soon(self.answered_ns) || is_soon(skipped.time_ns) => {
                return Classification::Reordered;
            }
            _ => {}
        }
        let Some(last_seen_ns) = self.send_sequence.time_of(first) else {
            return back;
        };
        let is_read = run.opcode().operation() == Operation::RdmaReadRequest;
        let mut naks = self.naks.iter().flatten();
        let asked = naks.any(|r| r.psn <= first && r.time_ns >= last_seen_ns);
        let unanswered = back == Classification::Retransmitted(Trigger::Response);
        if asked || unanswered || now_ns.since(last_seen_ns) > context.duplicate_ns {
            back
        } else if (last + 1).min(self.send_sequence.next()) > first + MAX_DUPLICATES && !is_read {
            // More in order than are copied: the NAK did not pass the tap, or has not yet.
            Classification::Retransmitted(Trigger::Unseen)
        } else {
            Classification::Duplicate
        }
    }

    /// Whether only this direction passes the tap.
    pub(crate) const fn is_one_sided(&self) -> bool {
        self.peer.is_none() && self.answered_ns == 0
    }

    /// Without the other direction: several packets repeated in order were transmitted again, few soon after the first
    /// copy are duplicates.
    fn classify_one_sided(
        &self,
        run: &RunRecord,
        (first, last): (ExtendedPsn, ExtendedPsn),
        context: &Context<'_>,
    ) -> Classification {
        // A READ is one packet, however many PSNs its response has.
        let repeated = match run.opcode().operation() {
            Operation::RdmaReadRequest => 1,
            _ => last.min(self.requests.high()) + 1 - first,
        };
        let is_start = first < self.requests.low() && run.first_ns.since(self.first_request_ns) <= context.reorder_ns;
        if is_start {
            return Classification::Reordered;
        }
        let seen_ns = self.send_sequence.time_of(first);
        let is_soon = seen_ns.is_some_and(|seen_ns| run.first_ns.since(seen_ns) <= context.duplicate_ns);
        if is_soon && repeated <= MAX_DUPLICATES {
            Classification::Duplicate
        } else {
            Classification::Retransmitted(self.unseen_trigger(run.first_ns))
        }
    }

    /// Why a sender goes back whose answers are not seen.
    fn unseen_trigger(&self, now_ns: u64) -> Trigger {
        if now_ns.since(self.last_request_ns) > TIMER_NS {
            Trigger::Timeout
        } else {
            Trigger::Unseen
        }
    }

    /// Whether these are first copies whose retransmission has passed, and packets after it: nothing requests them again, no
    /// timer can have expired, and the direction has no copies.
    fn is_overtaken(&self, (first, last): (ExtendedPsn, ExtendedPsn), now_ns: u64) -> bool {
        let Some(recovered) = self.pending.recovered_at(first, last) else {
            return false;
        };
        // A NAK that follows the retransmission sooner than an answer can was caused by what passed before.
        let answered_ns = recovered.passed_ns + self.latencies.min_rtt_ns().unwrap_or(0);
        let is_early = |nak: &PendingNak| (recovered.passed_ns..answered_ns).contains(&nak.time_ns);
        let asks = |nak: &PendingNak| nak.asks(last) && nak.psn > self.acked && !is_early(nak);
        let is_requested = self.naks.iter().flatten().any(asks);
        let since_ns = now_ns.since(recovered.passed_ns);
        last + 1 < self.send_sequence.next()
            && !is_requested
            && !Self::a_timer_may_expire_within(since_ns)
            && self.counts.duplicate == 0
    }

    /// Packets that fill a gap within this time may have been reordered.
    pub(crate) fn reorder_ns(&self, context: &Context<'_>) -> u64 {
        self.latencies
            .min_rtt_ns()
            .map_or(context.reorder_ns, |rtt| rtt.max(context.reorder_ns))
    }

    /// Whether a run that begins in a gap and goes on with repeated packets, to `last`, belongs to the current pass: a late
    /// packet is followed by new ones.
    const fn continues_pass(&self, first: ExtendedPsn, last: ExtendedPsn, gap_last: ExtendedPsn) -> bool {
        first > self.send_sequence.next() && last > gap_last && first <= self.send_sequence.resent_until()
    }

    /// Whether none of these has passed, and no NAK named them.
    fn fills_gap(&self, first: ExtendedPsn, last: ExtendedPsn) -> bool {
        let gap = self.requests.gap_at(first);
        gap.is_some_and(|gap| last <= gap.last && gap.value.nak.is_none())
    }

    /// Why the sender goes back to `first`.
    fn trigger(&self, first: ExtendedPsn, last: ExtendedPsn, is_answered: bool) -> Trigger {
        match self.naks.iter().flatten().find(|r| r.asks(last)) {
            Some(nak) => nak.trigger,
            // The request arrived, because it or a later one was just answered: its response did not.
            _ if is_answered && first < self.acked => Trigger::Response,
            _ => Trigger::Timeout,
        }
    }
}
