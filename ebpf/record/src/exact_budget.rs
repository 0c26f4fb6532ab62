//! The packets whose exact times a CPU can afford.
//!
//! The exact time of every packet, and a record for every message, make a live capture equal to a file. Both cost time,
//! which a CPU has while few packets pass. A budget of packets, refilled at every tick, decides; beyond it, runs end at
//! times of ticks and few messages are marked.

use crate::config::Config;
use bytemuck::{Pod, Zeroable};

/// What is left of the budget of a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ExactBudget {
    /// When it was refilled.
    tick: u64,
    /// Packets.
    left: u32,
    /// Always 0.
    reserved: u32,
}

impl ExactBudget {
    /// Takes a packet at `tick`: 1 if it gets its exact time, else 0.
    #[inline(always)]
    pub fn take(&mut self, tick: u64, config: &Config) -> u32 {
        if config.exact_burst == 0 {
            return 0;
        }
        if self.tick != tick {
            let ticks = tick.wrapping_sub(self.tick).min(u64::from(u32::MAX));
            let refilled = u64::from(self.left) + ticks.wrapping_mul(u64::from(config.exact_a_tick));
            self.left = refilled.min(u64::from(config.exact_burst)) as u32;
            self.tick = tick;
        }
        let is_exact = u32::from(self.left != 0);
        self.left -= is_exact;
        is_exact
    }
}

#[cfg(test)]
mod tests {
    use super::ExactBudget;
    use crate::Config;

    #[test]
    fn a_burst_is_exact_and_then_some_packets_of_every_tick() {
        let config = Config {
            exact_burst: 10,
            exact_a_tick: 3,
            ..Config::exact(1)
        };
        let mut budget = ExactBudget::default();
        let mut exact_of = |tick: u64, packets: u32| (0..packets).map(|_| budget.take(tick, &config)).sum::<u32>();
        assert_eq!(exact_of(1_000, 20), 10);
        assert_eq!(
            (exact_of(1_001, 20), exact_of(1_002, 2), exact_of(1_003, 20)),
            (3, 2, 4)
        );
        assert_eq!(exact_of(9_000, 20), 10);
        // Without a budget none is.
        assert_eq!(ExactBudget::default().take(5, &Config::exact(1)), 0);
    }
}
