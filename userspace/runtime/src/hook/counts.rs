//! What happened to the messages of a hook.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that several threads add to.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Messages by what happened to them.
#[derive(Debug, Default)]
pub struct Counts {
    pub(super) delivered: Count,
    pub(super) failed: Count,
    pub(super) no_room: Count,
    pub(super) too_late: Count,
}

impl Counts {
    /// All counts by the names that metrics use.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = [
            ("delivered", &self.delivered),
            ("failed", &self.failed),
            ("no_room", &self.no_room),
            ("too_late", &self.too_late),
        ];
        all.into_iter().map(|(name, count)| (name, count.get()))
    }

    /// What was lost, in a sentence; `None` if nothing was.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let Self {
            delivered,
            failed,
            no_room,
            too_late,
        } = self;
        let (failed, no_room, too_late) = (failed.get(), no_room.get(), too_late.get());
        (failed + no_room + too_late > 0).then(|| {
            format!(
                "--on-incident: {} messages delivered; {failed} failed, {no_room} found no room, {too_late} still waited at \
                 the end",
                delivered.get()
            )
        })
    }
}
