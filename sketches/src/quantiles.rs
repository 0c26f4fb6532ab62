//! A histogram of durations with a bounded relative error.
//!
//! Buckets are logarithmic-linear: each power of two is cut into 2^`bits` equal parts, so a bucket
//! is at most 2^-`bits` of its value wide (`HdrHistogram`, Tene 2012). Only used buckets are kept, sorted; if there
//! would be more than [`MAX_BUCKETS`], neighbours are joined and `bits` falls by one, as in `UDDSketch` (Epicoco et
//! al. 2020). Minimum, maximum and sum are exact, so a quantile of one repeated value is that value.
//!
//! A quantile is at most 0.8 % from the sample of its rank while the longest time is at most 65,536 times the shortest;
//! the error doubles where the logarithm of that range doubles.

use alloc::vec::Vec;

/// Parts of a power of two at first: 2^6, so that a quantile is at most 0.8 % from a sample.
const FIRST_BITS: u8 = 6;
/// The maximum number of buckets, 8 bytes each: sixteen powers of two at full resolution. Times of one flow mostly use
/// some tens.
pub const MAX_BUCKETS: usize = 16 << FIRST_BITS;
/// The maximum number of buckets in a row of a dataset.
const ROW_BUCKETS: usize = 64;

/// A mergeable histogram of durations in nanoseconds. 56 bytes, and 8 for each bucket in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantiles {
    /// Bucket numbers and counts, ascending.
    buckets: Vec<(u32, u32)>,
    samples: u64,
    sum: u64,
    min: u64,
    max: u64,
    bits: u8,
}

impl Default for Quantiles {
    fn default() -> Self {
        Self {
            buckets: Vec::new(),
            samples: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            bits: FIRST_BITS,
        }
    }
}

