//! A dataset that the test wrote.

use datafusion::arrow::array::{ArrayRef, BinaryArray, Int64Array, StringArray, TimestampMicrosecondArray};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// 2026-11-21T02:00:00Z, in seconds.
const BEGUN: i64 = 1_795_226_400;

pub struct Made {
    folder: TempDir,
    root: String,
}

impl Made {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("dataset");
        fs::create_dir(&root).unwrap();
        let root = root.to_str().unwrap().to_owned();
        Self { folder, root }
    }

    pub fn root(&self) -> &str {
        &self.root
    }

    /// A path beside the dataset.
    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn segment(&self, hour: &str) -> PathBuf {
        self.segment_of("windows", hour)
    }

    fn segment_of(&self, table: &str, hour: &str) -> PathBuf {
        let folder = PathBuf::from(&self.root).join(format!("{table}/date=2026-11-21/hour={hour}"));
        fs::create_dir_all(&folder).unwrap();
        folder.join("made-20261121T020000Z-0000.parquet")
    }

    /// Windows of an hour: observer, seconds after 2026-11-21T02:00:00Z, frames. Most columns are missing.
    pub fn windows(&self, hour: &str, rows: &[(&str, i64, i64)]) {
        write(&self.segment(hour), totals(rows, "frames"));
    }

    /// The same in a rollup of the dataset; the directory is that of its partition.
    pub fn rolled_up(&self, resolution: &str, partition: &str, rows: &[(&str, i64, i64)]) {
        let folder = PathBuf::from(&self.root).join(format!("rollups/{resolution}/windows/{partition}"));
        fs::create_dir_all(&folder).unwrap();
        write(
            &folder.join("made-20261101T000000Z-0000.parquet"),
            totals(rows, "frames"),
        );
    }

    /// Windows of observer `a` without sketches: seconds after 2026-11-21T02:00:00Z, RoCEv2 packets, and the rows of
    /// `flows`: hash and packets.
    pub fn listed(&self, windows: &[(i64, i64, &[(i64, i64)])]) {
        let rows: Vec<_> = windows
            .iter()
            .map(|(second, packets, _)| ("a", *second, *packets))
            .collect();
        write(&self.segment("02"), totals(&rows, "roce_packets"));
        let flows = windows
            .iter()
            .flat_map(|(second, _, flows)| flows.iter().map(|flow| (*second, *flow)));
        let flows: Vec<(i64, (i64, i64))> = flows.collect();
        let rows: Vec<_> = flows
            .iter()
            .map(|(second, (_, packets))| ("a", *second, *packets))
            .collect();
        let of = |value: fn(&(i64, i64)) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(flows.iter().map(|(_, flow)| value(flow))))
        };
        let mut columns = totals(&rows, "packets");
        columns.extend([
            ("flow_hash", of(|flow| flow.0)),
            ("error_packets", of(|_| 0)),
            ("frame_bytes", of(|flow| flow.1 * 100)),
        ]);
        write(&self.segment_of("flows", "02"), columns);
    }

    /// Rows of the analysis of a mesh: observer, seconds after 2026-11-21T02:00:00Z, number of the analysis, probes.
    pub fn analyses(&self, table: &str, rows: &[(&str, i64, Option<i64>, i64)]) {
        let micros = |(_, seconds, ..): &(&str, i64, Option<i64>, i64)| (BEGUN + seconds) * 1_000_000;
        let starts = TimestampMicrosecondArray::from_iter_values(rows.iter().map(micros)).with_timezone("UTC");
        let columns: [(&str, ArrayRef); 5] = [
            (
                "observer",
                Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0))),
            ),
            ("window_start", Arc::new(starts)),
            (
                "window_start_ns",
                Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| micros(row) * 1_000))),
            ),
            (
                "revision",
                Arc::new(Int64Array::from_iter(rows.iter().map(|row| row.2))),
            ),
            (
                "probes",
                Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.3))),
            ),
        ];
        write(&self.segment_of(table, "02"), columns.to_vec());
    }

    /// Windows with a bitmap and a Count-Min sketch each.
    pub fn sketches(&self, rows: &[(&[u8], &[u8])]) {
        let columns: [(&str, ArrayRef); 2] = [
            (
                "linear_counting",
                Arc::new(BinaryArray::from_iter_values(rows.iter().map(|row| row.0))),
            ),
            (
                "count_min_bytes",
                Arc::new(BinaryArray::from_iter_values(rows.iter().map(|row| row.1))),
            ),
        ];
        write(&self.segment("02"), columns.to_vec());
    }

    /// Overwrites the footer of the segment of an hour.
    pub fn damage(&self, hour: &str) {
        let file = self.segment(hour);
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() - 40;
        bytes[middle..].fill(0xff);
        fs::write(&file, bytes).unwrap();
    }
}

/// Columns of windows: observer, seconds after 2026-11-21T02:00:00Z, a number.
fn totals(rows: &[(&str, i64, i64)], number: &'static str) -> Vec<(&'static str, ArrayRef)> {
    let micros = |(_, seconds, _): &(&str, i64, i64)| (BEGUN + seconds) * 1_000_000;
    let starts = TimestampMicrosecondArray::from_iter_values(rows.iter().map(micros)).with_timezone("UTC");
    vec![
        (
            "observer",
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0))),
        ),
        ("window_start", Arc::new(starts)),
        (
            "window_start_ns",
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| micros(row) * 1_000))),
        ),
        (
            number,
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.2))),
        ),
    ]
}

fn write(file: &PathBuf, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(file).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A column of a Parquet file.
pub fn integers(file: &str, column: &str) -> Vec<i64> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap())
        .unwrap()
        .build()
        .unwrap();
    reader
        .flat_map(|batch| {
            let batch = batch.unwrap();
            let values = batch.column_by_name(column).unwrap();
            values.as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec()
        })
        .collect()
}
