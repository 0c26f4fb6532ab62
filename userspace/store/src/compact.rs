//! Joins the small segments of hours that are over into larger ones.
//!
//! A capture seals a segment a minute and table, so that a kill costs little: thousands of files a day, which an engine
//! lists before it reads a row.
//!
//! The segments of an hour change in one step: the new ones are written into a directory of their own, and then the two
//! directories exchange their names. A reader finds the old segments or the new ones. A kill leaves a directory in
//! `.compact`, which the next run removes: before the exchange it has nothing that the hour needs, and after it only
//! what was replaced.
//!
//! | module | what it does |
//! |---|---|
//! | `group` | which segments are joined |
//! | `join` | their rows, in the order of time |
//! | `hour` | the new directory, and the exchange |
//! | `shipped` | what `rocescope dataset ship` has copied, or may have |

mod group;
mod hour;
mod join;
pub(crate) mod shipped;

use crate::lock::CompactLock;
use crate::name::Partition;
use crate::retain::Deleted;
use crate::walk::{self, Found};
use crate::{Error, Query, Unreadable};
use hour::Hour;
use rocescope_model::{Time, tables};
use std::path::{Path, PathBuf};

pub(crate) use shipped::is_known as is_known_to_ship;

/// What to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compaction {
    /// Hours that ended at or before this instant.
    pub ended_before: Time,
    /// Size of the joined segments in bytes, at most. Segments from half of it on stay as they are.
    pub max_bytes: u64,
}

/// The result of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Hours with joined segments, by table.
    pub hours: Vec<JoinedHour>,
    /// Damaged segments. They remain as they are, and all others of their hour are joined.
    pub damaged: Vec<Unreadable>,
    /// Directories of hours that another process changed meanwhile: they remain as they are.
    pub changed: Vec<PathBuf>,
}

/// An hour of a table whose segments were joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedHour {
    /// Name of the table.
    pub table: &'static str,
    /// `date=YYYY-MM-DD/hour=HH`.
    pub partition: String,
    /// Segments that were replaced.
    pub replaced: u64,
    /// Their bytes.
    pub replaced_bytes: u64,
    /// Segments that replaced them.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Rows in them.
    pub rows: u64,
}

/// Joins segments under `root` that have the same table, hour, columns and metadata. Every row stays as it is. Between
/// the last exchange and the removal of what was replaced, it calls `wait`: readers that listed an hour before need some
/// time to open its segments.
///
/// # Errors
/// [`Error::NoDirectory`], [`Error::NoDataset`], [`Error::Compacting`]; the directories cannot be read or written, the
/// disk is full, or the file system cannot exchange directories. What was joined before the error remains.
pub fn compact(root: &Path, what: &Compaction, wait: impl FnOnce()) -> Result<Compacted, Error> {
    Query::default().tables(&[]).open(root)?;
    let Some(_lock) = CompactLock::acquire(root)? else {
        let root = root.to_owned();
        return Err(Error::Compacting { root });
    };
    hour::remove_replaced(root)?;
    let mut compacted = Compacted::default();
    let joined = join_all(root, what, &mut compacted);
    if !compacted.hours.is_empty() {
        wait();
    }
    joined.and(hour::remove_replaced(root))?;
    Ok(compacted)
}

fn join_all(root: &Path, what: &Compaction, compacted: &mut Compacted) -> Result<(), Error> {
    let found = walk::segments(root)?;
    let deleted = Deleted::read(root)?.newest();
    for segments in found.chunk_by(|a, b| (&a.table, &a.partition) == (&b.table, &b.partition)) {
        // Rollups know the segments of an hour that retention began to delete by their names.
        let partition = segments.first().and_then(|first| Partition::parse(&first.partition));
        if partition > deleted {
            join_hour(root, segments, what, compacted)?;
        }
    }
    Ok(())
}

fn join_hour(root: &Path, segments: &[Found], what: &Compaction, compacted: &mut Compacted) -> Result<(), Error> {
    let Some(first) = segments.first() else { return Ok(()) };
    let (Some(table), Some(partition)) = (tables::find(&first.table), Partition::parse(&first.partition)) else {
        return Ok(());
    };
    if partition.last_ns() >= what.ended_before.0 {
        return Ok(());
    }
    let groups = group::groups(root, table, segments, what.max_bytes, &mut compacted.damaged)?;
    if groups.is_empty() {
        return Ok(());
    }
    let hour = Hour::new(root, table, &first.partition);
    match hour.replace(&groups)? {
        Some(joined) => compacted.hours.push(joined),
        None => compacted.changed.push(hour.directory),
    }
    Ok(())
}
