//! Estimates the number of flows of a window from its sketches.

use rocescope_sketches::HyperLogLog;
use rocescope_sketches::linear_counting::{Estimate, ROW_BITS};

/// Bits of the Linear Counting bitmap in every row of `windows`.
pub const LINEAR_COUNTING_BITS: u32 = ROW_BITS;

/// An estimate of the number of flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowEstimate {
    /// Flows.
    pub flows: f64,
    /// Standard error relative to `flows`.
    pub stderr_ratio: f64,
    /// The bitmap was full and there was no HyperLogLog: only a lower bound.
    pub saturated: bool,
}

impl FlowEstimate {
    /// From the sketch with the smaller standard error. A bitmap is exact or nearly so with few flows; long before it is
    /// full, its error passes that of the HyperLogLog, which is the same for any number of flows.
    #[must_use]
    pub fn new(bitmap: &Estimate, hll: Option<&HyperLogLog>) -> Self {
        match hll {
            Some(hll) if bitmap.saturated || bitmap.relative_error() > HyperLogLog::RELATIVE_ERROR => Self {
                flows: hll.estimate(),
                stderr_ratio: HyperLogLog::RELATIVE_ERROR,
                saturated: false,
            },
            _ => Self {
                flows: bitmap.flows,
                stderr_ratio: bitmap.relative_error(),
                saturated: bitmap.saturated,
            },
        }
    }

    /// The estimate, rounded.
    #[must_use]
    pub fn rounded(&self) -> u64 {
        // A cast from a float saturates.
        (self.flows + 0.5) as u64
    }
}

/// Whether a window stores a HyperLogLog beside its bitmap: if it had more flows than the bitmap has bits. That is long
/// before the bitmap is full, so merged bitmaps of several windows or boxes do not fill up without a replacement.
#[must_use]
pub fn needs_hyper_log_log(bitmap: &Estimate) -> bool {
    bitmap.flows > f64::from(LINEAR_COUNTING_BITS)
}

#[cfg(test)]
mod tests {
    use super::{FlowEstimate, needs_hyper_log_log};
    use rocescope_sketches::hash::hash_words;
    use rocescope_sketches::{HyperLogLog, LinearCounting};

    fn estimate(flows: u64, seed: u64) -> FlowEstimate {
        let (mut bitmap, mut hll) = (LinearCounting::default(), HyperLogLog::new());
        for flow in 0..flows {
            let hash = hash_words(&[flow], seed);
            bitmap.add(hash);
            hll.add(hash);
        }
        let bitmap = bitmap.estimate();
        FlowEstimate::new(&bitmap, needs_hyper_log_log(&bitmap).then_some(&hll))
    }

    /// A bitmap with a handful of zeros left estimated 238,597 flows 11 % too high and stated 3.9 %.
    #[test]
    fn the_error_is_the_stated_one_for_any_number_of_flows() {
        const SEEDS: u64 = 40;
        for flows in [5_000, 40_000, 100_000, 150_000, 200_000, 238_597, 300_000] {
            let (mut squares, mut stated) = (0.0, 0.0);
            for seed in 0..SEEDS {
                let estimate = estimate(flows, seed);
                assert!(!estimate.saturated, "{flows}");
                squares += (estimate.flows / flows as f64 - 1.0).powi(2);
                stated += estimate.stderr_ratio;
            }
            let (observed, stated) = ((squares / SEEDS as f64).sqrt(), stated / SEEDS as f64);
            assert!(observed < 1.3 * stated, "{flows}: observed {observed}, stated {stated}");
            assert!(stated < 0.01, "{flows}: stated {stated}");
        }
    }
}
