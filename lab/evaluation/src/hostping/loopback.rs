//! Loopback tests of a simulated host: messages take the time that its links give.

use super::host::Host;
use rocescope_probe::Nanos;
use rocescope_probe::loopback::{Backend, Failure, Pair, Writes};
use std::time::Instant;

/// The longest step of simulated time in which nothing completes.
const STEP: Nanos = Nanos(1_000_000);

/// The tests of a host.
#[derive(Debug)]
pub struct Simulated {
    host: Host,
    clock: Clock,
    pair: Option<Pair>,
    pace: Option<Pace>,
}

/// Where the time comes from.
#[derive(Debug)]
enum Clock {
    /// It goes on when messages complete.
    Simulated(Nanos),
    /// That of the machine.
    Real(Instant),
}

/// When messages complete.
#[derive(Clone, Copy, Debug)]
struct Pace {
    start: Nanos,
    /// Time of a message in nanoseconds.
    each: f64,
    /// Messages that have completed.
    done: u64,
}

impl Simulated {
    /// In simulated time.
    #[must_use]
    pub const fn new(host: Host) -> Self {
        Self {
            host,
            clock: Clock::Simulated(Nanos(0)),
            pair: None,
            pace: None,
        }
    }

    /// In real time.
    #[must_use]
    pub fn paced(host: Host) -> Self {
        Self {
            clock: Clock::Real(Instant::now()),
            ..Self::new(host)
        }
    }
}

impl Backend for Simulated {
    fn name(&self) -> &'static str {
        "simulated host"
    }

    fn now(&mut self) -> Nanos {
        match self.clock {
            Clock::Simulated(now) => now,
            Clock::Real(begun) => begun.elapsed().into(),
        }
    }

    fn open(&mut self, pair: &Pair) -> Result<(), Failure> {
        let path = self.host.path(&pair.nic, &pair.endpoint);
        path.ok_or_else(|| Failure("no path".into()))?;
        self.pair = Some(pair.clone());
        Ok(())
    }

    fn start(&mut self, writes: Writes) -> Result<(), Failure> {
        let pair = self.pair.as_ref().unwrap();
        let path = self.host.path(&pair.nic, &pair.endpoint).unwrap();
        let transfer_us = writes.size as f64 * 8.0 / (self.host.bandwidth(path) * 1e3);
        let us = match writes.depth {
            1 => Host::base_us(path) + transfer_us,
            _ => transfer_us,
        };
        self.pace = Some(Pace {
            start: self.now(),
            each: (us * 1e3).max(1.0),
            done: 0,
        });
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Nanos>, Failure> {
        let now = self.now();
        let Some(pace) = &mut self.pace else {
            return Ok(None);
        };
        let next = pace.start + Nanos((pace.each * (pace.done + 1) as f64).round() as i64);
        let seen = match &mut self.clock {
            Clock::Real(_) => now,
            Clock::Simulated(time) => {
                *time = next.min(now + STEP).max(now);
                *time
            }
        };
        if seen < next {
            return Ok(None);
        }
        pace.done += 1;
        Ok(Some(next))
    }

    fn close(&mut self) {
        self.pace = None;
        self.pair = None;
    }
}
