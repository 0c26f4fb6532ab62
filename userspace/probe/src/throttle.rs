//! Slows the agent down before it disturbs the workload of the host.

use crate::types::Nanos;

/// The maximum multiple of the interval.
const FACTOR_MAX: u32 = 64;
/// The interval is halved again after this many intervals without a reason to slow down: after at least one update (a
/// second), after at most ten.
const QUIET_INTERVALS: i64 = 100;
const UPDATE_NS: i64 = 1_000_000_000;
/// The minimum bound on lateness: on a shared processor a probe may be this late at any time, however short the
/// interval.
const MIN_BACKLOG: Nanos = Nanos(100_000_000);

/// The multiple of the interval, adapted to the load.
#[derive(Clone, Debug)]
pub struct Throttle {
    cpu_bound: f64,
    backlog_bound: Nanos,
    /// Updates without a reason, and the number of them after which the interval is halved.
    quiet: u32,
    quiet_bound: u32,
    factor: u32,
    doubled: u64,
}

impl Throttle {
    /// Slows down an agent that probes every `interval` if it uses more than `cpu_bound` of a core (1 is a whole one),
    /// or if a probe is late by more than the interval and more than 100 ms.
    #[must_use]
    pub fn new(cpu_bound: f64, interval: Nanos) -> Self {
        let updates = interval.0.saturating_mul(QUIET_INTERVALS) / UPDATE_NS;
        Self {
            cpu_bound,
            backlog_bound: interval.max(MIN_BACKLOG),
            quiet: 0,
            quiet_bound: updates.clamp(1, 10) as u32,
            factor: 1,
            doubled: 0,
        }
    }

    /// Sets other bounds; the factor stays.
    pub fn reconfigure(&mut self, cpu_bound: f64, interval: Nanos) {
        *self = Self {
            factor: self.factor,
            doubled: self.doubled,
            ..Self::new(cpu_bound, interval)
        };
    }

    /// Updates the factor from the use since the last update: the share of a core, and the maximum lateness of a probe.
    pub fn update(&mut self, cpu: f64, backlog: Nanos) {
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

    /// The multiple of the interval: 1, 2, 4, ... 64.
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
    fn a_scheduling_delay_is_no_reason_and_short_intervals_recover_sooner() {
        let mut throttle = Throttle::new(0.05, Nanos(INTERVAL.0 / 20));
        throttle.update(0.0, INTERVAL);
        assert_eq!(throttle.factor(), 1);
        throttle.update(0.06, Nanos(0));
        assert_eq!(throttle.factor(), 2);
        throttle.update(0.0, Nanos(0));
        assert_eq!(throttle.factor(), 1);
    }

    #[test]
    fn it_doubles_above_the_bound_and_not_at_it() {
        let mut throttle = Throttle::new(0.05, INTERVAL);
        throttle.update(0.05, INTERVAL);
        assert_eq!(throttle.factor(), 1);
        throttle.update(0.051, Nanos(0));
        assert_eq!(throttle.factor(), 2);
        throttle.update(0.0, INTERVAL + Nanos(1));
        assert_eq!((throttle.factor(), throttle.doubled()), (4, 2));
    }

    #[test]
    fn it_has_a_maximum_and_recovers() {
        let mut throttle = Throttle::new(0.05, INTERVAL);
        for _ in 0..100 {
            throttle.update(1.0, Nanos(0));
        }
        assert_eq!((throttle.factor(), throttle.doubled()), (64, 6));
        for _ in 0..9 {
            throttle.update(0.0, Nanos(0));
        }
        assert_eq!(throttle.factor(), 64);
        for _ in 0..51 {
            throttle.update(0.0, Nanos(0));
        }
        assert_eq!(throttle.factor(), 1);
    }
}
