//! How long the analyzer takes for a large collective: `speed [RANKS [STEPS]]`, by default 1,024 ranks and 2,046 steps, and
//! a quarter, a half and twice as many: `ns a step` shows whether time is linear in the steps.
//!
//! A ring in which every step waits for the previous rank, and each rank is a little slower than another. The times are
//! those of building the steps from rows, and of the analysis; the generation of the rows is not part of them.

use rocescope_collective::analysis::analyze;
use rocescope_collective::steps::Builder;
use rocescope_collective::telemetry::Telemetry;
use rocescope_model::{StepRow, Text};
use std::time::{Duration, Instant};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u32>());
    let mut next = |default| arguments.next().and_then(Result::ok).unwrap_or(default);
    let (ranks, count) = (next(1_024).max(2), next(2_046).max(1));
    for count in [count / 4, count / 2, count, count * 2] {
        let names: Vec<Text> = (0..ranks).map(|rank| format!("host-{rank}").into()).collect();
        let mut builder = Builder::default();
        let mut building = Duration::ZERO;
        for step in 1..=count {
            let rows: Vec<StepRow> = (0..ranks).map(|rank| row(&names, rank, step)).collect();
            let start = Instant::now();
            for row in &rows {
                builder.add(row);
            }
            building += start.elapsed();
        }
        let start = Instant::now();
        let steps = builder.finish();
        building += start.elapsed();
        let start = Instant::now();
        let analysis = analyze(steps, &Telemetry::default());
        let analyzing = start.elapsed();
        println!(
            "{} steps; rows to steps {:.3} s, analysis {:.3} s, {:.0} ns a step; critical path of {} steps, {} ns; peak {} MiB",
            analysis.steps.steps.len(),
            building.as_secs_f64(),
            analyzing.as_secs_f64(),
            (building + analyzing).as_nanos() as f64 / analysis.steps.steps.len() as f64,
            analysis.path.parts.len(),
            analysis.path.total_ns,
            peak_kib().unwrap_or(0) / 1_024
        );
    }
}

fn row(names: &[Text], rank: u32, step: u32) -> StepRow {
    const STEP_NS: i64 = 1_000_000;
    let ranks = names.len() as u32;
    let name = |rank: u32| names[(rank % ranks) as usize].clone();
    StepRow {
        host: name(rank),
        step,
        dst_host: name(rank + 1),
        waits_known: true,
        awaited_host: (step > 1).then(|| name(rank + ranks - 1)),
        awaited_step: (step > 1).then(|| step - 1),
        time_ns: i64::from(step) * STEP_NS,
        duration_ns: Some(STEP_NS - i64::from(rank % 7)),
        expected_ns: Some(STEP_NS - 10),
        ..StepRow::default()
    }
}

/// Peak of the resident memory.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
