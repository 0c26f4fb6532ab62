//! The counters of the host, read by a thread of their own: a read takes longer than a probe may wait.

use crate::arguments::CountersArguments;
use crate::commands::counters::{following, moment, summary, unknown_metrics};
use crate::commands::relay::Spooler;
use anyhow::{Context, Result};
use rocescope_engine::metrics::CounterMetrics;
use rocescope_host::counters::queue_pairs::QueuePairs;
use rocescope_host::counters::{Reader, Rows};
use rocescope_model::{CounterRow, Text};
use rocescope_runtime::status;
use std::fmt;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// When to read, and when to write what did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    interval: Duration,
    refresh: Duration,
    queue_pairs: bool,
}

impl From<&CountersArguments> for Pace {
    fn from(arguments: &CountersArguments) -> Self {
        Self {
            interval: arguments.interval,
            refresh: arguments.refresh,
            queue_pairs: arguments.queue_pairs,
        }
    }
}

impl Pace {
    /// Reports the interval, unless it is that of `before`.
    fn report(&self, before: &Self) {
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

/// The thread. It ends when this is dropped or [`end`](Self::end)ed.
pub(super) struct Counting {
    pace: Sender<Pace>,
    thread: JoinHandle<Reader>,
}

impl Counting {
    /// Starts it; the first read is due now. Its values are also those of `metrics`.
    pub(super) fn start(
        mut reader: Reader,
        mut pace: Pace,
        spooler: Spooler,
        metrics: Option<CounterMetrics>,
        observer: Text,
    ) -> Result<Self> {
        let (paces, changed) = channel::<Pace>();
        let run = move || {
            let begun = Instant::now();
            let mut rows: Vec<CounterRow> = Vec::new();
            let mut queue_pairs = QueuePairs::default();
            let mut next = begun;
            loop {
                let read = Instant::now();
                reader.read(moment(begun), Rows::Changed(pace.refresh), &mut |row| rows.push(row));
                spooler.append(&rows);
                if let Some(metrics) = &metrics {
                    metrics.update(&rows);
                }
                rows.clear();
                if reader.counts().reads == 1
                    && let Some(nothing) = unknown_metrics(&reader)
                {
                    status!("{nothing}");
                }
                if pace.queue_pairs {
                    let pairs = reader.queue_pairs();
                    spooler.append(&queue_pairs.rows(pairs, moment(begun), pace.refresh, &observer));
                }
                let last = next;
                next = following(last, read, pace.interval);
                loop {
                    match changed.recv_timeout(next.saturating_duration_since(Instant::now())) {
                        Ok(other) => {
                            other.report(&pace);
                            pace = other;
                            next = following(last, read, pace.interval);
                        }
                        Err(RecvTimeoutError::Timeout) => break,
                        Err(RecvTimeoutError::Disconnected) => return reader,
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("counters".into()).spawn(run);
        Ok(Self {
            pace: paces,
            thread: thread.context("a thread that reads counters")?,
        })
    }

    /// Where another pace is sent.
    pub(super) fn pace(&self) -> Sender<Pace> {
        self.pace.clone()
    }

    /// Ends it; returns what it read, in a line.
    pub(super) fn end(self) -> Result<String> {
        drop(self.pace);
        let reader = self.thread.join();
        let reader = reader.map_err(|_| anyhow::anyhow!("the thread that reads counters failed, which is a defect"))?;
        Ok(format!("counters: {}", summary(reader.counts())))
    }
}
