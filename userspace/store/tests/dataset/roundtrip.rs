//! Rows of every table and type are read as they were written.

use crate::rows::{SECOND_NS, files, read, together, window};
use rocescope_model::json::{self, Rows};
use rocescope_model::{Cells, FORMAT_VERSION, FlowRow, Type, Value, footer, render};
use rocescope_store::{Options, Writer, scan};
use std::path::Path;
use std::time::Instant;

#[test]
fn every_table_is_read_as_written() {
    let root = tempfile::tempdir().unwrap();
    let windows = [window(0), window(SECOND_NS), window(2 * SECOND_NS)];
    let mut writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    for rows in &windows {
        writer.append(rows, Instant::now()).unwrap();
    }
    let summary = writer.finish().unwrap();
    assert_eq!(read(root.path()).unwrap(), together(windows));
    assert_eq!(summary.table("flows").rows, 6);
    assert_eq!(summary.table("windows").segments, 1);
    let below = |table: &str, file: &str| {
        let directory = Path::new(table).join("date=2026-11-21").join("hour=02");
        directory.join(file)
    };
    let segment = "rail3-20261121T023000Z-0000.parquet";
    let tables = ["events", "flows", "opcodes", "pdcs", "windows"];
    let mut expected = vec![Path::new(".open/rail3.lock").to_owned()];
    // Without rows: an empty segment with the time of the last rows.
    for table in ["connections", "spread"] {
        expected.push(below(table, "rail3-20261121T023002Z-0000.parquet"));
    }
    expected.extend(tables.map(|table| below(table, segment)));
    expected.sort();
    assert_eq!(files(root.path()), expected);
}

#[test]
fn the_footer_describes_how_the_segment_was_made() {
    let root = tempfile::tempdir().unwrap();
    let mut options = Options::new("rack 7/rail3");
    options.metadata = vec![(footer::MODE.into(), "file".into())];
    let mut writer = Writer::create(root.path(), options).unwrap();
    writer.append(&window(0), Instant::now()).unwrap();
    writer.finish().unwrap();
    for segment in scan(root.path()).unwrap().segments {
        let version = FORMAT_VERSION.to_string();
        assert_eq!(segment.footer(footer::FORMAT), Some(version.as_str()));
        assert_eq!(segment.footer(footer::TABLE), Some(segment.table.as_str()));
        assert_eq!(segment.footer(footer::OBSERVER), Some("rack 7/rail3"));
        assert_eq!(segment.footer(footer::MODE), Some("file"));
        assert_eq!(segment.footer(footer::SOURCE), None);
    }
}

#[test]
fn a_batch_without_sketches_is_printed_as_text_and_json() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    let rows = window(0);
    writer.append(&rows, Instant::now()).unwrap();
    writer.finish().unwrap();
    let scan = scan(root.path()).unwrap();
    let segment = scan.table("windows").next().unwrap();
    let mut batches = segment.batches(|c| c.kind != Type::Bytes).unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    let document = |rows: &dyn Cells| json::pretty(&Rows(rows, json::no_sketch));
    assert_eq!(document(&batch), document(&rows.windows));
    let options = render::Options::default();
    assert_eq!(render::table(&batch, options), render::table(&rows.windows, options));
    let sketch = batch.table().position("linear_counting").unwrap();
    assert_eq!(batch.value(0, sketch), Value::Null);
}

#[test]
fn tables_without_rows_have_a_schema_in_the_end() {
    let root = tempfile::tempdir().unwrap();
    let mut rows = window(0);
    rows.events.clear();
    let mut writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    writer.append(&rows, Instant::now()).unwrap();
    let summary = writer.finish().unwrap();
    assert_eq!(summary.table("events").segments, 1);
    assert_eq!(summary.table("events").rows, 0);
    assert_eq!(read(root.path()).unwrap(), rows);
}

#[test]
fn a_writer_without_rows_leaves_no_segment() {
    let root = tempfile::tempdir().unwrap();
    let writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    assert_eq!(writer.finish().unwrap().tables, []);
    assert_eq!(files(root.path()), [Path::new(".open/rail3.lock")]);
}

#[test]
fn rows_that_fill_several_batches_come_back_in_order() {
    let root = tempfile::tempdir().unwrap();
    let flows: Vec<FlowRow> = (0..150_000)
        .map(|rank| FlowRow {
            rank,
            ..FlowRow::default()
        })
        .collect();
    let mut writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    writer.append_cells(&flows, Instant::now()).unwrap();
    writer.finish().unwrap();
    let back = scan(root.path()).unwrap().rows::<FlowRow>().unwrap();
    assert_eq!(back.len(), flows.len());
    assert!(back.iter().map(|flow| flow.rank).eq(0..150_000));
}
