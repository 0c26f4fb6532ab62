//! Reads segments, as values or as typed rows.

use crate::decode::Decoded;
use crate::format::stored_name;
use crate::guard::guarded;
use crate::scan::{Footer, load_footer};
use crate::{Error, Scan, Segment};
use arrow_schema::{DataType, Fields, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use rocescope_model::tables::find;
use rocescope_model::{Cells, Column, Row, Table, Time, Type, Unit, Value};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

/// Rows in a batch with sketches, which have a megabyte per row, and in one without.
const SKETCH_ROWS: usize = 8;
const PLAIN_ROWS: usize = 4096;
/// All rows of a segment.
pub(crate) const ALL_ROWS: Range<usize> = 0..usize::MAX;

/// Some rows of a segment. Columns that are missing in the file or were not requested are null.
///
/// An instant has the nanoseconds of the `_ns` column next to it, if that was read.
#[derive(Debug)]
pub struct Batch {
    table: &'static Table,
    columns: Vec<Decoded>,
    rows: usize,
}

impl Cells for Batch {
    fn table(&self) -> &'static Table {
        self.table
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let value = |column| self.columns.get(column).map(|c: &Decoded| c.value(row));
        match value(column) {
            Some(Value::Time(rounded)) => {
                let next = self.table.columns.get(column + 1);
                let next = next.filter(|next| next.unit == Unit::UnixNanoseconds);
                match next.and_then(|_| value(column + 1)) {
                    Some(Value::I64(exact)) if Time(exact).micros() == rounded.micros() => Value::Time(Time(exact)),
                    _ => Value::Time(rounded),
                }
            }
            other => other.unwrap_or(Value::Null),
        }
    }
}

impl Batch {
    pub(crate) const fn new(table: &'static Table, columns: Vec<Decoded>, rows: usize) -> Self {
        Self { table, columns, rows }
    }

    /// Returns a column; `None` beyond the last.
    pub(crate) fn column(&self, column: usize) -> Option<&Decoded> {
        self.columns.get(column)
    }

    /// Returns the rows as typed rows.
    ///
    /// # Errors
    /// A value does not fit its field, or is null in a field that is not nullable.
    pub fn typed<R: Row>(&self) -> Result<Vec<R>, rocescope_model::Mismatch> {
        (0..self.rows).map(|row| self.row(row)).collect()
    }

    /// Returns one row as a typed row.
    pub(crate) fn row<R: Row>(&self, row: usize) -> Result<R, rocescope_model::Mismatch> {
        R::read(|column| self.value(row, column))
    }
}

/// The batches of a segment, in order.
#[derive(Debug)]
pub struct Batches {
    path: PathBuf,
    table: &'static Table,
    format: u32,
    reader: ParquetRecordBatchReader,
}

impl Segment {
    /// Reads the rows, with the columns that `wanted` selects.
    ///
    /// Exclude the sketches (`|column| column.kind != Type::Bytes`) unless you need them: they are nearly all of the
    /// bytes.
    ///
    /// # Errors
    /// The file cannot be opened, or its table is not in the registry.
    pub fn batches(&self, wanted: impl Fn(&Column) -> bool) -> Result<Batches, Error> {
        self.batches_of(wanted, slice::from_ref(&ALL_ROWS))
    }

    /// Same as [`batches`](Self::batches), for some ranges of rows in order, counted from 0; others are skipped without
    /// decoding.
    fn batches_of(&self, wanted: impl Fn(&Column) -> bool, rows: &[Range<usize>]) -> Result<Batches, Error> {
        let path = &self.path;
        let table = find(&self.table).ok_or_else(|| Error::content("read", path, &"unknown table"))?;
        let footer = load_footer(path)?;
        let format = footer.format;
        let failed = |error| Error::parquet("read", path, error);
        let columns: Vec<&Column> = table.columns.iter().filter(|c| wanted(c)).collect();
        let sketches = columns.iter().any(|column| column.kind == Type::Bytes);
        let parquet = footer.metadata.metadata().file_metadata().schema_descr_ptr();
        let fields = parquet.root_schema().get_fields().iter().enumerate();
        let roots = fields.filter(|(_, f)| {
            columns
                .iter()
                .any(|c| stored_name(table.name, c.name, format) == f.name())
        });
        let mask = ProjectionMask::roots(&parquet, roots.map(|(i, _)| i).collect::<Vec<_>>());
        self.check(&footer, &mask)?;
        let metadata = with_dictionaries(&footer.metadata).map_err(failed)?;
        let all = usize::try_from(self.rows).unwrap_or(usize::MAX);
        let ranges = rows.iter().map(|rows| rows.start.min(all)..rows.end.min(all));
        let selection = RowSelection::from_consecutive_ranges(ranges, all);
        let build = || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(footer.file, metadata)
                .with_projection(mask)
                .with_batch_size(if sketches { SKETCH_ROWS } else { PLAIN_ROWS })
                .with_row_selection(selection)
                .build()
        };
        let reader = guarded(build).ok_or_else(|| Error::content("read", path, &"the footer is damaged"))?;
        let reader = reader.map_err(failed)?;
        Ok(Batches {
            path: path.clone(),
            table,
            format,
            reader,
        })
    }

    /// Checks every byte of the file; false if it has no checksums, and every page was decoded instead.
    pub(crate) fn check_all(&self) -> Result<bool, Error> {
        let footer = load_footer(&self.path)?;
        let Some(checksums) = &footer.checksums else {
            for batch in self.batches(|_| true)? {
                batch?;
            }
            return Ok(false);
        };
        self.check(&footer, &ProjectionMask::all())?;
        let groups = footer.metadata.metadata().row_groups();
        let rest = checksums.is_rest_whole(&footer.file, groups);
        match rest.map_err(|source| Error::io("read", &self.path, source))? {
            true => Ok(true),
            false => {
                let reason = "bytes outside of its columns do not match their checksum";
                Err(Error::content("read", &self.path, &reason))
            }
        }
    }

    /// Compares the columns with their checksums. A segment of a version without checksums is read as it is.
    fn check(&self, footer: &Footer, mask: &ProjectionMask) -> Result<(), Error> {
        let Some(checksums) = &footer.checksums else {
            return Ok(());
        };
        let metadata = footer.metadata.metadata();
        let leaves = metadata.file_metadata().schema_descr().num_columns();
        for chunk in (0..leaves * metadata.num_row_groups()).filter(|chunk| mask.leaf_included(chunk % leaves)) {
            let check = || checksums.is_chunk_whole(&footer.file, metadata.row_groups(), chunk);
            let is_whole = self.health.is_whole(chunk, check);
            if !is_whole.map_err(|source| Error::io("read", &self.path, source))? {
                let column = metadata.file_metadata().schema_descr().column(chunk % leaves);
                let reason = format!("column {} does not match its checksum", column.path().string());
                return Err(Error::content("read", &self.path, &reason));
            }
        }
        Ok(())
    }
}

