//! The queue pairs of the host: events of the kernel as they happen, and RDMA netlink at every interval.

use crate::error::Result;
use crate::part::{Part, Rows};
use crate::settings::Settings;
use crate::worker::Worker;
use rocescope_host::counters::queue_pairs::QueuePairs as Known;
use rocescope_host::counters::queue_pairs::event::{Events, Lost};
use rocescope_host::counters::{Moment, Reader};
use rocescope_model::QueuePairRow;
use rocescope_model::human::plural;
use rocescope_runtime::status;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

/// Where events come from; `None` if the kernel does not report any.
pub type Source = Option<Box<dyn Events>>;

/// How long events may wait for their rows, and new settings for their effect.
const STEP: Duration = Duration::from_millis(100);

/// When to ask RDMA netlink, and when to write what did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePairPace {
    /// Time between two reads.
    pub interval: Duration,
    /// Write unchanged queue pairs again after this time.
    pub refresh: Duration,
}

impl fmt::Display for QueuePairPace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = humantime::format_duration(self.interval);
        write!(f, "reading queue pairs every {interval}")
    }
}

/// The part.
pub struct QueuePairs {
    /// `None` while the thread has it.
    host: Option<Host>,
    pace: QueuePairPace,
    worker: Option<Worker<QueuePairPace, Host>>,
}

impl fmt::Debug for QueuePairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueuePairs").finish_non_exhaustive()
    }
}

/// What the thread works with.
struct Host {
    reader: Reader,
    events: Source,
    known: Known,
    counts: Counts,
}

/// What was done.
#[derive(Debug, Default)]
struct Counts {
    reads: u64,
    /// Reads that the kernel did not answer whole.
    failed: u64,
    events: u64,
    rows: u64,
    lost: Lost,
}

impl QueuePairs {
    /// A part that reads at this pace, and takes events if there are any. Events are those since their source was opened.
    #[must_use]
    pub fn open(reader: Reader, events: Source, pace: QueuePairPace) -> Self {
        Self {
            host: Some(Host {
                reader,
                events,
                known: Known::default(),
                counts: Counts::default(),
            }),
            pace,
            worker: None,
        }
    }
}

impl Part for QueuePairs {
    /// The first read is due now.
    fn start(&mut self, rows: Rows) -> Result<()> {
        let Some(host) = self.host.take() else {
            return Ok(());
        };
        let pace = self.pace;
        let run = move |paces: Receiver<QueuePairPace>| host.run(pace, &paces, &rows);
        self.worker = Some(Worker::start("queue pairs", run)?);
        Ok(())
    }

    fn reconfigure(&mut self, settings: &Settings) {
        if let (Some(worker), Some(pace)) = (&self.worker, settings.queue_pairs) {
            worker.send(pace);
        }
    }

    fn end(&mut self) -> Result<String> {
        if let Some(worker) = self.worker.take() {
            self.host = Some(worker.end()?);
        }
        let counts = self.host.as_ref().map(|host| summary(&host.counts));
        Ok(format!("queue pairs: {}", counts.unwrap_or_default()))
    }
}

fn summary(counts: &Counts) -> String {
    let mut line = format!("{} in {}", plural(counts.rows, "row"), plural(counts.reads, "read"));
    if counts.events > 0 {
        line += &format!(" and {}", plural(counts.events, "event"));
    }
    if counts.failed > 0 {
        line += &format!("; {} failed", plural(counts.failed, "read"));
    }
    if counts.lost.total() > 0 {
        line += &format!("; {}", counts.lost);
    }
    line
}

impl Host {
    /// Takes events as they come and reads at every interval, until no one sends a pace any more. What happened until then
    /// has its rows.
    fn run(mut self, mut pace: QueuePairPace, paces: &Receiver<QueuePairPace>, rows: &Rows) -> Self {
        let mut due = Instant::now();
        loop {
            if Instant::now() >= due {
                self.read(pace, rows);
                due = Instant::now() + pace.interval;
            }
            let left = due.saturating_duration_since(Instant::now());
            let message = match &mut self.events {
                Some(events) => {
                    events.wait(left.min(STEP));
                    paces.try_recv()
                }
                None => paces.recv_timeout(left).map_err(|error| match error {
                    RecvTimeoutError::Timeout => TryRecvError::Empty,
                    RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
                }),
            };
            match message {
                Ok(other) => {
                    if other.interval != pace.interval {
                        status!("{other}");
                    }
                    due = due.min(Instant::now() + other.interval);
                    pace = other;
                }
                Err(TryRecvError::Empty) => self.report(rows),
                Err(TryRecvError::Disconnected) => {
                    self.report(rows);
                    return self;
                }
            }
        }
    }

    /// Takes the events that wait.
    fn report(&mut self, rows: &Rows) {
        let Some(source) = &mut self.events else { return };
        let events = source.take();
        let lost = source.lost();
        let sees_cm = source.sees_cm();
        if lost != self.counts.lost {
            self.counts.lost = lost;
            status!("{lost}; reads find what is left of them");
        }
        if events.is_empty() {
            return;
        }
        self.counts.events += events.len() as u64;
        let made = self.known.report(events, sees_cm, self.reader.observer());
        self.append(made, rows);
    }

    /// Reads what exists.
    fn read(&mut self, pace: QueuePairPace, rows: &Rows) {
        let moment = Moment::now();
        let pairs = self.reader.queue_pairs();
        // What happened before the read was complete.
        self.report(rows);
        self.counts.reads += 1;
        let pairs = match pairs {
            Ok(pairs) => pairs,
            Err(error) => {
                // Once: what is wrong with a kernel is so at every read.
                if self.counts.failed == 0 {
                    status!("queue pairs: RDMA netlink: {error}; what it does not list is kept until a read succeeds");
                }
                self.counts.failed += 1;
                return;
            }
        };
        let made = self.known.read(pairs, moment, pace.refresh, self.reader.observer());
        self.append(made, rows);
    }

    fn append(&mut self, mut made: Vec<QueuePairRow>, rows: &Rows) {
        self.reader.complete(&mut made, Moment::now());
        if let Some(unknown) = self.reader.owners_notice() {
            status!("queue pairs: {unknown}");
        }
        self.counts.rows += made.len() as u64;
        rows.append(&made);
    }
}
