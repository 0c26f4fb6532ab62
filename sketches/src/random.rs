//! Random numbers that are the same on every machine and never change: the one generator of scenarios, simulators and
//! tests. The caller passes the seed.

/// `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): eight bytes of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        finalize(self.0)
    }

    /// A number from 0 to below 1, of 53 random bits.
    pub const fn share(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "an f64 holds 53 bits exactly")]
        let bits = (self.bits() >> 11) as f64;
        bits / 9_007_199_254_740_992.0
    }
}

/// The fractional bits of the golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Each bit of the result depends on all bits of `z`.
#[must_use]
pub const fn finalize(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    /// A change here changes every generated file.
    #[test]
    fn the_numbers_never_change() {
        let mut random = SplitMix64::new(0);
        assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(), 0x6e78_9e6a_a1b9_65f4);
    }
}
