//! How often a thread may work.

use std::time::{Duration, Instant};

/// A thread rests this many times as long as it worked.
const REST: u32 = 9;

/// When a thread may work again.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    free: Option<Instant>,
}

impl Pace {
    /// Whether it has rested.
    pub(crate) fn is_free(&self, now: Instant) -> bool {
        self.free.is_none_or(|free| free <= now)
    }

    /// How long it must rest still.
    pub(crate) fn rest(&self, now: Instant) -> Duration {
        self.free
            .map_or(Duration::ZERO, |free| free.saturating_duration_since(now))
    }

    /// Notes that it worked until now for this long.
    pub(crate) fn worked(&mut self, length: Duration, now: Instant) {
        let free = self.free.unwrap_or(now).max(now);
        self.free = Some(free + length.saturating_mul(REST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_a_tenth_of_the_time() {
        let begin = Instant::now();
        let mut pace = Pace::default();
        let (mut now, mut worked) = (begin, Duration::ZERO);
        for milliseconds in [1, 50, 7, 300, 20] {
            assert!(pace.is_free(now));
            let length = Duration::from_millis(milliseconds);
            now += length;
            worked += length;
            pace.worked(length, now);
            assert!(!pace.is_free(now));
            now += pace.rest(now);
        }
        assert_eq!(now - begin, worked * 10);
    }
}
