//! Runs the tests of a plan.

use super::load::{Busy, Own};
use super::plan::{Pair, Plan, Shape};
use super::{Backend, CHECK, Failure, Writes};
use crate::types::Nanos;
use rocescope_diagnose::hostping::measured::{Measurement, Nic};

/// A test on a slow link goes on until this many messages were counted,
const FEWEST_MESSAGES: u64 = 4;
/// but no longer than this.
const LONGEST: Nanos = Nanos(600_000_000);
/// Latencies of one size that are kept.
const MAX_LATENCIES: usize = 10_000;

/// Bounds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time of all tests.
    pub time: Nanos,
    /// Bytes that all tests write.
    pub bytes: u64,
}

/// What a run watches.
pub trait Watch {
    /// Who is busy besides the tests, which wrote `own`; none if no one is. The run calls it every [`CHECK`].
    fn busy(&mut self, now: Nanos, own: &Own) -> Option<Busy>;

    /// Whether to end the run for another reason, such as a signal.
    fn is_over(&mut self) -> bool {
        false
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Every test was run.
    Complete,
    /// The host became busy.
    Busy(Busy),
    /// The time of [`Limits`] is over.
    Time,
    /// The bytes of [`Limits`] are written.
    Bytes,
    /// [`Watch::is_over`].
    Signal,
}

impl End {
    /// As text; none if complete.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Complete => None,
            Self::Busy(busy) => Some(format!("stopped because the host became busy: {}", busy.text())),
            Self::Time => Some("stopped at the limit of time (--max-time)".into()),
            Self::Bytes => Some("stopped at the limit of bytes (--max-bytes)".into()),
            Self::Signal => Some("stopped by a signal".into()),
        }
    }
}

/// What a run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The measurements. Of a test that was stopped, only what was complete.
    pub measurements: Vec<Measurement>,
    /// Pairs that were not measured, and why.
    pub failures: Vec<(Pair, Failure)>,
    /// Pairs that were not tested before the end.
    pub untested: usize,
    /// Why it ended.
    pub end: End,
    /// How long it took.
    pub time: Nanos,
    /// Bytes that the tests wrote.
    pub own: Own,
}

impl Outcome {
    /// Bytes that the tests wrote.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.own.total()
    }
}

/// Runs a plan, one test at a time.
pub fn run(plan: &Plan, limits: Limits, backend: &mut dyn Backend, watch: &mut dyn Watch) -> Outcome {
    let begun = backend.now();
    let mut run = Run {
        backend,
        watch,
        limits,
        begun,
        checked: None,
        own: Own::default(),
        measurements: Vec::new(),
    };
    let mut failures = Vec::new();
    let mut untested = 0;
    let mut end = End::Complete;
    for (at, pair) in plan.pairs.iter().enumerate() {
        match run.pair(pair, &plan.shape) {
            Ok(()) => {}
            Err(Stop::Failed(failure)) => failures.push((pair.clone(), failure)),
            Err(Stop::End(reason)) => {
                end = reason;
                untested = plan.pairs.len() - at;
            }
        }
        run.backend.close();
        run.own.abandon(&pair.nic);
        if end != End::Complete {
            break;
        }
    }
    Outcome {
        failures,
        untested,
        end,
        time: run.backend.now() - begun,
        own: run.own,
        measurements: run.measurements,
    }
}

/// Why a test ends early.
enum Stop {
    Failed(Failure),
    End(End),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// How fast the messages of a size were, one after the other.
#[derive(Clone, Copy)]
struct Pace {
    size: u64,
    latency_us: f64,
}

impl Pace {
    /// The message size of a bandwidth test: smaller ones on a slow link, so that enough of them complete.
    fn largest(self, size: u64) -> u64 {
        let us = |size: u64| self.latency_us * size as f64 / self.size.max(1) as f64;
        let fits = |size: &u64| us(*size) * 1e3 * FEWEST_MESSAGES as f64 <= LONGEST.0 as f64;
        let mut halves = std::iter::successors(Some(size), |size| Some(size / 2)).take_while(|size| *size > 0);
        halves.find(fits).unwrap_or(self.size)
    }
}

struct Run<'a> {
    backend: &'a mut dyn Backend,
    watch: &'a mut dyn Watch,
    limits: Limits,
    begun: Nanos,
    checked: Option<Nanos>,
    own: Own,
    measurements: Vec<Measurement>,
}

