//! How many flows a window's sketches say there were, and which of them says it.

use rocescope_sketches::HyperLogLog;
use rocescope_sketches::linear_counting::{Estimate, ROW_BITS};

/// Bits of the Linear Counting bitmap in every row of `windows`.
pub const LINEAR_COUNTING_BITS: u32 = ROW_BITS;

/// How many flows a window's sketches say there were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowEstimate {
    /// Flows.
    pub flows: f64,
    /// Standard error as a share of it.
    pub stderr_ratio: f64,
    /// The bitmap was full and nothing else was there: a lower bound at best.
    pub saturated: bool,
}

impl FlowEstimate {
    /// Of the bitmap until it is full, then of the HyperLogLog.
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

    /// The nearest whole number of flows.
    #[must_use]
    pub fn rounded(&self) -> u64 {
        // A cast from a float stops at the ends of its range.
        (self.flows + 0.5) as u64
    }
}

/// Whether a window hands on a HyperLogLog beside its bitmap: once it had more flows than the bitmap
/// has bits. That is long before the bitmap is full, so that the bitmaps of several windows or boxes,
/// laid over each other, do not fill up without anything to take over.
#[must_use]
pub fn wants_hyper_log_log(bitmap: &Estimate) -> bool {
    bitmap.flows > f64::from(LINEAR_COUNTING_BITS)
}
