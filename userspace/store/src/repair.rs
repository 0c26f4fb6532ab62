//! Seals the journals of a killed writer.

use crate::lock::ObserverLock;
use crate::name::Observer;
use crate::scan::{read_footer, scan};
use crate::seal::{Batches, seal};
use crate::walk::{self, Leftover};
use crate::{Error, Unreadable, durable};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum length of a journal without a complete schema after a kill; a longer one is damaged.
const SCHEMA_BYTES: u64 = 64 << 10;

/// The result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Sealed segments.
    pub segments: Vec<RepairedSegment>,
    /// Removed leftovers: they had no complete window, or one that is in a sealed segment.
    pub removed: Vec<PathBuf>,
    /// Observers with a running writer; their open segments were left unchanged.
    pub busy: Vec<String>,
    /// Unreadable files, left in place.
    pub unreadable: Vec<Unreadable>,
}

/// A segment that a repair sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedSegment {
    /// The sealed file.
    pub path: PathBuf,
    /// Number of rows.
    pub rows: u64,
    /// Dropped bytes of the truncated window.
    pub torn_bytes: u64,
}

/// Seals the complete windows of every open segment under `root` without a running writer, and lists the unreadable
/// sealed segments.
///
/// # Errors
/// The directories cannot be read or written, or the disk is full. Segments sealed before the error remain; another
/// repair continues.
pub fn repair(root: &Path) -> Result<Repaired, Error> {
    let leftovers = walk::leftovers(root)?.into_iter();
    let observers: BTreeSet<Observer> = leftovers.map(|l| l.place.name.observer).collect();
    let mut repaired = Repaired::default();
    for observer in observers {
        match ObserverLock::acquire(root, &observer)? {
            // The list is older than the lock: read it again.
            Some(_lock) => repaired.join(repair_observer(root, &observer)?),
            None => repaired.busy.push(observer.as_str().into()),
        }
    }
    repaired.unreadable.extend(scan(root)?.unreadable);
    Ok(repaired)
}

/// Repairs the leftovers of one observer, whose lock the caller holds.
pub(crate) fn repair_observer(root: &Path, observer: &Observer) -> Result<Repaired, Error> {
    let mut repaired = Repaired::default();
    for leftover in walk::leftovers(root)? {
        if leftover.place.name.observer != *observer {
            continue;
        }
        match state(&leftover)? {
            State::Whole => {
                let sealed = seal(&leftover.place)?;
                repaired.segments.push(RepairedSegment {
                    path: sealed.path,
                    rows: sealed.rows,
                    torn_bytes: sealed.torn_bytes,
                });
            }
            State::Done => {
                save_marks(&leftover)?;
                durable::remove(&leftover.path)?;
                repaired.removed.push(leftover.path);
            }
            State::Damaged(reason) => repaired.unreadable.push(Unreadable {
                path: leftover.path,
                reason,
            }),
        }
    }
    Ok(repaired)
}

/// Saves the numbers of a sealed journal before it is removed.
fn save_marks(leftover: &Leftover) -> Result<(), Error> {
    if !leftover.journal {
        return Ok(());
    }
    let mut batches = match Batches::open(&leftover.path) {
        Ok(batches) => batches,
        // The schema is truncated, so there are no rows.
        Err(Error::Content { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    while batches.next().transpose()?.is_some() {}
    batches.marks().save(&leftover.place)
}

enum State {
    /// Contains complete windows that are not stored elsewhere.
    Whole,
    /// Empty, or everything in it is stored elsewhere.
    Done,
    /// Contains damage that a kill cannot cause.
    Damaged(String),
}

fn state(leftover: &Leftover) -> Result<State, Error> {
    // Killed between renaming the segment and removing the journal.
    if !leftover.journal || read_footer(&leftover.place.sealed()).is_ok() {
        return Ok(State::Done);
    }
    let mut batches = match Batches::open(&leftover.path) {
        Ok(batches) => batches,
        Err(Error::Content { reason, .. }) if leftover.bytes > SCHEMA_BYTES => {
            return Ok(State::Damaged(reason));
        }
        Err(Error::Content { .. }) => return Ok(State::Done),
        Err(error) => return Err(error),
    };
    Ok(match batches.next().transpose()? {
        Some(_) => State::Whole,
        None if batches.at_end() => State::Done,
        None => State::Damaged("the first window is damaged".into()),
    })
}

impl Repaired {
    fn join(&mut self, other: Self) {
        self.segments.extend(other.segments);
        self.removed.extend(other.removed);
        self.unreadable.extend(other.unreadable);
    }
}
