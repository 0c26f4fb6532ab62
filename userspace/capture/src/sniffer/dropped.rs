//! Frames that a device dropped.

use crate::af_packet::{Drops, now_ns};
use std::path::PathBuf;

/// The counter of frames for which there was no receive.
#[derive(Debug)]
pub(super) struct Dropped {
    counter: PathBuf,
    last: Option<u64>,
    /// No drop that is not yet counted is older.
    since_ns: u64,
    pub(super) sum: u64,
}

impl Dropped {
    pub(super) fn begin(device: &str, port: u8) -> Self {
        let counter = format!("/sys/class/infiniband/{device}/ports/{port}/hw_counters/out_of_buffer");
        let mut dropped = Self {
            counter: counter.into(),
            last: None,
            since_ns: now_ns(),
            sum: 0,
        };
        dropped.last = dropped.read();
        dropped
    }

    fn read(&self) -> Option<u64> {
        std::fs::read_to_string(&self.counter).ok()?.trim().parse().ok()
    }

    /// Frames that were dropped since the last call, if there are any.
    pub(super) fn take(&mut self) -> Option<Drops> {
        let before_ns = now_ns();
        let now = self.read()?;
        let frames = now.saturating_sub(self.last.replace(now)?);
        let from_ns = std::mem::replace(&mut self.since_ns, before_ns);
        self.sum += frames;
        (frames > 0).then(|| Drops {
            from_ns,
            to_ns: now_ns(),
            frames,
        })
    }
}
