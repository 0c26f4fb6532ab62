//! Quantiles and ratios.

use super::record::quantile;

/// P50, P90, P99 and P99.9.
const SHARES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// The values at [`SHARES`]; none without values.
pub(crate) type Quantiles = [Option<i64>; 4];

/// Returns the exact quantiles of values. Reorders the values.
pub(crate) fn quantiles(values: &mut [i32]) -> Quantiles {
    SHARES.map(|share| quantile(values, share).map(i64::from))
}

/// Returns `part` divided by `whole`; `None` if `whole` is 0.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
