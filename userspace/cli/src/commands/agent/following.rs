//! The files of jobs, read by a thread of their own: a disk may take longer than a probe may wait.

use crate::commands::collective::follow::{Following, STEP};
use crate::commands::relay::Spooler;
use anyhow::{Context, Result};
use rocescope_collective::read::follow::Appended;
use rocescope_model::human::plural;
use rocescope_runtime::clock::now;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread::JoinHandle;

/// Reads that wait for the monitor; it does not get more, and the collector has them all the same.
const WAITING: usize = 256;

/// The thread. It ends when this is dropped or [`end`](Self::end)ed.
pub(super) struct Reading {
    end: Sender<()>,
    thread: JoinHandle<(u64, u64)>,
}

impl Reading {
    /// Starts it; it sends steps to the collector. Returns where the monitor gets them.
    pub(super) fn start(mut following: Following, spooler: Spooler) -> Result<(Self, Receiver<Appended>)> {
        let (end, ended) = channel();
        let (send, steps): (SyncSender<Appended>, _) = sync_channel(WAITING);
        let run = move || {
            let (mut rows, mut unwatched) = (0, 0);
            while ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                for appended in following.turn(now().0) {
                    rows += appended.ended.steps.len() as u64;
                    spooler.append(&appended.ended.steps);
                    match send.try_send(appended) {
                        Err(TrySendError::Full(appended)) => unwatched += appended.ended.steps.len() as u64,
                        // Without a receiver there is no monitor.
                        Ok(()) | Err(TrySendError::Disconnected(_)) => {}
                    }
                }
            }
            let open = following.open();
            rows += open.len() as u64;
            spooler.append(&open);
            (rows, unwatched)
        };
        let thread = std::thread::Builder::new().name("collective".into()).spawn(run);
        let thread = thread.context("a thread that reads the files of jobs")?;
        Ok((Self { end, thread }, steps))
    }

    /// Ends it; returns what it read, in a line.
    pub(super) fn end(self) -> Result<String> {
        drop(self.end);
        let read = self.thread.join();
        let (rows, unwatched) =
            read.map_err(|_| anyhow::anyhow!("the thread that reads the files of jobs failed, which is a defect"))?;
        let steps = plural(rows, "step");
        Ok(match unwatched {
            0 => format!("collective: {steps}"),
            _ => format!("collective: {steps}, of which {unwatched} came too fast to be watched"),
        })
    }
}