impl Quantiles {
    /// Bytes that the buckets have allocated.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<(u32, u32)>()
    }

    /// Adds a sample.
    pub fn add(&mut self, value_ns: u64) {
        self.samples += 1;
        self.sum = self.sum.saturating_add(value_ns);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
        self.raise(bucket(value_ns, self.bits), 1);
    }

    /// Adds all samples of `other`; the coarser of the two resolutions remains.
    pub fn merge(&mut self, other: &Self) {
        self.samples += other.samples;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        while self.bits > other.bits {
            self.coarsen();
        }
        for &(number, count) in &other.buckets {
            // Changing the resolution may coarsen it further.
            let value = lowest(number, other.bits);
            self.raise(bucket(value, self.bits), count);
        }
    }

    /// The number of samples.
    #[must_use]
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// The smallest sample, exact.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.samples > 0).then_some(self.min)
    }

    /// The largest sample, exact.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.samples > 0).then_some(self.max)
    }

    /// The mean, rounded down, exact.
    #[must_use]
    pub fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.samples)
    }

    /// The sample of rank ceil(`share` · samples), as the middle of its bucket and within minimum and maximum; `None`
    /// without samples.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        if self.samples == 0 {
            return None;
        }
        let wanted = share.clamp(0.0, 1.0) * self.samples as f64;
        let mut seen = 0u64;
        for &(number, count) in &self.buckets {
            seen += u64::from(count);
            if seen as f64 >= wanted {
                let (low, high) = (lowest(number, self.bits), lowest(number + 1, self.bits));
                let middle = low + (high - low) / 2;
                return Some(middle.clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }

    /// For the dataset: `bits`, then bucket number and count alternating, of at most 65 buckets. The lowest value of a
    /// bucket is `(2^bits + n % 2^bits) << (n / 2^bits - 1)` from `2^bits` on, `n` below.
    #[must_use]
    pub fn row(&self) -> Vec<i64> {
        if self.buckets.len() > ROW_BUCKETS && self.bits > 0 {
            let mut coarser = self.clone();
            coarser.coarsen();
            return coarser.row();
        }
        let mut row = Vec::with_capacity(1 + 2 * self.buckets.len());
        row.push(i64::from(self.bits));
        for &(number, count) in &self.buckets {
            row.extend([i64::from(number), i64::from(count)]);
        }
        row
    }

    fn raise(&mut self, number: u32, count: u32) {
        let mut number = number;
        loop {
            match self.buckets.binary_search_by_key(&number, |(n, _)| *n) {
                Ok(at) => {
                    if let Some((_, sum)) = self.buckets.get_mut(at) {
                        *sum = sum.saturating_add(count);
                    }
                    return;
                }
                Err(at) if self.buckets.len() < MAX_BUCKETS || self.bits == 0 => {
                    // Without bits there is one bucket per power of two: 65 at most.
                    if self.buckets.capacity() == self.buckets.len() {
                        // Growing by half saves memory with 100,000 connections.
                        self.buckets.reserve_exact(4 + self.buckets.len() / 2);
                    }
                    self.buckets.insert(at, (number, count));
                    return;
                }
                Err(_) => {
                    let value = lowest(number, self.bits);
                    self.coarsen();
                    number = bucket(value, self.bits);
                }
            }
        }
    }

    fn coarsen(&mut self) {
        let (from, to) = (self.bits, self.bits.saturating_sub(1));
        self.bits = to;
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(self.buckets.len());
        for &(number, count) in &self.buckets {
            let number = bucket(lowest(number, from), to);
            match joined.last_mut() {
                Some((last, sum)) if *last == number => *sum = sum.saturating_add(count),
                _ => joined.push((number, count)),
            }
        }
        self.buckets = joined;
    }
}

/// The bucket of a value: the value itself below 2^bits, then 2^bits numbers per power of two.
const fn bucket(value: u64, bits: u8) -> u32 {
    if value < 1 << bits {
        return value as u32;
    }
    let shift = value.ilog2() - bits as u32;
    // The leading one selects the power of two; the `bits` after it select the part.
    ((shift + 1) << bits) + ((value >> shift) as u32 - (1 << bits))
}

/// The lowest value of a bucket; the end of the range beyond the last.
const fn lowest(number: u32, bits: u8) -> u64 {
    let part = number & ((1 << bits) - 1);
    let power = number >> bits;
    if power == 0 {
        return part as u64;
    }
    let shift = power - 1;
    if shift + bits as u32 >= 64 {
        return u64::MAX;
    }
    ((1u64 << bits) + part as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_value_comes_back_exact() {
        let mut times = Quantiles::default();
        for _ in 0..1000 {
            times.add(12_345);
        }
        assert_eq!(times.quantile(0.5), Some(12_345));
        assert_eq!((times.quantile(0.99), times.mean()), (Some(12_345), Some(12_345)));
        assert_eq!(Quantiles::default().quantile(0.5), None);
    }

    /// Round trips of a loaded fabric: from microseconds to tens of milliseconds. With 64 buckets the error was 12 %.
    #[test]
    fn quantiles_of_a_wide_range_are_within_the_stated_error() {
        for seed in 1..=20u64 {
            let mut state = seed;
            let mut random = || {
                state = state
                    .wrapping_mul(0x5851_f42d_4c95_7f2d)
                    .wrapping_add(0x1405_7b7e_f767_814f);
                state >> 33
            };
            let mut times = Quantiles::default();
            let mut sorted: Vec<u64> = (0..20_000)
                .map(|_| {
                    let shift = random() % 16;
                    (1_000 + random() % 1_000) << shift
                })
                .collect();
            sorted.iter().for_each(|ns| times.add(*ns));
            sorted.sort_unstable();
            for (share, rank) in [
                (0.01, 200),
                (0.5, 10_000),
                (0.9, 18_000),
                (0.99, 19_800),
                (0.999, 19_980),
            ] {
                let (exact, found) = (sorted[rank - 1], times.quantile(share).unwrap());
                assert!(
                    found.abs_diff(exact) * 1_000 <= exact * 8,
                    "{share}: {found} for {exact}"
                );
            }
            assert!(times.row().len() <= 1 + 2 * ROW_BUCKETS);
        }
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_values(value: u64, bits in 0u8..=6) {
            let number = bucket(value, bits);
            prop_assert!(lowest(number, bits) <= value);
            prop_assert!(value < lowest(number + 1, bits) || lowest(number + 1, bits) == u64::MAX);
        }

        #[test]
        fn quantiles_are_near_a_sample_and_merging_is_adding(
            values in proptest::collection::vec(1u64..1_000_000_000_000, 1..300),
            cut in 0usize..300,
        ) {
            let (mut all, mut left, mut right) = <(Quantiles, Quantiles, Quantiles)>::default();
            for (at, value) in values.iter().enumerate() {
                all.add(*value);
                if at < cut { left.add(*value) } else { right.add(*value) }
            }
            prop_assert!(all.buckets.len() <= MAX_BUCKETS);
            left.merge(&right);
            prop_assert_eq!(left.samples, all.samples);
            prop_assert_eq!((left.min, left.max, left.sum), (all.min, all.max, all.sum));
            let mut sorted = values.clone();
            sorted.sort_unstable();
            for share in [0.5, 0.99] {
                let rank = (share * sorted.len() as f64).ceil() as usize;
                let exact = sorted[rank.max(1) - 1];
                let found = all.quantile(share).unwrap();
                let width = (exact >> all.bits).max(1);
                prop_assert!(found.abs_diff(exact) <= width, "{found} for {exact}");
            }
        }
    }
}
