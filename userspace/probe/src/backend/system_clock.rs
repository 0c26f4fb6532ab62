//! The clock of the system, which stamps frames too, and when somebody sets it.

use crate::types::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// Less than this is the time between two looks at two clocks.
const STEP: i64 = 1_000_000;

/// Now.
pub(super) fn now() -> Nanos {
    nanos(ClockId::Realtime)
}

fn nanos(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

/// How far the system clock is ahead of the one that nobody can set.
#[derive(Debug)]
pub(super) struct SystemClock {
    ahead: Nanos,
}

impl SystemClock {
    pub(super) fn new() -> Self {
        Self { ahead: ahead() }
    }

    /// Whether it was set since [`step`](Self::step) last said so.
    pub(super) fn is_set(&self) -> bool {
        (ahead() - self.ahead).0.abs() > STEP
    }

    /// By how much it was set, where it was.
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

/// The least of three looks: one that was interrupted between the two clocks would look like a step.
fn ahead() -> Nanos {
    let look = || {
        let real = nanos(ClockId::Realtime);
        real - nanos(ClockId::Monotonic)
    };
    let (a, b, c) = (look(), look(), look());
    a.max(b).max(c)
}
