//! Tables of the dataset as Arrow schemas.

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use rocescope_model::{Column, Table, Type};
use std::sync::Arc;

/// The columns of a table. Each may be null: a segment of an older version lacks the newer columns.
pub(crate) fn of(table: &Table) -> SchemaRef {
    let field = |column: &Column| Field::new(column.name, kind(column.kind), true);
    Arc::new(Schema::new(table.columns.iter().map(field).collect::<Vec<_>>()))
}

/// Texts and sketches as views: a batch of sketches may hold more than the 2 GiB that offsets of 32 bits reach.
fn kind(kind: Type) -> DataType {
    match kind {
        Type::I64 => DataType::Int64,
        Type::F64 => DataType::Float64,
        Type::Bool => DataType::Boolean,
        Type::Text => DataType::Utf8View,
        Type::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Type::Bytes => DataType::BinaryView,
        Type::ListI64 => DataType::List(Arc::new(Field::new("item", DataType::Int64, true))),
    }
}
