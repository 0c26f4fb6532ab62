//! The summary of a flight recorder.

use super::budget::{Deleted, Refusal};
use super::event::KINDS;
use std::path::PathBuf;

/// Why events have no file: the names of the reasons, by number.
pub const REFUSALS: [&str; 3] = ["per_hour", "disk", "error"];

/// What was written, and what was refused and why.
///
/// All events = events in files + refused events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecorderSummary {
    /// Directory of the files.
    pub folder: PathBuf,
    /// Requested time before an event, in nanoseconds.
    pub before_ns: u64,
    /// Additional time until jitter is known, in nanoseconds.
    pub reach_ns: u64,
    /// Events by kind.
    pub events: [u64; KINDS.len()],
    /// Events with frames in a file.
    pub recorded: u64,
    /// Events without a file, by reason.
    pub refused: [u64; REFUSALS.len()],
    /// Number of files.
    pub files: u64,
    /// Frames in them.
    pub frames: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Earlier files that were deleted: too old, or to make room.
    pub deleted: Deleted,
    /// Files that ended early because the maximum total size was reached.
    pub cut: u64,
    /// Missing frames of events that extended a file: overwritten before the event was known, or older than the
    /// file's beginning.
    pub missed: u64,
    /// Frames overwritten before the requested time, because the memory was full.
    pub overwritten: u64,
    /// The shortest time that one of those was kept, in nanoseconds.
    pub held_ns: Option<u64>,
    /// Why recording stopped.
    pub error: Option<String>,
}

impl RecorderSummary {
    pub(super) fn new(folder: PathBuf, before_ns: u64, reach_ns: u64) -> Self {
        Self {
            folder,
            before_ns,
            reach_ns,
            events: Default::default(),
            recorded: 0,
            refused: Default::default(),
            files: 0,
            frames: 0,
            bytes: 0,
            deleted: Deleted::default(),
            cut: 0,
            missed: 0,
            overwritten: 0,
            held_ns: None,
            error: None,
        }
    }

    /// Events, by the name of their kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, u64)> {
        KINDS.into_iter().zip(self.events)
    }

    /// Events without a file, by the name of the reason.
    pub fn refusals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        REFUSALS.into_iter().zip(self.refused)
    }

    pub(super) const fn count(&mut self, kind: usize) {
        self.events[kind] += 1;
    }

    pub(super) const fn refuse(&mut self, refusal: Refusal) {
        self.refused[refusal as usize] += 1;
    }
}
