//! Random numbers that are the same on every machine and never change.
//!
//! Eight bytes of state, so that each flow has its own and is independent of the number of flows.

use rocescope_sketches::random::SplitMix64;

/// A stream of random numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(SplitMix64);

impl Random {
    /// The stream with the number `stream` of a seed.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let start = SplitMix64::new(seed).bits() ^ stream.wrapping_mul(0xd134_2543_de82_ef95);
        let mut random = Self(SplitMix64::new(start));
        random.next();
        random
    }

    /// 64 random bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        // The bias of a product is below 2^-32 for every bound in use.
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, inclusive.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below((high - low).saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change here changes every generated file.
    #[test]
    fn the_numbers_never_change() {
        let mut random = Random::new(1, 2);
        assert_eq!(random.next(), 15_287_607_234_741_920_061);
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut random = Random::new(7, 7);
        for _ in 0..1000 {
            assert!((3..=5).contains(&random.between(3, 5)));
            assert!(random.below(7) < 7);
        }
        assert_eq!(random.below(0), 0);
        assert_eq!(random.between(9, 9), 9);
    }
}
