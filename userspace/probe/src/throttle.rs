//! The agent slows down before it is in the way of what the host is there for.

use crate::types::Nanos;

/// The interval never grows beyond this many times what it was.
const FACTOR_MAX: u32 = 64;
/// The interval is halved again when so many of it went by without a reason to slow down: after one look (a second) at
/// the soonest, after ten at the latest.
const QUIET_INTERVALS: i64 = 100;
const LOOK: i64 = 1_000_000_000;
/// Later than this a processor that many programs share may be at any time, however short the interval is.
const LEAST_BACKLOG: Nanos = Nanos(100_000_000);

/// What the interval is multiplied by.
#[derive(Clone, Debug)]
pub struct Throttle {
    cpu_bound: f64,
    backlog_bound: Nanos,
    /// Looks without a reason, and after how many the interval is halved.
    quiet: u32,
    quiet_bound: u32,
    factor: u32,
    doubled: u64,
}

impl Throttle {
    /// Slows down an agent that probes every `interval` when it takes more than `cpu_bound` of a core (1 is a whole
    /// one), or is later with a probe than the next is due, and than 100 ms.
    #[must_use]
    pub fn new(cpu_bound: f64, interval: Nanos) -> Self {
        let looks = interval.0.saturating_mul(QUIET_INTERVALS) / LOOK;
        Self {
            cpu_bound,
            backlog_bound: interval.max(LEAST_BACKLOG),
            quiet: 0,
            quiet_bound: looks.clamp(1, 10) as u32,
            factor: 1,
            doubled: 0,
        }
    }

    /// Looks at what was used since the last look: the share of a core, and the longest that a
    /// probe was late.
    pub fn look(&mut self, cpu: f64, backlog: Nanos) {
        if cpu > self.cpu_bound || backlog > self.backlog_bound {
            self.quiet = 0;
            if self.factor < FACTOR_MAX {
                self.factor *= 2;
                self.doubled += 1;
            }
        } else {
            self.quiet += 1;
            if self.quiet >= self.quiet_bound && self.factor > 1 {
                self.factor /= 2;
                self.quiet = 0;
            }
        }
    }

    /// What the interval is multiplied by: 1, 2, 4, ... 64.
    #[must_use]
    pub const fn factor(&self) -> u32 {
        self.factor
    }

    /// How often it was doubled.
    #[must_use]
    pub const fn doubled(&self) -> u64 {
        self.doubled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Nanos = Nanos(100_000_000);

    #[test]
    fn a_turn_of_the_scheduler_is_no_reason_and_short_intervals_come_back_sooner() {
        let mut throttle = Throttle::new(0.05, Nanos(INTERVAL.0 / 20));
        throttle.look(0.0, INTERVAL);
        assert_eq!(throttle.factor(), 1);
        throttle.look(0.06, Nanos(0));
        assert_eq!(throttle.factor(), 2);
        throttle.look(0.0, Nanos(0));
        assert_eq!(throttle.factor(), 1);
    }

    #[test]
    fn it_doubles_beyond_the_bound_and_not_at_it() {
        let mut throttle = Throttle::new(0.05, INTERVAL);
        throttle.look(0.05, INTERVAL);
        assert_eq!(throttle.factor(), 1);
        throttle.look(0.051, Nanos(0));
        assert_eq!(throttle.factor(), 2);
        throttle.look(0.0, INTERVAL + Nanos(1));
        assert_eq!((throttle.factor(), throttle.doubled()), (4, 2));
    }

    #[test]
    fn it_has_an_end_and_comes_back() {
        let mut throttle = Throttle::new(0.05, INTERVAL);
        for _ in 0..100 {
            throttle.look(1.0, Nanos(0));
        }
        assert_eq!((throttle.factor(), throttle.doubled()), (64, 6));
        for _ in 0..9 {
            throttle.look(0.0, Nanos(0));
        }
        assert_eq!(throttle.factor(), 64);
        for _ in 0..51 {
            throttle.look(0.0, Nanos(0));
        }
        assert_eq!(throttle.factor(), 1);
    }
}
