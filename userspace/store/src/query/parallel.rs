//! Decodes rows in two threads, for tables with millions of rows.

use super::Rows;
use crate::{Error, Segment};
use rocescope_model::Row;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

/// Number of decoding threads. Rows are taken from them in turn, so their number determines the order of rows and must
/// not depend on the number of cores.
const LANES: usize = 2;
/// Batches that a thread may decode ahead: about ten megabytes.
const AHEAD: usize = 8;

impl<R: Row + Send> Rows<'_, R> {
    /// Calls `take` for each row, in an order that depends only on the segments: batches of every other segment in
    /// turn.
    ///
    /// # Errors
    /// The operating system refuses to read a segment. Damaged ones are skipped: see `Scan::damaged`.
    pub fn for_each_in_parallel(&self, mut take: impl FnMut(&R)) -> Result<(), Error> {
        thread::scope(|scope| {
            let mut lanes = Vec::new();
            for lane in 0..LANES {
                let own = self.segments().skip(lane).step_by(LANES);
                let own: Vec<&Segment> = own.collect();
                let Some(first) = own.first().map(|segment| &segment.path) else {
                    continue;
                };
                let (sender, receiver) = sync_channel(AHEAD);
                // Rows share texts. If only their own thread makes and drops them, cores do not contend for the counts.
                let (back, spent) = channel();
                thread::Builder::new()
                    .spawn_scoped(scope, move || self.decode(&own, &sender, &spent))
                    .map_err(|cause| Error::io("start a thread to read", first, cause))?;
                lanes.push((receiver, back));
            }
            while !lanes.is_empty() {
                let mut left = Vec::with_capacity(lanes.len());
                for (lane, back) in lanes {
                    let Ok(rows) = lane.recv() else { continue };
                    let rows = rows?;
                    rows.iter().for_each(&mut take);
                    // The last batches outlive their thread.
                    let _ = back.send(rows);
                    left.push((lane, back));
                }
                lanes = left;
            }
            Ok(())
        })
    }

    /// Reads segments until the end, an error, or until the receiver is dropped.
    fn decode(&self, segments: &[&Segment], sender: &SyncSender<Result<Vec<R>, Error>>, spent: &Receiver<Vec<R>>) {
        for segment in segments {
            let batches = match self.open_all(segment) {
                Ok(batches) => batches,
                Err(error) => return drop(sender.send(Err(error))),
            };
            for rows in batches {
                let is_whole = rows.is_ok();
                if sender.send(rows).is_err() || !is_whole {
                    return;
                }
                spent.try_iter().for_each(drop);
            }
        }
    }
}
