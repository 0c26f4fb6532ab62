//! The counters of the host, read by a thread of their own: a read takes longer than a probe may wait.
//!
//! | module | what it does |
//! |---|---|
//! | [`document`] | counters as text |
//! | [`pace`] | when to read, and when to write what did not change |
//! | [`metrics`] | the last values as a page for Prometheus |

pub mod document;
pub mod metrics;
pub mod pace;

pub use metrics::CounterMetrics;
pub use pace::{Pace, following, moment};

use crate::error::Result;
use crate::part::{Part, Rows};
use crate::settings::Settings;
use crate::worker::Worker;
use rocescope_host::counters::{Counts, Reader, Rows as Wanted};
use rocescope_model::CounterRow;
use rocescope_model::human::plural;
use rocescope_runtime::status;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

/// The part. Its thread gets another pace.
#[derive(Debug)]
pub struct Counters {
    /// `None` while the thread has it.
    reader: Option<Reader>,
    pace: Pace,
    metrics: Option<CounterMetrics>,
    worker: Option<Worker<Pace, Reader>>,
}

impl Counters {
    /// A part that reads at this pace. The values are also those of `metrics`.
    #[must_use]
    pub fn open(reader: Reader, pace: Pace, metrics: Option<CounterMetrics>) -> Self {
        Self {
            reader: Some(reader),
            pace,
            metrics,
            worker: None,
        }
    }
}

impl Part for Counters {
    /// The first read is due now.
    fn start(&mut self, rows: Rows) -> Result<()> {
        let Some(reader) = self.reader.take() else {
            return Ok(());
        };
        let (pace, metrics) = (self.pace, self.metrics.clone());
        let run = move |paces: Receiver<Pace>| read(reader, pace, &paces, &rows, metrics.as_ref());
        self.worker = Some(Worker::start("counters", run)?);
        Ok(())
    }

    fn reconfigure(&mut self, settings: &Settings) {
        if let (Some(worker), Some(pace)) = (&self.worker, settings.counters) {
            worker.send(pace);
        }
    }

    fn end(&mut self) -> Result<String> {
        if let Some(worker) = self.worker.take() {
            self.reader = Some(worker.end()?);
        }
        let counts = self.reader.as_ref().map(|reader| summary(reader.counts()));
        Ok(format!("counters: {}", counts.unwrap_or_default()))
    }
}

/// Reads at every interval until no one sends a pace any more.
fn read(
    mut reader: Reader,
    mut pace: Pace,
    paces: &Receiver<Pace>,
    sink: &Rows,
    metrics: Option<&CounterMetrics>,
) -> Reader {
    let begun = Instant::now();
    let mut rows: Vec<CounterRow> = Vec::new();
    let mut next = begun;
    loop {
        let began = Instant::now();
        reader.read(moment(begun), Wanted::Changed(pace.refresh), &mut |row| rows.push(row));
        sink.append(&rows);
        if let Some(metrics) = metrics {
            metrics.update(&rows);
        }
        rows.clear();
        if reader.counts().reads == 1
            && let Some(nothing) = unknown_metrics(&reader)
        {
            status!("{nothing}");
        }
        let last = next;
        next = following(last, began, pace.interval);
        loop {
            match paces.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(other) => {
                    other.report(&pace);
                    pace = other;
                    next = following(last, began, pace.interval);
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return reader,
            }
        }
    }
}

/// Serves the values at `address`.
///
/// # Errors
/// The address cannot be used.
pub fn serve(address: SocketAddr, observer: &str) -> Result<CounterMetrics> {
    let metrics = CounterMetrics::default();
    let (values, observer) = (metrics.clone(), observer.to_owned());
    let page = move || metrics::page(&values, &observer);
    let bound = rocescope_runtime::metrics::serve(address, Arc::new(page))?;
    status!("metrics at http://{bound}/metrics");
    Ok(metrics)
}

/// A line about the patterns of `--metric` that no counter of the last read matches.
#[must_use]
pub fn unknown_metrics(reader: &Reader) -> Option<String> {
    let unknown: Vec<&str> = reader.unknown_metrics().collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "--metric {}: no counter of this host has such a metric or name; `rocescope counters --once` lists them",
            unknown.join(" ")
        )
    })
}

/// What was read, in a line.
#[must_use]
pub fn summary(counts: &Counts) -> String {
    let mut line = format!("{} in {}", plural(counts.values, "value"), plural(counts.reads, "read"));
    for (count, what) in [
        (counts.wraps, "wrapped"),
        (counts.resets, "reset"),
        (counts.vanished, "devices vanished"),
        (counts.returned, "devices returned"),
    ] {
        if count > 0 {
            line += &format!("; {count} {what}");
        }
    }
    if let Some(why) = &counts.last_unreadable {
        line += &format!("; {} unreadable, such as {why}", counts.unreadable);
    }
    line
}
