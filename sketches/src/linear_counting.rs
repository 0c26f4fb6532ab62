//! Linear Counting: the number of different flows in a window.
//!
//! A bitmap of `m` bits; a flow sets the bit its hash names; `z` bits are still zero at the end:
//! `n = −m · ln(z / m)` (Whang, Vander-Zanden, Taylor, *A linear-time probabilistic counting
//! algorithm for database applications*, ACM TODS 15(2), 1990). The bitmap comes in rows of
//! [`ROW_BITS`], the size that Spark's `bitmap_or_agg` and `bitmap_count` merge and count.
//!
//! Two flows on one bit count as one. Among 72 flows in 32,768 bits that happens in one window of thirteen, which is a
//! large error for a small fabric, so the first [`FIRST_FLOWS`] hashes are also kept: up to that many flows the count
//! is exact. The bitmap has every flow either way, and only the bitmap leaves the process.
//!
//! Choosing rows ([`rows_for`]; relative standard error `√(m (eᵗ − t − 1)) / n`, `t = n / m`):
//!
//! | rows | bits | bytes | 10,000 flows | 100,000 flows | 300,000 flows |
//! |---|---|---|---|---|---|
//! | 1 | 32,768 | 4,096 | 0.41 % | 0.75 % | saturated |
//! | 2 | 65,536 | 8,192 | 0.28 % | 0.37 % | 0.82 % |
//! | 4 | 131,072 | 16,384 | 0.20 % | 0.23 % | 0.31 % |
//!
//! # When it fills up
//!
//! A saturated bitmap cannot become a HyperLogLog: a set bit retains only a part of the hash. A caller that expects
//! more flows than bits also feeds the same [`FlowHash`] words to a [`HyperLogLog`](crate::HyperLogLog), as the
//! pipeline does once its table of exact flows is full.
//!
//! Submodules: `first_flows`, the exact start; `estimate`, the formulas.

mod estimate;
mod first_flows;

use alloc::{boxed::Box, vec};
use core::{fmt, num::NonZeroU16};

pub use estimate::{Estimate, rows_for};
pub use first_flows::FIRST_FLOWS;

use crate::hash::FlowHash;
use crate::mismatch::Mismatch;
use first_flows::{FirstFlows, Membership};

/// Bits per row: the capacity of one `bitmap_*` value of Spark, which silently truncates longer ones.
pub const ROW_BITS: u32 = 32_768;
/// Bytes in a row.
pub const ROW_BYTES: usize = ROW_BITS as usize / 8;
const ROW_WORDS: usize = ROW_BITS as usize / 64;

/// A bitmap of `rows` × 32,768 bits and the first flows, exactly.
///
/// ```
/// use rocescope_sketches::{LinearCounting, hash::hash_words};
///
/// let mut flows = LinearCounting::default();
/// for packet in 0..10_000u64 {
///     flows.add(hash_words(&[packet % 72], 0));
/// }
/// let estimate = flows.estimate();
/// assert_eq!(estimate.rounded(), 72);
/// assert!(estimate.exact && !estimate.saturated);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinearCounting {
    /// Bit `p` is bit `p % 64` of word `p / 64`: as little-endian bytes, least significant first.
    words: Box<[u64]>,
    rows: NonZeroU16,
    first: FirstFlows,
}

impl Default for LinearCounting {
    /// One row: 32,768 bits.
    fn default() -> Self {
        Self::new(NonZeroU16::MIN)
    }
}

impl LinearCounting {
    /// An empty bitmap of `rows` × [`ROW_BITS`] bits.
    #[must_use]
    pub fn new(rows: NonZeroU16) -> Self {
        let words = vec![0; usize::from(rows.get()) * ROW_WORDS].into_boxed_slice();
        Self {
            words,
            rows,
            first: FirstFlows::new(),
        }
    }

    /// Records a flow. Recording it again changes nothing.
    #[inline]
    pub fn add(&mut self, flow: FlowHash) {
        if self.first.add(flow) != Membership::Known {
            let bits = self.bits();
            mark(&mut self.words, bits, flow);
        }
    }

    /// Records every flow, like repeated [`add`](Self::add): twice as fast for more than [`FIRST_FLOWS`] flows.
    pub fn add_batch(&mut self, flows: &[FlowHash]) {
        let mut flows = flows.iter();
        while self.first.is_open()
            && let Some(flow) = flows.next()
        {
            self.add(*flow);
        }
        let (bits, words) = (self.bits(), &mut *self.words);
        // Four at a time: the loop around a mark costs nearly as much as the mark.
        let (fours, rest) = flows.as_slice().as_chunks::<4>();
        for [a, b, c, d] in fours {
            mark(words, bits, *a);
            mark(words, bits, *b);
            mark(words, bits, *c);
            mark(words, bits, *d);
        }
        rest.iter().for_each(|flow| mark(words, bits, *flow));
    }

