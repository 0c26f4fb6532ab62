//! Deletes the oldest segments.

use crate::name::Partition;
use crate::walk;
use crate::{Error, durable};
use rocescope_model::{Row, SHIPPED, Time, WindowRow};
use std::path::Path;

/// What to keep. Without limits, everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Delete segments whose hour ends at or before this instant.
    pub older_than: Option<Time>,
    /// Delete the oldest hours, segment by segment, until the rest has at most this many bytes.
    pub max_bytes: Option<u64>,
}

/// The result of a deletion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retained {
    /// Deleted segments.
    pub deleted_segments: u64,
    /// Deleted bytes.
    pub deleted_bytes: u64,
    /// Bytes of the remaining segments.
    pub kept_bytes: u64,
    /// Segments that remain only because they are not shipped yet.
    pub waiting_segments: u64,
}

/// Deletes sealed segments beyond the limits, oldest hour first for all tables and observers, and directories that
/// become empty. Files that rocescope did not name and open segments remain; so do, if `rocescope ship` copies the dataset
/// to a store, segments that the store does not have.
///
/// # Errors
/// The directories cannot be read, or a file cannot be deleted.
pub fn retain(root: &Path, limits: Limits) -> Result<Retained, Error> {
    let mut segments = walk::segments(root)?;
    segments.retain(|found| found.name.is_some());
    // Of an hour, `windows` goes first: a window that is in it stays complete in every table.
    let order = |found: &walk::Found| {
        (
            found.partition.clone(),
            found.table != WindowRow::TABLE.name,
            found.path.clone(),
        )
    };
    segments.sort_by_key(order);
    let shipped = root.join(SHIPPED);
    let is_shipped = shipped.is_dir();
    let oldest_kept = limits.older_than.map(|time| Partition::of(time).path());
    let mut retained = Retained {
        kept_bytes: segments.iter().map(|found| found.bytes).sum(),
        ..Retained::default()
    };
    for found in segments {
        let partition = Path::new(&found.partition);
        let too_old = oldest_kept.as_deref().is_some_and(|oldest| partition < oldest);
        let too_many = limits.max_bytes.is_some_and(|max| retained.kept_bytes > max);
        if !too_old && !too_many {
            // Sorted by hour: no later segment is older, and enough bytes are deleted.
            break;
        }
        let marker = found.path.strip_prefix(root).map(|name| shipped.join(name));
        if is_shipped && !marker.as_ref().is_ok_and(|marker| marker.exists()) {
            retained.waiting_segments += 1;
            continue;
        }
        durable::remove(&found.path)?;
        if let Ok(marker) = marker.as_ref()
            && is_shipped
        {
            durable::remove(marker)?;
        }
        retained.deleted_segments += 1;
        retained.deleted_bytes += found.bytes;
        retained.kept_bytes = retained.kept_bytes.saturating_sub(found.bytes);
        remove_empty_directories(&found.path, root);
    }
    Ok(retained)
}

/// Removes the directories of hour, day and table of a deleted segment if they are empty.
fn remove_empty_directories(segment: &Path, root: &Path) {
    for directory in segment.ancestors().skip(1) {
        if directory == root || std::fs::remove_dir(directory).is_err() {
            return;
        }
    }
}
