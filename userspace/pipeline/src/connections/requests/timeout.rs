//! Packets retransmitted after a timeout: lost, or only answered late.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::requests::recovery::PendingTimeout;
use crate::connections::responses::answers::TRIES;
use crate::connections::rows::event::{EventDetail, LossEvidence, LossLocation};
use alloc::boxed::Box;
use alloc::vec::Vec;
use rocescope_sketches::Quantiles;
use rocescope_wire::Psn;

/// Answered timeouts that wait for a second answer; the oldest is forgotten.
const MAX_ANSWERED: usize = 16;

impl Direction {
    /// Names a packet that the sender repeats by its timer while nothing answers, once: one timeout more than those after
    /// which silence means that it gave up.
    pub(crate) fn report_silence(&self, (psn, now_ns): (ExtendedPsn, u64), emit: &mut dyn FnMut(u64, EventDetail)) {
        if self.tries == TRIES + 1 {
            let (psn, tries) = (Psn::new(psn as u32), self.tries);
            emit(now_ns, EventDetail::Unanswered { psn, tries });
        }
    }

    /// Request packets since the last answer, repeats included, of a sender that repeats by its timer: whether they or
    /// their answers were lost is unknown.
    pub(crate) fn unresolved(&self) -> u64 {
        if self.tries == 0 || self.is_unreliable() {
            return 0;
        }
        let repeats = self.counts.retransmitted.saturating_sub(self.resolved);
        let answered = self.acked.max(self.requests.low().saturating_sub(1));
        // A READ takes many PSNs with one packet.
        let once = self.counts.request_packets.saturating_sub(self.counts.retransmitted);
        repeats + self.requests.high().saturating_sub(answered).min(once)
    }

    /// The sender's timer expired for unacknowledged packets that had passed: the next answer shows whether they were
    /// lost.
    pub(crate) fn suspect_timeout_loss(
        &mut self,
        psn: ExtendedPsn,
        waited_ns: u64,
        now_ns: u64,
        context: &mut Context<'_>,
    ) {
        let times = match self.pending_timeout.as_deref() {
            Some(timeout) if timeout.psn == psn => timeout.times + 1,
            _ => {
                self.end_timeout(context.emit);
                1
            }
        };
        let high = self.requests.high();
        let is_read = self.outstanding.responds_until(psn, high);
        self.pending_timeout = Some(Box::new(PendingTimeout {
            psn,
            resent_ns: now_ns,
            times,
            waited_ns,
            is_alone: psn == high || is_read,
            is_read,
            decide_ns: 0,
        }));
    }

    /// The shortest time to an answer, the one that 99 % do not exceed, and the longest.
    fn answer_times_ns(&self, is_read: bool) -> (u64, u64, u64) {
        let unknown = u64::MAX / 2;
        if is_read {
            let response = self.latencies.rare().map(|rare| &rare.response);
            let longest_ns = response.and_then(Quantiles::max).unwrap_or(unknown);
            return (response.and_then(Quantiles::min).unwrap_or(0), longest_ns, longest_ns);
        }
        (
            self.latencies.min_rtt_ns().unwrap_or(0),
            self.latencies.usual_rtt_ns().unwrap_or(unknown),
            self.latencies.max_rtt_ns().unwrap_or(unknown),
        )
    }

    /// The answer for everything up to `psn` passes at `now_ns`.
    ///
    /// An answer does not show which transmission it belongs to. But if the sender waited more than two times the round
    /// trip that 99 % do not exceed before it retransmitted, the first one (or its answer) was lost, unless each of them
    /// is answered, as slowly as the slowest so far: then the answers were just slow. Otherwise the answer may just have
    /// been slow. Not twice the slowest: one hiccup would hide every loss after it.
    pub(crate) fn answer_timeouts(&mut self, psn: ExtendedPsn, now_ns: u64, emit: &mut dyn FnMut(u64, EventDetail)) {
        self.settle_answered(psn, now_ns, emit);
        let Some(timeout) = self.pending_timeout.take_if(|timeout| timeout.psn <= psn) else {
            return;
        };
        let (shortest_ns, usual_ns, longest_ns) = self.answer_times_ns(timeout.is_read);
        if timeout.waited_ns <= 2 * usual_ns || now_ns < timeout.resent_ns + shortest_ns || !timeout.is_alone {
            return;
        }
        let timeouts = &mut self.pending.lists().timeouts;
        if timeouts.len() >= MAX_ANSWERED {
            timeouts.remove(0);
        }
        timeouts.push(PendingTimeout {
            // As slow as this answer would be, that to the retransmission comes until then.
            decide_ns: now_ns + timeout.waited_ns + longest_ns,
            ..*timeout
        });
    }

    /// Those that were answered before: another answer for what has arrived is that to a retransmission.
    fn settle_answered(&mut self, psn: ExtendedPsn, now_ns: u64, emit: &mut dyn FnMut(u64, EventDetail)) {
        let acked = self.acked;
        let Some(lists) = self.pending.get_mut().filter(|lists| !lists.timeouts.is_empty()) else {
            return;
        };
        let lost: Vec<PendingTimeout> = lists
            .timeouts
            .extract_if(.., |timeout| now_ns > timeout.decide_ns)
            .collect();
        if psn <= acked
            && let Some(at) = lists.timeouts.iter().position(|timeout| timeout.psn <= psn)
            && let Some(timeout) = lists.timeouts.get_mut(at)
        {
            timeout.times -= 1;
            if timeout.times == 0 {
                lists.timeouts.remove(at);
            }
        }
        for timeout in &lost {
            self.lose_unanswered(timeout, emit);
        }
    }

    /// No answer for the packet of the last timeout will pass.
    pub(crate) fn end_timeout(&mut self, emit: &mut dyn FnMut(u64, EventDetail)) {
        if let Some(timeout) = self.pending_timeout.take().filter(|timeout| timeout.is_alone) {
            self.lose_unanswered(&timeout, emit);
        }
    }

    /// No packet follows.
    pub(crate) fn end_timeouts(&mut self, emit: &mut dyn FnMut(u64, EventDetail)) {
        let lists = self.pending.get_mut();
        let answered = lists.map_or(Vec::new(), |lists| core::mem::take(&mut lists.timeouts));
        for timeout in &answered {
            self.lose_unanswered(timeout, emit);
        }
        self.end_timeout(emit);
    }

    /// It was lost, or its answer. Which one is unknown if others were not acknowledged either.
    fn lose_unanswered(&mut self, timeout: &PendingTimeout, emit: &mut dyn FnMut(u64, EventDetail)) {
        let packets = u64::from(timeout.times);
        self.counts.unanswered += packets;
        let detail = EventDetail::Loss {
            psn: Psn::new(timeout.psn as u32),
            packets,
            location: LossLocation::Downstream,
            evidence: LossEvidence::Timeout,
        };
        emit(timeout.resent_ns, detail);
    }
}
