//! Which peers a NIC has at a time: a few of all, and each in its turn.
//!
//! A NIC has some slots. Each keeps its peer for a period, and they change one after the other, so that the paths of
//! nearly all peers are known at any time. Turns count from 1970, so all hosts whose clocks are right take the same one,
//! and an agent that starts again has the peers of before. Successive turns are far apart in the list: hosts that are
//! neighbours in it are often neighbours in the fabric.

use crate::types::Nanos;

/// The order of the peers, and how long each stays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotation {
    candidates: u32,
    slots: u16,
    stride: u32,
    /// Time between two turns.
    step: Nanos,
}

impl Rotation {
    /// At most `slots` of these candidates at a time, each for `period`.
    pub(crate) fn new(candidates: u32, slots: u16, period: Nanos) -> Self {
        let slots = u16::try_from(candidates).map_or(slots, |candidates| slots.min(candidates));
        // The golden ratio spreads any number of successive turns evenly.
        let golden = (u64::from(candidates) * 618 / 1_000) as u32;
        let is_full = |stride: &u32| gcd(*stride, candidates) == 1;
        Self {
            candidates,
            slots,
            stride: (golden.max(1)..=candidates.max(1)).find(is_full).unwrap_or(1),
            step: Nanos((period.0 / i64::from(slots.max(1))).max(1)),
        }
    }

    /// The number of slots: at most that of the candidates.
    pub(crate) const fn slots(&self) -> u16 {
        self.slots
    }

    /// The turn of a slot at a time.
    pub(crate) fn turn(&self, slot: u16, now: Nanos) -> i64 {
        let latest = now.0.div_euclid(self.step.0);
        let slots = i64::from(self.slots.max(1));
        latest - (latest - i64::from(slot)).rem_euclid(slots)
    }

    /// The candidate of a turn.
    pub(crate) fn candidate(&self, turn: i64) -> u32 {
        let candidates = i64::from(self.candidates.max(1));
        (turn.rem_euclid(candidates) * i64::from(self.stride) % candidates) as u32
    }
}

const fn gcd(a: u32, b: u32) -> u32 {
    match b {
        0 => a,
        b => gcd(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn every_candidate_has_its_turn_and_no_two_slots_share_one(candidates in 1u32..200, slots in 1u16..12, start in 0i64..1_000_000_000) {
            let rotation = Rotation::new(candidates, slots, Nanos(1_000));
            prop_assert_eq!(u32::from(rotation.slots()), candidates.min(slots.into()));
            let mut met = BTreeSet::new();
            for turn in 0..i64::from(candidates) {
                let now = Nanos(start + turn * rotation.step.0);
                let at = |slot| rotation.candidate(rotation.turn(slot, now));
                let current: BTreeSet<u32> = (0..rotation.slots()).map(at).collect();
                prop_assert_eq!(current.len(), usize::from(rotation.slots()));
                met.extend(current);
            }
            prop_assert_eq!(met.len() as u32, candidates);
        }
    }

    #[test]
    fn a_slot_keeps_its_peer_for_a_period_and_slots_change_one_after_the_other() {
        let rotation = Rotation::new(100, 4, Nanos(400));
        let turns = |now| [0, 1, 2, 3].map(|slot| rotation.turn(slot, Nanos(now)));
        let mut before = turns(0);
        for now in 1..2_000 {
            let next = turns(now);
            let changed = before.iter().zip(&next).filter(|(a, b)| a != b).count();
            assert_eq!(changed, usize::from(now % 100 == 0), "{now}");
            before = next;
        }
    }

    #[test]
    fn successive_peers_are_far_apart_and_no_candidate_is_no_turn() {
        let rotation = Rotation::new(1_599, 4, Nanos(400));
        let first: Vec<i64> = (0..4).map(|turn| rotation.candidate(turn).into()).collect();
        for (at, one) in first.iter().enumerate() {
            assert!(
                first.iter().skip(at + 1).all(|other| (one - other).abs() > 200),
                "{first:?}"
            );
        }
        assert_eq!(Rotation::new(0, 4, Nanos(400)).slots(), 0);
    }
}
