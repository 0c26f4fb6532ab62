//! Heavy hitters: the flows that sent most, each with a lower and an upper bound.
//!
//! Space-Saving (Metwally, Agrawal, El Abbadi, *Efficient computation of frequent and top-k elements in data streams*,
//! ICDT 2005) in buckets of [`WAYS`] flows. A flow belongs to the bucket its hash names. There it is counted exactly
//! while it is tracked; a flow that finds its bucket full takes the place of the lightest one and starts from the
//! *floor*: the most that any flow outside the bucket can have sent. So
//!
//! - a tracked flow sent at most its count (floor at admission included) and at least its count
//!   without that floor;
//! - a flow that is not tracked sent at most the floor of its bucket, and the floor of the ranking
//!   weight is at most a [`WAYS`]th of what the bucket's flows sent together.
//!
//! Buckets replace the linked lists and the hash index of the original: an update is a search in
//! Buckets replace the linked lists and the hash index of the original: an update is a search in one bucket, whatever
//! its weight, and memory holds only keys, counts and errors. `docs/journal/2026-11-21-heavy-hitters.md` compares it
//! with Space-Saving, Cuckoo `HeavyKeeper` and an Elastic heavy part.
//!
//! A flow has `LANES` weights (say packets and bytes, both bounded); the first one ranks. The stored key is the 64-bit
//! hash. A caller that needs full keys keeps an array of them next to the sketch: [`HeavyHitters::add`] returns the
//! [`Slot`] of the flow and whether it evicted another flow.
//!
//! | lanes | bytes per flow | flows in 200 kB |
//! |---|---|---|
//! | 1 | 19.5 | 10,240 |
//! | 2 | 29.75 | 6,720 |
//!
//! Buckets are chosen by the hash's top bits: shard flows by its lowest ones.
//!
//! Submodules: `bucket`, one bucket and its invariant; `tags`, how a bucket is searched;
//! `overcount`, an error in 16 bits; `merge`.

mod bucket;
mod merge;
mod overcount;
mod tags;

use alloc::{boxed::Box, vec, vec::Vec};
use core::num::NonZeroU32;

pub use bucket::{Change, WAYS};

use crate::hash::FlowHash;
use bucket::Bucket;

/// The heaviest flows by the first of `LANES` weights.
///
/// ```
/// use rocescope_sketches::{FlowHash, HeavyHitters, heavy_hitters::Change};
///
/// let mut flows = HeavyHitters::<2>::within_bytes(200_000).unwrap();
/// let mut keys = vec![""; flows.capacity()];
/// for (hash, key, packets, bytes) in [(7, "a", 16, 65_536), (9, "b", 1, 64), (7, "a", 4, 16_384)] {
///     let placed = flows.add(FlowHash(hash), [packets, bytes]);
///     if placed.change != Change::Kept {
///         keys[placed.slot.index()] = key;
///     }
/// }
/// let mut top = Vec::with_capacity(flows.capacity());
/// flows.top_into(1, &mut top);
/// assert_eq!(keys[top[0].slot.index()], "a");
/// assert_eq!(top[0].weights.map(|weight| weight.lower), [20, 81_920]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeavyHitters<const LANES: usize> {
    buckets: Box<[Bucket<LANES>]>,
}

/// The index of a tracked flow: below [`HeavyHitters::capacity`], and constant until it is evicted, merged or cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u32);

impl Slot {
    /// An index for an array of [`HeavyHitters::capacity`] entries.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The result of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The flow's slot from now on.
    pub slot: Slot,
    /// How that slot changed.
    pub change: Change,
}

/// A weight between two certain bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// The flow sent at least this.
    pub lower: u64,
    /// The flow sent at most this.
    pub upper: u64,
}

impl Interval {
    /// The middle, which minimizes the maximum [`error`](Self::error).
    #[must_use]
    pub fn estimate(self) -> u64 {
        self.lower + (self.upper - self.lower) / 2
    }

    /// The maximum distance of the estimate from the truth.
    #[must_use]
    pub fn error(self) -> u64 {
        (self.upper - self.lower).div_ceil(2)
    }
}

