//! Which rows of which segment belong to which window.

use super::mesh::MeshWindows;
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

/// Rows whose times are kept as one span: so many are read at least where one is wanted.
const BLOCK: u32 = 1_024;

/// A moment that can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    start_ns: i64,
    length_ns: i64,
    /// Whether it is a window of captured traffic; else one of probes at a time when nothing was captured.
    captured: bool,
}

/// Rows of a segment that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    first_ns: i64,
    last_ns: i64,
    rows: u32,
}

/// A dataset by windows.
#[derive(Debug)]
pub(super) struct Index {
    found: Scan,
    /// All moments, each once, ascending.
    moments: Vec<Moment>,
    meshes: MeshWindows,
    /// What was read of a segment: between which times its rows lie.
    times: HashMap<PathBuf, Vec<Block>>,
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
        let meshes = MeshWindows::new(&found)?;
        Ok(Self {
            moments: moments(&starts, &meshes),
            found,
            meshes,
            times: HashMap::new(),
        })
    }

    pub(super) const fn len(&self) -> usize {
        self.moments.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    /// Start of a window.
    pub(super) fn start(&self, at: usize) -> Option<i64> {
        self.moments.get(at).map(|moment| moment.start_ns)
    }

    /// Whether a window is one of captured traffic.
    pub(super) fn is_captured(&self, at: usize) -> bool {
        self.moments.get(at).is_some_and(|moment| moment.captured)
    }

    /// Whether any window is.
    pub(super) fn has_captured(&self) -> bool {
        self.moments.iter().any(|moment| moment.captured)
    }

    /// The windows of the mesh of probes.
    pub(super) const fn meshes(&self) -> &MeshWindows {
        &self.meshes
    }

    /// The window of the mesh at the end of a window, by number.
    pub(super) fn mesh_at(&self, at: usize) -> Option<usize> {
        let moment = self.moments.get(at)?;
        self.meshes
            .at(moment.start_ns.saturating_add(moment.length_ns) - 1)
    }

    /// The window that holds this time, or the next that there is.
    pub(super) fn at(&self, time_ns: i64) -> Option<usize> {
        let over = |moment: &Moment| moment.start_ns.saturating_add(moment.length_ns) <= time_ns;
        let at = self.moments.partition_point(over);
        (at < self.moments.len()).then_some(at)
    }

    /// Those of these windows that were captured, with all their rows but sketches. The first brings the
    /// connections of the minute before it.
    pub(super) fn windows(&mut self, range: Range<usize>) -> Result<Vec<WindowRows>> {
        let wanted = self.moments.get(range).unwrap_or_default();
        let wanted = wanted.iter().filter(|moment| moment.captured);
        let wanted: Vec<Moment> = wanted.copied().collect();
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
            return Ok(Vec::new());
        };
        let span = first.start_ns..last.start_ns.saturating_add(last.length_ns);
        let mut windows = vec![WindowRows::default(); wanted.len()];
        let place = |time: i64| {
            let behind = wanted.partition_point(|moment| moment.start_ns <= time);
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
    pub(super) fn rows<R: Row>(&mut self, span: &Range<i64>) -> Result<Vec<R>> {
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

/// The windows that were captured, and those of the mesh in whose time none begins or goes on.
fn moments(captured: &[(i64, i64)], meshes: &MeshWindows) -> Vec<Moment> {
    let mut moments: Vec<Moment> = captured
        .iter()
        .map(|(start_ns, length_ns)| Moment {
            start_ns: *start_ns,
            length_ns: *length_ns,
            captured: true,
        })
        .collect();
    for start_ns in &meshes.starts {
        let end_ns = start_ns.saturating_add(meshes.window_ns);
        let before_end = captured.partition_point(|(start, _)| *start < end_ns);
        let last = before_end.checked_sub(1).and_then(|at| captured.get(at));
        if last.is_none_or(|(start, length)| start.saturating_add(*length) <= *start_ns) {
            moments.push(Moment {
                start_ns: *start_ns,
                length_ns: meshes.window_ns,
                captured: false,
            });
        }
    }
    moments.sort_unstable_by_key(|moment| moment.start_ns);
    moments
}

/// The directory of an hour.
fn partition(hour: i64) -> String {
    let time = Time(hour.saturating_mul(HOUR_NS)).civil();
    format!(
        "date={:04}-{:02}-{:02}/hour={:02}",
        time.year, time.month, time.day, time.hour
    )
}

fn times_of(segment: &Segment, column: usize) -> Result<Vec<Block>> {
    let mut times: Vec<Block> = Vec::new();
    for batch in segment.batches(|wanted| segment_column(segment, wanted.name, column))? {
        let batch = batch?;
        for row in 0..batch.rows() {
            let Value::I64(time) = batch.value(row, column) else {
                continue;
            };
            match times.last_mut() {
                Some(block) if block.takes(time) => {
                    block.first_ns = block.first_ns.min(time);
                    block.last_ns = block.last_ns.max(time);
                    block.rows += 1;
                }
                _ => times.push(Block {
                    first_ns: time,
                    last_ns: time,
                    rows: 1,
                }),
            }
        }
    }
    Ok(times)
}

impl Block {
    /// Whether the next row joins: all of one window do, and of other times so many.
    const fn takes(&self, time: i64) -> bool {
        (self.first_ns == time && self.last_ns == time) || self.rows < BLOCK
    }
}

/// Whether this is the name of the column at that position of the segment's table.
fn segment_column(segment: &Segment, name: &str, column: usize) -> bool {
    let table = rocescope_model::tables::find(&segment.table);
    table.is_some_and(|table| table.position(name) == Some(column))
}

/// From the first row that may be in `span` to the last; not all between need be.
fn within(times: &[Block], span: &Range<i64>) -> Option<Range<usize>> {
    let mut range: Option<Range<usize>> = None;
    let mut at = 0;
    for block in times {
        let end = at + block.rows as usize;
        if block.first_ns < span.end && block.last_ns >= span.start {
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
        let block = |(first_ns, last_ns, rows)| Block {
            first_ns,
            last_ns,
            rows,
        };
        let times = [(10, 10, 3), (18, 20, 2), (15, 15, 1), (30, 39, 4)].map(block);
        assert_eq!(within(&times, &(15..25)), Some(3..6));
        assert_eq!(within(&times, &(19..20)), Some(3..5));
        assert_eq!(within(&times, &(0..100)), Some(0..10));
        assert_eq!(within(&times, &(40..50)), None);
    }

    #[test]
    fn windows_of_probes_stand_where_nothing_was_captured() {
        let meshes = MeshWindows {
            starts: vec![0, 20, 40, 60],
            window_ns: 20,
            ..MeshWindows::default()
        };
        let found = moments(&[(15, 10), (41, 1), (50, 1)], &meshes);
        let found: Vec<(i64, bool)> = found
            .iter()
            .map(|moment| (moment.start_ns, moment.captured))
            .collect();
        assert_eq!(found, [(15, true), (41, true), (50, true), (60, false)]);
        assert_eq!(
            [19, 39, 79].map(|time| meshes.at(time)),
            [Some(0), Some(1), Some(3)]
        );
        assert_eq!((meshes.at(-1), meshes.at(80)), (None, None));
    }

    #[test]
    fn partitions_are_named_by_their_hour() {
        let time: i64 = 1_795_228_209_000_000_001;
        assert_eq!(partition(time / HOUR_NS), "date=2026-11-21/hour=02");
    }
}
