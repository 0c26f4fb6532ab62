//! Count-Min: upper bounds of the weight of each flow.
//!
//! `depth` rows of `width` counters. A flow adds its weight (packets, bytes) to one counter a row;
//! each of its counters then holds its weight plus that of the flows it shares the counter with,
//! so the smallest is the best upper bound (Cormode, Muthukrishnan, *An improved data stream
//! summary: the count-min sketch and its applications*, J. Algorithms 55(1), 2005).
//!
//! Rows are hashed exactly as in Apache Spark's `CountMinSketch`, with the 64-bit flow hash as the
//! key: the counters *are* Spark's, and [`CountMin::to_spark`] is a copy. Two sketches of the same
//! depth, width and seed merge whether they were made here or there.
//!
//! One sketch counts one weight. Packets and bytes use two sketches of the same shape.
//!
//! | update | estimate | 4 shards merged |
//! |---|---|---|
//! | [`Update::Plain`] | upper bound | equal to one sketch fed with everything, to the byte |
//! | [`Update::Conservative`] | tighter upper bound | an upper bound |
//!
//! Submodules: `rows`, which counter a hash names; `bounds`, ε and δ; `spark`, the bytes.

mod bounds;
mod rows;
mod spark;

use alloc::{boxed::Box, vec};
use core::fmt;

pub use bounds::{Bounds, Guarantee};
pub use spark::SparkError;

use crate::hash::FlowHash;
use crate::mismatch::Mismatch;
use rows::Rows;

/// No counter and no total passes this: Spark's counters are signed. 400 Gbit/s fill it in 5.8 years.
pub const CEILING: u64 = i64::MAX as u64;

/// Rows of the tables of flows. All boxes use the same shape and seed, because only equal tables merge.
pub const DEPTH: u32 = 4;
/// Counters in a row: 512 KiB a table.
pub const WIDTH: u32 = 16_384;
/// Seed of the row hashes, as in Spark.
pub const SEED: i32 = 42;

/// How an update changes the counters of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Adds the weight to all of them.
    Plain,
    /// Raises each counter only as far as the new estimate (Estan, Varghese, *New directions in traffic measurement and
    /// accounting*, SIGCOMM 2002, §3.3.2). Still never below the truth, and closer to it; but a counter is no longer a
    /// sum, so it depends on the order of arrival.
    Conservative,
}

/// A table of counters.
///
/// ```
/// use rocescope_sketches::{CountMin, FlowHash, count_min::Update};
///
/// let mut bytes = CountMin::new(4, 16_384, 42, Update::Plain).unwrap();
/// bytes.add(FlowHash(0x0123_4567_89ab_cdef), 4096);
/// bytes.add(FlowHash(0x0123_4567_89ab_cdef), 1024);
/// let bounds = bytes.bounds(FlowHash(0x0123_4567_89ab_cdef));
/// assert_eq!((bounds.upper, bytes.total()), (5120, 5120));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountMin {
    rows: Rows,
    /// Row after row. At most [`total`](Self::total) each, so at most [`CEILING`].
    counters: Box<[u64]>,
    total: u64,
    update: Update,
    saturated: bool,
}

impl Default for CountMin {
    /// An empty table of flows: [`DEPTH`], [`WIDTH`], [`SEED`], plain.
    fn default() -> Self {
        let counters = DEPTH as usize * WIDTH as usize;
        Self::empty(Rows::seeded(DEPTH, WIDTH, SEED), counters, Update::Plain)
    }
}

impl CountMin {
    /// `depth` rows of `width` counters, 8 bytes each. A power of two is the fastest width.
    ///
    /// # Errors
    /// [`ShapeError`] when either is 0 or above 2³¹ − 1, or the table exceeds the address space.
    pub fn new(depth: u32, width: u32, seed: i32, update: Update) -> Result<Self, ShapeError> {
        let counters = ShapeError::check(depth, width)?;
        Ok(Self::empty(Rows::seeded(depth, width, seed), counters, update))
    }

    fn empty(rows: Rows, counters: usize, update: Update) -> Self {
        let counters = vec![0; counters].into_boxed_slice();
        Self {
            rows,
            counters,
            total: 0,
            update,
            saturated: false,
        }
    }

    /// Adds `weight` to the flow. At [`CEILING`] the counters stop and
    /// [`saturated`](Self::saturated) is set.
    #[inline]
    pub fn add(&mut self, flow: FlowHash, weight: u64) {
        // Every counter is at most the total, so while the total fits no counter overflows.
        match self.total.checked_add(weight) {
            Some(total) if total <= CEILING => self.total = total,
            _ => return self.add_at_ceiling(flow, weight),
        }
        match self.update {
            Update::Plain => self.change(flow, |counter| counter + weight),
            Update::Conservative => {
                let raised = self.estimate(flow) + weight;
                // The larger of both, without a branch, which would be unpredictable.
                self.change(flow, |counter| {
                    let lift = raised.cast_signed() - counter.cast_signed();
                    counter + (lift & !(lift >> 63)).cast_unsigned()
                });
            }
        }
    }

