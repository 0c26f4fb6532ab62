//! Reads segments, as values or as typed rows.

use crate::decode::Decoded;
use crate::{Error, Scan, Segment};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use rocescope_model::tables::find;
use rocescope_model::{Cells, Column, Row, Table, Time, Type, Unit, Value};
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;

/// Rows in a batch with sketches, which have a megabyte per row, and in one without.
const SKETCH_ROWS: usize = 8;
const PLAIN_ROWS: usize = 4096;

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
        self.batches_of(wanted, 0..usize::MAX)
    }

    /// Same as [`batches`](Self::batches), for a range of rows, counted from 0; earlier rows are skipped without
    /// decoding.
    ///
    /// # Errors
    /// Same as [`batches`](Self::batches).
    pub fn batches_of(&self, wanted: impl Fn(&Column) -> bool, rows: Range<usize>) -> Result<Batches, Error> {
        let path = &self.path;
        let table = find(&self.table).ok_or_else(|| Error::content("read", path, &"unknown table"))?;
        let file = File::open(path).map_err(|source| Error::io("open", path, source))?;
        let failed = |error| Error::parquet("read", path, error);
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(failed)?;
        let columns: Vec<&Column> = table.columns.iter().filter(|c| wanted(c)).collect();
        let sketches = columns.iter().any(|column| column.kind == Type::Bytes);
        let parquet = builder.parquet_schema();
        let fields = parquet.root_schema().get_fields().iter().enumerate();
        let roots = fields.filter(|(_, f)| columns.iter().any(|c| c.name == f.name()));
        let mask = ProjectionMask::roots(parquet, roots.map(|(i, _)| i).collect::<Vec<_>>());
        let reader = builder
            .with_projection(mask)
            .with_batch_size(if sketches { SKETCH_ROWS } else { PLAIN_ROWS })
            .with_offset(rows.start)
            .with_limit(rows.len())
            .build()
            .map_err(failed)?;
        Ok(Batches {
            path: path.clone(),
            table,
            reader,
        })
    }
}

impl Iterator for Batches {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.next()?;
        Some(self.decode(batch))
    }
}

impl Batches {
    fn decode(&self, batch: Result<arrow_array::RecordBatch, arrow_schema::ArrowError>) -> Result<Batch, Error> {
        let batch = batch.map_err(|error| Error::arrow("read", &self.path, error))?;
        let columns = self.table.columns.iter().map(|column| {
            let Some(array) = batch.column_by_name(column.name) else {
                return Ok(Decoded::Missing);
            };
            Decoded::new(column, array).ok_or_else(|| {
                let (found, name) = (array.data_type(), column.name);
                let reason = format!("column {name} has type {found}, expected {}", column.kind.name());
                Error::content("read", &self.path, &reason)
            })
        });
        let columns = columns.collect::<Result<Vec<Decoded>, Error>>()?;
        Ok(Batch::new(self.table, columns, batch.num_rows()))
    }
}

impl Scan {
    /// Reads all requested rows of a table into memory, with every column.
    ///
    /// # Errors
    /// A segment is unreadable, or contains a value that does not fit the row.
    pub fn rows<R: Row>(&self) -> Result<Vec<R>, Error> {
        let mut rows = Vec::new();
        let all = self.select::<R>().columns(|_| true);
        all.for_each(|row| rows.push(row))?;
        Ok(rows)
    }
}
