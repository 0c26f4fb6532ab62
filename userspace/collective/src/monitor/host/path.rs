//! A path that is probed: its round trips of the last seconds, and the shortest of the last minutes.

use alloc::collections::VecDeque;

/// How long round trips are kept: steps are read after they happened.
pub(super) const HISTORY_NS: i64 = 10_000_000_000;
/// Half of the time over which the base is the minimum.
const PERIOD_NS: i64 = 300_000_000_000;
/// Round trips without which there is no base.
const LEAST: u32 = 8;
/// Time between two questions about a path: several channels share it.
const GAP_NS: i64 = 1_000_000_000;

/// What is known of a path.
#[derive(Debug, Clone, Default)]
pub(super) struct Probed {
    /// When its answers came, and the round trips.
    pub(super) trips: VecDeque<(i64, i64)>,
    count: u32,
    /// Since when `now_ns` is the minimum, and the minimum of the period before.
    since_ns: i64,
    now_ns: Option<i64>,
    before_ns: Option<i64>,
    /// When a step last used it.
    pub(super) used_ns: i64,
    asked_ns: Option<i64>,
}

impl Probed {
    /// A probe was answered.
    pub(super) fn answered(&mut self, at_ns: i64, rtt_ns: i64) {
        if at_ns.saturating_sub(self.since_ns) >= PERIOD_NS {
            self.since_ns = at_ns;
            self.before_ns = self.now_ns.take();
        }
        self.now_ns = Some(self.now_ns.map_or(rtt_ns, |least| least.min(rtt_ns)));
        self.count = self.count.saturating_add(1);
        self.trips.push_back((at_ns, rtt_ns));
        while self
            .trips
            .pop_front_if(|(old_ns, _)| at_ns.saturating_sub(*old_ns) > HISTORY_NS)
            .is_some()
        {}
    }

    /// The round trip with empty queues, once enough are known.
    pub(super) fn base_ns(&self) -> Option<i64> {
        let both = [self.now_ns, self.before_ns];
        let least = both.into_iter().flatten().min();
        least.filter(|_| self.count >= LEAST)
    }

    /// Whether to ask about it at this time; then no more for a while.
    pub(super) fn asks(&mut self, at_ns: i64) -> bool {
        let is_due = self
            .asked_ns
            .is_none_or(|asked_ns| at_ns.saturating_sub(asked_ns) >= GAP_NS);
        if is_due {
            self.asked_ns = Some(at_ns);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::{GAP_NS, LEAST, PERIOD_NS, Probed};

    #[test]
    fn the_base_is_the_shortest_round_trip_of_the_last_minutes() {
        let mut path = Probed::default();
        for at in 0..i64::from(LEAST) {
            assert_eq!(path.base_ns(), None);
            path.answered(at, 20 + at);
        }
        assert_eq!(path.base_ns(), Some(20));
        path.answered(PERIOD_NS, 50);
        assert_eq!(path.base_ns(), Some(20), "of the period before");
        path.answered(2 * PERIOD_NS, 60);
        assert_eq!(path.base_ns(), Some(50));
        assert_eq!(path.trips.len(), 1, "only the last seconds are kept");
    }

    #[test]
    fn questions_about_a_path_have_a_pause() {
        let mut path = Probed::default();
        assert!(path.asks(5));
        assert!(!path.asks(4 + GAP_NS));
        assert!(path.asks(5 + GAP_NS));
    }
}
