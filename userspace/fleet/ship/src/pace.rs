//! How fast: a cap of the bandwidth, and waits after failures.

use std::time::{Duration, Instant};

/// The first wait after a failure; each further one is twice as long.
const FIRST: Duration = Duration::from_secs(1);
/// The longest one.
const LONGEST: Duration = Duration::from_secs(60);

/// A cap of the bandwidth in the mean: a segment goes at full speed, and the next one waits.
#[derive(Debug)]
pub(crate) struct Cap {
    bytes_per_second: Option<u64>,
    free: Instant,
}

impl Cap {
    /// Creates a cap; without a number there is none.
    pub(crate) fn new(bytes_per_second: Option<u64>, now: Instant) -> Self {
        Self {
            bytes_per_second,
            free: now,
        }
    }

    /// How long to wait before these bytes are sent.
    pub(crate) fn wait(&mut self, bytes: u64, now: Instant) -> Duration {
        let Some(rate) = self.bytes_per_second else {
            return Duration::ZERO;
        };
        let wait = self.free.saturating_duration_since(now);
        self.free = now + wait + Duration::from_secs_f64(bytes as f64 / rate.max(1) as f64);
        wait
    }
}

/// Waits after failures in a row.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    next: Option<Duration>,
}

impl Backoff {
    /// It failed: how long to wait.
    pub(crate) fn failed(&mut self) -> Duration {
        let wait = self.next.unwrap_or(FIRST);
        self.next = Some((wait * 2).min(LONGEST));
        wait
    }

    /// It succeeded.
    pub(crate) const fn succeeded(&mut self) {
        self.next = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{Backoff, Cap};
    use std::time::{Duration, Instant};

    #[test]
    fn the_bandwidth_is_capped_in_the_mean() {
        let begun = Instant::now();
        let mut cap = Cap::new(Some(1_000), begun);
        assert_eq!(cap.wait(2_000, begun), Duration::ZERO);
        assert_eq!(cap.wait(500, begun), Duration::from_secs(2));
        assert_eq!(
            cap.wait(500, begun + Duration::from_secs(2)),
            Duration::from_millis(500)
        );
        // Time that was not used is not made up for.
        assert_eq!(cap.wait(500, begun + Duration::from_secs(60)), Duration::ZERO);
        assert_eq!(
            cap.wait(500, begun + Duration::from_secs(60)),
            Duration::from_millis(500)
        );
        assert_eq!(Cap::new(None, begun).wait(u64::MAX, begun), Duration::ZERO);
    }

    #[test]
    fn waits_double_up_to_a_minute() {
        let mut backoff = Backoff::default();
        let waits: Vec<u64> = (0..8).map(|_| backoff.failed().as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        backoff.succeeded();
        assert_eq!(backoff.failed().as_secs(), 1);
    }
}
