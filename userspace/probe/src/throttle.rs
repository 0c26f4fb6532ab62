//! The agent slows down before it is in the way of what the host is there for.

use crate::types::Nanos;

/// The interval never grows beyond this many times what it was.
const FACTOR_MAX: u32 = 64;
/// Looks without a reason before the interval is halved again.
const QUIET: u32 = 10;

/// What the interval is multiplied by.
#[derive(Clone, Debug)]
pub struct Throttle {
    cpu_bound: f64,
    backlog_bound: Nanos,
    factor: u32,
    quiet: u32,
    doubled: u64,
}

impl Throttle {
    /// Slows down when the agent takes more than `cpu_bound` of a core (1 is a whole one), or is
    /// later with a probe than `backlog_bound`.
    #[must_use]
    pub const fn new(cpu_bound: f64, backlog_bound: Nanos) -> Self {
        Self {
            cpu_bound,
            backlog_bound,
            factor: 1,
            quiet: 0,
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
            if self.quiet >= QUIET && self.factor > 1 {
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

    #[test]
    fn it_doubles_beyond_the_bound_and_not_at_it() {
        let mut throttle = Throttle::new(0.05, Nanos(100));
        throttle.look(0.05, Nanos(100));
        assert_eq!(throttle.factor(), 1);
        throttle.look(0.051, Nanos(0));
        assert_eq!(throttle.factor(), 2);
        throttle.look(0.0, Nanos(101));
        assert_eq!((throttle.factor(), throttle.doubled()), (4, 2));
    }

    #[test]
    fn it_has_an_end_and_comes_back() {
        let mut throttle = Throttle::new(0.05, Nanos(100));
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
