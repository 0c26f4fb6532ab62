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
    /// From the bitmap until it is full, then from the HyperLogLog.
    #[must_use]
    pub fn new(bitmap: &Estimate, hll: Option<&HyperLogLog>) -> Self {
        match hll {
            Some(hll) if bitmap.saturated => Self {
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
