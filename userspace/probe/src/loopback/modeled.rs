//! Backends without hardware: messages take the time that a model gives. A simulated host, and the replay of what others
//! measured.

use super::plan::{Pair, Shape};
use super::{Backend, Failure, Writes};
use crate::types::Nanos;
use rocescope_diagnose::hostping::Matrix;
use rocescope_diagnose::hostping::simulated::Host;
use std::collections::BTreeSet;
use std::time::Instant;

/// The longest step of simulated time in which nothing completes.
const STEP: Nanos = Nanos(1_000_000);

/// How long messages take.
pub trait Model {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Whether the pair has a value.
    ///
    /// # Errors
    /// It has none.
    fn open(&self, pair: &Pair) -> Result<(), Failure>;

    /// The time of one message after the other, in microseconds.
    fn latency_us(&self, pair: &Pair, size: u64) -> Option<f64>;

    /// Bandwidth with several messages in flight, in Gbit/s.
    fn bandwidth_gbps(&self, pair: &Pair) -> Option<f64>;
}

impl Model for Host {
    fn name(&self) -> &'static str {
        "simulated host"
    }

    fn open(&self, pair: &Pair) -> Result<(), Failure> {
        let path = self.path(&pair.nic, &pair.endpoint);
        path.map(drop).ok_or_else(|| Failure("no path".into()))
    }

    fn latency_us(&self, pair: &Pair, size: u64) -> Option<f64> {
        let path = self.path(&pair.nic, &pair.endpoint)?;
        Some(Self::base_us(path) + size as f64 * 8.0 / (self.bandwidth(path) * 1e3))
    }

    fn bandwidth_gbps(&self, pair: &Pair) -> Option<f64> {
        Some(self.bandwidth(self.path(&pair.nic, &pair.endpoint)?))
    }
}

/// What others measured.
impl Model for Matrix {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn open(&self, pair: &Pair) -> Result<(), Failure> {
        let cell = self.cell(&pair.nic, &pair.endpoint);
        cell.map(drop)
            .ok_or_else(|| Failure("the files have no measurement".into()))
    }

    fn latency_us(&self, pair: &Pair, size: u64) -> Option<f64> {
        let cell = self.cell(&pair.nic, &pair.endpoint)?;
        if cell.by_size.is_empty() {
            return cell.latency_us;
        }
        let mut by_size = cell.by_size.iter();
        by_size.find(|(other, _)| *other == size).map(|(_, latency)| *latency)
    }

    fn bandwidth_gbps(&self, pair: &Pair) -> Option<f64> {
        self.cell(&pair.nic, &pair.endpoint)?.bandwidth_gbps
    }
}

/// The tests of what others measured: their sizes.
#[must_use]
pub fn shape_of(matrix: &Matrix) -> Shape {
    let cells = || matrix.cells().map(|(.., cell)| cell);
    let sizes: BTreeSet<u64> = cells()
        .flat_map(|cell| cell.by_size.iter().map(|(size, _)| *size))
        .collect();
    let mut shape = Shape::idle();
    // Latencies without sizes are those of the smallest message.
    shape.sizes.truncate(1);
    if !sizes.is_empty() {
        shape.sizes = sizes.into_iter().collect();
    }
    shape.size = cells().filter_map(|cell| cell.size_bytes).max().unwrap_or(shape.size);
    shape
}

/// Where the time comes from.
#[derive(Debug)]
enum Clock {
    /// It goes on when messages complete.
    Simulated(Nanos),
    /// That of the machine.
    Real(Instant),
}

/// A backend whose messages take the time of a model.
#[derive(Debug)]
pub struct Modeled<M> {
    model: M,
    clock: Clock,
    pair: Option<Pair>,
    pace: Option<Pace>,
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

impl Pace {
    fn next(&self) -> Nanos {
        self.start + Nanos((self.each * (self.done + 1) as f64).round() as i64)
    }
}

impl<M: Model> Modeled<M> {
    /// In simulated time.
    pub const fn new(model: M) -> Self {
        Self {
            model,
            clock: Clock::Simulated(Nanos(0)),
            pair: None,
            pace: None,
        }
    }

    /// In real time.
    pub fn paced(model: M) -> Self {
        Self {
            clock: Clock::Real(Instant::now()),
            ..Self::new(model)
        }
    }
}

impl<M: Model> Modeled<M> {
    /// The time of a message in nanoseconds.
    fn each(&self, writes: Writes) -> Option<f64> {
        let pair = self.pair.as_ref()?;
        let us = match writes.depth {
            1 => self.model.latency_us(pair, writes.size)?,
            _ => writes.size as f64 * 8.0 / (self.model.bandwidth_gbps(pair)? * 1e3),
        };
        Some((us * 1e3).max(1.0))
    }
}

impl<M: Model> Backend for Modeled<M> {
    fn name(&self) -> &'static str {
        self.model.name()
    }

    fn now(&mut self) -> Nanos {
        match self.clock {
            Clock::Simulated(now) => now,
            Clock::Real(begun) => begun.elapsed().into(),
        }
    }

    fn open(&mut self, pair: &Pair) -> Result<(), Failure> {
        self.model.open(pair)?;
        self.pair = Some(pair.clone());
        Ok(())
    }

    fn offers(&self, writes: Writes) -> bool {
        self.each(writes).is_some()
    }

    fn start(&mut self, writes: Writes) -> Result<(), Failure> {
        let each = self.each(writes);
        let each = each.ok_or_else(|| Failure(format!("no value for messages of {} bytes", writes.size)))?;
        let start = self.now();
        self.pace = Some(Pace { start, each, done: 0 });
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Nanos>, Failure> {
        let now = self.now();
        let Some(pace) = &mut self.pace else {
            return Ok(None);
        };
        let next = pace.next();
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
