//! Quantiles and shares of what a window counted.

use super::record::quantile;

/// P50, P90, P99 and P99.9.
const SHARES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// The values at [`SHARES`]; none without values.
pub(crate) type Quantiles = [Option<i64>; 4];

/// The quantiles of values; exact. Reorders the values.
pub(crate) fn quantiles(values: &mut [i32]) -> Quantiles {
    SHARES.map(|share| quantile(values, share).map(i64::from))
}

/// `part` of `whole`; nothing of nothing.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
