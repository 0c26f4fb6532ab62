//! The Flow Imbalance Metric of each window of a dataset: of the flows that the capture saw in it.
//!
//! A flow has the path of the last run that started before the end of the window, otherwise of the first run.

use super::captured::{Captured, flow_of};
use super::runs::{CapturedKey, Run, captured_key};
use crate::{Analysis, Input, Reads};
use rocescope_diagnose::paths::{Direction, Fabric, Imbalance, Loads, Walk};
use rocescope_model::{FlowRow, Time};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Measures how unevenly the captured flows of each window lie on links.
#[derive(Debug)]
pub struct Fim {
    fabric: Fabric,
    /// The links that flows cross, by the start of the run that found them.
    paths: BTreeMap<i64, HashMap<CapturedKey, Vec<Direction>>>,
    open: BTreeMap<i64, Open>,
    /// Windows that end by then are closed.
    closed_ns: i64,
    late: BTreeSet<i64>,
}

/// A window whose rows may still come.
#[derive(Debug, Default)]
struct Open {
    window_ns: i64,
    captured: Captured,
    /// Flows whose row has several UDP source ports.
    unknown: u64,
}

/// The metric of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFim {
    /// Its start.
    pub start_ns: i64,
    /// Its length.
    pub window_ns: i64,
    /// Flows whose path is unknown.
    pub unknown: u64,
    /// The loads of links.
    pub imbalance: Imbalance,
}

impl Fim {
    /// Flows have the paths of these runs, by their starts.
    #[must_use]
    pub fn new(fabric: Fabric, runs: &BTreeMap<i64, Run>) -> Self {
        let walked = |run: &Run| {
            let flows = run.paths.iter().filter(|path| !path.hops.is_empty());
            let flows = flows.filter_map(|path| Some((captured_key(&path.flow?), Walk::new(&fabric, &path.hops).ways)));
            flows.collect::<HashMap<CapturedKey, Vec<Direction>>>()
        };
        Self {
            paths: runs.iter().map(|(time, run)| (*time, walked(run))).collect(),
            fabric,
            open: BTreeMap::new(),
            closed_ns: i64::MIN,
            late: BTreeSet::new(),
        }
    }

    fn close(&self, start_ns: i64, window: Open) -> Option<WindowFim> {
        let end_ns = start_ns.saturating_add(window.window_ns.max(1));
        let before = self.paths.range(..end_ns).next_back();
        let (_, known) = before.or_else(|| self.paths.first_key_value())?;
        let mut loads = Loads::new(&self.fabric);
        let mut unknown = window.unknown;
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
        for (key, bytes) in window.captured.five_tuples() {
            match known.get(&key) {
                Some(ways) => loads.add(ways, Some(bytes as f64 * 8e9 / window.window_ns.max(1) as f64)),
                None => unknown += 1,
            }
        }
        Some(WindowFim {
            start_ns,
            window_ns: window.window_ns,
            unknown,
            imbalance: loads.imbalance(&self.fabric),
        })
    }
}

impl Analysis for Fim {
    type Report = WindowFim;

    const INPUTS: &'static [Input<Self>] = &[Input::new::<FlowRow>()];

    /// Rows state the length of their window.
    fn window_ns(&self) -> i64 {
        self.open.first_key_value().map_or(1, |(_, window)| window.window_ns)
    }

    fn start(report: &WindowFim) -> Time {
        Time(report.start_ns)
    }

    fn advance(&mut self, watermark: Time) -> Option<WindowFim> {
        self.closed_ns = self.closed_ns.max(watermark.0);
        let closed_ns = self.closed_ns;
        let has_ended = |start: &i64, window: &mut Open| start.saturating_add(window.window_ns) <= closed_ns;
        let (start, window) = self.open.extract_if(.., has_ended).next()?;
        self.close(start, window).or_else(|| self.advance(watermark))
    }

    fn finish(&mut self) -> Option<WindowFim> {
        let (start, window) = self.open.pop_first()?;
        self.closed_ns = self.closed_ns.max(start.saturating_add(window.window_ns));
        self.close(start, window).or_else(|| self.finish())
    }

    fn late_windows(&mut self) -> Vec<Time> {
        std::mem::take(&mut self.late).into_iter().map(Time).collect()
    }
}

impl Reads<FlowRow> for Fim {
    const IN_STEPS: bool = true;

    fn is_read(column: &rocescope_model::Column) -> bool {
        const READ: [&str; 8] = [
            "observer",
            "window_start_ns",
            "window_ns",
            "src",
            "dst",
            "dst_qpn",
            "udp_src_port",
            "frame_bytes",
        ];
        READ.contains(&column.name)
    }

    fn time_ns(row: &FlowRow) -> i64 {
        row.window_start_ns
    }

    fn row(&mut self, row: &FlowRow) {
        if row.window_start_ns.saturating_add(row.window_ns) <= self.closed_ns {
            self.late.insert(row.window_start_ns);
            return;
        }
        let window = self.open.entry(row.window_start_ns).or_insert_with(|| Open {
            window_ns: row.window_ns,
            ..Open::default()
        });
        match flow_of(row) {
            Some(flow) => window.captured.add(flow, row),
            None => window.unknown += 1,
        }
    }
}
