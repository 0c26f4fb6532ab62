//! Checks every byte of a dataset that has a checksum.

use crate::batches::Batches;
use crate::{Error, Query, Unreadable, walk};
use std::io;
use std::path::{Path, PathBuf};

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Sealed segments.
    pub segments: u64,
    /// Journals, of running writers or left by killed ones.
    pub journals: u64,
    /// Rows in undamaged segments.
    pub rows: u64,
    /// Segments and journals of versions without checksums: readable, but a changed value is not noticed.
    pub unverified: Vec<PathBuf>,
    /// Damaged files, and journals that were set aside.
    pub problems: Vec<Unreadable>,
}

/// Reads all segments and journals under `root` and compares them with their checksums.
///
/// # Errors
/// [`Error::NoDirectory`], [`Error::NoDataset`], or the directories cannot be read.
pub fn verify(root: &Path) -> Result<Verified, Error> {
    let found = Query::default().open(root)?;
    let mut verified = Verified {
        segments: found.statistics.segments,
        problems: found.unreadable.clone(),
        ..Verified::default()
    };
    for segment in &found.segments {
        let read = segment.check_all().map(|is_checked| {
            if !is_checked {
                verified.unverified.push(segment.path.clone());
            }
        });
        match read.or_else(|error| segment.note(error)) {
            Ok(()) if segment.health.fault().is_none() => verified.rows += segment.rows,
            Ok(()) => {}
            Err(error) => return Err(error),
        }
    }
    let damaged = found.damaged().into_iter().skip(found.unreadable.len());
    verified.problems.extend(damaged);
    for leftover in walk::leftovers(root)?.into_iter().filter(|leftover| leftover.journal) {
        let mut batches = match Batches::open(&leftover.path) {
            // Sealed meanwhile.
            Err(Error::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => continue,
            batches => batches?,
        };
        while batches.next().transpose()?.is_some() {}
        verified.journals += 1;
        match batches.damage() {
            Some(reason) => verified.problems.push(Unreadable {
                path: leftover.path,
                reason,
            }),
            None if !batches.is_checked() => verified.unverified.push(leftover.path),
            None => {}
        }
    }
    for path in walk::set_aside(root)? {
        let reason = "a damaged journal, set aside by an earlier repair".into();
        verified.problems.push(Unreadable { path, reason });
    }
    Ok(verified)
}