    /// The number of flows with its error.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        let ones: u64 = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        match self.first.count() {
            Some(flows) => Estimate::exact(flows),
            None => Estimate::from_zeros(self.bits() - ones, self.bits()),
        }
    }

    /// Adds the flows of `other`: the result equals one sketch fed with both.
    ///
    /// # Errors
    /// [`Mismatch`] if the number of rows differs. The caller must use the same hash seed for both.
    pub fn merge(&mut self, other: &Self) -> Result<(), Mismatch> {
        Mismatch::check("rows", self.rows.get().into(), other.rows.get().into())?;
        for (ours, theirs) in self.words.iter_mut().zip(&other.words) {
            *ours |= theirs;
        }
        self.first.merge(&other.first);
        Ok(())
    }

    /// Forgets every flow; keeps the memory.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.first.clear();
    }

    /// Number of rows of [`ROW_BITS`].
    #[must_use]
    pub fn rows(&self) -> NonZeroU16 {
        self.rows
    }

    /// `m`, the number of bits in all rows.
    #[inline]
    #[must_use]
    pub fn bits(&self) -> u64 {
        u64::from(self.rows.get()) * u64::from(ROW_BITS)
    }

    /// The rows as bytes, in order: bit `p` of a row is bit `p % 8` of byte `p / 8`.
    ///
    /// Row `r` of one sketch merges with row `r` of another by a bitwise or, which is what Spark's
    /// `bitmap_or_agg` does.
    pub fn row_bytes(&self) -> impl Iterator<Item = [u8; ROW_BYTES]> {
        self.words.chunks_exact(ROW_WORDS).map(|words| {
            let mut row = [0; ROW_BYTES];
            for (bytes, word) in row.chunks_exact_mut(8).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            row
        })
    }

    /// Reads the rows that [`row_bytes`](Self::row_bytes) or Spark wrote.
    ///
    /// The bytes do not include the exact start, so the count is an estimate from then on.
    ///
    /// # Errors
    /// [`RowError`] when there are no rows, more than 65,535, or one is not [`ROW_BYTES`] long.
    pub fn from_row_bytes(rows: &[impl AsRef<[u8]>]) -> Result<Self, RowError> {
        let count = u16::try_from(rows.len()).ok().and_then(NonZeroU16::new);
        let count = count.ok_or(RowError::Count(rows.len()))?;
        if let Some(odd) = rows.iter().find(|row| row.as_ref().len() != ROW_BYTES) {
            return Err(RowError::Length(odd.as_ref().len()));
        }
        let mut sketch = Self::new(count);
        let bytes = rows.iter().flat_map(|row| row.as_ref().as_chunks::<8>().0);
        for (word, bytes) in sketch.words.iter_mut().zip(bytes) {
            *word = u64::from_le_bytes(*bytes);
        }
        sketch.first.close();
        Ok(sketch)
    }
}

/// Sets the bit that the hash names among `bits`.
#[inline]
fn mark(words: &mut [u64], bits: u64, flow: FlowHash) {
    // The hash as a fraction of 2⁶⁴, times m: its top bits choose, for any number of rows.
    let bit = ((u128::from(flow.0) * u128::from(bits)) >> 64) as usize;
    if let Some(word) = words.get_mut(bit / 64) {
        // Most packets belong to known flows: reading is cheaper than storing.
        if (*word >> (bit % 64)) & 1 == 0 {
            set(word, bit % 64);
        }
    }
}

/// Out of line, so that nothing of it is computed for a bit that is already set.
#[cold]
#[inline(never)]
fn set(word: &mut u64, bit: usize) {
    *word |= 1 << bit;
}

/// Bytes that are not the rows of a bitmap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowError {
    /// The number of rows is not between 1 and 65,535.
    Count(usize),
    /// The length of a row in bytes, which is not [`ROW_BYTES`].
    Length(usize),
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(rows) => write!(f, "a bitmap has 1 to 65,535 rows, not {rows}"),
            Self::Length(bytes) => write!(f, "a bitmap row has {ROW_BYTES} bytes, not {bytes}"),
        }
    }
}

