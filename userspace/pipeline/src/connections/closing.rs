//! Closes the open state of a direction that is removed or idle.

use super::state::Connections;
use crate::connections::rows::event::EventDetail;
use rocescope_wire::Transport;

impl Connections {
    pub(crate) fn check_retry_exhaustion(&mut self, at: u32, now_ns: u64) {
        // Most directions have nothing open.
        let worth = self
            .directions
            .get(at)
            .is_some_and(|direction| direction.tries > 0 || direction.rnr.is_some());
        if worth {
            self.with(at, |direction, context| {
                direction.check_retry_exhaustion(now_ns, context);
            });
        }
    }

    pub(crate) fn end_open(&mut self, at: u32) {
        let now_ns = self.now_ns;
        self.with(at, |direction, context| {
            direction.end_timeouts(context.emit);
            direction.settle_skipped(context);
            direction.end_pending(context);
            direction.end_sprayed(context);
            if let Some(lost) = direction.responder.take_lost() {
                direction.lose(lost, 1, context.emit);
            }
            direction.end_episode(context.emit);
            direction.check_retry_exhaustion(now_ns, context);
            if let Some(rnr) = direction.rnr.take() {
                (context.emit)(rnr.begun_ns, EventDetail::Rnr(rnr));
            }
            direction.rate.finish(now_ns);
            if direction.transport == Transport::Uc {
                direction.end_unacknowledged(now_ns, context);
            }
            while let Some(gap) = direction.requests.take_gap() {
                let is_unknown = context.capture_loss.overlaps(gap.value.before_ns, gap.value.opened_ns)
                    || gap.last > direction.acked && context.may_have_passed(&gap);
                direction.count_unfilled_gap(&gap, is_unknown);
            }
            direction.end_responses(context);
        });
    }
}
