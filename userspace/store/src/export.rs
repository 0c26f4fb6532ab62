//! Rows as a Parquet file in memory, for others than a dataset.

use crate::schema::Indexes;
use crate::{Error, encode, schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use rocescope_model::Cells;
use std::path::Path;
use std::sync::Arc;

/// Encodes rows, which have no sketches, with the columns of their table.
///
/// # Errors
/// A value does not fit its column.
pub fn parquet(cells: &dyn Cells) -> Result<Vec<u8>, Error> {
    let rows = Path::new("rows");
    let schema = Arc::new(schema::arrow(cells.table(), &[]));
    let all: Vec<usize> = (0..cells.rows()).collect();
    let batch = encode::batch(cells, &all, &schema).map_err(|error| Error::arrow("encode", rows, error))?;
    let options = ArrowWriterOptions::new()
        .with_properties(schema::parquet(&schema, Indexes::None))
        .with_skip_arrow_metadata(true);
    let failed = |error| Error::parquet("encode", rows, error);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), schema, options).map_err(failed)?;
    writer.write(&batch).map_err(failed)?;
    writer.into_inner().map_err(failed)
}
