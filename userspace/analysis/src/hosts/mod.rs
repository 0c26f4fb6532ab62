//! The analysis of hosts: what their NICs count and what a capture saw, joined. [`diagnosis`] is that of a time of a
//! dataset.

pub mod diagnosis;

use crate::{Analysis, Input, Reads};
use rocescope_diagnose::hosts::{Analyzer, HostsWindow};
use rocescope_model::{Column, ConnectionRow, CounterRow, EventRow, FlowRow, Time};

/// Counters that do not change have a row every five minutes.
pub const COUNTERS_NS: i64 = 360_000_000_000;

impl Analysis for Analyzer {
    type Report = HostsWindow;

    /// Segments are stored by hour, and host by host within it. So an hour is read before its windows are analyzed; the
    /// analyzer keeps sums, not rows.
    const INPUTS: &'static [Input<Self>] = &[
        Input::new::<CounterRow>(),
        Input::new::<FlowRow>(),
        Input::new::<EventRow>(),
        Input::new::<ConnectionRow>(),
    ];

    fn window_ns(&self) -> i64 {
        self.window_ns()
    }

    /// The next reads of counters tell of the last window.
    fn trailing_ns(&self) -> i64 {
        self.window_ns()
    }

    fn start(report: &HostsWindow) -> Time {
        Time(report.start_ns)
    }

    fn advance(&mut self, watermark: Time) -> Option<HostsWindow> {
        self.advance_one(watermark)
    }

    fn finish(&mut self) -> Option<HostsWindow> {
        self.finish_one()
    }

    fn late_windows(&mut self) -> Vec<Time> {
        self.late_windows().collect()
    }
}

impl Reads<CounterRow> for Analyzer {
    const LOOK_BACK_NS: i64 = COUNTERS_NS;

    fn is_read(column: &Column) -> bool {
        const UNREAD: [&str; 7] = ["time", "priority", "dimension", "level", "sign", "side", "rate"];
        !UNREAD.contains(&column.name)
    }

    fn time_ns(row: &CounterRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &CounterRow) {
        self.counter(row);
    }
}

impl Reads<FlowRow> for Analyzer {
    const LOOK_BACK_NS: i64 = COUNTERS_NS;

    fn is_read(column: &Column) -> bool {
        const READ: [&str; 10] = [
            "observer",
            "window_start_ns",
            "src",
            "dst",
            "dst_qpn",
            "service",
            "packets",
            "frame_bytes",
            "ecn_ce_packets",
            "retransmitted_packets",
        ];
        READ.contains(&column.name)
    }

    fn time_ns(row: &FlowRow) -> i64 {
        row.window_start_ns
    }

    fn row(&mut self, row: &FlowRow) {
        self.flow(row);
    }
}

impl Reads<EventRow> for Analyzer {
    const LOOK_BACK_NS: i64 = COUNTERS_NS;

    fn is_read(column: &Column) -> bool {
        const READ: [&str; 9] = [
            "observer", "time_ns", "kind", "src", "dst", "dst_qpn", "count", "value", "previous",
        ];
        READ.contains(&column.name)
    }

    fn time_ns(row: &EventRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &EventRow) {
        self.event(row);
    }
}

impl Reads<ConnectionRow> for Analyzer {
    const LOOK_BACK_NS: i64 = COUNTERS_NS;

    fn is_read(column: &Column) -> bool {
        const READ: [&str; 7] = ["connection", "role", "state", "src", "dst", "dst_qpn", "rtt_histogram"];
        READ.contains(&column.name) || !column.nullable
    }

    fn time_ns(row: &ConnectionRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &ConnectionRow) {
        self.connection(row);
    }
}