/// A tracked flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeavyHitter<const LANES: usize> {
    /// Its slot.
    pub slot: Slot,
    /// Its hash.
    pub flow: FlowHash,
    /// Its weights, the ranking one first.
    pub weights: [Interval; LANES],
}

impl<const LANES: usize> HeavyHitters<LANES> {
    /// Tracks up to `buckets` × [`WAYS`] flows. To find the top *k* of a heavy-tailed stream, provide room for at least
    /// 7 *k* flows.
    #[must_use]
    pub fn new(buckets: NonZeroU32) -> Self {
        const { assert!(LANES > 0, "a flow without a weight cannot be ranked") };
        // Slots are numbered in 32 bits.
        let buckets = buckets.get().min(u32::MAX / WAYS as u32);
        Self {
            buckets: vec![Bucket::EMPTY; buckets as usize].into_boxed_slice(),
        }
    }

    /// Uses as many buckets as fit in `bytes`, all memory included. `None` if not even one fits.
    #[must_use]
    pub fn within_bytes(bytes: usize) -> Option<Self> {
        let buckets = bytes.checked_sub(size_of::<Self>())? / size_of::<Bucket<LANES>>();
        u32::try_from(buckets).ok().and_then(NonZeroU32::new).map(Self::new)
    }

    /// Adds `weights` to the flow and tracks it from now on, instead of the lightest flow of its bucket if that is
    /// full. Counts stop at `u64::MAX`.
    #[inline]
    pub fn add(&mut self, flow: FlowHash, weights: [u64; LANES]) -> Placed {
        let at = self.bucket_of(flow);
        let (way, change) = self.buckets[at].add(flow.0, weights);
        Placed {
            slot: slot(at, way),
            change,
        }
    }

    /// The bounds of any flow: its own if tracked, else 0 and the floor of its bucket.
    #[must_use]
    pub fn bounds(&self, flow: FlowHash) -> [Interval; LANES] {
        self.buckets[self.bucket_of(flow)].bounds(flow.0)
    }

    /// Every tracked flow, in the order of slots.
    pub fn iter(&self) -> impl Iterator<Item = HeavyHitter<LANES>> {
        self.buckets.iter().enumerate().flat_map(|(at, bucket)| {
            bucket
                .iter()
                .enumerate()
                .map(move |(way, (hash, weights))| HeavyHitter {
                    slot: slot(at, way),
                    flow: FlowHash(hash),
                    weights,
                })
        })
    }

    /// Replaces the contents of `top` by the `k` flows with the largest estimates of the first
    /// weight, largest first. Allocates only when `top` has no room for
    /// [`capacity`](Self::capacity) flows.
    pub fn top_into(&self, k: usize, top: &mut Vec<HeavyHitter<LANES>>) {
        let rank = |hitter: &HeavyHitter<LANES>| {
            let heaviest_first = core::cmp::Reverse(hitter.weights[0].estimate());
            (heaviest_first, hitter.flow)
        };
        top.clear();
        top.extend(self.iter());
        if k < top.len() {
            top.select_nth_unstable_by_key(k, rank);
            top.truncate(k);
        }
        top.sort_unstable_by_key(rank);
    }

    /// Forgets every flow; keeps the memory.
    pub fn clear(&mut self) {
        self.buckets.fill(Bucket::EMPTY);
    }

    /// The maximum number of tracked flows, and the end of the [`Slot`]s.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.buckets.len() * WAYS
    }

    /// All memory in use, keys included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.buckets)
    }

    /// Always below the number of buckets, which is at least one.
    #[inline]
    fn bucket_of(&self, flow: FlowHash) -> usize {
        ((u128::from(flow.0) * self.buckets.len() as u128) >> 64) as usize
    }
}

