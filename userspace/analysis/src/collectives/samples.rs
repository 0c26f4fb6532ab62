//! What captures and agents measured of the hosts of a collective while it ran, for its trace.

use crate::Error;
use rocescope_collective::steps::Steps;
use rocescope_collective::trace::{Counter, Sample};
use rocescope_model::{ConnectionRow, FlowRow, StepProbeRow};
use rocescope_store::Scan;

/// Reads what is of the time of these steps.
///
/// # Errors
/// The dataset cannot be read.
pub fn samples(found: &Scan, steps: &Steps) -> Result<Vec<Sample>, Error> {
    let mut samples = Vec::new();
    let Some((first_ns, last_ns)) = steps.span_ns() else {
        return Ok(samples);
    };
    found.select::<FlowRow>().for_each(|row: FlowRow| {
        let end_ns = row.window_start_ns.saturating_add(row.window_ns);
        if row.window_start_ns <= last_ns && end_ns >= first_ns {
            let sample = |time_ns, value| Sample {
                time_ns,
                src: row.src,
                counter: Counter::Rate,
                value,
            };
            // A rate is that of a window, and nothing is known after it.
            samples.push(sample(row.window_start_ns, row.frame_bps / 1e9));
            samples.push(sample(end_ns, 0.0));
        }
    })?;
    let time = first_ns..=last_ns;
    let mut round_trip = |time_ns, src, ns: f64| {
        if time.contains(&time_ns) {
            samples.push(Sample {
                time_ns,
                src,
                counter: Counter::RoundTrip,
                value: ns / 1e3,
            });
        }
    };
    found.select::<ConnectionRow>().for_each(|row: ConnectionRow| {
        if let Some(ns) = row.rtt_p99_ns {
            round_trip(row.last_ns, row.src, ns as f64);
        }
    })?;
    found.select::<StepProbeRow>().for_each(|row: StepProbeRow| {
        if let Some(ns) = row.max_round_trip_ns.or(row.round_trip_ns) {
            round_trip(row.time_ns, row.src, ns as f64);
        }
    })?;
    samples.sort_by_key(|sample| sample.time_ns);
    Ok(samples)
}
