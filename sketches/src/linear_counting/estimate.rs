//! From zero bits to a number of flows, its standard error, and their reliability.

use core::num::NonZeroU16;

use super::ROW_BITS;

/// The number of flows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Flows. When [`saturated`](Self::saturated), a lower bound at best.
    pub flows: f64,
    /// One standard deviation of [`flows`](Self::flows), in flows; 0 when exact.
    pub standard_error: f64,
    /// The count is not an estimate: the hash of every flow was still kept.
    pub exact: bool,
    /// So few bits are zero that the bitmap may have filled up (condition of Whang et al., with √5).
    pub saturated: bool,
}

impl Estimate {
    pub(super) fn exact(flows: u64) -> Self {
        Self {
            flows: flows as f64,
            standard_error: 0.0,
            exact: true,
            saturated: false,
        }
    }

    /// `zeros` of `bits` are zero: `n = −m ln(z / m)`. A full bitmap counts as one with a single zero.
    pub(super) fn from_zeros(zeros: u64, bits: u64) -> Self {
        let (z, m) = (zeros.max(1) as f64, bits as f64);
        let load = -libm::log(z / m);
        let standard_error = libm::sqrt(m * excess(load));
        let saturated = zeros == 0 || fills_up(load, m);
        Self {
            flows: m * load,
            standard_error,
            exact: false,
            saturated,
        }
    }

    /// The nearest whole number of flows.
    #[must_use]
    pub fn rounded(&self) -> u64 {
        libm::round(self.flows) as u64
    }

    /// Standard error as a share of the estimate; 0 when no flow was seen.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        if self.flows > 0.0 {
            self.standard_error / self.flows
        } else {
            0.0
        }
    }
}

/// The minimum number of rows that count `flows` within `relative_error` (one standard deviation) without filling up.
/// `None` if 65,535 rows are not enough or the error is not positive.
///
/// ```
/// use rocescope_sketches::linear_counting::rows_for;
///
/// // Under 1 % in 95 windows of 100 is 1.96 standard deviations.
/// assert_eq!(rows_for(100_000, 0.01 / 1.96).map(u16::from), Some(2));
/// ```
#[must_use]
pub fn rows_for(flows: u64, relative_error: f64) -> Option<NonZeroU16> {
    let n = flows as f64;
    (1..=u16::MAX).filter_map(NonZeroU16::new).find(|rows| {
        let m = f64::from(rows.get()) * f64::from(ROW_BITS);
        libm::sqrt(m * excess(n / m)) <= relative_error * n && !fills_up(n / m, m)
    })
}

/// `eᵗ − t − 1`, part of the variance and of the bias of the estimate. Whang et al. derive a relative standard error of
/// `√m · √(eᵗ − t − 1) / n` and a relative bias of `(eᵗ − t − 1) / 2n`.
fn excess(load: f64) -> f64 {
    libm::expm1(load) - load
}

/// Whang et al.'s condition for a bitmap that will not fill up, negated: the zeros expected,
/// `m e⁻ᵗ`, must exceed `√5` of their standard deviations, `√(m e⁻ᵗ (1 − (1 + t) e⁻ᵗ))`.
fn fills_up(load: f64, bits: f64) -> bool {
    let share = libm::exp(-load);
    let (expected, variance) = (bits * share, bits * share * (1.0 - (1.0 + load) * share));
    expected * expected <= 5.0 * variance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flow_is_no_flow() {
        let empty = Estimate::from_zeros(32_768, 32_768);
        assert_eq!(
            (empty.rounded(), empty.relative_error(), empty.saturated),
            (0, 0.0, false)
        );
    }

    #[test]
    fn the_table_of_the_module_holds() {
        for (rows, flows, percent) in [
            (1.0, 1e4, 0.41),
            (1.0, 1e5, 0.75),
            (2.0, 1e5, 0.37),
            (2.0, 3e5, 0.82),
            (4.0, 3e5, 0.31),
        ] {
            let m = rows * 32_768.0;
            let error = 100.0 * libm::sqrt(m * excess(flows / m)) / flows;
            assert!((error - percent).abs() < 0.005, "{rows} rows, {flows} flows: {error} %");
            assert!(!fills_up(flows / m, m));
        }
        assert!(fills_up(3e5 / 32_768.0, 32_768.0));
    }

    #[test]
    fn no_number_of_rows_gives_no_error() {
        assert_eq!(rows_for(1000, 0.0), None);
    }
}
