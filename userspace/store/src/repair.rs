//! Seals the journals of a killed writer, and converts segments of earlier formats.

use crate::batches::Batches;
use crate::convert::{Converted, convert};
use crate::lock::ObserverLock;
use crate::name::Observer;
use crate::scan::{read_footer, scan};
use crate::seal::{Closed, retire, seal};
use crate::walk::{self, Leftover};
use crate::{Error, Unreadable, durable};
use rocescope_model::{Row, WindowRow};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Sealed segments.
    pub segments: Vec<RepairedSegment>,
    /// Segments of earlier formats, which have the current one now.
    pub converted: Vec<Converted>,
    /// Removed leftovers: they had no complete window, or one that is in a sealed segment.
    pub removed: Vec<PathBuf>,
    /// Damaged journals, where they are now, and what is damaged. Their whole windows are sealed.
    pub damaged: Vec<Unreadable>,
    /// Observers with a running writer; their open segments were left unchanged.
    pub busy: Vec<String>,
    /// Unreadable segments, left in place.
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

/// Seals the complete windows of every open segment under `root` without a running writer, converts sealed segments of
/// earlier formats, and lists the unreadable ones. Nothing that is not sealed whole is deleted: a damaged journal moves to `.damaged`.
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
    (repaired.converted, repaired.unreadable) = convert(root)?;
    let unreadable = scan(root)?.unreadable.into_iter();
    let failed: BTreeSet<PathBuf> = repaired.unreadable.iter().map(|found| found.path.clone()).collect();
    repaired
        .unreadable
        .extend(unreadable.filter(|found| !failed.contains(&found.path)));
    Ok(repaired)
}

/// Repairs the leftovers of one observer, whose lock the caller holds.
pub(crate) fn repair_observer(root: &Path, observer: &Observer) -> Result<Repaired, Error> {
    let mut repaired = Repaired::default();
    for leftover in own_leftovers(root, observer)? {
        let closed = close(&leftover)?;
        match closed.sealed {
            Some(sealed) => repaired.segments.push(RepairedSegment {
                path: sealed.path,
                rows: sealed.rows,
                torn_bytes: closed.torn_bytes,
            }),
            None if closed.damaged.is_none() => repaired.removed.push(leftover.path),
            None => {}
        }
        repaired.damaged.extend(closed.damaged);
    }
    Ok(repaired)
}

/// Returns the journals and unfinished segments of one observer, `windows` last.
pub(crate) fn own_leftovers(root: &Path, observer: &Observer) -> Result<Vec<Leftover>, Error> {
    let mut leftovers = walk::leftovers(root)?;
    leftovers.retain(|leftover| leftover.place.name.observer == *observer);
    leftovers.sort_by_key(|leftover| leftover.place.table == WindowRow::TABLE.name);
    Ok(leftovers)
}

/// Seals a journal, or removes an unfinished segment.
pub(crate) fn close(leftover: &Leftover) -> Result<Closed, Error> {
    if !leftover.journal {
        durable::remove(&leftover.path)?;
        return Ok(Closed::default());
    }
    if read_footer(&leftover.place.sealed()).is_err() {
        return seal(&leftover.place, None, || {});
    }
    // Killed between renaming the segment and removing the journal.
    let mut batches = Batches::open(&leftover.path)?;
    while batches.next().transpose()?.is_some() {}
    Ok(Closed {
        damaged: retire(&leftover.place, &batches, None)?,
        ..Closed::default()
    })
}

impl Repaired {
    fn join(&mut self, other: Self) {
        self.segments.extend(other.segments);
        self.removed.extend(other.removed);
        self.damaged.extend(other.damaged);
        self.unreadable.extend(other.unreadable);
    }
}
