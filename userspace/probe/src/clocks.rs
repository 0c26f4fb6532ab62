//! How far the clock of one NIC is ahead of another's.
//!
//! Network latency is (3) - (2), and if NICs have their own clocks these are times of two clocks. Hostmesh does not
//! define what to do then. Let `o` be how far the clock of NIC *b* is ahead of that of *a*. A probe from *a* to *b*
//! with latency `L >= 0` shows `d = L + o`, so `o <= d`; one from *b* to *a* shows `d' = L' - o`, so `o >= -d'`. Each
//! probe thus bounds `o` from one side, permanently except for drift: after a time `t` the bound is looser by the
//! maximum drift of the two clocks in `t`. The tightest of all bounds is a minimum filter over both directions that
//! needs no window and keeps two numbers per pair. The estimate is the middle, its error at most half the width,
//! whatever the latencies are, even asymmetric ones.
//!
//! The drift rate is estimated in the same way, from bounds one [`EPOCH`] apart; from then on only its uncertainty
//! loosens a bound. Bounds that contradict each other mean that a clock was set: both are reset, which is counted.

use crate::types::{Nanos, NicIndex};

/// The maximum drift between the clocks of two NICs: 100 parts per million, twice the tolerance of common crystals.
pub const DRIFT_MAX_PPM: f64 = 100.0;
/// The maximum change of the drift rate between two [`EPOCH`]s, in parts per million: temperature.
pub const WANDER_PPM: f64 = 0.5;
/// Time between the two bounds of a rate estimate.
pub const EPOCH: Nanos = Nanos(10_000_000_000);
const PPM: f64 = 1e-6;

/// An estimate and the bound on its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// How far the clock of the receiving NIC is ahead of the sending one's.
    pub offset: Nanos,
    /// The maximum distance of the true offset from the estimate.
    pub error: Nanos,
}

/// The offsets between all pairs of NICs.
#[derive(Clone, Debug)]
pub struct Clocks {
    nics: usize,
    /// One for each pair `a < b`.
    pairs: Vec<Pair>,
    /// The number of clocks that were set.
    resets: u64,
}

/// Bounds on an offset whose rate of change is bounded too.
#[derive(Clone, Copy, Debug)]
struct Pair {
    at: Nanos,
    low: f64,
    high: f64,
    slow: f64,
    fast: f64,
    /// The bounds an epoch ago.
    before: Option<(Nanos, f64, f64)>,
}

const UNKNOWN: Pair = Pair {
    at: Nanos(0),
    low: f64::NEG_INFINITY,
    high: f64::INFINITY,
    slow: -DRIFT_MAX_PPM * PPM,
    fast: DRIFT_MAX_PPM * PPM,
    before: None,
};

impl Clocks {
    /// Creates the state without any estimate.
    #[must_use]
    pub fn new(nics: usize) -> Self {
        Self {
            nics,
            pairs: vec![UNKNOWN; nics * nics.saturating_sub(1) / 2],
            resets: 0,
        }
    }

    /// Learns from a probe from `src` to `dst` that was received at `now`; `difference` is (3) - (2).
    pub fn learn(&mut self, src: NicIndex, dst: NicIndex, now: Nanos, difference: Nanos) {
        let Some((index, is_forward)) = self.index(src, dst) else {
            return;
        };
        let Some(pair) = self.pairs.get_mut(index) else {
            return;
        };
        if !pair.learn(now, difference.0 as f64, is_forward) {
            *pair = UNKNOWN;
            pair.learn(now, difference.0 as f64, is_forward);
            self.resets += 1;
        }
    }

    /// Returns how far the clock of `dst` is ahead of that of `src` at `now`; `None` until a probe has arrived in each
    /// direction.
    #[must_use]
    pub fn offset(&self, src: NicIndex, dst: NicIndex, now: Nanos) -> Option<Offset> {
        let (index, is_forward) = self.index(src, dst)?;
        let mut pair = *self.pairs.get(index)?;
        pair.advance(now);
        let (middle, error) = (pair.low.midpoint(pair.high), (pair.high - pair.low) / 2.0);
        error.is_finite().then(|| Offset {
            offset: Nanos(if is_forward { middle } else { -middle }.round() as i64),
            error: Nanos(error.ceil() as i64),
        })
    }

    /// How often bounds contradicted each other because a clock was set.
    #[must_use]
    pub const fn resets(&self) -> u64 {
        self.resets
    }

    /// Handles a step of the agent's clock. The offsets between NICs do not change.
    pub fn stepped(&mut self, by: Nanos) {
        for pair in &mut self.pairs {
            pair.at = pair.at + by;
            if let Some((at, ..)) = &mut pair.before {
                *at = *at + by;
            }
        }
    }

    fn index(&self, src: NicIndex, dst: NicIndex) -> Option<(usize, bool)> {
        let (low, high) = (src.at().min(dst.at()), src.at().max(dst.at()));
        (low < high && high < self.nics).then(|| (high * (high - 1) / 2 + low, src < dst))
    }
}

