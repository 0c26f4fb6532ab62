//! Rewrites the segments of earlier formats: the same rows under the names of today.
//!
//! A segment is written beside the journals and renamed over the one that it replaces, so that a kill at any time leaves
//! one of the two. A store to which it was shipped gets it again.

use crate::compact::shipped;
use crate::lock::HourLock;
use crate::name::SegmentPaths;
use crate::scan::{Segment, load_footer, segment_of};
use crate::schema::Indexes;
use crate::seal::write_segment;
use crate::{Error, Unreadable, durable, encode, schema, walk};
use rocescope_model::tables::find;
use rocescope_model::{Cells, FORMAT_VERSION, footer};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A segment that has the current format now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The file.
    pub path: PathBuf,
    /// Number of rows.
    pub rows: u64,
    /// The format that it had.
    pub from: u32,
}

/// Converts every segment of an earlier format under `root`. Returns those, and the ones that cannot be read.
///
/// # Errors
/// The directories cannot be read or written, or the disk is full.
pub(crate) fn convert(root: &Path) -> Result<(Vec<Converted>, Vec<Unreadable>), Error> {
    let (mut converted, mut unreadable) = (Vec::new(), Vec::new());
    for found in walk::segments(root)? {
        // What has no readable footer is reported by a scan.
        let Ok(footer) = load_footer(&found.path) else { continue };
        let from = footer.format;
        let Some(name) = found.name.clone().filter(|_| from < FORMAT_VERSION) else {
            continue;
        };
        let place = SegmentPaths {
            root: root.to_owned(),
            table: found.table.clone(),
            name,
        };
        let segment = segment_of(found, &footer);
        match rewrite(&place, &segment) {
            Ok(()) => converted.push(Converted {
                path: segment.path,
                rows: segment.rows,
                from,
            }),
            Err(error @ (Error::NoSpace { .. } | Error::Io { .. })) => return Err(error),
            Err(error) => unreadable.push(Unreadable {
                path: segment.path,
                reason: error.without_path(),
            }),
        }
    }
    Ok((converted, unreadable))
}

fn rewrite(place: &SegmentPaths, segment: &Segment) -> Result<(), Error> {
    let table = find(&segment.table).ok_or_else(|| Error::content("convert", &segment.path, &"unknown table"))?;
    let kept = segment.footer.iter().filter(|(key, _)| key != footer::CHECKSUMS);
    let pairs = kept.map(|(key, value)| match key == footer::FORMAT {
        true => (key.clone(), FORMAT_VERSION.to_string()),
        false => (key.clone(), value.clone()),
    });
    let pairs: Vec<(String, String)> = pairs.collect();
    let schema = Arc::new(schema::arrow(table, &pairs));
    let rows = segment.batches(|_| true)?.map(|batch| {
        let batch = batch?;
        let all: Vec<usize> = (0..batch.rows()).collect();
        encode::batch(&batch, &all, &schema).map_err(|error| Error::arrow("encode", &segment.path, error))
    });
    let unfinished = place.unfinished();
    if let Some(directory) = unfinished.parent() {
        std::fs::create_dir_all(directory).map_err(|source| Error::io("create", directory, source))?;
    }
    let written =
        write_segment(&unfinished, (Arc::clone(&schema), Indexes::None), rows, || {}).and_then(|(rows, _)| {
            if rows == segment.rows {
                return Ok(());
            }
            let reason = format!("it has {} rows, but {rows} were read", segment.rows);
            Err(Error::content("convert", &segment.path, &reason))
        });
    written.inspect_err(|_| {
        // Report the first error.
        let _ = durable::remove(&unfinished);
    })?;
    let _lock = HourLock::exclusive(&place.root)?;
    durable::publish(&unfinished, &segment.path, &place.root)?;
    shipped::unmark(&place.root, &segment.path)
}
