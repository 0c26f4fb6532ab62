//! The analysis of loopback tests inside hosts: the last run of each.

use crate::{Analysis, Input, Reads};
use rocescope_diagnose::hostping::rows::{Run, runs};
use rocescope_diagnose::hostping::{Diagnosis, Judge, Rule};
use rocescope_model::{LoopbackRow, Time};
use std::collections::VecDeque;

/// Diagnoses the last run of each host.
#[derive(Debug)]
pub struct Tests {
    observer: Option<String>,
    rule: Rule,
    rows: Vec<LoopbackRow>,
    last: VecDeque<(String, i64, Vec<LoopbackRow>)>,
}

/// The last run of a host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRun {
    /// The host.
    pub observer: String,
    /// When it started.
    pub start_ns: i64,
    /// What was tested.
    pub run: Run,
    /// What is wrong.
    pub diagnosis: Diagnosis,
}

impl Tests {
    /// Of this host, or of all.
    #[must_use]
    pub const fn new(observer: Option<String>, rule: Rule) -> Self {
        Self {
            observer,
            rule,
            rows: Vec::new(),
            last: VecDeque::new(),
        }
    }
}

impl Analysis for Tests {
    type Report = HostRun;

    const INPUTS: &'static [Input<Self>] = &[Input::new::<LoopbackRow>()];
    const HAS_WINDOWS: bool = false;

    fn start(report: &HostRun) -> Time {
        Time(report.start_ns)
    }

    fn finish(&mut self) -> Option<HostRun> {
        for run in runs(std::mem::take(&mut self.rows)) {
            self.last.retain(|(host, ..)| *host != run.0);
            self.last.push_back(run);
        }
        let (observer, start_ns, rows) = self.last.pop_front()?;
        let run = Run::of(&rows);
        let judge = Judge {
            topology: &run.topology,
            baseline: Some(&run.baseline),
            rule: self.rule,
            busy: &run.busy,
            loads: &run.loads,
        };
        Some(HostRun {
            diagnosis: judge.diagnose(&run.measured),
            observer,
            start_ns,
            run,
        })
    }
}

impl Reads<LoopbackRow> for Tests {
    fn time_ns(row: &LoopbackRow) -> i64 {
        row.window_start_ns
    }

    fn row(&mut self, row: &LoopbackRow) {
        if self
            .observer
            .as_deref()
            .is_none_or(|observer| *row.observer == *observer)
        {
            self.rows.push(row.clone());
        }
    }
}
