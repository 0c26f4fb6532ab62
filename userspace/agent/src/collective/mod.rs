//! Steps of collectives, from the files of jobs, which a thread reads: a disk may take longer than a probe may wait.
//!
//! | module | what it does |
//! |---|---|
//! | [`follow`] | what was appended to the files |
//! | `growing` | what was appended to a file |
//! | [`monitor`] | steps and round trips in, probes, recordings and detections out |

pub mod follow;
mod growing;
pub mod monitor;

pub use monitor::{Monitor, MonitorSettings};

use crate::error::Result;
use crate::part::{Part, Rows};
use crate::settings::Settings;
use crate::worker::Worker;
use follow::Following;
use rocescope_collective::read::follow::Appended;
use rocescope_model::human::plural;
use rocescope_runtime::clock::now;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// Time between two reads.
pub const STEP: Duration = Duration::from_millis(100);

/// Reads that wait for the monitor; it does not get more, and the collector has them all the same.
const WAITING: usize = 256;

/// The steps that were read, and those of them that came too fast to be watched.
type Read = (u64, u64);

/// The part.
#[derive(Debug)]
pub struct Collectives {
    /// `None` once the thread has them.
    files: Option<(Following, SyncSender<Appended>)>,
    worker: Option<Worker<(), Read>>,
}

impl Collectives {
    /// The part, and where the monitor gets the steps.
    #[must_use]
    pub fn open(following: Following) -> (Self, Receiver<Appended>) {
        let (send, steps) = sync_channel(WAITING);
        let part = Self {
            files: Some((following, send)),
            worker: None,
        };
        (part, steps)
    }
}

impl Part for Collectives {
    fn start(&mut self, rows: Rows) -> Result<()> {
        if let Some((following, send)) = self.files.take() {
            let run = move |ended: Receiver<()>| read(following, &send, &ended, &rows);
            self.worker = Some(Worker::start("collective", run)?);
        }
        Ok(())
    }

    /// What a controller may change are the rules of the monitor.
    fn reconfigure(&mut self, _: &Settings) {}

    fn end(&mut self) -> Result<String> {
        let read = self.worker.take().map(Worker::end).transpose()?;
        let (rows, unwatched) = read.unwrap_or_default();
        let steps = plural(rows, "step");
        Ok(match unwatched {
            0 => format!("collective: {steps}"),
            _ => format!("collective: {steps}, of which {unwatched} came too fast to be watched"),
        })
    }
}

fn read(mut following: Following, send: &SyncSender<Appended>, ended: &Receiver<()>, sink: &Rows) -> Read {
    let (mut rows, mut unwatched) = (0, 0);
    while ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
        for appended in following.turn(now().0) {
            rows += appended.ended.steps.len() as u64;
            sink.append(&appended.ended.steps);
            match send.try_send(appended) {
                Err(TrySendError::Full(appended)) => unwatched += appended.ended.steps.len() as u64,
                // Without a receiver there is no monitor.
                Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            }
        }
    }
    let open = following.open();
    rows += open.len() as u64;
    sink.append(&open);
    (rows, unwatched)
}
