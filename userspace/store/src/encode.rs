//! Encodes rows of the model as Arrow arrays: those of a journal, where sketches are packed.

use crate::schema;
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use rocescope_model::{Cells, Column, SparseBytes, Type, Value};
use std::sync::Arc;

/// Encodes the rows at `picked` of `cells` as a batch of `schema`.
///
/// # Errors
/// A value has another type than its column, or is null in a column that is not nullable.
pub(crate) fn batch(cells: &dyn Cells, picked: &[usize], schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_new(Arc::clone(schema), arrays(cells, picked)?)
}

fn arrays(cells: &dyn Cells, picked: &[usize]) -> Result<Vec<ArrayRef>, ArrowError> {
    let columns = cells.table().columns.iter().enumerate();
    columns
        .map(|(i, column)| array(column, picked.iter().map(|&row| cells.value(row, i))))
        .collect()
}

/// Same as [`batch`], with the sender, epoch and sequence of each row after its columns.
///
/// # Errors
/// Same as [`batch`].
pub(crate) fn numbered_batch<'a>(
    cells: &dyn Cells,
    picked: &[usize],
    numbers: impl Iterator<Item = (&'a str, i64, i64)>,
    schema: &SchemaRef,
) -> Result<RecordBatch, ArrowError> {
    let mut arrays = arrays(cells, picked)?;
    let (mut senders, rows) = (StringBuilder::new(), picked.len());
    let mut epochs = Int64Builder::with_capacity(rows);
    let mut sequences = Int64Builder::with_capacity(rows);
    for (sender, epoch, sequence) in numbers {
        senders.append_value(sender);
        epochs.append_value(epoch);
        sequences.append_value(sequence);
    }
    arrays.push(Arc::new(senders.finish()));
    arrays.push(Arc::new(epochs.finish()));
    arrays.push(Arc::new(sequences.finish()));
    RecordBatch::try_new(Arc::clone(schema), arrays)
}

/// Builds one column: `$take` matches and converts the values for the builder.
macro_rules! build {
    ($builder:expr, $column:ident, $values:ident, $pattern:pat => $take:expr) => {{
        let mut builder = $builder;
        for value in $values {
            match value {
                Value::Null => builder.append_null(),
                $pattern => builder.append_value($take),
                other => return Err(misfit($column, &other)),
            }
        }
        Arc::new(builder.finish())
    }};
}

fn array<'a>(column: &Column, values: impl ExactSizeIterator<Item = Value<'a>>) -> Result<ArrayRef, ArrowError> {
    let rows = values.len();
    Ok(match column.kind {
        Type::I64 => {
            build!(Int64Builder::with_capacity(rows), column, values, Value::I64(n) => n)
        }
        Type::F64 => {
            build!(Float64Builder::with_capacity(rows), column, values, Value::F64(n) => n)
        }
        Type::Bool => {
            build!(BooleanBuilder::with_capacity(rows), column, values, Value::Bool(b) => b)
        }
        Type::Text => {
            let builder = StringBuilder::with_capacity(rows, rows * 16);
            build!(builder, column, values, Value::Text(text) => text)
        }
        Type::Time => {
            let builder = TimestampMicrosecondBuilder::with_capacity(rows).with_timezone("UTC");
            build!(builder, column, values, Value::Time(time) => time.micros())
        }
        Type::Bytes => {
            let mut builder = BinaryBuilder::with_capacity(rows, 0);
            for value in values {
                match value {
                    Value::Null => builder.append_null(),
                    Value::Sparse(bytes) => builder.append_value(bytes.packed()),
                    Value::Bytes(bytes) => builder.append_value(SparseBytes::from(bytes).packed()),
                    other => return Err(misfit(column, &other)),
                }
            }
            Arc::new(builder.finish())
        }
        Type::ListI64 => {
            let builder = ListBuilder::new(Int64Builder::new()).with_field(schema::list_element());
            build!(builder, column, values, Value::ListI64(l) => l.iter().map(|&n| Some(n)))
        }
    })
}

fn misfit(column: &Column, value: &Value<'_>) -> ArrowError {
    let (name, kind) = (column.name, column.kind.name());
    let found = value.kind().map_or("null", Type::name);
    ArrowError::InvalidArgumentError(format!("column {name} has type {kind}, but the value is {found}"))
}
