//! How far above the truth an estimate may be: ε and δ.

use super::{CountMin, ShapeError, Update};
use crate::hash::FlowHash;

/// With probability `confidence` (over the choice of row hashes) an estimate exceeds the truth by
/// at most `epsilon` × the total weight.
///
/// By Markov's inequality one row is off by more than `b / width` of the total with probability at
/// most `1 / b`, and all rows at once with `b^−depth`, for every `b`. The paper takes `b = e`,
/// Spark takes `b = 2`: two readings of one table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guarantee {
    /// ε, a share of the total weight.
    pub epsilon: f64,
    /// 1 − δ.
    pub confidence: f64,
}

/// What is known of one flow's weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The weight is at least this, with the table's [`CountMin::guarantee`] as its confidence:
    /// the estimate less ε × total.
    pub lower: u64,
    /// The weight is at most this, for certain (unless the table is saturated). It is also the estimate.
    pub upper: u64,
}

impl CountMin {
    /// The table that keeps `guarantee`: `width = ⌈e / ε⌉`, `depth = ⌈ln(1 / δ)⌉` (Cormode, Muthukrishnan 2005, §3).
    ///
    /// # Errors
    /// [`ShapeError`] when that table cannot exist: ε or δ not between 0 and 1.
    ///
    /// ```
    /// use rocescope_sketches::count_min::{CountMin, Guarantee, Update};
    ///
    /// let wanted = Guarantee { epsilon: 0.001, confidence: 0.99 };
    /// let sketch = CountMin::with_guarantee(wanted, 0, Update::Plain).unwrap();
    /// assert_eq!((sketch.depth(), sketch.width()), (5, 2719));
    /// assert!(sketch.guarantee().epsilon <= 0.001);
    /// ```
    pub fn with_guarantee(guarantee: Guarantee, seed: i32, update: Update) -> Result<Self, ShapeError> {
        let width = libm::ceil(core::f64::consts::E / guarantee.epsilon);
        let depth = libm::ceil(-libm::log(1.0 - guarantee.confidence));
        // A cast from a float stops at the ends of u32 and makes NaN 0: both are refused.
        Self::new(depth as u32, width as u32, seed, update)
    }

    /// The paper's reading: `ε = e / width`, `δ = e^−depth`.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee_of_base(core::f64::consts::E)
    }

    /// Spark's reading, what its `relativeError()` and `confidence()` return: `ε = 2 / width`, `δ = 2^−depth`.
    #[must_use]
    pub fn spark_guarantee(&self) -> Guarantee {
        self.guarantee_of_base(2.0)
    }

    /// Upper and lower bound of a flow's weight.
    #[must_use]
    pub fn bounds(&self, flow: FlowHash) -> Bounds {
        let upper = self.estimate(flow);
        let slack = libm::ceil(self.guarantee().epsilon * self.total() as f64) as u64;
        Bounds {
            lower: upper.saturating_sub(slack),
            upper,
        }
    }

    fn guarantee_of_base(&self, base: f64) -> Guarantee {
        Guarantee {
            epsilon: base / f64::from(self.width()),
            confidence: 1.0 - libm::pow(base, -f64::from(self.depth())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_words;

    #[test]
    fn sparks_reading_of_the_default_table() {
        let sketch = CountMin::new(4, 16_384, 0, Update::Plain).unwrap();
        let spark = sketch.spark_guarantee();
        assert_eq!((spark.epsilon, spark.confidence), (2.0 / 16_384.0, 0.9375));
    }

    #[test]
    fn guarantees_that_no_table_keeps_are_refused() {
        for (epsilon, confidence) in [
            (0.0, 0.9),
            (-1.0, 0.9),
            (f64::NAN, 0.9),
            (0.1, 1.0),
            (0.1, 0.0),
            (0.1, f64::NAN),
        ] {
            let guarantee = Guarantee { epsilon, confidence };
            let refused = CountMin::with_guarantee(guarantee, 0, Update::Plain);
            assert!(refused.is_err(), "{guarantee:?}");
        }
    }

    #[test]
    fn few_flows_pass_epsilon() {
        let mut sketch = CountMin::new(4, 256, 11, Update::Plain).unwrap();
        let weight = |flow: u64| 1 + 100_000 / (flow + 1);
        (0..5000).for_each(|flow| sketch.add(hash_words(&[flow], 0), weight(flow)));
        let missed = (0..5000)
            .filter(|&flow| sketch.bounds(hash_words(&[flow], 0)).lower > weight(flow))
            .count();
        let allowed = 5000.0 * (1.0 - sketch.guarantee().confidence);
        assert!(missed as f64 <= allowed, "{missed} of {allowed}");
    }
}
