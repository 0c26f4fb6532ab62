//! The order of the parcels of a stream.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the parcels of a stream may still be stored: only the writing thread asks and answers.
///
/// The dataset remembers the last number of each agent, which covers all earlier ones. So a parcel that follows one
/// that was not stored must not be stored either; the agent sends all of them again, in another stream.
#[derive(Debug, Default)]
pub(super) struct Order {
    is_broken: AtomicBool,
}

impl Order {
    /// A parcel of the stream was not stored.
    pub(super) fn break_off(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    /// Whether an earlier parcel of the stream was not stored.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }
}
