//! Turns a journal into a sealed segment, for a running writer and for repair.
//!
//! Journals are read batch by batch, so that sealing holds one window in memory besides the encoded pages. A crash may
//! follow any step: the journal is removed only after the segment has its final name on disk, and the segment's name
//! follows from the journal's, so that sealing can be repeated.

use crate::marks::Marks;
use crate::name::SegmentPaths;
use crate::{Error, durable, schema};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use std::fs::File;
use std::io::{self, BufReader, Seek};
use std::iter;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A sealed segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub(crate) path: PathBuf,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    /// Bytes of an incomplete batch at the end of the journal.
    pub(crate) torn_bytes: u64,
}

/// Seals the journal of `place` and removes it.
///
/// # Errors
/// On an error, the journal remains and the unfinished segment is removed if possible.
pub(crate) fn seal(place: &SegmentPaths) -> Result<Sealed, Error> {
    let journal = place.journal();
    let mut batches = Batches::open(&journal)?;
    let mut sealed = seal_batches(place, batches.schema(), &mut batches)?;
    sealed.torn_bytes = batches.torn_bytes();
    batches.marks().save(place)?;
    durable::remove(&journal)?;
    Ok(sealed)
}

/// Seals a segment without rows.
pub(crate) fn seal_empty(place: &SegmentPaths, schema: SchemaRef) -> Result<Sealed, Error> {
    seal_batches(place, schema, iter::empty())
}

fn seal_batches(
    place: &SegmentPaths,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, Error>>,
) -> Result<Sealed, Error> {
    let (unfinished, path) = (place.unfinished(), place.sealed());
    if let Some(directory) = unfinished.parent() {
        let made = std::fs::create_dir_all(directory);
        made.map_err(|source| Error::io("create", directory, source))?;
    }
    let (rows, bytes) = write_segment(&unfinished, schema, batches).inspect_err(|_| {
        // Report the first error.
        let _ = durable::remove(&unfinished);
    })?;
    durable::publish(&unfinished, &path, &place.root)?;
    Ok(Sealed {
        path,
        rows,
        bytes,
        torn_bytes: 0,
    })
}

/// Writes batches as a Parquet file and syncs it. Returns rows and bytes.
fn write_segment(
    path: &Path,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, Error>>,
) -> Result<(u64, u64), Error> {
    let file = File::create(path).map_err(|source| Error::io("create", path, source))?;
    let failed = |error| Error::parquet("write", path, error);
    // The Arrow schema in the footer would repeat the Parquet schema.
    let options = ArrowWriterOptions::new()
        .with_properties(schema::parquet(&schema))
        .with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(file, schema, options).map_err(failed)?;
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        writer.write(&batch).map_err(failed)?;
        rows += batch.num_rows() as u64;
    }
    writer.finish().map_err(failed)?;
    let failed = |source| Error::io("write", path, source);
    // `into_inner` would flush too, but converts the cause of a failure into text.
    writer.sync().map_err(failed)?;
    writer.inner().sync_all().map_err(failed)?;
    let bytes = writer.inner().metadata().map_err(failed)?.len();
    Ok((rows, bytes))
}

/// The complete batches of a journal, without the numbers of their rows. Ends at the first incomplete one: everything
/// after it is torn. Its errors are read errors, not errors of the content.
pub(crate) struct Batches {
    path: PathBuf,
    reader: StreamReader<BufReader<File>>,
    len: u64,
    whole: u64,
    schema: SchemaRef,
    /// The numbers read so far, if the rows have numbers.
    numbered: bool,
    marks: Marks,
}

impl Batches {
    /// # Errors
    /// The file cannot be opened, or its schema is truncated ([`Error::Content`]).
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| Error::io("open", path, source))?;
        let metadata = file.metadata();
        let len = metadata.map_err(|source| Error::io("read", path, source))?.len();
        let reader =
            StreamReader::try_new(BufReader::new(file), None).map_err(|error| Error::content("read", path, &error))?;
        let stripped = schema::without_number(&reader.schema()).map(Arc::new);
        let mut batches = Self {
            path: path.to_owned(),
            len,
            whole: 0,
            numbered: stripped.is_some(),
            schema: stripped.unwrap_or_else(|| reader.schema()),
            marks: Marks::default(),
            reader,
        };
        batches.whole = batches.position();
        Ok(batches)
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Returns the numbers read so far.
    pub(crate) fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Removes the numbers from a batch; `None` if they are invalid.
    fn strip(&mut self, batch: RecordBatch) -> Option<RecordBatch> {
        if !self.numbered {
            return Some(batch);
        }
        let (own, number) = batch.columns().split_at(self.schema.fields().len());
        let [senders, epochs, sequences] = number else {
            return None;
        };
        let senders = senders.as_string_opt::<i32>()?;
        let epochs = epochs.as_primitive_opt::<Int64Type>()?.values();
        let sequences = sequences.as_primitive_opt::<Int64Type>()?.values();
        let mut last = None;
        for (row, (&epoch, &sequence)) in epochs.iter().zip(sequences).enumerate() {
            let number = (senders.value(row), epoch, sequence);
            if last != Some(number) {
                self.marks.note(number.0, epoch, sequence);
                last = Some(number);
            }
        }
        RecordBatch::try_new(Arc::clone(&self.schema), own.to_vec()).ok()
    }

    /// Returns the number of bytes after the last complete batch.
    pub(crate) fn torn_bytes(&self) -> u64 {
        self.len.saturating_sub(self.whole)
    }

    /// Whether reading reached the end of the file: then the torn bytes are a truncated window, not a damaged one
    /// followed by others.
    pub(crate) fn at_end(&mut self) -> bool {
        self.position() >= self.len
    }

    fn position(&mut self) -> u64 {
        let position = self.reader.get_mut().stream_position();
        position.unwrap_or(self.whole)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        // The decoder does not check everything: a flipped bit can make it index out of bounds.
        let next = panic::catch_unwind(AssertUnwindSafe(|| self.reader.next()));
        match next.ok()?? {
            Ok(batch) => {
                let batch = self.strip(batch)?;
                self.whole = self.position();
                Some(Ok(batch))
            }
            Err(ArrowError::IoError(_, source)) if source.kind() != io::ErrorKind::UnexpectedEof => {
                Some(Err(Error::io("read", &self.path, source)))
            }
            Err(_torn) => None,
        }
    }
}
