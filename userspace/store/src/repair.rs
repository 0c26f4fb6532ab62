//! Seals what a killed writer left.

use crate::error::Error;
use crate::lock::ObserverLock;
use crate::name::{FileKind, Observer, SegmentName};
use crate::seal::{Batches, seal};
use crate::walk::{Found, walk};
use crate::{Unreadable, durable, scan};
use std::collections::BTreeMap;
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
    let mut observers: BTreeMap<Observer, Vec<Found>> = BTreeMap::new();
    for found in walk(root)? {
        if let FileKind::Unfinished(name) | FileKind::Journal(name) = &found.kind {
            let observer = name.observer.clone();
            observers.entry(observer).or_default().push(found);
        }
    }
    let mut repaired = Repaired::default();
    for (observer, _) in observers {
        match ObserverLock::acquire(root, &observer)? {
            // The list is older than the lock: walk again.
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
    for found in walk(root)? {
        match &found.kind {
            FileKind::Unfinished(name) if name.observer == *observer => {
                durable::remove(&found.path)?;
                repaired.removed.push(found.path);
            }
            FileKind::Journal(name) if name.observer == *observer => {
                repair_journal(root, &found, name, &mut repaired)?;
            }
            _ => {}
        }
    }
    Ok(repaired)
}

fn repair_journal(
    root: &Path,
    found: &Found,
    name: &SegmentName,
    repaired: &mut Repaired,
) -> Result<(), Error> {
    let Some(directory) = found.path.parent() else {
        return Ok(());
    };
    // Killed between giving the segment its name and removing the journal.
    let sealed = scan::read_footer(&name.sealed(directory)).is_ok();
    let holds_rows = match Batches::open(&found.path) {
        Ok(mut batches) => {
            let holds_rows = batches.any(|batch| batch.num_rows() > 0);
            if let Some(error) = batches.failure.take() {
                return Err(error);
            }
            if !holds_rows && !batches.at_end() {
                repaired.unreadable.push(Unreadable {
                    path: found.path.clone(),
                    reason: "its first window is damaged".into(),
                });
                return Ok(());
            }
            holds_rows
        }
        Err(Error::Content { reason, .. }) if found.bytes > SCHEMA_BYTES => {
            repaired.unreadable.push(Unreadable {
                path: found.path.clone(),
                reason,
            });
            return Ok(());
        }
        Err(Error::Content { .. }) => false,
        Err(error) => return Err(error),
    };
    if sealed || !holds_rows {
        durable::remove(&found.path)?;
        repaired.removed.push(found.path.clone());
        return Ok(());
    }
    let sealed = seal(root, directory, name)?;
    repaired.segments.push(RepairedSegment {
        path: sealed.path,
        rows: sealed.rows,
        torn_bytes: sealed.torn_bytes,
    });
    Ok(())
}

impl Repaired {
    fn join(&mut self, other: Self) {
        self.segments.extend(other.segments);
        self.removed.extend(other.removed);
        self.unreadable.extend(other.unreadable);
    }
}
