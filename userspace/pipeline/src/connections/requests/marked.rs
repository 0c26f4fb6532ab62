//! Senders that mark their retransmissions, as those of MRC do: nothing about them has to be inferred.
//!
//! A packet without the mark is sent once, so below the highest PSN it was overtaken, and one whose PSN has passed is a
//! duplicate of the network. A packet with the mark is a retransmission. If it fills a gap, the one before was lost
//! upstream of the tap; if not, the row states only that it was retransmitted: the sender may have been wrong. Trimmed
//! packets, and NACKs by their reason, are counts of their own.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::rows::event::{EventDetail, LossEvidence, LossLocation};
use alloc::boxed::Box;
use rocescope_record::RunRecord;
use rocescope_wire::Psn;
use rocescope_wire::mrc::NackReason;

/// Counts that only senders with marks have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkedCounts {
    /// Marked packets.
    pub(crate) retransmitted: u64,
    /// Packets without their payload.
    pub(crate) trimmed: u64,
    /// NACKs that this direction carried, for trimmed packets and for all other reasons.
    pub(crate) nacks_trimmed: u64,
    pub(crate) nacks_other: u64,
}

impl Direction {
    fn marked(&mut self) -> &mut MarkedCounts {
        self.marked.get_or_insert_with(Box::default)
    }

    /// Counts trimmed requests: they were sent, and did not arrive.
    pub(crate) fn trimmed(&mut self, run: &RunRecord) {
        self.marked().trimmed += u64::from(run.packets);
    }

    /// Counts a NACK that this direction carried.
    pub(crate) fn count_nacks(&mut self, run: &RunRecord) {
        let reason = NackReason(run.msn_or_dma_length as u8);
        let counts = self.marked();
        let count = if reason.is_trimmed() {
            &mut counts.nacks_trimmed
        } else {
            &mut counts.nacks_other
        };
        *count += u64::from(run.packets);
    }

    /// Processes a run of requests whose sender marks retransmissions.
    pub(crate) fn marked_request(&mut self, run: &RunRecord, context: &mut Context<'_>) {
        let packets = u64::from(run.packets);
        let first = self.requests.extended(run.first_psn());
        let last = first + packets - 1;
        if !self.requests.is_started() || self.counts.request_packets == 0 {
            self.first_request_ns = run.first_ns;
        }
        let times = (self.last_request_ns, run.first_ns);
        let arrival = self.requests.take(first, last, times, false, &mut |_| {});
        if arrival.restarted {
            self.counts.restarts += 1;
            self.restart();
        }
        if let Some(gap) = &arrival.displaced {
            self.count_unfilled_gap(gap, true);
        }
        self.start = Some(
            self.start
                .map_or(first, |start| if self.start_is_open { start.min(first) } else { start }),
        );
        self.last_request_ns = run.last_ns();
        self.count_new(run, &arrival, false);
        let counts = &mut self.counts;
        counts.request_packets += packets;
        counts.repeated += arrival.repeated;
        if run.is_marked_retransmission() {
            counts.retransmitted += packets;
            counts.lost_upstream += arrival.filled;
            if arrival.filled > 0 {
                let detail = EventDetail::Loss {
                    psn: Psn::new(first as u32),
                    packets: arrival.filled,
                    location: LossLocation::Upstream,
                    evidence: LossEvidence::Gap,
                };
                (context.emit)(run.first_ns, detail);
            }
            self.outstanding.retransmitted(first, last, run.last_ns());
        } else {
            counts.out_of_order += arrival.filled + arrival.below;
            counts.duplicate += arrival.repeated;
        }
        self.marked().retransmitted += if run.is_marked_retransmission() { packets } else { 0 };
        self.count_messages(run, first, last, &arrival);
        self.settle_gaps(context);
    }

    /// Everything up to the PSN of the run has arrived; a NACK states nothing of that.
    pub(crate) fn marked_acknowledged(&mut self, run: &RunRecord, context: &mut Context<'_>) {
        self.start_is_open = false;
        if !self.requests.is_started() || !run.syndrome().is_ack() {
            return;
        }
        let psn = self.requests.extended(run.last_psn());
        self.complete(psn, run.last_ns());
        self.answered_ns = run.last_ns();
        self.acked = self.acked.max(psn);
        self.settle_gaps(context);
    }
}