impl core::error::Error for RowError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_words;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn rows(rows: u16) -> NonZeroU16 {
        NonZeroU16::new(rows).unwrap()
    }

    fn fed(row_count: u16, flows: u64, seed: u64) -> LinearCounting {
        let mut sketch = LinearCounting::new(rows(row_count));
        for flow in 0..flows {
            sketch.add(hash_words(&[flow], seed));
        }
        sketch
    }

    #[test]
    fn seventy_two_flows_are_exact_for_every_seed() {
        for seed in 0..1000 {
            assert_eq!(fed(1, 72, seed).estimate().rounded(), 72, "seed {seed}");
        }
    }

    #[test]
    fn seventy_two_flows_from_the_bitmap_alone_are_exact_for_nine_seeds_of_ten() {
        let exact = (0..1000).filter(|&seed| {
            let rows: Vec<_> = fed(1, 72, seed).row_bytes().collect();
            LinearCounting::from_row_bytes(&rows).unwrap().estimate().rounded() == 72
        });
        assert!(exact.count() >= 900);
    }

    #[test]
    fn a_hundred_thousand_flows_in_65_536_bits_are_within_one_percent() {
        let mut errors: Vec<f64> = (0..200)
            .map(|seed| (fed(2, 100_000, seed).estimate().flows / 100_000.0 - 1.0).abs())
            .collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors[189] < 0.01, "95th percentile {}", errors[189]);
    }

    #[test]
    fn the_stated_standard_error_is_the_observed_one() {
        let estimates: Vec<f64> = (0..400).map(|seed| fed(1, 20_000, seed).estimate().flows).collect();
        let squares: f64 = estimates.iter().map(|n| (n - 20_000.0) * (n - 20_000.0)).sum();
        let observed = (squares / 400.0).sqrt();
        let stated = fed(1, 20_000, 0).estimate().standard_error;
        assert!(
            (observed / stated - 1.0).abs() < 0.12,
            "observed {observed}, stated {stated}"
        );
    }

    #[test]
    fn a_full_bitmap_is_reported() {
        assert!(!fed(1, 200_000, 1).estimate().saturated);
        assert!(fed(1, 500_000, 1).estimate().saturated);
        assert!(fed(1, 500_000, 1).estimate().flows.is_finite());
    }

    #[test]
    fn bytes_are_least_significant_bit_first() {
        let mut sketch = LinearCounting::new(rows(2));
        sketch.add(FlowHash(0)); // bit 0
        sketch.add(FlowHash(11 << 48)); // 11 / 65,536 of 65,536 bits: bit 11
        sketch.add(FlowHash(u64::MAX)); // the last bit of the last row
        let rows: Vec<_> = sketch.row_bytes().collect();
        assert_eq!(rows[0][..3], [0b0000_0001, 0b0000_1000, 0]);
        assert_eq!(rows[1][ROW_BYTES - 1], 0b1000_0000);
        let ones: u32 = rows.iter().flatten().map(|byte| byte.count_ones()).sum();
        assert_eq!(ones, 3);
    }

    #[test]
    fn rows_that_are_not_rows_are_refused() {
        let none: [&[u8]; 0] = [];
        assert_eq!(LinearCounting::from_row_bytes(&none), Err(RowError::Count(0)));
        assert_eq!(LinearCounting::from_row_bytes(&[[0u8; 12]]), Err(RowError::Length(12)));
    }

    #[test]
    fn a_merge_of_other_rows_is_refused() {
        let refused = LinearCounting::new(rows(1)).merge(&LinearCounting::new(rows(2)));
        assert_eq!(
            refused,
            Err(Mismatch {
                parameter: "rows",
                ours: 1,
                theirs: 2
            })
        );
    }

    proptest! {
        /// Fed in four shards and merged, one by one or at once: the same bytes, the same estimate.
        #[test]
        fn shards_merge_to_the_byte(
            flows in prop::collection::vec((0u64..400, 0usize..4), 0..600),
            row_count in 1u16..4,
        ) {
            let mut whole = LinearCounting::new(rows(row_count));
            let mut shards: Vec<_> = (0..4).map(|_| LinearCounting::new(rows(row_count))).collect();
            let mut order = Vec::new();
            for (flow, shard) in flows {
                let hash = hash_words(&[flow], 7);
                order.push(hash);
                whole.add(hash);
                shards[shard].add(hash);
            }
            let mut merged = shards.remove(0);
            for shard in &shards {
                merged.merge(shard).unwrap();
            }
            let mut batched = LinearCounting::new(rows(row_count));
            batched.add_batch(&order);
            prop_assert_eq!(&batched, &whole);
            prop_assert!(merged.row_bytes().eq(whole.row_bytes()));
            prop_assert_eq!(merged.estimate(), whole.estimate());
        }
    }
}
