//! Chooses the next destination and source port of a NIC: at random, and all equally often.
//!
//! Hostmesh draws both independently for every probe (section 3.3). Then, of 24 5-tuples that are probed 200 times in a
//! window, one in twelve gets four probes or fewer, too few to detect that it alone is lost. So all pairs are shuffled:
//! each is used once, in random order, before any repeats.

use fastrand::Rng;

/// All pairs of another NIC and a slot in the pool of ports, four bytes each.
#[derive(Clone, Debug)]
pub struct Shuffle {
    targets: Vec<Target>,
    /// The targets before this index are still unused.
    left: usize,
}

/// The target of one probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Number of the other NIC, from 0.
    pub other: u16,
    /// Slot of the pool, from 0.
    pub port: u16,
}

impl Shuffle {
    /// Creates a shuffle of `others` NICs and `ports` ports; at min one of each.
    #[must_use]
    pub fn new(others: u16, ports: u16) -> Self {
        let pairs = |other| (0..ports.max(1)).map(move |port| Target { other, port });
        Self {
            targets: (0..others.max(1)).flat_map(pairs).collect(),
            left: 0,
        }
    }

    /// Returns the next target.
    pub fn next(&mut self, rng: &mut Rng) -> Target {
        if self.left == 0 {
            self.left = self.targets.len();
        }
        let at = rng.usize(..self.left);
        self.left -= 1;
        self.targets.swap(at, self.left);
        self.targets[self.left]
    }
}

#[cfg(test)]
mod tests {
    use super::Shuffle;
    use fastrand::Rng;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn no_pair_repeats_before_all_are_used(
            others in 1u16..8, ports in 1u16..10, seed: u64, turns in 0usize..300
        ) {
            let mut rng = Rng::with_seed(seed);
            let mut shuffle = Shuffle::new(others, ports);
            let mut drawn = HashMap::new();
            for _ in 0..turns {
                *drawn.entry(shuffle.next(&mut rng)).or_insert(0) += 1;
            }
            let all = usize::from(others * ports);
            let min = if drawn.len() < all { 0 } else { turns / all };
            for (target, count) in drawn {
                prop_assert!(target.other < others && target.port < ports);
                prop_assert!((min..=turns.div_ceil(all)).contains(&count));
            }
        }
    }

    #[test]
    fn the_order_differs_between_rounds() {
        let mut rng = Rng::with_seed(1);
        let mut shuffle = Shuffle::new(3, 8);
        let mut round = || (0..24).map(|_| shuffle.next(&mut rng)).collect::<Vec<_>>();
        assert_ne!(round(), round());
    }
}