/// Has texts that are stored by their number in a dictionary read the same way: a host repeats a few names and addresses.
fn with_dictionaries(metadata: &ArrowReaderMetadata) -> Result<ArrowReaderMetadata, ParquetError> {
    let groups = metadata.metadata().row_groups();
    let is_coded = |name: &String| {
        let chunks = groups.iter().flat_map(RowGroupMetaData::columns);
        let mut chunks = chunks.filter(|chunk| chunk.column_path().parts().first() == Some(name));
        chunks.all(|chunk| chunk.dictionary_page_offset().is_some())
    };
    let fields = metadata.schema().fields().iter();
    let fields = fields.map(|field| match field.data_type() {
        DataType::Utf8 if is_coded(field.name()) => {
            let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            Arc::new(field.as_ref().clone().with_data_type(coded))
        }
        _ => Arc::clone(field),
    });
    let schema = Arc::new(Schema::new(fields.collect::<Fields>()));
    let options = ArrowReaderOptions::new().with_schema(schema);
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
}

impl Batches {
    /// Returns the path of the segment.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Iterator for Batches {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(batch) = guarded(|| self.reader.next()) else {
            return Some(Err(Error::content("read", &self.path, &"its pages are damaged")));
        };
        Some(self.decode(batch?))
    }
}

impl Batches {
    fn decode(&self, batch: Result<arrow_array::RecordBatch, arrow_schema::ArrowError>) -> Result<Batch, Error> {
        let batch = batch.map_err(|error| Error::arrow("read", &self.path, error))?;
        let columns = self.table.columns.iter().map(|column| {
            let name = stored_name(self.table.name, column.name, self.format);
            let Some(array) = batch.column_by_name(name) else {
                return Ok(Decoded::Missing);
            };
            Decoded::new(column, array).ok_or_else(|| {
                let found = array.data_type();
                let reason = format!("column {name} has type {found}, expected {}", column.kind.name());
                Error::content("read", &self.path, &reason)
            })
        });
        let columns = columns.collect::<Result<Vec<Decoded>, Error>>()?;
        Ok(Batch::new(self.table, columns, batch.num_rows()))
    }
}

/// The batches of a segment up to its first damage, which is noted: see [`Scan::damaged`].
#[derive(Debug)]
pub(crate) struct Undamaged<'a> {
    segment: &'a Segment,
    /// `None` once the segment is damaged.
    batches: Option<Batches>,
}

impl Segment {
    /// Same as [`batches`](Self::batches), of some ranges of rows in order, but a damaged segment has no batches.
    ///
    /// # Errors
    /// The operating system refuses to open the file.
    pub(crate) fn undamaged(
        &self,
        wanted: impl Fn(&Column) -> bool,
        rows: &[Range<usize>],
    ) -> Result<Undamaged<'_>, Error> {
        let batches = match self.health.fault() {
            Some(_) => None,
            None => match self.batches_of(wanted, rows) {
                Ok(batches) => Some(batches),
                Err(error) => self.note(error).map(|()| None)?,
            },
        };
        Ok(Undamaged { segment: self, batches })
    }
}

impl Iterator for Undamaged<'_> {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.batches.as_mut()?.next()? {
            Ok(batch) => Some(Ok(batch)),
            Err(error) => {
                self.batches = None;
                self.segment.note(error).err().map(Err)
            }
        }
    }
}

impl Scan {
    /// Reads all requested rows of a table into memory, with every column.
    ///
    /// # Errors
    /// The operating system refuses to read a segment. A damaged one is skipped: see [`damaged`](Self::damaged).
    pub fn rows<R: Row>(&self) -> Result<Vec<R>, Error> {
        let mut rows = Vec::new();
        let all = self.select::<R>().columns(|_| true);
        all.for_each(|row| rows.push(row))?;
        Ok(rows)
    }
}
