//! One bucket: [`WAYS`] flows that compete only with each other.
//!
//! Invariant, for every lane: a flow in the bucket sent at most `upper`, at least `upper` less its overcount; a flow
//! outside sent at most `floor`. It holds for the empty bucket (floor 0), and [`Bucket::add`] preserves it: an evicted
//! flow raises the floor to its own upper bound, and a new flow starts from the floor.

use super::{Interval, overcount::Overcount, tags::Tags};
use crate::hash::FlowHash;

/// Flows per bucket. Smaller buckets lose flows if several heavy ones share a bucket; larger ones make updates search
/// more. 16, 32 and 64 were measured.
pub const WAYS: usize = 32;

/// How an update changed the set of tracked flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// No change: the flow was tracked already.
    Kept,
    /// The flow took a free slot.
    Admitted,
    /// The flow replaced this one, which is no longer tracked.
    Replaced(FlowHash),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bucket<const LANES: usize> {
    tags: Tags,
    pub(super) keys: [u64; WAYS],
    pub(super) upper: [[u64; WAYS]; LANES],
    pub(super) over: [[Overcount; WAYS]; LANES],
    pub(super) floor: [u64; LANES],
    /// Ways in use, from the first on.
    pub(super) len: usize,
}

impl<const LANES: usize> Bucket<LANES> {
    pub(super) const EMPTY: Self = Self {
        tags: Tags::EMPTY,
        keys: [0; WAYS],
        upper: [[0; WAYS]; LANES],
        over: [[Overcount::ZERO; WAYS]; LANES],
        floor: [0; LANES],
        len: 0,
    };

    #[inline]
    pub(super) fn add(&mut self, key: u64, weights: [u64; LANES]) -> (usize, Change) {
        match self.find(key) {
            Some(way) => {
                for (upper, weight) in self.upper.iter_mut().zip(weights) {
                    upper[way] = upper[way].saturating_add(weight);
                }
                (way, Change::Kept)
            }
            None => self.admit(key, weights),
        }
    }

    pub(super) fn bounds(&self, key: u64) -> [Interval; LANES] {
        match self.find(key) {
            Some(way) => self.at(way),
            None => self.floor.map(|floor| Interval { lower: 0, upper: floor }),
        }
    }

    /// Keys and bounds of the flows in the bucket, way by way.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, [Interval; LANES])> {
        self.keys
            .iter()
            .take(self.len)
            .enumerate()
            .map(|(way, &key)| (key, self.at(way)))
    }

    fn at(&self, way: usize) -> [Interval; LANES] {
        core::array::from_fn(|lane| {
            let upper = self.upper[lane][way];
            Interval {
                lower: upper.saturating_sub(self.over[lane][way].get()),
                upper,
            }
        })
    }

    /// Ways from `len` on hold key 0, which may also be a flow's key.
    #[inline]
    fn find(&self, key: u64) -> Option<usize> {
        self.tags
            .candidates(key as u8)
            .find(|&way| self.keys[way] == key && way < self.len)
    }

    fn admit(&mut self, key: u64, weights: [u64; LANES]) -> (usize, Change) {
        let (way, change) = match self.len {
            WAYS => {
                let way = self.lightest();
                for (floor, upper) in self.floor.iter_mut().zip(&self.upper) {
                    *floor = upper[way].max(*floor);
                }
                (way, Change::Replaced(FlowHash(self.keys[way])))
            }
            free => {
                self.len += 1;
                (free, Change::Admitted)
            }
        };
        self.set_key(way, key);
        for (lane, weight) in weights.into_iter().enumerate() {
            self.upper[lane][way] = self.floor[lane].saturating_add(weight);
            self.over[lane][way] = Overcount::at_least(self.floor[lane]);
        }
        (way, change)
    }

    pub(super) fn set_key(&mut self, way: usize, key: u64) {
        self.tags.set(way, key as u8);
        self.keys[way] = key;
    }

    fn lightest(&self) -> usize {
        // Four searches in parallel: a single one would wait for each comparison.
        let ranks = &self.upper[0];
        let mut lightest = [0, 1, 2, 3].map(|way| (ranks[way], way));
        for way in (4..WAYS).step_by(4) {
            for (lane, lightest) in lightest.iter_mut().enumerate() {
                *lightest = (*lightest).min((ranks[way + lane], way + lane));
            }
        }
        let [a, b, c, d] = lightest;
        a.min(b).min(c.min(d)).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_zero_is_a_flow_like_any_other() {
        let mut bucket = Bucket::<1>::EMPTY;
        assert_eq!(bucket.bounds(0), [Interval::default()]);
        assert_eq!(bucket.add(5, [1]), (0, Change::Admitted));
        assert_eq!(bucket.add(0, [7]), (1, Change::Admitted));
        assert_eq!(bucket.add(0, [7]), (1, Change::Kept));
        assert_eq!(bucket.bounds(0), [Interval { lower: 14, upper: 14 }]);
    }

    #[test]
    fn the_floor_is_at_most_a_share_of_the_weight() {
        let mut bucket = Bucket::<1>::EMPTY;
        let mut total = 0;
        for update in 0..5000u64 {
            bucket.add(update * update % 977, [1 + update % 3]);
            total += 1 + update % 3;
            assert!(bucket.floor[0] <= total / WAYS as u64);
        }
    }
}