    /// Adds one weight per flow, like repeated [`add`](Self::add): a third faster for plain tables of four rows whose
    /// width is a power of two. Ignores the rest of the longer slice.
    pub fn add_batch(&mut self, flows: &[FlowHash], weights: &[u64]) {
        let updates = flows.len().min(weights.len());
        let (flows, weights) = (&flows[..updates], &weights[..updates]);
        let sum = weights
            .iter()
            .try_fold(self.total, |sum, weight| sum.checked_add(*weight));
        match sum.filter(|total| *total <= CEILING && self.update == Update::Plain) {
            Some(total) => {
                self.total = total;
                self.rows.add_all(&mut self.counters, flows, weights);
            }
            None => flows
                .iter()
                .zip(weights)
                .for_each(|(flow, weight)| self.add(*flow, *weight)),
        }
    }

    #[cold]
    fn add_at_ceiling(&mut self, flow: FlowHash, weight: u64) {
        (self.total, self.saturated) = (CEILING, true);
        self.change(flow, |counter| counter.saturating_add(weight).min(CEILING));
    }

    #[inline]
    fn change(&mut self, flow: FlowHash, change: impl Fn(u64) -> u64) {
        self.rows.for_each(flow, |at| {
            if let Some(counter) = self.counters.get_mut(at) {
                *counter = change(*counter);
            }
        });
    }

    /// The flow's weight or more; never less unless [`saturated`](Self::saturated).
    #[inline]
    #[must_use]
    pub fn estimate(&self, flow: FlowHash) -> u64 {
        let mut min = u64::MAX;
        self.rows.for_each(flow, |at| {
            if let Some(&counter) = self.counters.get(at) {
                min = min.min(counter);
            }
        });
        min
    }

    /// Adds every counter of `other`.
    ///
    /// Plain tables give the table of one sketch fed with everything. If either is conservative, so is the result:
    /// still an upper bound, but above that of one sketch.
    ///
    /// # Errors
    /// [`Mismatch`] when depth, width or the row hashes (the seed) differ.
    pub fn merge(&mut self, other: &Self) -> Result<(), Mismatch> {
        self.rows.check_same(&other.rows)?;
        for (ours, theirs) in self.counters.iter_mut().zip(&other.counters) {
            *ours = ours.saturating_add(*theirs).min(CEILING);
        }
        let total = self.total.saturating_add(other.total);
        self.saturated |= other.saturated || total > CEILING;
        self.total = total.min(CEILING);
        if other.update == Update::Conservative {
            self.update = Update::Conservative;
        }
        Ok(())
    }

    /// Sets every counter to 0; keeps the memory, the row hashes and the kind of update.
    pub fn clear(&mut self) {
        self.counters.fill(0);
        (self.total, self.saturated) = (0, false);
    }

    /// Sum of all weights added.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The total reached [`CEILING`]: it and the counters may be too low from then on.
    #[must_use]
    pub fn saturated(&self) -> bool {
        self.saturated
    }

    /// The kind of update; conservative as soon as a conservative sketch was merged into it.
    #[must_use]
    pub fn update(&self) -> Update {
        self.update
    }

    /// Number of rows.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.rows.depth()
    }

    /// Counters in a row.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.rows.width()
    }
}

/// A table that cannot exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeError {
    /// The requested rows.
    pub depth: u32,
    /// The requested counters per row.
    pub width: u32,
}

impl ShapeError {
    /// The number of counters if the table can exist.
    fn check(depth: u32, width: u32) -> Result<usize, Self> {
        let fits = |n: u32| (1..=i32::MAX as u32).contains(&n);
        let bytes = u64::from(depth) * u64::from(width) * 8;
        match usize::try_from(bytes) {
            Ok(bytes) if fits(depth) && fits(width) && bytes <= isize::MAX as usize => Ok(bytes / 8),
            _ => Err(Self { depth, width }),
        }
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { depth, width } = self;
        write!(f, "a Count-Min table cannot have {depth} rows of {width} counters")
    }
}

