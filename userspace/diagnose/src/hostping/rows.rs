//! Tests as rows of the table `loopback`, and back.

use super::judge::Judgement;
use super::measured::{Matrix, fit};
use super::topology::Topology;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::{LoopbackRow, Text, Time};

/// Between the names of a path.
const JOINT: &str = " > ";

/// The rows of a run.
#[must_use]
pub fn rows(
    topology: &Topology,
    measured: &Matrix,
    judgement: &Judgement,
    observer: &str,
    start_ns: i64,
) -> Vec<LoopbackRow> {
    let row = |test: &super::Test| {
        let (nic, endpoint) = (&topology.nodes[test.nic].name, &topology.nodes[test.endpoint].name);
        let cell = measured.cell(nic, endpoint);
        let fitted = cell.and_then(|cell| fit(&cell.by_size));
        let names: Vec<&str> = test
            .path
            .nodes
            .iter()
            .map(|node| topology.nodes[*node].name.as_str())
            .collect();
        let bps = |gbps: Option<f64>| gbps.map(|gbps| gbps * 1e9);
        LoopbackRow {
            observer: Text::from(String::from(observer)),
            window_start: Time(start_ns),
            window_start_ns: start_ns,
            window_ns: 0,
            nic: Text::from(nic.clone()),
            endpoint: Text::from(endpoint.clone()),
            reach: test.path.reach.name().into(),
            path: names.join(JOINT).into(),
            size_bytes: cell.and_then(|cell| cell.size_bytes),
            measured_bps: bps(test.bandwidth_gbps),
            latency_ns: test.latency_us.map(nanoseconds),
            base_ns: fitted.map(|fitted| nanoseconds(fitted.base_us)),
            model_bps: bps(fitted.map(|fitted| fitted.bandwidth_gbps)).filter(|bps| bps.is_finite()),
            baseline_bps: bps(test.expected_gbps),
            baseline_ns: test.expected_us.map(nanoseconds),
            limit_bps: bps(test.limit_gbps),
            affinitive: test.is_affinitive,
            busy: test.is_busy,
            status: test.status.name().into(),
        }
    };
    judgement.tests.iter().map(row).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float converts to the nearest integer of the range"
)]
fn nanoseconds(us: f64) -> i64 {
    libm::round(us * 1e3) as i64
}

/// A run, as its rows describe it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// The host, as far as tests crossed it.
    pub topology: Topology,
    /// What was measured.
    pub measured: Matrix,
    /// The baseline that was in force.
    pub baseline: Matrix,
    /// The NICs that carried traffic.
    pub busy: Vec<usize>,
}

impl Run {
    /// The run of these rows, all of one host and time.
    #[must_use]
    pub fn of(rows: &[LoopbackRow]) -> Self {
        let topology = Topology::of_paths(rows.iter().map(|row| row.path.split(JOINT).collect()));
        let (mut measured, mut baseline) = (Matrix::default(), Matrix::default());
        let gbps = |bps: Option<f64>| bps.map(|bps| bps / 1e9);
        #[expect(clippy::cast_precision_loss, reason = "a latency is below 2^53 ns")]
        let us = |ns: Option<i64>| ns.map(|ns| ns as f64 / 1e3);
        let mut busy: Vec<usize> = Vec::new();
        for row in rows {
            let cell = measured.cell_mut(&row.nic, &row.endpoint);
            cell.bandwidth_gbps = gbps(row.measured_bps);
            cell.latency_us = us(row.latency_ns);
            cell.size_bytes = row.size_bytes;
            let cell = baseline.cell_mut(&row.nic, &row.endpoint);
            cell.bandwidth_gbps = gbps(row.baseline_bps);
            cell.latency_us = us(row.baseline_ns);
            busy.extend(topology.find(&row.nic).filter(|_| row.busy));
        }
        busy.sort_unstable();
        busy.dedup();
        Self {
            topology,
            measured,
            baseline,
            busy,
        }
    }
}

/// Groups rows by host and time, in that order.
#[must_use]
pub fn runs(mut rows: Vec<LoopbackRow>) -> Vec<(String, i64, Vec<LoopbackRow>)> {
    rows.sort_by(|a, b| (&*a.observer, a.window_start_ns).cmp(&(&*b.observer, b.window_start_ns)));
    let mut runs: Vec<(String, i64, Vec<LoopbackRow>)> = Vec::new();
    for row in rows {
        match runs.last_mut() {
            Some((host, start, run)) if **host == *row.observer && *start == row.window_start_ns => run.push(row),
            _ => runs.push((String::from(&*row.observer), row.window_start_ns, alloc::vec![row])),
        }
    }
    runs
}
