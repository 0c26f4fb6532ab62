//! Merges two sketches of different packets into one of all of them.
//!
//! Bucket by bucket, as Agarwal et al. merge Space-Saving summaries (*Mergeable summaries*, PODS
//! 2012): bounds add, and a flow that one side did not track may have sent up to that side's floor
//! there. The heaviest [`WAYS`] stay. A merge moves flows between slots.

use core::cmp::Reverse;

use super::{HeavyHitters, Interval, WAYS, bucket::Bucket, overcount::Overcount};
use crate::mismatch::Mismatch;

impl<const LANES: usize> HeavyHitters<LANES> {
    /// Adds the counts of `other`. Every bound still holds, for tracked and evicted flows. [`Slot`](super::Slot)s
    /// change their flows: look up full keys by hash first.
    ///
    /// # Errors
    /// [`Mismatch`] when the number of buckets differs.
    pub fn merge(&mut self, other: &Self) -> Result<(), Mismatch> {
        Mismatch::check("buckets", self.buckets.len() as u64, other.buckets.len() as u64)?;
        for (ours, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *ours = ours.merged(theirs);
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Candidate<const LANES: usize> {
    key: u64,
    weights: [Interval; LANES],
}

impl<const LANES: usize> Bucket<LANES> {
    fn merged(&self, other: &Self) -> Self {
        let no_flow = Candidate {
            key: 0,
            weights: [Interval::default(); LANES],
        };
        let mut candidates = [no_flow; 2 * WAYS];
        let both = self.iter().map(|(key, weights)| (key, weights, other.bounds(key)));
        let theirs = other
            .iter()
            .filter(|(key, _)| self.iter().all(|(ours, _)| ours != *key))
            .map(|(key, weights)| (key, weights, self.bounds(key)));
        let mut len = 0;
        for (candidate, (key, here, there)) in candidates.iter_mut().zip(both.chain(theirs)) {
            *candidate = Candidate {
                key,
                weights: sum(here, there),
            };
            len += 1;
        }
        let candidates = &mut candidates[..len];
        candidates
            .sort_unstable_by_key(|candidate| (Reverse(candidate.weights.map(|weight| weight.upper)), candidate.key));
        let (stay, leave) = candidates.split_at(len.min(WAYS));
        let mut bucket = Self::EMPTY;
        bucket.floor = core::array::from_fn(|lane| {
            let nowhere = self.floor[lane].saturating_add(other.floor[lane]);
            leave
                .iter()
                .map(|left| left.weights[lane].upper)
                .fold(nowhere, u64::max)
        });
        bucket.len = stay.len();
        for (way, candidate) in stay.iter().enumerate() {
            bucket.set_key(way, candidate.key);
            for (lane, weight) in candidate.weights.iter().enumerate() {
                bucket.upper[lane][way] = weight.upper;
                bucket.over[lane][way] = Overcount::at_least(weight.upper - weight.lower);
            }
        }
        bucket
    }
}

fn sum<const LANES: usize>(a: [Interval; LANES], b: [Interval; LANES]) -> [Interval; LANES] {
    core::array::from_fn(|lane| Interval {
        lower: a[lane].lower.saturating_add(b[lane].lower),
        upper: a[lane].upper.saturating_add(b[lane].upper),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlowHash;
    use core::num::NonZeroU32;

    #[test]
    fn another_number_of_buckets_is_refused() {
        let [mut two, three] = [2, 3].map(|n| HeavyHitters::<1>::new(NonZeroU32::new(n).unwrap()));
        let refused = Mismatch {
            parameter: "buckets",
            ours: 2,
            theirs: 3,
        };
        assert_eq!(two.merge(&three), Err(refused));
    }

    #[test]
    fn with_room_for_all_a_merge_is_exact() {
        let mut here = HeavyHitters::<1>::new(NonZeroU32::MIN);
        let mut there = here.clone();
        (0..20).for_each(|flow| _ = here.add(FlowHash(flow), [flow]));
        (10..30).for_each(|flow| _ = there.add(FlowHash(flow), [100]));
        here.merge(&there).unwrap();
        let exactly = |weight| {
            [Interval {
                lower: weight,
                upper: weight,
            }]
        };
        assert_eq!(here.bounds(FlowHash(5)), exactly(5));
        assert_eq!(here.bounds(FlowHash(15)), exactly(115));
        assert_eq!(here.bounds(FlowHash(25)), exactly(100));
        assert_eq!(here.iter().count(), 30);
    }
}
