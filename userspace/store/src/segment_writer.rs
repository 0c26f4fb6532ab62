//! Writes the batches of a journal as a Parquet file.
//!
//! Row groups of nearly empty sketches have [pages of their own](crate::sketch_pages); fuller sketches, and all other
//! columns, pass through Parquet's Arrow writer.

use crate::packed::{packed, unpack, unpacked};
use crate::schema::{self, Indexes};
use crate::sketch_pages::SketchPages;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{Field, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::DEFAULT_MAX_ROW_GROUP_ROW_COUNT;
use parquet::file::writer::SerializedFileWriter;
use rocescope_model::SparseBytes;
use std::fs::File;
use std::sync::Arc;

/// Sketches are nearly empty while one byte in this many is not zero. Beyond, LZ4 makes them smaller than raw pieces.
const SPARSE: usize = 16;
/// Sketches that are unpacked at a time: 8 MiB.
const UNPACKED_ROWS: usize = 8;

/// A segment that is being written.
pub(crate) struct SegmentWriter {
    file: SerializedFileWriter<File>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    group: Option<Group>,
    /// Called between two columns.
    step: fn(),
}

/// A row group in memory.
struct Group {
    columns: Vec<Column>,
    rows: usize,
    /// Whether sketches pass through the Arrow writer.
    full: bool,
}

enum Column {
    Arrow(Box<ArrowColumnWriter>),
    Sketches(Box<SketchPages>),
}

impl SegmentWriter {
    /// Begins a segment for batches of this schema of a journal.
    pub(crate) fn new(file: File, schema: SchemaRef, indexes: Indexes, step: fn()) -> Result<Self> {
        // The Arrow schema in the footer would repeat the Parquet schema.
        let options = ArrowWriterOptions::new()
            .with_properties(schema::parquet(&schema, indexes))
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, Arc::clone(&schema), options)?;
        let (file, factory) = writer.into_serialized_writer()?;
        Ok(Self {
            file,
            factory,
            schema,
            group: None,
            step,
        })
    }

    /// Appends a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let full = self.group.as_ref().is_some_and(|group| group.full) || !is_sparse(&self.schema, batch);
        let ends = self
            .group
            .as_ref()
            .is_some_and(|group| group.full != full || group.rows + batch.num_rows() > DEFAULT_MAX_ROW_GROUP_ROW_COUNT);
        if ends {
            self.close_group()?;
        }
        let group = match &mut self.group {
            Some(group) => group,
            none => none.insert(Group::new(&self.file, &self.factory, &self.schema, full)?),
        };
        group.write(&self.schema, batch, self.step)
    }

    /// Ends the last row group. The caller writes the footer.
    pub(crate) fn into_file_writer(mut self) -> Result<SerializedFileWriter<File>> {
        self.close_group()?;
        Ok(self.file)
    }

    fn close_group(&mut self) -> Result<()> {
        let Some(group) = self.group.take() else {
            return Ok(());
        };
        let mut out = self.file.next_row_group()?;
        for column in group.columns {
            match column {
                Column::Arrow(writer) => writer.close()?.append_to_row_group(&mut out)?,
                Column::Sketches(pages) => {
                    let (bytes, close) = pages.close()?;
                    out.append_column(&bytes, close)?;
                }
            }
            (self.step)();
        }
        out.close()?;
        (self.step)();
        Ok(())
    }
}

impl Group {
    fn new(
        file: &SerializedFileWriter<File>,
        factory: &ArrowRowGroupWriterFactory,
        schema: &SchemaRef,
        full: bool,
    ) -> Result<Self> {
        let writers = factory.create_column_writers(file.flushed_row_groups().len())?;
        // Each column of a table is one leaf.
        let columns = writers
            .into_iter()
            .zip(schema.fields())
            .zip(file.schema_descr().columns());
        let columns = columns.map(|((writer, field), column)| {
            if schema::is_packed(field) && !full {
                Column::Sketches(Box::new(SketchPages::new(Arc::clone(column))))
            } else {
                Column::Arrow(Box::new(writer))
            }
        });
        Ok(Self {
            columns: columns.collect(),
            rows: 0,
            full,
        })
    }

    fn write(&mut self, schema: &SchemaRef, batch: &RecordBatch, step: fn()) -> Result<()> {
        self.rows += batch.num_rows();
        let columns = self.columns.iter_mut().zip(schema.fields()).zip(batch.columns());
        for ((column, field), array) in columns {
            match column {
                Column::Sketches(pages) => {
                    for value in packed(array).map_err(general)? {
                        pages.push(value.map(unpack).transpose().map_err(general)?)?;
                    }
                }
                Column::Arrow(writer) if schema::is_packed(field) => {
                    for at in (0..array.len()).step_by(UNPACKED_ROWS) {
                        let part = array.slice(at, UNPACKED_ROWS.min(array.len() - at));
                        write(writer, field, &unpacked(&part).map_err(general)?)?;
                    }
                }
                Column::Arrow(writer) => write(writer, field, array)?,
            }
            step();
        }
        Ok(())
    }
}

fn write(writer: &mut ArrowColumnWriter, field: &Field, array: &ArrayRef) -> Result<()> {
    compute_leaves(field, array)?
        .iter()
        .try_for_each(|leaf| writer.write(leaf))
}

/// Whether the sketches of a batch are nearly empty, those of all columns together.
fn is_sparse(schema: &SchemaRef, batch: &RecordBatch) -> bool {
    let (mut packed_bytes, mut bytes) = (0, 0);
    let columns = schema.fields().iter().zip(batch.columns());
    for (_, array) in columns.filter(|(field, _)| schema::is_packed(field)) {
        for value in packed(array).into_iter().flatten().flatten() {
            packed_bytes += value.len();
            bytes += SparseBytes::packed_len(value).unwrap_or(0);
        }
    }
    packed_bytes <= bytes / SPARSE
}

fn general(error: &'static str) -> ParquetError {
    ParquetError::General(error.into())
}
