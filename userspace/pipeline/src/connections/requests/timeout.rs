//! Packets retransmitted after a timeout: lost, or only answered late.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::requests::recovery::PendingTimeout;
use crate::connections::responses::answers::TRIES;
use crate::connections::rows::event::{EventDetail, LossEvidence, LossLocation};
use alloc::boxed::Box;
use rocescope_wire::Psn;

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
                self.settle_timeout(None, context.emit);
                1
            }
        };
        self.pending_timeout = Some(Box::new(PendingTimeout {
            psn,
            resent_ns: now_ns,
            times,
            waited_ns,
            is_alone: psn == self.requests.high(),
            decide_ns: None,
        }));
    }

    /// The answer for everything up to `answered` passed at its time, or will never pass.
    ///
    /// An answer does not show which transmission it belongs to. But if the sender waited more than two times the round
    /// trip that 99 % do not exceed before it retransmitted, the first one (or its answer) was lost, unless each of them
    /// is answered, as slowly as the slowest so far: then the answers were just slow. Otherwise the answer may just have
    /// been slow. Not twice the slowest: one hiccup would hide every loss after it.
    pub(crate) fn settle_timeout(
        &mut self,
        answered: Option<(ExtendedPsn, u64)>,
        emit: &mut dyn FnMut(u64, EventDetail),
    ) {
        let usual_ns = self.latencies.usual_rtt_ns().unwrap_or(u64::MAX / 2);
        let longest_ns = self.latencies.max_rtt_ns().unwrap_or(u64::MAX / 2);
        let Some(timeout) = self.pending_timeout.as_deref_mut() else {
            return;
        };
        if let Some((psn, now_ns)) = answered {
            if psn < timeout.psn {
                return;
            }
            match timeout.decide_ns {
                None => {
                    let soonest_ns = timeout.resent_ns + self.latencies.min_rtt_ns().unwrap_or(0);
                    if timeout.waited_ns <= 2 * usual_ns || now_ns < soonest_ns || !timeout.is_alone {
                        self.pending_timeout = None;
                        return;
                    }
                    // As slow as this answer would be, that to the retransmission comes until then.
                    timeout.decide_ns = Some(now_ns + timeout.waited_ns + longest_ns);
                    return;
                }
                Some(decide_ns) if now_ns <= decide_ns => {
                    if psn <= self.acked {
                        timeout.times -= 1;
                    }
                    if timeout.times == 0 {
                        self.pending_timeout = None;
                    }
                    return;
                }
                Some(_) => {}
            }
        }
        let timeout = *timeout;
        self.pending_timeout = None;
        if !timeout.is_alone {
            // Which one was lost is unknown.
            return;
        }
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