impl core::error::Error for ShapeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_words;
    use proptest::prelude::*;
    use std::{collections::HashMap, vec::Vec};

    /// Small enough that flows collide all the time.
    fn tiny(update: Update, width: u32) -> CountMin {
        CountMin::new(3, width, 5, update).unwrap()
    }

    fn updates() -> impl Strategy<Value = Vec<(u64, u64, usize)>> {
        prop::collection::vec((0u64..60, 1u64..5000, 0usize..4), 0..300)
    }

    #[test]
    fn the_default_is_the_shape_of_flows() {
        let same = CountMin::new(DEPTH, WIDTH, SEED, Update::Plain);
        assert_eq!(same, Ok(CountMin::default()));
        // As documented in formats.md, and used by the package for Spark.
        let multipliers = [1_562_431_130, 117_392_763, 1_467_211_248, 102_948_884];
        assert_eq!(CountMin::default().rows.multipliers(), multipliers);
    }

    #[test]
    fn tables_that_cannot_be_are_refused() {
        for (depth, width) in [(0, 8), (4, 0), (4, 1 << 31), (u32::MAX, 8)] {
            let refused = CountMin::new(depth, width, 0, Update::Plain);
            assert_eq!(refused.unwrap_err(), ShapeError { depth, width });
        }
    }

    #[test]
    fn a_merge_of_another_shape_or_seed_is_refused() {
        let refused = |depth, width, seed| {
            let other = CountMin::new(depth, width, seed, Update::Plain).unwrap();
            CountMin::new(4, 64, 1, Update::Plain)
                .unwrap()
                .merge(&other)
                .unwrap_err()
                .parameter
        };
        assert_eq!(refused(3, 64, 1), "depth");
        assert_eq!(refused(4, 65, 1), "width");
        assert_eq!(refused(4, 64, 2), "row hash");
    }

    #[test]
    fn at_the_ceiling_nothing_wraps_and_the_flag_reports_it() {
        for update in [Update::Plain, Update::Conservative] {
            let mut sketch = tiny(update, 16);
            sketch.add(FlowHash(3), CEILING);
            assert!(!sketch.saturated());
            sketch.add(FlowHash(3), 1);
            sketch.add_batch(&[FlowHash(4), FlowHash(5)], &[u64::MAX, 1]);
            assert!(sketch.saturated());
            assert_eq!((sketch.total(), sketch.estimate(FlowHash(3))), (CEILING, CEILING));
            let twin = sketch.clone();
            sketch.merge(&twin).unwrap();
            assert_eq!((sketch.total(), sketch.estimate(FlowHash(4))), (CEILING, CEILING));
            sketch.clear();
            assert_eq!(sketch, tiny(update, 16));
        }
    }

    #[test]
    fn conservative_sticks() {
        let mut sketch = tiny(Update::Plain, 16);
        sketch.merge(&tiny(Update::Conservative, 16)).unwrap();
        assert_eq!(sketch.update(), Update::Conservative);
    }

    proptest! {
        /// Never below the truth, and conservative never above plain, in shards and whole.
        #[test]
        fn never_below_the_truth(updates in updates(), width in prop::sample::select(vec![16, 17])) {
            let mut truth = HashMap::<u64, u64>::new();
            let (mut plain, mut conservative) =
                (tiny(Update::Plain, width), tiny(Update::Conservative, width));
            let mut shards: Vec<_> = (0..4).map(|_| tiny(Update::Conservative, width)).collect();
            for &(flow, weight, shard) in &updates {
                let hash = hash_words(&[flow], 0);
                *truth.entry(flow).or_default() += weight;
                plain.add(hash, weight);
                conservative.add(hash, weight);
                shards[shard].add(hash, weight);
            }
            let mut merged = shards.remove(0);
            for shard in &shards {
                merged.merge(shard).unwrap();
            }
            for (&flow, &weight) in &truth {
                let hash = hash_words(&[flow], 0);
                prop_assert!(weight <= conservative.estimate(hash));
                prop_assert!(conservative.estimate(hash) <= plain.estimate(hash));
                prop_assert!(weight <= merged.estimate(hash));
                prop_assert!(merged.estimate(hash) <= plain.estimate(hash));
            }
            prop_assert_eq!(plain.total(), truth.values().sum::<u64>());
        }

        /// One by one or all at once: the same table, for every shape and kind.
        #[test]
        fn a_batch_is_its_updates(updates in updates(), depth in 3u32..6, width in 15u32..18) {
            let hash = |(flow, ..): &(u64, u64, usize)| hash_words(&[*flow], 0);
            let (flows, weights): (Vec<_>, Vec<_>) = updates.iter().map(|u| (hash(u), u.1)).unzip();
            for update in [Update::Plain, Update::Conservative] {
                let mut one_by_one = CountMin::new(depth, width, 5, update).unwrap();
                let mut at_once = one_by_one.clone();
                flows.iter().zip(&weights).for_each(|(flow, w)| one_by_one.add(*flow, *w));
                at_once.add_batch(&flows, &weights);
                prop_assert_eq!(one_by_one, at_once);
            }
        }

        /// Fed in four shards and merged, or fed in one: the same bytes.
        #[test]
        fn plain_shards_merge_to_the_byte(updates in updates()) {
            let mut whole = tiny(Update::Plain, 16);
            let mut shards: Vec<_> = (0..4).map(|_| tiny(Update::Plain, 16)).collect();
            for (flow, weight, shard) in updates {
                whole.add(hash_words(&[flow], 0), weight);
                shards[shard].add(hash_words(&[flow], 0), weight);
            }
            let mut merged = shards.remove(0);
            for shard in &shards {
                merged.merge(shard).unwrap();
            }
            prop_assert_eq!(merged.to_spark(), whole.to_spark());
        }
    }
}
