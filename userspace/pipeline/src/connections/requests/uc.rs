//! Requests of the UC service: no one acknowledges or repeats them.
//!
//! What comes after a later packet is out of order, what comes again a duplicate, what never comes was lost upstream of
//! the tap.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::psn_tracker::{Arrival, Gap};
use crate::connections::rows::event::LossEvidence;
use crate::time::EventTime;

/// A packet that has not come after this was lost: more than any fabric makes packets late.
const NEVER_NS: u64 = 100_000_000;
/// At the end of the capture, while none of many packets was late.
const SOON_NS: u64 = 20_000;
const MANY: u64 = 64;

impl Direction {
    /// A run of UC requests passes at `now_ns`.
    pub(crate) fn unacknowledged(&mut self, arrival: &Arrival, filled: &[Gap], now_ns: u64, context: &mut Context<'_>) {
        self.counts.repeated += arrival.repeated;
        self.counts.duplicate += arrival.repeated;
        self.counts.out_of_order += arrival.filled + arrival.below;
        let high = self.requests.high();
        for gap in filled {
            let late_ns = now_ns.since(gap.value.opened_ns);
            self.reordering
                .learn(gap.packets(), late_ns, (high, high - gap.first), now_ns);
        }
        self.lose_older_than(NEVER_NS.max(self.reordering.bound_ns()), now_ns, context);
    }

    /// No packet follows; the capture saw `now_ns`.
    pub(crate) fn end_unacknowledged(&mut self, now_ns: u64, context: &mut Context<'_>) {
        let age_ns = match self.reordering.late_ns() {
            Some(late_ns) => self.reordering.bound_ns().min(2 * late_ns),
            None if self.counts.request_packets >= MANY => SOON_NS,
            None => NEVER_NS,
        };
        self.lose_older_than(age_ns, now_ns, context);
    }

    /// Gaps that opened this long ago were lost.
    fn lose_older_than(&mut self, age_ns: u64, now_ns: u64, context: &mut Context<'_>) {
        while let Some(gap) = self.requests.lowest_gap()
            && now_ns.since(gap.value.opened_ns) > age_ns
        {
            let _ = self.requests.take_gap();
            if context.may_have_passed(&gap) {
                self.count_unfilled_gap(&gap, true);
            } else {
                self.lost_upstream((gap.first, gap.last), gap.value.opened_ns, LossEvidence::Never, context);
            }
        }
    }
}
