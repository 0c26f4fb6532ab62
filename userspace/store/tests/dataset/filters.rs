//! Joined segments have Bloom filters of what rows are looked up by.

use crate::rows::{SECOND_NS, files, window};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use rocescope_model::{FlowRow, Row, Time, Value};
use rocescope_store::{Compaction, Options, Writer, compact, scan, verify};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The only segment of `flows`.
fn flows(root: &Path) -> PathBuf {
    let found = files(&root.join("flows"));
    assert_eq!(found.len(), 1);
    root.join("flows").join(&found[0])
}

/// The columns with a filter, and where the first filter begins.
fn filters(path: &Path) -> (Vec<String>, Option<i64>) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let group = reader.metadata().row_group(0);
    let with = || {
        group
            .columns()
            .iter()
            .filter(|column| column.bloom_filter_offset().is_some())
    };
    let first = with().filter_map(ColumnChunkMetaData::bloom_filter_offset).min();
    (with().map(|column| column.column_path().string()).collect(), first)
}

/// Whether the filter of a column of a segment may have a value.
fn may_have(path: &Path, column: &str, value: &Value<'_>) -> bool {
    let properties = ReaderProperties::builder().set_read_bloom_filter(true).build();
    let options = ReadOptionsBuilder::new().with_reader_properties(properties).build();
    let reader = SerializedFileReader::new_with_options(File::open(path).unwrap(), options).unwrap();
    let group = reader.get_row_group(0).unwrap();
    let filter = group.get_column_bloom_filter(FlowRow::TABLE.position(column).unwrap());
    let filter = filter.unwrap();
    match value {
        Value::Text(text) => filter.check(&**text),
        Value::I64(number) => filter.check(number),
        _ => false,
    }
}

#[test]
fn joined_segments_have_filters_of_addresses_and_directions() {
    let root = tempfile::tempdir().unwrap();
    let options = Options {
        max_age: Duration::ZERO,
        ..Options::new("rail3")
    };
    let mut writer = Writer::create(root.path(), options).unwrap();
    for at in 0..3 {
        writer.append(&window(at * SECOND_NS), Instant::now()).unwrap();
    }
    writer.finish().unwrap();
    for path in files(&root.path().join("flows")) {
        assert_eq!(filters(&root.path().join("flows").join(path)), (Vec::new(), None));
    }
    let all = Compaction {
        ended_before: Time(i64::MAX),
        max_bytes: u64::MAX,
    };
    compact(root.path(), &all, || {}).unwrap();
    let path = flows(root.path());
    let (columns, first) = filters(&path);
    assert_eq!(columns, ["src", "dst", "direction_key"]);
    let rows = scan(root.path()).unwrap().rows::<FlowRow>().unwrap();
    for column in ["src", "dst", "direction_key"] {
        let at = FlowRow::TABLE.position(column).unwrap();
        assert!(rows.iter().all(|row| may_have(&path, column, &row.value(at))));
    }
    let others = (0..100).map(|host| format!("192.0.2.{host}"));
    let believed = others.filter(|other| may_have(&path, "src", &Value::Text(other.as_str().into())));
    assert!(believed.count() < 10, "one of a hundred in the mean");
    // Checksums cover them.
    assert_eq!(verify(root.path()).unwrap().problems, []);
    let mut bytes = fs::read(&path).unwrap();
    bytes[usize::try_from(first.unwrap()).unwrap() + 20] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(verify(root.path()).unwrap().problems.len(), 1);
}
