//! The system clock, which also stamps frames, and the detection of clock steps.

use crate::types::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// The minimum step; reading two clocks takes less time than this.
const STEP: i64 = 1_000_000;

/// Returns the current time.
pub(super) fn now() -> Nanos {
    nanos(ClockId::Realtime)
}

fn nanos(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

/// The lead of the system clock over the monotonic clock, which cannot be set.
#[derive(Debug)]
pub(super) struct SystemClock {
    ahead: Nanos,
}

impl SystemClock {
    pub(super) fn new() -> Self {
        Self { ahead: ahead() }
    }

    /// Whether it was set since the last [`step`](Self::step).
    pub(super) fn is_set(&self) -> bool {
        (ahead() - self.ahead).0.abs() > STEP
    }

    /// Returns by how much it was set, if it was.
    pub(super) fn step(&mut self) -> Option<Nanos> {
        let now = ahead();
        let by = now - self.ahead;
        if by.0.abs() <= STEP {
            return None;
        }
        self.ahead = now;
        Some(by)
    }
}

/// The best of three readings: one that was interrupted between the two clocks would look like a step.
fn ahead() -> Nanos {
    let read = || {
        let real = nanos(ClockId::Realtime);
        real - nanos(ClockId::Monotonic)
    };
    let (a, b, c) = (read(), read(), read());
    a.max(b).max(c)
}
