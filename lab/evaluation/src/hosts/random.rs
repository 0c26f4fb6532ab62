//! Random numbers of a run.

use rocescope_sketches::random::SplitMix64;

pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1);
        random.bits();
        Self(random)
    }

    /// From `low` to `high`, inclusive.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.bits() % (high - low + 1)
    }

    pub(super) fn share(&mut self, low: f64, high: f64) -> f64 {
        low + self.0.share() * (high - low)
    }

    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.share(0.0, 1.0) < probability
    }

    pub(super) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.between(0, all.len() as u64 - 1) as usize]
    }
}
