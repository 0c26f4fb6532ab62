//! Seals what a killed writer left.

use crate::lock::ObserverLock;
use crate::name::Observer;
use crate::scan::{read_footer, scan};
use crate::seal::{Batches, seal};
use crate::walk::{self, Leftover};
use crate::{Error, Unreadable, durable};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Longest journal without a whole schema that a kill can leave; a longer one was damaged.
const SCHEMA_BYTES: u64 = 64 << 10;

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Segments sealed.
    pub segments: Vec<RepairedSegment>,
    /// Leftovers removed: they held no whole window, or one that is in a sealed segment.
    pub removed: Vec<PathBuf>,
    /// Observers that a living process is writing as; their open segments were left alone.
    pub busy: Vec<String>,
    /// Files that do not read, left where they are.
    pub unreadable: Vec<Unreadable>,
}

/// A segment that a repair sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedSegment {
    /// The sealed file.
    pub path: PathBuf,
    /// Rows in it.
    pub rows: u64,
    /// Bytes of the window that was cut off and dropped.
    pub torn_bytes: u64,
}

/// Seals the whole windows of every open segment under `root` that no living process is writing,
/// and names the sealed segments that do not read.
///
/// # Errors
/// The directories cannot be read or written, or the disk is full. What is sealed by then is sealed;
/// repairing again goes on.
pub fn repair(root: &Path) -> Result<Repaired, Error> {
    let leftovers = walk::leftovers(root)?.into_iter();
    let observers: BTreeSet<Observer> = leftovers.map(|l| l.place.name.observer).collect();
    let mut repaired = Repaired::default();
    for observer in observers {
        match ObserverLock::acquire(root, &observer)? {
            // The list is older than the lock: look again.
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
        match look(&leftover)? {
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

/// Keeps the numbers of a journal that was sealed, before it goes.
fn save_marks(leftover: &Leftover) -> Result<(), Error> {
    if !leftover.journal {
        return Ok(());
    }
    let mut batches = match Batches::open(&leftover.path) {
        Ok(batches) => batches,
        // It ends before its schema does, so it holds nothing.
        Err(Error::Content { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    while batches.next().transpose()?.is_some() {}
    batches.marks().save(&leftover.place)
}

enum State {
    /// It holds whole windows that are nowhere else.
    Whole,
    /// There is nothing in it, or nothing that is not elsewhere.
    Done,
    /// Something is in it that a kill cannot have left.
    Damaged(String),
}

fn look(leftover: &Leftover) -> Result<State, Error> {
    // Killed between giving the segment its name and removing the journal.
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
        None => State::Damaged("its first window is damaged".into()),
    })
}

impl Repaired {
    fn join(&mut self, other: Self) {
        self.segments.extend(other.segments);
        self.removed.extend(other.removed);
        self.unreadable.extend(other.unreadable);
    }
}
