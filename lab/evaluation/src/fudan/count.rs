//! Section 5.4 (1): the number of flows.

use super::Compared;
use super::replay::replay;
use super::workload::{GROWING_FLOWS, GROWING_WINDOW_MS, growing};
use rocescope_pipeline::Settings;
use rocescope_sketches::LinearCounting;
use std::error::Error;

/// Each seed gives other queue pairs and ports, so other bits of the bitmap.
pub(super) const SEEDS: u64 = 25;

pub(super) fn flow_count(seeds: u64) -> Result<Compared, Box<dyn Error>> {
    let settings = Settings {
        window_ns: GROWING_WINDOW_MS * 1_000_000,
        ..Settings::default()
    };
    let seconds = (GROWING_WINDOW_MS * GROWING_FLOWS) as f64 / 1e3;
    let (mut bitmap_error, mut column_error, mut windows, mut frames) = (0.0, 0.0, 0_u32, 0);
    let (mut most, mut worst) = (0, 0.0f64);
    for seed in 1..=seeds {
        let replayed = replay(&growing(), seed, seconds, &settings)?;
        frames += replayed.frames;
        for window in &replayed.windows {
            let truth = window.truth.flow_bytes.len() as f64;
            let bytes = window.totals.linear_counting.as_ref().ok_or("no bitmap")?;
            let bitmap = LinearCounting::from_row_bytes(&[bytes.to_vec()])?.estimate().flows;
            let error = (bitmap.round() / truth - 1.0).abs();
            bitmap_error += error;
            worst = worst.max(error);
            column_error += (window.totals.estimated_flows / truth - 1.0).abs();
            most = most.max(window.truth.flow_bytes.len());
            windows += 1;
        }
    }
    Ok(Compared {
        what: "number of flows, 5.4 (1)",
        paper: 0.027,
        sketches: bitmap_error / f64::from(windows),
        columns: column_error / f64::from(windows),
        cases: windows.into(),
        of: format!(
            "{windows} windows of 1 to {most} flows, {frames} frames; the worst window by its bitmap {:.2} %",
            100.0 * worst
        ),
    })
}
