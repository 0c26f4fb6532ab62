//! What a dataset lacks because its disk is full or fails, readable from any thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts since the dataset was opened.
#[derive(Debug, Default)]
pub struct NotStored {
    count: AtomicU64,
    is_stopped: AtomicBool,
}

impl NotStored {
    /// Windows of a capture, or rows of probes, that are not in the dataset.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether nothing is stored at the moment: the disk is full or fails, or the directory vanished.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Nothing is stored from now on; `count` more are lost.
    pub fn stop(&self, count: u64) {
        self.add(count);
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// `count` more are lost.
    pub(crate) fn add(&self, count: u64) {
        self.count.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn resume(&self) {
        self.is_stopped.store(false, Ordering::Relaxed);
    }
}
