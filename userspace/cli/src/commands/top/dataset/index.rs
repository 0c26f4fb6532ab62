//! Which rows of which segment belong to which window.

use anyhow::{Context, Result};
use rocescope_model::{
    Cells, ConnectionRow, EventRow, FlowRow, OpcodeRow, Row, Time, Type, Value, WindowRow,
    WindowRows,
};
use rocescope_store::{Scan, Segment};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

/// Living connections are written once a minute: so far back lies the latest row of each.
const REPORT_NS: i64 = 61_000_000_000;
const HOUR_NS: i64 = 3_600_000_000_000;

/// A dataset by windows.
#[derive(Debug)]
pub(super) struct Index {
    found: Scan,
    /// Starts of all windows, each once, ascending, and their length.
    starts: Vec<(i64, i64)>,
    /// What was read of a segment: the time of each row, equal ones in a row as one.
    times: HashMap<PathBuf, Vec<(i64, u32)>>,
}

impl Index {
    pub(super) fn new(found: Scan) -> Result<Self> {
        let mut starts = Vec::new();
        let (start, length) = (
            WindowRow::TABLE.position("window_start_ns"),
            WindowRow::TABLE.position("window_ns"),
        );
        let (start, length) = (start.unwrap_or(usize::MAX), length.unwrap_or(usize::MAX));
        for segment in found.table(WindowRow::TABLE.name) {
            for batch in segment.batches(|c| matches!(c.name, "window_start_ns" | "window_ns"))? {
                let batch = batch?;
                starts.extend((0..batch.rows()).filter_map(|row| {
                    match (batch.value(row, start), batch.value(row, length)) {
                        (Value::I64(start), Value::I64(length)) => Some((start, length)),
                        _ => None,
                    }
                }));
            }
        }
        starts.sort_unstable();
        starts.dedup_by_key(|(start, _)| *start);
        Ok(Self {
            found,
            starts,
            times: HashMap::new(),
        })
    }

    pub(super) const fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Start of a window.
    pub(super) fn start(&self, at: usize) -> Option<i64> {
        self.starts.get(at).map(|(start, _)| *start)
    }

    /// The window that holds this time, or the next that there is.
    pub(super) fn at(&self, time_ns: i64) -> Option<usize> {
        let over = |(start, length): &(i64, i64)| start.saturating_add(*length) <= time_ns;
        let at = self.starts.partition_point(over);
        (at < self.starts.len()).then_some(at)
    }

    /// These windows with all their rows but sketches. The first brings the connections of the minute
    /// before it.
    pub(super) fn windows(&mut self, range: Range<usize>) -> Result<Vec<WindowRows>> {
        let Some(wanted) = self.starts.get(range).map(<[_]>::to_vec) else {
            return Ok(Vec::new());
        };
        let (Some((from, _)), Some((last, length))) = (wanted.first(), wanted.last()) else {
            return Ok(Vec::new());
        };
        let span = *from..last.saturating_add(*length);
        let mut windows = vec![WindowRows::default(); wanted.len()];
        let place = |time: i64| {
            let behind = wanted.partition_point(|(start, _)| *start <= time);
            behind.saturating_sub(1)
        };
        for row in self.rows::<WindowRow>(&span)? {
            windows[place(row.window_start_ns)].windows.push(row);
        }
        for row in self.rows::<FlowRow>(&span)? {
            windows[place(row.window_start_ns)].flows.push(row);
        }
        for row in self.rows::<OpcodeRow>(&span)? {
            windows[place(row.window_start_ns)].opcodes.push(row);
        }
        for row in self.rows::<EventRow>(&span)? {
            windows[place(row.time_ns)].events.push(row);
        }
        let before = span.start.saturating_sub(REPORT_NS)..span.end;
        for row in self.rows::<ConnectionRow>(&before)? {
            windows[place(row.time_ns)].connections.push(row);
        }
        Ok(windows)
    }

    /// The rows of a table whose time lies in `span`.
    fn rows<R: Row>(&mut self, span: &Range<i64>) -> Result<Vec<R>> {
        let mut rows = Vec::new();
        // The exact time stands beside the one that decides the partition.
        let Some(column) = R::TABLE.partition_column().map(|column| column + 1) else {
            return Ok(rows);
        };
        let hours = span.start.div_euclid(HOUR_NS)..=(span.end - 1).div_euclid(HOUR_NS);
        let partitions: Vec<String> = hours.map(partition).collect();
        for segment in self.found.table(R::TABLE.name) {
            if !partitions.contains(&segment.partition) {
                continue;
            }
            let times = match self.times.get(&segment.path) {
                Some(times) => times,
                None => {
                    let read = times_of(segment, column)
                        .with_context(|| segment.path.display().to_string())?;
                    self.times.entry(segment.path.clone()).or_insert(read)
                }
            };
            let Some(range) = within(times, span) else {
                continue;
            };
            for batch in segment.batches_of(|column| column.kind != Type::Bytes, range)? {
                let batch = batch?;
                let typed = batch
                    .typed::<R>()
                    .with_context(|| segment.path.display().to_string())?;
                let inside = typed.into_iter().filter(|row| match row.value(column) {
                    Value::I64(time) => span.contains(&time),
                    _ => false,
                });
                rows.extend(inside);
            }
        }
        Ok(rows)
    }
}

/// The directory of an hour.
fn partition(hour: i64) -> String {
    let time = Time(hour.saturating_mul(HOUR_NS)).civil();
    format!(
        "date={:04}-{:02}-{:02}/hour={:02}",
        time.year, time.month, time.day, time.hour
    )
}

fn times_of(segment: &Segment, column: usize) -> Result<Vec<(i64, u32)>> {
    let mut times: Vec<(i64, u32)> = Vec::new();
    for batch in segment.batches(|wanted| segment_column(segment, wanted.name, column))? {
        let batch = batch?;
        for row in 0..batch.rows() {
            let Value::I64(time) = batch.value(row, column) else {
                continue;
            };
            match times.last_mut() {
                Some((same, count)) if *same == time => *count += 1,
                _ => times.push((time, 1)),
            }
        }
    }
    Ok(times)
}

/// Whether this is the name of the column at that position of the segment's table.
fn segment_column(segment: &Segment, name: &str, column: usize) -> bool {
    let table = rocescope_model::tables::find(&segment.table);
    table.is_some_and(|table| table.position(name) == Some(column))
}

/// From the first row in `span` to the last; not all between need be.
fn within(times: &[(i64, u32)], span: &Range<i64>) -> Option<Range<usize>> {
    let mut range: Option<Range<usize>> = None;
    let mut at = 0;
    for (time, count) in times {
        let end = at + *count as usize;
        if span.contains(time) {
            let start = range.map_or(at, |range| range.start);
            range = Some(start..end);
        }
        at = end;
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_reach_from_the_first_to_the_last_row_in_time() {
        let times = [(10, 3), (20, 2), (15, 1), (30, 4)];
        assert_eq!(within(&times, &(15..25)), Some(3..6));
        assert_eq!(within(&times, &(0..100)), Some(0..10));
        assert_eq!(within(&times, &(40..50)), None);
    }

    #[test]
    fn partitions_are_named_by_their_hour() {
        let time: i64 = 1_795_228_209_000_000_001;
        assert_eq!(partition(time / HOUR_NS), "date=2026-11-21/hour=02");
    }
}
