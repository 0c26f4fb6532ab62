//! Conditions that exclude an hour, a segment or a row.

use super::TimeRange;
use crate::Segment;
use crate::read::Batch;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use rocescope_model::{Cells, Table, Value, tables};

const OBSERVER: &str = "observer";

/// Returns the position of the column with the exact time of a row, next to the column that determines the partition.
pub(crate) fn time_column(table: &Table) -> Option<usize> {
    table.partition_column().map(|column| column + 1)
}

/// Time and observers of the requested rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) time: TimeRange,
    /// Names of observers; empty for all.
    pub(crate) observers: Vec<String>,
}

/// Minimum and maximum in a segment from its footer; `None` if the footer does not contain them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) time_ns: Option<(i64, i64)>,
    observers: Option<(Vec<u8>, Vec<u8>)>,
}

impl Bounds {
    pub(crate) fn of(table: &str, metadata: &ParquetMetaData) -> Self {
        let table = tables::find(table);
        let time = table.and_then(|table| Some(table.columns[time_column(table)?].name));
        Self {
            time_ns: time.and_then(|name| {
                bounds(metadata.row_groups(), name, |statistics| match statistics {
                    Statistics::Int64(times) => Some((*times.min_opt()?, *times.max_opt()?)),
                    _ => None,
                })
            }),
            observers: bounds(metadata.row_groups(), OBSERVER, |names| {
                Some((names.min_bytes_opt()?.to_vec(), names.max_bytes_opt()?.to_vec()))
            }),
        }
    }
}

fn bounds<T: Ord>(
    groups: &[RowGroupMetaData],
    column: &str,
    read: impl Fn(&Statistics) -> Option<(T, T)>,
) -> Option<(T, T)> {
    let mut all: Option<(T, T)> = None;
    for group in groups {
        let mut columns = group.columns().iter();
        let found = columns.find(|chunk| chunk.column_path().parts() == [column])?;
        let (least, greatest) = read(found.statistics()?)?;
        all = Some(match all {
            None => (least, greatest),
            Some((first, last)) => (first.min(least), last.max(greatest)),
        });
    }
    all
}

impl Condition {
    /// Whether a partition of this span can contain a requested row; one without can contain any.
    pub(crate) fn admits_span(&self, span: Option<(i64, i64)>) -> bool {
        span.is_none_or(|(first, last)| self.time.overlaps(first, last))
    }

    /// The conditions on the rows of a segment.
    pub(crate) fn in_segment(&self, segment: &Segment) -> Self {
        let mut own = self.clone();
        own.time = own.time.narrowed(segment.only);
        own
    }

    pub(crate) fn admits_time(&self, bounds: &Bounds) -> bool {
        let time = bounds.time_ns;
        time.is_none_or(|(first, last)| self.time.overlaps(first, last))
    }

    pub(crate) fn admits_observers(&self, bounds: &Bounds) -> bool {
        let Some((first, last)) = bounds.observers.as_ref().filter(|_| !self.observers.is_empty()) else {
            return true;
        };
        let within = |name: &String| (first.as_slice()..=last).contains(&name.as_bytes());
        self.observers.iter().any(within)
    }

    /// Whether [`rows`](Self::rows) needs a column.
    pub(crate) fn needs(&self, table: &Table, column: &str) -> bool {
        let time = || time_column(table) == table.position(column);
        (self.time != TimeRange::default() && time()) || (!self.observers.is_empty() && column == OBSERVER)
    }

    /// Returns the requested rows of a batch.
    pub(crate) fn rows<'a>(&'a self, batch: &'a Batch) -> impl Iterator<Item = usize> + 'a {
        let table = batch.table();
        let time = time_column(table).filter(|_| self.time != TimeRange::default());
        let observer = table.position(OBSERVER);
        let observer = observer.filter(|_| !self.observers.is_empty());
        (0..batch.rows()).filter(move |&row| {
            let in_time = |column| match batch.value(row, column) {
                Value::I64(time) => self.time.contains(time),
                _ => false,
            };
            let is_wanted = |column| match batch.value(row, column) {
                Value::Text(name) => self.observers.iter().any(|wanted| *wanted == *name),
                _ => false,
            };
            time.is_none_or(in_time) && observer.is_none_or(is_wanted)
        })
    }
}
