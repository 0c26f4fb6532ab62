//! Makes the rollups of a dataset that grows, in a thread of its own.

use crate::clock;
use crate::retention::KeepRollups;
use rocescope_model::Time;
use rocescope_rollup::{RolledUp, Settings, rollup};
use rocescope_store::Error;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

/// Interval between two runs: an hour is due once an hour, late rows at any time.
const INTERVAL: Duration = Duration::from_secs(600);

/// How long after the end of an hour its rows may still come.
const SETTLE_NS: i64 = 600 * 1_000_000_000;

/// What a run has made rollups of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Covered {
    /// Partitions that ended at or before this instant,
    pub(crate) until: Time,
    /// with segments that were written before this one.
    pub(crate) read: SystemTime,
}

/// The rollups of a dataset.
#[derive(Debug)]
pub struct Rolling {
    pub(crate) keep: KeepRollups,
    running: Option<(JoinHandle<Result<RolledUp, Error>>, Covered)>,
    started: Option<Instant>,
    /// What the rollups have: rows of it may be deleted. `None` after a run that left something out.
    covered: Option<Covered>,
    /// Why the last run ended early, unless another process makes the rollups.
    pub(crate) fault: Option<Error>,
}

impl Rolling {
    pub(crate) fn new(keep: &KeepRollups) -> Self {
        Self {
            keep: keep.clone(),
            running: None,
            started: None,
            covered: None,
            fault: None,
        }
    }

    /// What the rollups have, unless a run is reading.
    pub(crate) const fn covered(&self) -> Option<Covered> {
        match self.running {
            None => self.covered,
            Some(_) => None,
        }
    }

    /// Starts a run if one is due and none is running.
    pub(crate) fn run(&mut self, root: &Path, now: Instant) {
        if let Some((thread, covered)) = self.running.take_if(|(thread, _)| thread.is_finished()) {
            self.covered = None;
            // The thread does not panic.
            match thread.join().unwrap_or_else(|_| Ok(RolledUp::default())) {
                Ok(made) if made.changed.is_empty() && made.damaged.is_empty() => self.covered = Some(covered),
                Ok(_) | Err(Error::RollingUp { .. }) => {}
                Err(error) => self.fault = Some(error),
            }
        }
        let is_due = self.started.is_none_or(|then| now.duration_since(then) >= INTERVAL);
        if self.running.is_none() && is_due {
            self.started = Some(now);
            let covered = Covered {
                until: Time(clock::now().0.saturating_sub(SETTLE_NS)),
                read: SystemTime::now(),
            };
            match start(root, self.keep.flow_rows, covered.until) {
                Ok(thread) => self.running = Some((thread, covered)),
                Err(failed) => self.fault = Some(failed),
            }
        }
    }
}

fn start(root: &Path, flow_rows: usize, ended_before: Time) -> Result<JoinHandle<Result<RolledUp, Error>>, Error> {
    let settings = Settings {
        ended_before,
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