impl Pair {
    /// Adds a bound; returns whether it agrees with the others.
    fn learn(&mut self, now: Nanos, difference: f64, is_forward: bool) -> bool {
        self.advance(now);
        if is_forward {
            self.high = self.high.min(difference);
        } else {
            self.low = self.low.max(-difference);
        }
        if self.low > self.high {
            return false;
        }
        if (self.high - self.low).is_finite() {
            match self.before {
                None => self.before = Some((now, self.low, self.high)),
                Some((then, low, high)) if now - then >= EPOCH => {
                    self.rate((now - then).0 as f64, low, high);
                    self.before = Some((now, self.low, self.high));
                }
                Some(_) => {}
            }
        }
        true
    }

    /// Loosens the bounds for the elapsed time.
    fn advance(&mut self, now: Nanos) {
        let passed = (now - self.at).0.max(0) as f64;
        self.low += passed * self.slow;
        self.high += passed * self.fast;
        self.at = self.at.max(now);
    }

    /// Updates the rate: its mean over an epoch is between `low` and `high`, and the next one is close to it.
    fn rate(&mut self, passed: f64, low: f64, high: f64) {
        let max = DRIFT_MAX_PPM * PPM;
        let wander = WANDER_PPM * PPM;
        let slow = (((self.low - high) / passed).max(self.slow) - wander).max(-max);
        let fast = (((self.high - low) / passed).min(self.fast) + wander).min(max);
        // If rates contradict each other, the clock wanders more than assumed: start over.
        (self.slow, self.fast) = if slow < fast { (slow, fast) } else { (-max, max) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use proptest::prelude::*;

    const A: NicIndex = NicIndex(0);
    const B: NicIndex = NicIndex(2);

    #[test]
    fn two_probes_bound_an_offset_by_the_mean_of_their_latencies() {
        let mut clocks = Clocks::new(3);
        clocks.learn(A, B, Nanos(0), Nanos(1_000 + 40));
        assert_eq!(clocks.offset(A, B, Nanos(0)), None);
        clocks.learn(B, A, Nanos(0), Nanos(-1_000 + 60));
        let offset = clocks.offset(A, B, Nanos(0)).unwrap();
        assert_eq!((offset.offset, offset.error), (Nanos(990), Nanos(50)));
        let back = clocks.offset(B, A, Nanos(0)).unwrap();
        assert_eq!((back.offset, back.error), (Nanos(-990), Nanos(50)));
        assert_eq!(clocks.offset(A, NicIndex(1), Nanos(0)), None);
        assert_eq!(clocks.offset(A, A, Nanos(0)), None);
    }

    #[test]
    fn a_clock_that_is_set_is_noticed() {
        let mut clocks = Clocks::new(3);
        clocks.learn(A, B, Nanos(0), Nanos(40));
        clocks.learn(B, A, Nanos(0), Nanos(60));
        clocks.learn(A, B, Nanos(1), Nanos(40 - 1_000_000));
        assert_eq!((clocks.resets(), clocks.offset(A, B, Nanos(1))), (1, None));
        clocks.learn(B, A, Nanos(2), Nanos(60 + 1_000_000));
        assert_eq!(clocks.offset(A, B, Nanos(2)).unwrap().offset, Nanos(-1_000_010));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Offset and drift are known; latencies have a tail and differ by direction.
        #[test]
        fn the_true_offset_is_within_the_stated_error(
            seed: u64,
            planted in -1_000_000_000i64..1_000_000_000,
            ppm in -99.0f64..99.0,
            min in proptest::array::uniform2(1_000i64..50_000),
        ) {
            let mut rng = Rng::with_seed(seed);
            let mut clocks = Clocks::new(3);
            let truth = |now: Nanos| planted + (now.0 as f64 * ppm * 1e-6) as i64;
            let mut last = None;
            for step in 1..600 {
                let now = Nanos(step * 100_000_000);
                let forward = rng.bool();
                let tail = (-rng.f64().max(1e-9).ln() * 5_000.0) as i64;
                let latency = min[usize::from(forward)] + tail;
                let (src, dst, sign) = if forward { (A, B, 1) } else { (B, A, -1) };
                clocks.learn(src, dst, now, Nanos(latency + sign * truth(now)));
                if let Some(offset) = clocks.offset(A, B, now) {
                    let wrong = (offset.offset.0 - truth(now)).abs();
                    // Rounding of the known offset and of the estimate.
                    prop_assert!(wrong <= offset.error.0 + 4, "{wrong} > {:?}", offset.error);
                    last = Some(offset.error.0);
                }
            }
            prop_assert_eq!(clocks.resets(), 0);
            // Half of both latencies, the tail, and the change of the rate between two good samples.
            let best = (min[0] + min[1]) / 2;
            let error = last.unwrap();
            prop_assert!(error < best + 40_000, "{error} for {best}");
        }
    }
}
