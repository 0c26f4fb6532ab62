//! Counts packets as lost: each is a counter and an event.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::rows::event::{EventDetail, LossEvidence, LossLocation};
use rocescope_wire::Psn;

impl Direction {
    /// `first..=last` were lost between their sender and the tap.
    pub(crate) fn lost_upstream(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        time_ns: u64,
        evidence: LossEvidence,
        context: &mut Context<'_>,
    ) {
        self.lose_upstream((first, last - first + 1), time_ns, evidence, context.emit);
    }

    /// The same for a number of packets from `first` on.
    pub(crate) fn lose_upstream(
        &mut self,
        (first, packets): (ExtendedPsn, u64),
        time_ns: u64,
        evidence: LossEvidence,
        emit: &mut dyn FnMut(u64, EventDetail),
    ) {
        self.counts.lost_upstream += packets;
        let detail = EventDetail::Loss {
            psn: Psn::new(first as u32),
            packets,
            location: LossLocation::Upstream,
            evidence,
        };
        emit(time_ns, detail);
    }

    /// The responder requested packets that had passed: `packets` were lost downstream of the tap.
    pub(crate) fn lose(
        &mut self,
        (psn, time_ns): (ExtendedPsn, u64),
        packets: u64,
        emit: &mut dyn FnMut(u64, EventDetail),
    ) {
        self.counts.lost_downstream += packets;
        let detail = EventDetail::Loss {
            psn: Psn::new(psn as u32),
            packets,
            location: LossLocation::Downstream,
            evidence: LossEvidence::Nak,
        };
        emit(time_ns, detail);
    }
}
