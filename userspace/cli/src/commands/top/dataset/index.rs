//! The windows of a dataset, and their rows.

use super::hosts;
use super::mesh::MeshWindows;
use anyhow::Result;
use rocescope_analysis::mesh::PATHS_NS;
use rocescope_model::host_ports::{KNOWN_NS, READ_NS};
use rocescope_model::{ConnectionRow, EventRow, FlowRow, OpcodeRow, PdcRow, Row, Time, WindowRow, WindowRows, footer};
use rocescope_store::query::SpanReader;
use rocescope_store::{Scan, TimeRange};
use rocescope_view::Newest;
use std::collections::HashMap;
use std::ops::Range;

/// Search for connections this far back: live ones are written once a minute.
const REPORT_NS: i64 = 61_000_000_000;

/// Data are stale when they are older than this many windows, and the time after which a capture seals them by default.
const STALE_WINDOWS: i64 = 5;
const SEALED_NS: i64 = 60_000_000_000;

/// Modes of segments whose frames were recorded before.
const RECORDED: [&str; 3] = ["file", "stdin", "merge"];

/// A window that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    start_ns: i64,
    length_ns: i64,
    /// Whether it is a window of captured traffic; otherwise one of counters or probes at a time without captures.
    captured: bool,
    /// Whether `RoCE` packets were captured in it.
    has_traffic: bool,
}

/// A dataset by windows.
#[derive(Debug)]
pub(super) struct Index {
    rows: SpanReader,
    /// All moments, each once, ascending.
    moments: Vec<Moment>,
    meshes: MeshWindows,
    /// The counters that were read last; `None` for a dataset without counters.
    counters: Option<hosts::Known>,
    /// Whether the newest segment is of a capture or of probes, not of a file.
    is_live: bool,
    /// Whether a process still writes to it, or was killed: journals are open.
    has_writer: bool,
}

/// This time, and that of the connections, paths and counters which are known at its start and of the next read of
/// counters.
pub(super) fn with_known(time: TimeRange) -> TimeRange {
    let before_ns = REPORT_NS.max(PATHS_NS).max(KNOWN_NS);
    TimeRange {
        from: time.from.map(|from| Time(from.0.saturating_sub(before_ns))),
        to: time.to.map(|to| Time(to.0.saturating_add(READ_NS))),
    }
}

impl Index {
    /// The windows that start in `time`, and those of `tests`, start and length, at times without others.
    pub(super) fn new(found: Scan, time: TimeRange, tests: &[(i64, i64)]) -> Result<Self> {
        let mut starts = Vec::new();
        let columns = ["window_start_ns", "window_ns", "roce_packets"];
        let windows = found.select::<WindowRow>().within(time);
        windows.integers(columns, |[start, length, packets]| {
            starts.push((start, length, packets > 0));
        })?;
        // Of several boxes, one with traffic.
        starts.sort_unstable_by_key(|(start, length, has_traffic)| (*start, !has_traffic, *length));
        starts.dedup_by_key(|(start, ..)| *start);
        let meshes = MeshWindows::new(&found, time)?;
        let counters = hosts::windows(&found, time)?;
        let newest = found.segments.iter().max_by(|a, b| a.partition.cmp(&b.partition));
        let mode = newest.and_then(|segment| segment.footer(footer::MODE));
        Ok(Self {
            has_writer: !found.open.is_empty(),
            is_live: mode.is_some_and(|mode| !RECORDED.contains(&mode)),
            moments: moments(&starts, &counters, &meshes, tests),
            counters: (!counters.is_empty()).then(hosts::Known::default),
            rows: SpanReader::new(found),
            meshes,
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

    /// Start and length of a window.
    pub(super) fn span(&self, at: usize) -> Option<(i64, i64)> {
        self.moments.get(at).map(|moment| (moment.start_ns, moment.length_ns))
    }

    /// End of a window.
    pub(super) fn end(&self, at: usize) -> i64 {
        self.span(at)
            .map_or(0, |(start_ns, window_ns)| start_ns.saturating_add(window_ns))
    }

    /// Whether there are counters of hosts.
    pub(super) const fn has_counters(&self) -> bool {
        self.counters.is_some()
    }

    /// The counters that were read last.
    pub(super) fn known(&mut self) -> &mut hosts::Known {
        self.counters.get_or_insert_default()
    }

    /// The end of the newest window and its age, while a writer may add more: not up to a requested time, and not for
    /// frames that were recorded before.
    pub(super) fn newest(&self, to: Option<Time>) -> Option<Newest> {
        let last = self.moments.last().filter(|_| to.is_none() && self.is_live)?;
        Some(Newest {
            end: Time(last.start_ns.saturating_add(last.length_ns)),
            stale_ns: match self.has_writer {
                true => SEALED_NS.saturating_add(last.length_ns.saturating_mul(STALE_WINDOWS)),
                // What has ended is old, not stale.
                false => i64::MAX,
            },
            now: rocescope_runtime::clock::now(),
        })
    }

    /// The first window with traffic; the first one if none has.
    pub(super) fn first_with_traffic(&self) -> usize {
        let found = self.moments.iter().position(|moment| moment.has_traffic);
        found.unwrap_or(0)
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
        self.meshes.at(moment.start_ns.saturating_add(moment.length_ns) - 1)
    }

    /// The window that contains this time, or the next window.
    pub(super) fn at(&self, time_ns: i64) -> Option<usize> {
        let over = |moment: &Moment| moment.start_ns.saturating_add(moment.length_ns) <= time_ns;
        let at = self.moments.partition_point(over);
        (at < self.moments.len()).then_some(at)
    }

    /// The captured windows of this range, with all rows except sketches. The first includes the connections
    /// of the minute before it. A connection that has not written a row yet has its first one, in the window in which it
    /// began: the row counts to a later time.
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
        for row in self.rows::<PdcRow>(&span)? {
            windows[place(row.window_start_ns)].pdcs.push(row);
        }
        for row in self.rows::<EventRow>(&span)? {
            windows[place(row.time_ns)].events.push(row);
        }
        let around = span.start.saturating_sub(REPORT_NS)..span.end.saturating_add(REPORT_NS);
        let rows = self.rows::<ConnectionRow>(&around)?;
        for row in unreported(&rows, &around, span.end) {
            windows[place(begun(row))].connections.push(row.clone());
        }
        for row in rows.into_iter().filter(|row| row.time_ns < span.end) {
            windows[place(row.time_ns)].connections.push(row);
        }
        Ok(windows)
    }

    /// The rows of a table with a time in `span`.
    pub(super) fn rows<R: Row>(&mut self, span: &Range<i64>) -> Result<Vec<R>> {
        Ok(self.rows.rows(span)?)
    }
}

/// When the direction began: the CM datagram that named it, if it has sent nothing.
fn begun(row: &ConnectionRow) -> i64 {
    row.first_ns.unwrap_or(row.last_ns)
}

/// The first rows of directions that began before `end_ns` and have no row until then.
fn unreported<'a>(
    rows: &'a [ConnectionRow],
    around: &Range<i64>,
    end_ns: i64,
) -> impl Iterator<Item = &'a ConnectionRow> {
    let mut first: HashMap<(&str, i64, &str), &ConnectionRow> = HashMap::new();
    for row in rows {
        let known = first.entry((&row.observer, row.connection, &row.role)).or_insert(row);
        if row.time_ns < known.time_ns {
            *known = row;
        }
    }
    let began = around.start..end_ns;
    let mut found: Vec<&ConnectionRow> = first
        .into_values()
        .filter(|row| row.time_ns >= end_ns && began.contains(&begun(row)))
        .collect();
    found.sort_by(|a, b| (begun(a), a.connection, &*a.role).cmp(&(begun(b), b.connection, &*b.role)));
    found.into_iter()
}

