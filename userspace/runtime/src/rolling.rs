//! Makes the rollups of a dataset that grows, in a thread of its own.

use crate::clock;
use crate::retention::KeepRollups;
use rocescope_model::Time;
use rocescope_rollup::{RolledUp, Settings, rollup};
use rocescope_store::Error;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Interval between two runs: an hour is due once an hour, late rows at any time.
const INTERVAL: Duration = Duration::from_secs(600);

/// How long after the end of an hour its rows may still come.
const SETTLE_NS: i64 = 600 * 1_000_000_000;

/// The rollups of a dataset.
#[derive(Debug)]
pub struct Rolling {
    pub(crate) keep: KeepRollups,
    running: Option<JoinHandle<Result<RolledUp, Error>>>,
    started: Option<Instant>,
    /// Whether a run has ended: rows that it was to read may be deleted.
    has_ended: bool,
    /// Why the last run ended early, unless another process makes the rollups.
    pub(crate) fault: Option<Error>,
}

impl Rolling {
    pub(crate) fn new(keep: &KeepRollups) -> Self {
        Self {
            keep: keep.clone(),
            running: None,
            started: None,
            has_ended: false,
            fault: None,
        }
    }

    /// Whether what is too old may be deleted: a run has ended since the start, and none is reading.
    pub(crate) const fn is_idle(&self) -> bool {
        self.has_ended && self.running.is_none()
    }

    /// Starts a run if one is due and none is running.
    pub(crate) fn run(&mut self, root: &Path, now: Instant) {
        if let Some(thread) = self.running.take_if(|running| running.is_finished()) {
            self.has_ended = true;
            // The thread does not panic.
            let ended = thread.join().unwrap_or_else(|_| Ok(RolledUp::default()));
            self.fault = ended.err().filter(|error| !matches!(error, Error::RollingUp { .. }));
        }
        let is_due = self.started.is_none_or(|then| now.duration_since(then) >= INTERVAL);
        if self.running.is_none() && is_due {
            self.started = Some(now);
            match start(root, self.keep.flow_rows) {
                Ok(thread) => self.running = Some(thread),
                Err(failed) => self.fault = Some(failed),
            }
        }
    }
}

fn start(root: &Path, flow_rows: usize) -> Result<JoinHandle<Result<RolledUp, Error>>, Error> {
    let settings = Settings {
        ended_before: Time(clock::now().0.saturating_sub(SETTLE_NS)),
        flow_rows,
    };
    let dataset = root.to_owned();
    let run = move || {
        // Rows that are captured come first. Linux sets it for this thread alone.
        let _ = rustix::process::nice(10);
        rollup(&dataset, settings)
    };
    let thread = thread::Builder::new().name("rollup".into());
    thread.spawn(run).map_err(|cause| Error::Io {
        action: "start a thread for the rollups of",
        path: root.to_owned(),
        cause,
    })
}
