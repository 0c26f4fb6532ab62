//! Keeps the latest windows, and merges those that are shown.

mod merge;

use crate::inside::Inside;
use crate::series::REACH;
use rocescope_model::{
    ConnectionRow, EventRow, GroupRow, HostPortRow, IncidentRow, MeshRows, OwnedConnections, Time, WindowRow,
    WindowRows,
};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Flow rows kept over all windows: 30 MB. Above it, the earliest windows are dropped.
const MAX_FLOWS: usize = 120_000;
/// Events that are shown.
const MAX_EVENTS: usize = 1_000;
/// Connection rows that are searched, the latest first.
const MAX_CONNECTIONS: usize = 20_000;

/// Windows by number, counted from 0 in order of arrival.
#[derive(Debug, Default)]
pub struct Recent {
    kept: VecDeque<Arc<WindowRows>>,
    /// Number of the next window.
    next: u64,
    flows: usize,
    /// Rows that came before the first window.
    early: WindowRows,
    /// Start of the first window of all.
    begin_ns: Option<i64>,
}

/// The window that is shown, or several merged into one.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// Number of its last window.
    pub number: u64,
    /// The sums.
    pub total: WindowRow,
    /// Its windows with frames; 0 if there is only a probe mesh.
    pub windows: usize,
    /// Whether there are more flows than `total` reports: it merges windows whose rows are only their top flows.
    pub more_flows: bool,
    /// Flows and opcodes of the window.
    pub rows: Arc<WindowRows>,
    /// Events of all windows kept up to this one, the latest first.
    pub events: Vec<EventRow>,
    /// The latest row of each direction of a connection up to this window, with its owners if agents reported any.
    pub connections: OwnedConnections,
    /// The traffic of the window by source, destination, queue pair or opcode.
    pub groups: Vec<GroupRow>,
    /// The probe mesh at the time of the window; empty if there is none.
    pub mesh: Arc<MeshRows>,
    /// The ports of hosts at the time of the window; empty if there are no counters.
    pub host_ports: Arc<Vec<HostPortRow>>,
    /// Incidents that go on at the time of the window, or have just ended.
    pub incidents: Vec<IncidentRow>,
    /// Loopback tests inside hosts: the last run of each before the end of the window.
    pub inside: Arc<Inside>,
}

impl Shown {
    /// A window without captured traffic.
    pub(crate) fn empty(start_ns: i64, window_ns: i64) -> Self {
        let total = WindowRow {
            window_start: Time(start_ns),
            window_start_ns: start_ns,
            window_ns,
            ..WindowRow::default()
        };
        Self {
            total,
            ..Self::default()
        }
    }
}

impl Recent {
    /// Keeps a window. Rows without a window, as at the end of a capture, join the latest.
    pub fn push(&mut self, mut rows: WindowRows) {
        if rows.windows.is_empty() {
            let latest = self.kept.back_mut().map(Arc::make_mut);
            let latest = latest.unwrap_or(&mut self.early);
            latest.events.append(&mut rows.events);
            latest.connections.append(&mut rows.connections);
            return;
        }
        rows.events.splice(..0, self.early.events.drain(..));
        rows.connections.splice(..0, self.early.connections.drain(..));
        if let Some(window) = rows.windows.first() {
            self.begin_ns.get_or_insert(window.window_start_ns);
        }
        self.flows += rows.flows.len();
        self.kept.push_back(Arc::new(rows));
        self.next += 1;
        while self.kept.len() > REACH || (self.flows > MAX_FLOWS && self.kept.len() > 1) {
            if let Some(gone) = self.kept.pop_front() {
                self.flows -= gone.flows.len();
            }
        }
    }

    /// Number of the latest window.
    #[must_use]
    pub const fn newest(&self) -> Option<u64> {
        self.next.checked_sub(1)
    }

    /// Number of the earliest window kept.
    #[must_use]
    pub fn oldest(&self) -> u64 {
        self.next - self.kept.len() as u64
    }