/// The captured windows, the windows of counters that overlap with none of them, and then those of the mesh and the runs
/// of loopback tests.
fn moments(captured: &[(i64, i64, bool)], counters: &[i64], meshes: &MeshWindows, tests: &[(i64, i64)]) -> Vec<Moment> {
    let mut moments: Vec<Moment> = captured
        .iter()
        .map(|(start_ns, length_ns, has_traffic)| Moment {
            start_ns: *start_ns,
            length_ns: *length_ns,
            captured: true,
            has_traffic: *has_traffic,
        })
        .collect();
    add_free(&mut moments, counters, hosts::WINDOW_NS);
    add_free(&mut moments, &meshes.starts, meshes.window_ns);
    for (start_ns, length_ns) in tests {
        add_free(&mut moments, &[*start_ns], *length_ns);
    }
    moments
}

/// Adds the windows of this length that overlap with none of these.
fn add_free(moments: &mut Vec<Moment>, starts: &[i64], length_ns: i64) {
    let is_free = |start_ns: &i64| {
        let end_ns = start_ns.saturating_add(length_ns);
        let before_end = moments.partition_point(|moment| moment.start_ns < end_ns);
        let last = before_end.checked_sub(1).and_then(|at| moments.get(at));
        last.is_none_or(|last| last.start_ns.saturating_add(last.length_ns) <= *start_ns)
    };
    let free = starts.iter().copied().filter(is_free);
    let free: Vec<Moment> = free
        .map(|start_ns| Moment {
            start_ns,
            length_ns,
            captured: false,
            has_traffic: false,
        })
        .collect();
    moments.extend(free);
    moments.sort_unstable_by_key(|moment| moment.start_ns);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_probes_fill_times_without_captures() {
        let meshes = MeshWindows {
            starts: vec![0, 20, 40, 60],
            window_ns: 20,
            ..MeshWindows::default()
        };
        let found = moments(&[(15, 10, true), (41, 1, true), (50, 1, true)], &[], &meshes, &[]);
        let found: Vec<(i64, bool)> = found.iter().map(|moment| (moment.start_ns, moment.captured)).collect();
        assert_eq!(found, [(15, true), (41, true), (50, true), (60, false)]);
        assert_eq!([19, 39, 79].map(|time| meshes.at(time)), [Some(0), Some(1), Some(3)]);
        assert_eq!((meshes.at(-1), meshes.at(80)), (None, None));
    }

    #[test]
    fn windows_of_counters_come_before_those_of_probes() {
        const SECOND: i64 = hosts::WINDOW_NS;
        let meshes = MeshWindows {
            starts: vec![0, 20 * SECOND],
            window_ns: 20 * SECOND,
            ..MeshWindows::default()
        };
        let counters = [2 * SECOND, 3 * SECOND];
        let found = moments(&[(2 * SECOND, SECOND / 2, true)], &counters, &meshes, &[]);
        let found: Vec<(i64, bool)> = found
            .iter()
            .map(|moment| (moment.start_ns / SECOND, moment.captured))
            .collect();
        assert_eq!(found, [(2, true), (3, false), (20, false)]);
    }
}
