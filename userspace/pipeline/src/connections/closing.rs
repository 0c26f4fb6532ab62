//! What is still open at a direction, when it is forgotten or silent for long.

use super::event::What;
use super::state::Connections;

impl Connections {
    pub(super) fn look_for_exhaustion(&mut self, at: u32, now_ns: u64) {
        // Most directions have nothing open.
        let worth = self
            .directions
            .get(at)
            .is_some_and(|direction| direction.tries > 0 || direction.rnr.is_some());
        if worth {
            self.with(at, |direction, around| {
                direction.look_for_exhaustion(now_ns, around);
            });
        }
    }

    pub(super) fn end_open(&mut self, at: u32) {
        let now_ns = self.now_ns;
        self.with(at, |direction, around| {
            direction.settle_doubt(None, around.tell);
            direction.settle_left_out(around.tell);
            if let Some(lost) = direction.receiver.take_lost() {
                direction.lose(lost, 1, around.tell);
            }
            direction.end_episode(around.tell);
            direction.look_for_exhaustion(now_ns, around);
            if let Some(rnr) = direction.rnr.take() {
                (around.tell)(rnr.begun_ns, What::Rnr(rnr));
            }
            direction.rate.finish(now_ns);
            for gap in direction.requests.drain() {
                direction.count_lost_gap(&gap, (around.is_blind)(gap.before_ns, gap.opened_ns));
            }
            let lost = direction.responses.drain().len();
            direction.counts.lost_response_gaps += lost as u64;
        });
    }
}