#[inline]
fn slot(bucket: usize, way: usize) -> Slot {
    Slot((bucket * WAYS + way) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_words;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn one_bucket() -> HeavyHitters<2> {
        HeavyHitters::new(NonZeroU32::MIN)
    }

    #[test]
    fn the_table_of_the_module_holds() {
        let (one, two) = (
            HeavyHitters::<1>::within_bytes(200_000).unwrap(),
            HeavyHitters::<2>::within_bytes(200_000).unwrap(),
        );
        assert!(one.bytes() <= 200_000 && two.bytes() <= 200_000);
        assert_eq!((one.capacity(), two.capacity()), (10_240, 6_720));
        assert_eq!(HeavyHitters::<1>::within_bytes(100), None);
    }

    #[test]
    fn flows_are_exact_while_there_is_room() {
        let mut flows = one_bucket();
        for round in 0..10 {
            for flow in 0..WAYS as u64 {
                let placed = flows.add(FlowHash(flow), [flow, 100 * flow]);
                let change = if round == 0 { Change::Admitted } else { Change::Kept };
                assert_eq!((placed.slot.index() as u64, placed.change), (flow, change));
            }
        }
        for hitter in flows.iter() {
            let packets = 10 * hitter.flow.0;
            let exactly = |weight| Interval {
                lower: weight,
                upper: weight,
            };
            assert_eq!(hitter.weights, [exactly(packets), exactly(100 * packets)]);
        }
        assert_eq!(flows.bounds(FlowHash(99))[0], Interval::default());
    }

    #[test]
    fn the_lightest_flow_makes_room() {
        let mut flows = one_bucket();
        for flow in 0..WAYS as u64 {
            flows.add(FlowHash(flow), [10 + flow, 5000 - flow]);
        }
        let placed = flows.add(FlowHash(1000), [1, 64]);
        assert_eq!(placed.change, Change::Replaced(FlowHash(0)));
        let [packets, bytes] = flows.bounds(FlowHash(1000));
        assert_eq!(packets, Interval { lower: 1, upper: 11 });
        assert_eq!((bytes.upper, flows.bounds(FlowHash(0))[1].upper), (5064, 5000));
        assert!(
            (60..=64).contains(&bytes.lower),
            "{} is 64 less a rounding",
            bytes.lower
        );
    }

    #[test]
    fn top_is_by_the_first_weight() {
        let mut flows = one_bucket();
        for (flow, packets, bytes) in [(1, 5, 900), (2, 9, 100), (3, 7, 800)] {
            flows.add(FlowHash(flow), [packets, bytes]);
        }
        let mut top = Vec::new();
        flows.top_into(2, &mut top);
        assert_eq!(top.iter().map(|hitter| hitter.flow.0).collect::<Vec<_>>(), [2, 3]);
        flows.top_into(9, &mut top);
        assert_eq!(top.len(), 3);
    }

    #[test]
    fn counts_stop_at_their_end() {
        let mut flows = one_bucket();
        flows.add(FlowHash(1), [u64::MAX, 1]);
        flows.add(FlowHash(1), [5, 1]);
        assert_eq!(flows.bounds(FlowHash(1))[0].upper, u64::MAX);
    }

    proptest! {
        /// Two buckets and up to 200 flows evict continuously. Every flow, tracked or not, stays within its bounds in
        /// every lane, also after a merge of four shards.
        #[test]
        fn bounds_hold_fed_in_one_or_merged(
            updates in prop::collection::vec((0u64..200, 0u64..90, 0u64..5000, 0usize..4), 0..900),
        ) {
            let new = || HeavyHitters::<2>::new(NonZeroU32::new(2).unwrap());
            let mut truth = HashMap::<u64, [u64; 2]>::new();
            let (mut whole, mut shards) = (new(), [new(), new(), new(), new()]);
            for (flow, packets, bytes, shard) in updates {
                let sent = truth.entry(flow).or_default();
                *sent = [sent[0] + packets, sent[1] + bytes];
                whole.add(hash_words(&[flow], 0), [packets, bytes]);
                shards[shard].add(hash_words(&[flow], 0), [packets, bytes]);
            }
            let [mut merged, rest @ ..] = shards;
            for shard in &rest {
                merged.merge(shard).unwrap();
            }
            for (flow, sent) in truth {
                for sketch in [&whole, &merged] {
                    let bounds = sketch.bounds(hash_words(&[flow], 0));
                    for (weight, bound) in sent.iter().zip(bounds) {
                        prop_assert!(bound.lower <= *weight && *weight <= bound.upper);
                    }
                }
            }
        }
    }
}
