//! Random draws that depend on their seeds alone.

use rocescope_sketches::random::{STEP, SplitMix64, finalize};

/// Mixes several numbers into one, each bit of which depends on all of their bits: the finalizer of `SplitMix64`, chained.
#[must_use]
pub fn mix(words: &[u64]) -> u64 {
    words
        .iter()
        .fold(STEP, |state, word| finalize((state ^ word).wrapping_add(STEP)))
}

/// A sequence of draws.
#[derive(Debug, Clone)]
pub struct Draws(SplitMix64);

impl Draws {
    /// Creates the sequence of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        let product = (self.bits() >> 32) * u64::from(bound);
        u32::try_from(product >> 32).unwrap_or(0)
    }

    /// A number in (0, 1].
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / 9_007_199_254_740_992.0; // 2^-53
        #[expect(clippy::cast_precision_loss, reason = "an f64 holds 53 bits exactly")]
        let bits = ((self.bits() >> 11) + 1) as f64;
        bits * STEP
    }

    /// True with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() <= probability
    }

    /// An exponentially distributed time with this mean, in nanoseconds.
    pub fn exponential_ns(&mut self, mean_ns: i64) -> i64 {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "a delay is far below 2^53 ns, and its fraction is noise"
        )]
        let drawn = (-libm::log(self.unit()) * mean_ns as f64) as i64;
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::{Draws, mix};

    #[test]
    fn draws_repeat_and_spread() {
        let mut draws = Draws::new(7);
        let first = draws.bits();
        assert_eq!(Draws::new(7).bits(), first);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[draws.below(10) as usize] += 1;
        }
        assert!(counts.iter().all(|&n| (9_600..10_400).contains(&n)), "{counts:?}");
        assert_eq!(draws.below(0), 0);
    }

    #[test]
    fn probabilities_and_means_are_right() {
        let mut draws = Draws::new(1);
        let hits = (0..100_000).filter(|_| draws.happens(0.05)).count();
        assert!((4_700..5_300).contains(&hits), "{hits}");
        assert!(!draws.happens(0.0) && draws.happens(1.0));
        let sum: i64 = (0..100_000).map(|_| draws.exponential_ns(1_000)).sum();
        assert!((97_000_000..103_000_000).contains(&sum), "{sum}");
    }

    #[test]
    fn every_word_counts() {
        assert_ne!(mix(&[1, 2]), mix(&[2, 1]));
        assert_ne!(mix(&[1]), mix(&[1, 0]));
    }
}
