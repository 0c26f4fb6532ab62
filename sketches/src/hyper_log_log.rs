//! HyperLogLog: the number of different flows after a bitmap is full.
//!
//! [`REGISTERS`] registers; a flow names one and raises it to the number of leading zeros of the
//! rest of its hash, plus one (Flajolet, Fusy, Gandouet, Meunier, *HyperLogLog*, Analysis of
//! Algorithms 2007). The estimate is that of Ertl, *New cardinality estimation algorithms for HyperLogLog sketches*,
//! arXiv:1702.01284, algorithm 6: one formula for every number of flows, no table.
//!
//! Registers and bytes are those of Apache DataSketches (`HLL_8`, `lgK` 14), fed with the flow hash as a signed long:
//! its libraries and Spark's `hll_sketch_estimate` and `hll_union_agg` accept
//! [`to_datasketches`](HyperLogLog::to_datasketches) unchanged. Unlike theirs, these bytes depend only on the set of
//! flows: DataSketches also keeps an estimate that depends on the order of arrival and is lost in a merge; here its
//! flag always marks it as lost. So shards merge to the bytes of one sketch fed with everything.
//!
//! Submodule: `bytes`, the format.

mod bytes;

use alloc::{boxed::Box, vec};

pub use bytes::HllError;

use crate::hash::FlowHash;

/// log₂ of the number of registers.
pub const LG_K: u8 = 14;
/// Registers, a byte each.
pub const REGISTERS: usize = 1 << LG_K;
/// The largest value of a register: 62 leading zeros and one.
const HIGHEST: usize = 63;
/// The seed under which DataSketches hashes its input.
const SEED: u64 = 9001;

/// 16,384 registers, 16 KiB: a relative standard error of 0.81 %, for any number of flows.
///
/// ```
/// use rocescope_sketches::{HyperLogLog, hash::hash_words};
///
/// let mut flows = HyperLogLog::new();
/// for packet in 0..2_000_000u64 {
///     flows.add(hash_words(&[packet % 500_000], 0));
/// }
/// assert!((flows.estimate() / 500_000.0 - 1.0).abs() < 3.0 * HyperLogLog::RELATIVE_ERROR);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HyperLogLog {
    registers: Box<[u8]>,
}

impl Default for HyperLogLog {
    fn default() -> Self {
        Self::new()
    }
}

impl HyperLogLog {
    /// Standard error of [`estimate`](Self::estimate) as a share of it: 1.04 / √16,384.
    pub const RELATIVE_ERROR: f64 = 1.04 / 128.0;

    /// No flow yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            registers: vec![0; REGISTERS].into_boxed_slice(),
        }
    }

    /// Records a flow. Recording it again changes nothing.
    #[inline]
    pub fn add(&mut self, flow: FlowHash) {
        let (low, high) = murmur3(flow.0);
        let value = high.leading_zeros().min(62) as u8 + 1;
        if let Some(register) = self.registers.get_mut(low as usize % REGISTERS) {
            *register = (*register).max(value);
        }
    }

    /// Adds the flows of `other`: the result equals one sketch fed with both.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.registers.iter_mut().zip(&other.registers) {
            *ours = (*ours).max(*theirs);
        }
    }

    /// Forgets every flow; keeps the memory.
    pub fn clear(&mut self) {
        self.registers.fill(0);
    }

    /// The number of flows.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        let mut counts = [0u32; HIGHEST + 1];
        for register in &self.registers {
            if let Some(count) = counts.get_mut(usize::from(*register)) {
                *count += 1;
            }
        }
        let [untouched, rest @ .., highest] = &counts;
        let m = REGISTERS as f64;
        let mut z = m * tau(1.0 - f64::from(*highest) / m);
        for count in rest.iter().rev() {
            z = 0.5 * (z + f64::from(*count));
        }
        z += m * sigma(f64::from(*untouched) / m);
        m * m / (2.0 * core::f64::consts::LN_2 * z)
    }
}

/// `x + Σ x^(2^k) 2^(k−1)`: the flows behind registers still at 0. Infinite if all are.
fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut weight, mut sum) = (1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * weight;
        weight += weight;
        if sum == before {
            return sum;
        }
    }
}

/// `(1 − x − Σ (1 − x^(2^−k))² 2^−k) / 3`: the flows behind registers at their maximum.
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut weight, mut sum) = (1.0, 1.0 - x);
    loop {
        x = libm::sqrt(x);
        let before = sum;
        weight *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * weight;
        if sum == before {
            return sum / 3.0;
        }
    }
}

/// `MurmurHash3_x64_128` of the eight little-endian bytes of `key` under [`SEED`].
#[inline]
const fn murmur3(key: u64) -> (u64, u64) {
    let mixed = key
        .wrapping_mul(0x87c3_7b91_1142_53d5)
        .rotate_left(31)
        .wrapping_mul(0x4cf5_ad43_2745_937f);
    let low = SEED ^ mixed ^ 8;
    let high = SEED ^ 8;
    let low = low.wrapping_add(high);
    let high = high.wrapping_add(low);
    let (low, high) = (finish(low), finish(high));
    let low = low.wrapping_add(high);
    (low, high.wrapping_add(low))
}

const fn finish(mut k: u64) -> u64 {
    k = (k ^ (k >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ (k >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_words;

    fn fed(flows: core::ops::Range<u64>) -> HyperLogLog {
        let mut sketch = HyperLogLog::new();
        flows.for_each(|flow| sketch.add(hash_words(&[flow], 0)));
        sketch
    }

    #[test]
    fn the_error_is_the_stated_one_from_nothing_to_many() {
        assert_eq!(fed(0..0).estimate(), 0.0);
        for flows in [1, 72, 10_000, 40_000, 300_000, 3_000_000] {
            let error = (fed(0..flows).estimate() / flows as f64 - 1.0).abs();
            assert!(error < 3.0 * HyperLogLog::RELATIVE_ERROR, "{flows}: {error}");
        }
    }

    #[test]
    fn registers_that_are_all_full_are_a_number_of_flows() {
        let mut full = HyperLogLog::new();
        full.registers.fill(HIGHEST as u8);
        assert!(full.estimate() > 1e18);
    }

    #[test]
    fn shards_merge_to_the_bytes_of_the_whole() {
        let mut merged = fed(0..60_000);
        merged.merge(&fed(40_000..100_000));
        assert_eq!(merged, fed(0..100_000));
        merged.clear();
        assert_eq!(merged, HyperLogLog::default());
    }
}
