//! When to read, and when to write what did not change.

use rocescope_host::counters::Moment;
use rocescope_runtime::clock::now;
use rocescope_runtime::status;
use std::fmt;
use std::time::{Duration, Instant};

/// When to read, and when to write what did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Time between two reads.
    pub interval: Duration,
    /// Write unchanged counters again after this time.
    pub refresh: Duration,
}

impl Pace {
    /// Reports the interval, unless it is that of `before`.
    pub(super) fn report(&self, before: &Self) {
        if self.interval != before.interval {
            status!("{self}");
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "reading counters every {}",
            humantime::format_duration(self.interval)
        )
    }
}

/// The moment of a read, of a process that began to read at `begun`.
#[must_use]
pub fn moment(begun: Instant) -> Moment {
    Moment {
        time: now(),
        clock: begun.elapsed(),
    }
}

/// When to read after a read that was due at `due` and began at `read`: an interval later, or a whole number of intervals
/// if that is less than half an interval after it began. The host was suspended then, or the read before took too long;
/// the increase since a read just before is no rate.
#[must_use]
pub fn following(due: Instant, read: Instant, interval: Duration) -> Instant {
    let next = due + interval;
    let earliest = read + interval / 2;
    let late = earliest.saturating_duration_since(next);
    let skipped = late.as_nanos().div_ceil(interval.as_nanos().max(1));
    next + interval * u32::try_from(skipped).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::following;
    use std::time::{Duration, Instant};

    /// A read that caught up came a few milliseconds after the late one, and its rate was a multiple of the real one.
    #[test]
    fn after_a_late_read_the_next_one_keeps_half_an_interval_and_the_beat() {
        let due = Instant::now();
        let ms = Duration::from_millis;
        for (began, next) in [
            (0, 100),
            (30, 100),
            (50, 100),
            (51, 200),
            (99, 200),
            (150, 200),
            (151, 300),
            (1_000, 1_100),
        ] {
            let following = following(due, due + ms(began), ms(100));
            assert_eq!(following - due, ms(next), "a read that began {began} ms late");
        }
        let year = ms(365 * 86_400_000);
        assert!(following(due, due + year, ms(10)) >= due + year);
    }
}
