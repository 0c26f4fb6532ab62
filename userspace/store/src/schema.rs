//! Converts the model's columns to an Arrow schema, and configures Parquet.

use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{BloomFilterPosition, EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use rocescope_model::{Column, Table, Type, footer};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the schema of a table, with the footer as its metadata, so that a journal contains it too.
pub(crate) fn arrow(table: &Table, footer: &[(String, String)]) -> Schema {
    let fields: Vec<Field> = table.columns.iter().map(field).collect();
    let mut metadata: HashMap<String, String> = footer.iter().cloned().collect();
    metadata.insert(footer::TABLE.into(), table.name.into());
    Schema::new_with_metadata(fields, metadata)
}

/// The columns after a table's own in a journal of numbered rows. Segments do not contain them.
const NUMBER: [(&str, DataType); 3] = [
    (".sender", DataType::Utf8),
    (".epoch", DataType::Int64),
    (".sequence", DataType::Int64),
];

/// Returns the schema of a journal of numbered rows.
pub(crate) fn numbered(schema: &Schema) -> Schema {
    let own = schema.fields().iter().cloned();
    let number = NUMBER.map(|(name, kind)| Arc::new(Field::new(name, kind, false)));
    let fields: Vec<_> = own.chain(number).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

/// Returns the schema without the number columns; `None` if it has none.
pub(crate) fn without_number(schema: &Schema) -> Option<Schema> {
    let fields = schema.fields();
    let own = fields.get(..fields.len().checked_sub(NUMBER.len())?)?;
    let number = fields.iter().skip(own.len());
    let same = number.zip(&NUMBER).all(|(f, (name, _))| f.name() == name);
    same.then(|| Schema::new_with_metadata(own.to_vec(), schema.metadata().clone()))
}

/// Marks a column of a journal whose values are [packed](rocescope_model::SparseBytes::packed). In a segment they are
/// not.
const PACKED: (&str, &str) = ("rocescope.packed", "1");

fn field(column: &Column) -> Field {
    let field = Field::new(column.name, data_type(column.kind), column.nullable);
    if column.kind != Type::Bytes {
        return field;
    }
    field.with_metadata(HashMap::from([(PACKED.0.into(), PACKED.1.into())]))
}

/// Whether the values of a journal's column are packed.
pub(crate) fn is_packed(field: &Field) -> bool {
    field.metadata().contains_key(PACKED.0)
}

/// Returns the Arrow type of a column's type.
///
/// Text is plain here, because the Parquet writer dictionary-encodes it. polars and pandas would read an Arrow
/// dictionary as a categorical.
pub(crate) fn data_type(kind: Type) -> DataType {
    match kind {
        Type::I64 => DataType::Int64,
        Type::F64 => DataType::Float64,
        Type::Bool => DataType::Boolean,
        Type::Text => DataType::Utf8,
        Type::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Type::Bytes => DataType::Binary,
        Type::ListI64 => DataType::List(list_element()),
    }
}

/// Returns the element of a list column, with the name from the Parquet specification.
pub(crate) fn list_element() -> Arc<Field> {
    Arc::new(Field::new("element", DataType::Int64, false))
}

/// Rows of a page. Until its page ends, a value takes eight bytes of memory in its column's dictionary encoder; an agent
/// has little memory.
const PAGE_ROWS: usize = 2_048;

/// What a segment has for readers that look for a few of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indexes {
    /// Nothing: a writer with little memory seals it, and compaction and rollups replace it.
    None,
    /// Bloom filters of addresses and directions: a reader skips the segments that have none of them.
    Addresses,
}

/// The columns by which rows are looked up.
const LOOKED_UP: [&str; 6] = [
    "src",
    "dst",
    "address",
    "local_address",
    "remote_address",
    "direction_key",
];
/// The share of values that a filter reports although no row has them.
const FALSE_POSITIVES: f64 = 0.01;
/// Different values for which a filter is made at first. It is folded to what the values need.
const MOST_VALUES: u64 = 1 << 16;

/// Configures Parquet: LZ4 and dictionaries, but neither dictionaries nor statistics for sketches, which are all
/// different. Snappy takes equally long but compresses the zeros of sketches 20-fold, LZ4 250-fold; nearly empty
/// sketches are [pages of their own](crate::sketch_pages).
pub(crate) fn parquet(schema: &Schema, indexes: Indexes) -> WriterProperties {
    let mut pairs: Vec<KeyValue> = schema
        .metadata()
        .iter()
        .map(|(key, value)| KeyValue::new(key.clone(), value.clone()))
        .collect();
    pairs.sort_by(|a, b| a.key.cmp(&b.key));
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("rocescope ", env!("CARGO_PKG_VERSION")).into())
        .set_compression(Compression::LZ4_RAW)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // Not between row groups: checksums cover columns, and what is after the last one.
        .set_bloom_filter_position(BloomFilterPosition::End)
        .set_key_value_metadata(Some(pairs));
    for field in schema.fields() {
        if *field.data_type() == DataType::Binary {
            let path = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_statistics_enabled(path, EnabledStatistics::None);
        } else if indexes == Indexes::Addresses && LOOKED_UP.contains(&field.name().as_str()) {
            let path = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_bloom_filter_fpp(path.clone(), FALSE_POSITIVES)
                .set_column_bloom_filter_max_ndv(path, MOST_VALUES);
        }
    }
    properties.build()
}
