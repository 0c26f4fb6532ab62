//! The pool of UDP source ports.
//!
//! ECMP hashes the source port, so a pool of ports covers many paths. With verbs, only the flow label of the global route
//! header determines the port: 20 bits, which the driver folds into 14. So the ports are those of flow labels, and
//! all backends can use the same ones.

use crate::types::Nanos;
use fastrand::Rng;

/// The first of the ports that flow labels give, and how many they are.
const FIRST: u16 = 0xc000;
const PORTS: u16 = 0x4000;

/// The maximum size of a pool: each slot has four ports to change between.
pub const SIZE_MAX: usize = 4_096;

/// The ports that one NIC sends from.
///
/// Each stays for one period. They change one after the other, so that the paths of nearly all of them are known at any
/// time. A port follows from the seed, its slot and the time, so an agent that starts again has the ports of before, whose
/// paths are known.
#[derive(Clone, Debug)]
pub struct Pool {
    seed: u64,
    ports: Vec<u16>,
    /// The number of the last renewal: that of the slot `turn % size`.
    turn: i64,
    /// Time between two renewals.
    step: Nanos,
    /// Since when turns count: not since the same moment for all NICs, which would all trace new paths at once; and how far
    /// the clock was set forward since the start.
    from: Nanos,
}

impl Pool {
    /// The ports at `now`: `size` of them, at least one and at most [`SIZE_MAX`], each renewed after `period`.
    #[must_use]
    pub fn new(size: usize, period: Nanos, now: Nanos, seed: u64) -> Self {
        let size = size.clamp(1, SIZE_MAX);
        let step = Nanos((period.0 / size as i64).max(1));
        let from = Nanos((seed.wrapping_mul(ODD) % step.0.unsigned_abs()) as i64);
        let mut pool = Self {
            seed,
            ports: Vec::with_capacity(size),
            turn: (now - from).0.div_euclid(step.0),
            step,
            from,
        };
        let turns = pool.turn;
        for slot in 0..size as i64 {
            // The last turn of this slot.
            let turn = turns - (turns - slot).rem_euclid(size as i64);
            let port = drawn(seed, turn, slot as u16, size as u16);
            pool.ports.push(port);
        }
        pool
    }

    /// The ports, in arbitrary order.
    #[must_use]
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// The port in a slot, from 0.
    #[must_use]
    pub fn port(&self, place: u16) -> u16 {
        self.ports.get(usize::from(place)).copied().unwrap_or(FIRST)
    }

    /// Renews expired ports; returns whether there were any.
    pub fn renew(&mut self, now: Nanos) -> bool {
        let turn = (now - self.from).0.div_euclid(self.step.0);
        let size = self.ports.len() as i64;
        // After a pause each is renewed at most once.
        let first = (self.turn + 1).max(turn - size + 1);
        for turn in first..=turn {
            let port = drawn(self.seed, turn, turn.rem_euclid(size) as u16, size as u16);
            if let Some(place) = self.ports.get_mut(turn.rem_euclid(size) as usize) {
                *place = port;
            }
        }
        self.turn = self.turn.max(turn);
        first <= turn
    }

    /// The clock was set.
    pub fn stepped(&mut self, by: Nanos) {
        self.from = self.from + by;
    }
}

/// Draws the port of a turn of a slot. Slots share no port: those of a slot are its number plus a multiple of their
/// count.
pub(crate) fn drawn(seed: u64, turn: i64, slot: u16, slots: u16) -> u16 {
    let mut rng = Rng::with_seed(seed ^ (turn as u64).wrapping_mul(ODD));
    let slots = slots.clamp(1, SIZE_MAX as u16);
    FIRST + slot % slots + slots * rng.u16(..PORTS / slots)
}

/// Spreads the numbers of turns over all bits (the golden ratio, as a fraction of 2^64).
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rocescope_model::source_port;

    #[test]
    fn a_pool_that_starts_again_has_the_ports_of_before() {
        for seed in 0..20 {
            let mut before = Pool::new(8, Nanos(800), Nanos(12_345), seed);
            for now in (12_400..20_000).step_by(37).map(Nanos) {
                before.renew(now);
                let again = Pool::new(8, Nanos(800), now, seed);
                assert_eq!(before.ports(), again.ports(), "{now:?}");
            }
        }
    }

    #[test]
    fn a_clock_that_is_set_renews_no_port() {
        let mut pool = Pool::new(8, Nanos(800), Nanos(50), 0);
        let first = pool.ports().to_vec();
        pool.stepped(Nanos(1_000_000));
        assert!(!pool.renew(Nanos(1_000_060)));
        assert_eq!(pool.ports(), first);
        assert!(pool.renew(Nanos(1_000_110)));
    }

    #[test]
    fn every_label_gives_a_dynamic_port_and_each_port_has_64_labels() {
        let mut met = vec![0u32; 1 << 14];
        for label in 0..1 << 20 {
            met[usize::from(source_port(label) - 0xc000)] += 1;
        }
        assert!(met.iter().all(|count| *count == 64));
    }

    #[test]
    fn a_port_stays_for_exactly_one_period() {
        // Turns of the seed 0 count from 0.
        let mut pool = Pool::new(4, Nanos(400), Nanos(0), 0);
        let first = pool.ports().to_vec();
        assert!(!pool.renew(Nanos(99)));
        assert_eq!(pool.ports(), first);
        for (renewed, now) in [100, 200, 300, 400].into_iter().enumerate() {
            assert!(pool.renew(Nanos(now)));
            let kept = pool.ports().iter().filter(|port| first.contains(port)).count();
            assert_eq!(kept, 3 - renewed);
        }
    }

    proptest! {
        #[test]
        fn ports_of_a_pool_always_differ(
            seed: u64, size in 1usize..64, times in proptest::collection::vec(0i64..10_000, 0..20)
        ) {
            let mut pool = Pool::new(size, Nanos(1_000), Nanos(0), seed);
            let mut now = Nanos(0);
            for time in times {
                now = now + Nanos(time);
                pool.renew(now);
                let mut ports = pool.ports().to_vec();
                prop_assert_eq!(pool.port(size as u16 - 1), ports[size - 1]);
                ports.sort_unstable();
                ports.dedup();
                prop_assert_eq!(ports.len(), size);
            }
        }
    }
}