    /// The window of this number.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&WindowRows> {
        let at = number.checked_sub(self.oldest())?;
        self.kept.get(at as usize).map(|rows| &**rows)
    }

    /// Frame bits per second of the windows up to `last`, the earliest first.
    #[must_use]
    pub fn rates(&self, last: u64) -> Vec<f32> {
        let windows = (self.oldest()..=last).filter_map(|number| self.get(number));
        windows
            .map(|rows| rows.windows.iter().map(merge::frame_bps).sum::<f64>() as f32)
            .collect()
    }

    /// Merges the windows that begin within the time of `length` windows up to number `last`.
    #[must_use]
    pub fn shown(&self, last: u64, length: u32) -> Option<Shown> {
        let newest = self.get(last)?;
        let window = newest.windows.first()?;
        let (start_ns, window_ns) = (window.window_start_ns, window.window_ns);
        let from_ns = start_ns.saturating_sub(window_ns.saturating_mul(i64::from(length) - 1));
        let begins = |rows: &WindowRows| {
            let first = rows.windows.first();
            first.is_some_and(|window| window.window_start_ns >= from_ns)
        };
        let mut first = last;
        while first > self.oldest() && self.get(first - 1).is_some_and(begins) {
            first -= 1;
        }
        let at = (first - self.oldest()) as usize..=(last - self.oldest()) as usize;
        let windows: Vec<&Arc<WindowRows>> = self.kept.range(at).collect();
        // The time before the first window of all was not captured: it is not part of the rate.
        let from_ns = from_ns.max(self.begin_ns.unwrap_or(from_ns)).min(start_ns);
        let span_ns = start_ns + window_ns - from_ns;
        let merged = merge::windows(&windows, from_ns, span_ns);
        Some(Shown {
            number: last,
            windows: windows.len(),
            events: self.events(last),
            connections: OwnedConnections {
                rows: self.connections(last, start_ns + window_ns),
                owners: Vec::new(),
            },
            ..merged
        })
    }

    fn until(&self, last: u64) -> impl Iterator<Item = &WindowRows> {
        let numbers = (self.oldest()..=last).rev();
        numbers.filter_map(|number| self.get(number))
    }

    fn events(&self, last: u64) -> Vec<EventRow> {
        let events = self.until(last).flat_map(|rows| rows.events.iter().rev());
        let mut events: Vec<EventRow> = events.take(MAX_EVENTS).cloned().collect();
        events.sort_by_key(|event| core::cmp::Reverse(event.time_ns));
        events
    }

    /// The latest rows; a connection that begins after `end_ns` is not there yet.
    fn connections(&self, last: u64, end_ns: i64) -> Vec<ConnectionRow> {
        let rows = self.until(last).flat_map(|rows| rows.connections.iter().rev());
        let mut seen = HashSet::new();
        let mut latest: Vec<ConnectionRow> = rows
            .take(MAX_CONNECTIONS)
            .filter(|row| row.first_ns.unwrap_or(row.last_ns) < end_ns)
            .filter(|row| seen.insert((row.observer.as_str(), row.connection, row.role.as_str())))
            .cloned()
            .collect();
        latest.sort_by_key(|row| (core::cmp::Reverse(row.packets), row.connection));
        latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_model::FlowRow;
    use rocescope_model::time::SECOND_NS;

    fn window(second: i64, flows: &[(i64, u64)]) -> WindowRows {
        let flow = |(flow_hash, frame_bytes): &(i64, u64)| FlowRow {
            flow_hash: *flow_hash,
            frame_bytes: *frame_bytes,
            frame_bps: *frame_bytes as f64 * 8.0,
            ..FlowRow::default()
        };
        WindowRows {
            windows: vec![WindowRow {
                window_start_ns: second * SECOND_NS,
                window_ns: SECOND_NS,
                frames: 10,
                frame_bytes: flows.iter().map(|(_, bytes)| bytes).sum(),
                flows: flows.len() as u64,
                flows_exact: true,
                ..WindowRow::default()
            }],
            flows: flows.iter().map(flow).collect(),
            ..WindowRows::default()
        }
    }

    #[test]
    fn several_windows_become_one_with_its_rates_and_ranks() {
        let mut recent = Recent::default();
        recent.push(window(0, &[(1, 100), (2, 50)]));
        recent.push(window(1, &[(2, 300)]));
        let shown = recent.shown(1, 2).unwrap();
        assert_eq!(shown.total.frames, 20);
        assert_eq!(shown.total.window_ns, 2 * SECOND_NS);
        assert_eq!((shown.total.flows, shown.more_flows), (2, false));
        let flows = &shown.rows.flows;
        assert_eq!((flows[0].flow_hash, flows[0].frame_bytes), (2, 350));
        assert_eq!((flows[0].rank, flows[1].rank), (1, 2));
        assert_eq!(flows[0].frame_bps, 350.0 * 4.0);
    }

    #[test]
    fn a_silent_time_belongs_to_the_rate_and_the_time_before_the_first_window_does_not() {
        let mut recent = Recent::default();
        recent.push(window(10, &[(1, 100)]));
        assert_eq!(recent.shown(0, 10).unwrap().total.window_ns, SECOND_NS);
        recent.push(window(13, &[(1, 100)]));
        let shown = recent.shown(1, 10).unwrap();
        assert_eq!((shown.windows, shown.total.window_ns), (2, 4 * SECOND_NS));
        let shown = recent.shown(1, 2).unwrap();
        assert_eq!((shown.windows, shown.total.window_ns), (1, 2 * SECOND_NS));
    }

    #[test]
    fn windows_with_only_their_top_flows_give_a_lower_bound() {
        let mut recent = Recent::default();
        for second in 0..2 {
            let mut rows = window(second, &[(1, 100)]);
            rows.windows[0].flows = 7;
            recent.push(rows);
        }
        let shown = recent.shown(1, 2).unwrap();
        assert_eq!((shown.total.flows, shown.more_flows), (7, true));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut recent = Recent::default();
        let many: Vec<(i64, u64)> = (0..50_000).map(|hash| (hash, 1)).collect();
        for second in 0..5 {
            recent.push(window(second, &many));
        }
        assert_eq!((recent.newest(), recent.oldest()), (Some(4), 3));
        assert!(recent.shown(2, 1).is_none());
    }

    #[test]
    fn the_latest_row_of_a_direction_is_shown_and_rows_without_a_window_join_the_latest() {
        let mut recent = Recent::default();
        let row = |packets| ConnectionRow {
            connection: 1,
            packets,
            ..ConnectionRow::default()
        };
        let mut rows = window(0, &[]);
        rows.connections = vec![row(5)];
        recent.push(rows);
        recent.push(window(1, &[]));
        recent.push(WindowRows {
            connections: vec![row(9)],
            ..WindowRows::default()
        });
        let packets = |last| {
            let rows = recent.shown(last, 1).unwrap().connections.rows;
            rows.iter().map(|row| row.packets).collect::<Vec<_>>()
        };
        assert_eq!((packets(0), packets(1)), (vec![5], vec![9]));
    }
}
