//! Turns a journal into a sealed segment, for a running writer and for repair.
//!
//! Journals are read batch by batch, so that sealing holds one window in memory besides the encoded pages. A crash may
//! follow any step: the journal is removed only after the segment has its final name on disk, and the segment's name
//! follows from the journal's, so that sealing can be repeated. A damaged journal is never removed: it moves to
//! `.damaged`.

use crate::batches::Batches;
use crate::lock::HourLock;
use crate::name::SegmentPaths;
use crate::schema::Indexes;
use crate::segment_writer::SegmentWriter;
use crate::{Error, Unreadable, checksum, durable};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::file::metadata::KeyValue;
use rocescope_model::footer;
use std::fs::OpenOptions;
use std::iter;
use std::path::{Path, PathBuf};

/// A sealed segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub(crate) path: PathBuf,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

/// The result of closing a journal.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    /// The segment with its whole batches, if it had any.
    pub(crate) sealed: Option<Sealed>,
    /// Bytes of an incomplete batch at the end of the journal.
    pub(crate) torn_bytes: u64,
    /// The journal, set aside because it is damaged, and what is damaged.
    pub(crate) damaged: Option<Unreadable>,
}

/// Seals the whole batches of the journal of `place`, and removes the journal. A damaged journal is set aside instead:
/// also one that does not have the `expected` number of rows. Calls `step` between steps, see
/// [`Options`](crate::Options).
///
/// # Errors
/// On an error, the journal remains and the unfinished segment is removed if possible.
pub(crate) fn seal(place: &SegmentPaths, expected: Option<u64>, step: fn()) -> Result<Closed, Error> {
    let mut batches = Batches::open(&place.journal())?;
    step();
    let sealed = match batches.next().transpose()? {
        Some(first) => {
            step();
            let schema = batches.schema();
            let all = iter::once(Ok(first)).chain(&mut batches);
            Some(seal_batches(place, schema, all, step)?)
        }
        None => None,
    };
    let rows = sealed.as_ref().map_or(0, |sealed| sealed.rows);
    let missing = expected.filter(|expected| *expected != rows);
    Ok(Closed {
        sealed,
        torn_bytes: batches.torn_bytes(),
        damaged: retire(place, &batches, missing)?,
    })
}

/// Ends a journal whose whole batches are in a segment: saves their numbers, then removes it, or sets it aside if
/// anything in it is damaged. `missing` is the number of rows that it should have.
pub(crate) fn retire(
    place: &SegmentPaths,
    batches: &Batches,
    missing: Option<u64>,
) -> Result<Option<Unreadable>, Error> {
    batches.marks().save(place)?;
    let journal = place.journal();
    let missing = missing.map(|rows| format!("some of its {rows} rows cannot be read back"));
    let Some(reason) = batches.damage().or(missing) else {
        durable::remove(&journal)?;
        return Ok(None);
    };
    let path = place.damaged();
    durable::move_to(&journal, &path, &place.root)?;
    Ok(Some(Unreadable { path, reason }))
}

/// Seals a segment without rows.
pub(crate) fn seal_empty(place: &SegmentPaths, schema: SchemaRef) -> Result<Sealed, Error> {
    seal_batches(place, schema, iter::empty(), || {})
}

fn seal_batches(
    place: &SegmentPaths,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, Error>>,
    step: fn(),
) -> Result<Sealed, Error> {
    let (unfinished, path) = (place.unfinished(), place.sealed());
    if let Some(directory) = unfinished.parent() {
        let made = std::fs::create_dir_all(directory);
        made.map_err(|source| Error::io("create", directory, source))?;
    }
    let (rows, bytes) = write_segment(&unfinished, (schema, Indexes::None), batches, step).inspect_err(|_| {
        // Report the first error.
        let _ = durable::remove(&unfinished);
    })?;
    let _lock = HourLock::shared(&place.root)?;
    durable::publish(&unfinished, &path, &place.root)?;
    Ok(Sealed { path, rows, bytes })
}

/// Writes batches as a Parquet file and syncs it. Returns rows and bytes.
pub(crate) fn write_segment(
    path: &Path,
    (schema, indexes): (SchemaRef, Indexes),
    batches: impl Iterator<Item = Result<RecordBatch, Error>>,
    step: fn(),
) -> Result<(u64, u64), Error> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(true).open(path);
    let file = file.map_err(|source| Error::io("create", path, source))?;
    let failed = |error| Error::parquet("write", path, error);
    let mut writer = SegmentWriter::new(file, schema, indexes, step).map_err(failed)?;
    let mut rows = 0;
    for batch in batches {
        step();
        let batch = batch?;
        writer.write(&batch).map_err(failed)?;
        rows += batch.num_rows() as u64;
    }
    step();
    let mut writer = writer.into_file_writer().map_err(failed)?;
    step();
    let io = |source| Error::io("write", path, source);
    // `into_inner` would flush too, but converts the cause of a failure into text.
    writer.flush().map_err(io)?;
    step();
    let sums = checksum::value(writer.inner(), writer.flushed_row_groups()).map_err(io)?;
    step();
    writer.append_key_value_metadata(KeyValue::new(footer::CHECKSUMS.into(), sums));
    step();
    let metadata = writer.finish().map_err(failed)?;
    step();
    writer.flush().map_err(io)?;
    step();
    checksum::complete(writer.inner(), metadata.row_groups()).map_err(io)?;
    step();
    writer.inner().sync_all().map_err(io)?;
    let bytes = writer.inner().metadata().map_err(io)?.len();
    Ok((rows, bytes))
}