impl Run<'_> {
    fn pair(&mut self, pair: &Pair, shape: &Shape) -> Result<(), Stop> {
        self.check()?;
        self.backend.open(pair)?;
        let measured = |size: u64| Measurement {
            nic: Nic::Name(pair.nic.clone()),
            endpoint: Some(pair.endpoint.clone()),
            size_bytes: Some(size),
            ..Measurement::default()
        };
        let before = self.measurements.len();
        let mut pace: Option<Pace> = None;
        let mut largest = shape.size;
        for size in &shape.sizes {
            if !self.backend.offers(Writes { size: *size, depth: 1 }) {
                continue;
            }
            match (self.latency(pair, *size, shape), pace) {
                (Ok(latency_us), _) => {
                    pace = Some(Pace {
                        size: *size,
                        latency_us,
                    });
                    self.measurements.push(Measurement {
                        latency_us: Some(latency_us),
                        ..measured(*size)
                    });
                }
                // Smaller messages completed: the link is slow. What is in flight would delay the bandwidth test.
                (Err(Stop::Failed(_)), Some(pace)) => {
                    largest = pace.size;
                    self.backend.close();
                    self.own.abandon(&pair.nic);
                    self.backend.open(pair)?;
                    break;
                }
                (Err(stop), _) => return Err(stop),
            }
        }
        let depth = shape.depth;
        let size = pace.map_or(largest, |pace| pace.largest(largest));
        // What others measured has one size.
        let size = if self.backend.offers(Writes { size, depth }) {
            size
        } else {
            shape.size
        };
        if self.backend.offers(Writes { size, depth }) {
            let bandwidth_gbps = Some(self.bandwidth(pair, size, shape)?);
            self.measurements.push(Measurement {
                bandwidth_gbps,
                ..measured(size)
            });
        }
        if self.measurements.len() == before {
            return Err(Failure("nothing was measured".into()).into());
        }
        Ok(())
    }

    fn start(&mut self, pair: &Pair, writes: Writes) -> Result<(), Failure> {
        self.own.post(&pair.nic, writes, self.backend.packet_bytes());
        self.backend.start(writes)
    }

    /// The median of the times of one message after the other, in microseconds.
    fn latency(&mut self, pair: &Pair, size: u64, shape: &Shape) -> Result<f64, Stop> {
        self.start(pair, Writes { size, depth: 1 })?;
        let start = self.backend.now();
        let (until, latest) = (start + shape.latency, start + LONGEST);
        let mut last = None;
        let mut times: Vec<i64> = Vec::new();
        while self.backend.now() < until || (times.is_empty() && self.backend.now() < latest) {
            self.check()?;
            if let Some(at) = self.backend.poll()? {
                self.own.add(&pair.nic, size, self.backend.packet_bytes());
                if let Some(before) = last.replace(at) {
                    times.push((at - before).0);
                }
                if times.len() >= MAX_LATENCIES {
                    break;
                }
            }
        }
        times.sort_unstable();
        let median = times.get(times.len() / 2);
        let median = median.ok_or_else(|| late(size))?;
        Ok(*median as f64 / 1e3)
    }

    /// Gbit/s from the first completion after the warm-up to the last one; of a link that is too slow for that, from the
    /// start. Several messages may complete at once, so that a short time between completions shows nothing.
    fn bandwidth(&mut self, pair: &Pair, size: u64, shape: &Shape) -> Result<f64, Stop> {
        let depth = shape.depth;
        self.start(pair, Writes { size, depth })?;
        let start = self.backend.now();
        let (warm, latest) = (start + shape.warm_up, start + LONGEST);
        let mut first = None;
        let mut last = start;
        let (mut all, mut messages) = (0, 0);
        let mut is_enough = false;
        while !is_enough && self.backend.now() < latest {
            self.check()?;
            let Some(at) = self.backend.poll()? else {
                continue;
            };
            self.own.add(&pair.nic, size, self.backend.packet_bytes());
            (all, last) = (all + 1, at);
            match first {
                None if at >= warm => first = Some(at),
                None => {}
                Some(first) => {
                    messages += 1;
                    is_enough = messages >= FEWEST_MESSAGES && at - first >= shape.bandwidth;
                }
            }
        }
        let (messages, time) = match first {
            Some(first) if is_enough => (messages, last - first),
            _ => (all, last - start),
        };
        if messages < 2 || time <= Nanos(0) {
            return Err(late(size).into());
        }
        // Bits in a nanosecond are Gbit/s.
        Ok((messages * size * 8) as f64 / time.0 as f64)
    }

    /// Ends the run if a limit is reached or the host is busy.
    fn check(&mut self) -> Result<(), Stop> {
        let now = self.backend.now();
        if self.checked.is_some_and(|checked| now - checked < CHECK) {
            return Ok(());
        }
        self.checked = Some(now);
        let end = if self.watch.is_over() {
            Some(End::Signal)
        } else if now - self.begun >= self.limits.time {
            Some(End::Time)
        } else if self.own.total() >= self.limits.bytes {
            Some(End::Bytes)
        } else {
            self.watch.busy(now, &self.own).map(End::Busy)
        };
        end.map_or(Ok(()), |end| Err(Stop::End(end)))
    }
}

fn late(size: u64) -> Failure {
    let ms = LONGEST.0 / 1_000_000;
    Failure(format!("no two messages of {size} bytes completed within {ms} ms"))
}
