//! What a flight recorder reports at the end.

use super::budget::{Deleted, Refusal};
use super::event::KINDS;
use std::path::PathBuf;

/// Why events have no file, by the number of the reason.
pub const REFUSALS: [&str; 3] = ["per_hour", "disk", "error"];

/// What was written, and what was not and why.
///
/// Events met are events in files and events refused, by reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecorderSummary {
    /// Where the files are.
    pub folder: PathBuf,
    /// How long before an event frames were to be held, in nanoseconds.
    pub before_ns: u64,
    /// And until jitter is known, in nanoseconds.
    pub reach_ns: u64,
    /// Events met, by kind.
    pub events: [u64; KINDS.len()],
    /// Events whose frames are in a file.
    pub recorded: u64,
    /// Events without one, by reason.
    pub refused: [u64; REFUSALS.len()],
    /// Files begun.
    pub files: u64,
    /// Frames in them.
    pub frames: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Earlier files that were deleted: too old, or to make room.
    pub deleted: Deleted,
    /// Files that ended early, for all together had as many bytes as they may.
    pub cut: u64,
    /// Frames of events that made a file longer and are not in it: overwritten before the event was known,
    /// or older than the file's beginning.
    pub missed: u64,
    /// Frames that went before they were as old as was asked for, for the memory was full.
    pub overwritten: u64,
    /// The shortest time, in nanoseconds, that one of those was held.
    pub held_ns: Option<u64>,
    /// Why nothing more was written.
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

    /// Events met, by the name of their kind.
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
