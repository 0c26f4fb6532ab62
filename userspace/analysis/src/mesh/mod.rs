//! The analysis of a mesh: probes between the NICs of hosts, and their paths.
//!
//! | module | what it does |
//! |---|---|
//! | [`diagnosis`] | the diagnosis of a time of a dataset |
//! | [`affected`] | captured flows that cross a suspicious place |

pub mod affected;
pub mod diagnosis;

use crate::{Analysis, Input, Reads};
use rocescope_diagnose::hostmesh::counted::Counted;
use rocescope_diagnose::hostmesh::traffic_class::TrafficClasses;
use rocescope_diagnose::hostmesh::{Analyzer, WindowDiagnosis};
use rocescope_model::{Column, CounterRow, PathRow, ProbeRow, Time};

/// Agents write paths again every five minutes: search for them this far back.
pub const PATHS_NS: i64 = 900_000_000_000;

/// Columns of `probes` that the analysis reads.
const OF_PROBES: [&str; 14] = [
    "observer",
    "time_ns",
    "src_nic",
    "dst_nic",
    "src",
    "dst",
    "udp_src_port",
    "udp_dst_port",
    "dscp",
    "outcome",
    "network_latency_ns",
    "processing_delay_ns",
    "clock_error_ns",
    "unsent_reason",
];

/// Columns of `paths` that the analysis reads.
const OF_PATHS: [&str; 12] = [
    "observer",
    "time_ns",
    "src_nic",
    "dst_nic",
    "src",
    "dst",
    "udp_src_port",
    "udp_dst_port",
    "reason",
    "hops",
    "hop",
    "address",
];

impl Analysis for Analyzer {
    type Report = WindowDiagnosis;

    const INPUTS: &'static [Input<Self>] = &[Input::new::<PathRow>(), Input::new::<ProbeRow>()];

    fn window_ns(&self) -> i64 {
        self.window_ns()
    }

    fn start(report: &WindowDiagnosis) -> Time {
        Time(report.start_ns)
    }

    fn advance(&mut self, watermark: Time) -> Option<WindowDiagnosis> {
        self.advance_one(watermark)
    }

    fn finish(&mut self) -> Option<WindowDiagnosis> {
        self.finish_one()
    }

    fn late_windows(&mut self) -> Vec<Time> {
        self.late_windows().collect()
    }
}

impl Reads<ProbeRow> for Analyzer {
    const IN_STEPS: bool = true;

    fn is_read(column: &Column) -> bool {
        OF_PROBES.contains(&column.name)
    }

    fn time_ns(row: &ProbeRow) -> i64 {
        row.time_ns
    }

    #[inline]
    fn row(&mut self, row: &ProbeRow) {
        self.probe(row);
    }
}

impl Reads<PathRow> for Analyzer {
    const LOOK_BACK_NS: i64 = PATHS_NS;

    fn is_read(column: &Column) -> bool {
        OF_PATHS.contains(&column.name)
    }

    fn time_ns(row: &PathRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &PathRow) {
        self.path(row);
    }
}

/// What NICs sent by priority, where no capture has the DSCPs of the jobs.
impl Reads<CounterRow> for TrafficClasses {
    fn is_read(column: &Column) -> bool {
        ["time_ns", "metric", "priority", "increase"].contains(&column.name)
    }

    fn time_ns(row: &CounterRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &CounterRow) {
        self.add_counter(row);
    }
}

/// What hosts count about NICs at fault is read after the verdicts; the time before shows what was known at its start.
impl Reads<CounterRow> for Counted {
    const LOOK_BACK_NS: i64 = crate::hosts::COUNTERS_NS;

    fn is_read(column: &Column) -> bool {
        const UNREAD: [&str; 8] = [
            "priority",
            "dimension",
            "level",
            "sign",
            "side",
            "raw_value",
            "text",
            "rate",
        ];
        !UNREAD.contains(&column.name)
    }

    fn time_ns(row: &CounterRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &CounterRow) {
        self.add(row);
    }
}
