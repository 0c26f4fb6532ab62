//! Which counter of a row a flow hash names: Spark's `CountMinSketchImpl.hash`, bit by bit.
//!
//! ```text
//! h = a[row] · key         signed 64 bits, wrapping
//! h = h + (h >> 32)        arithmetic shift, wrapping
//! column = (h & (2³¹ − 1)) % width
//! ```
//!
//! One multiplication per row. `a[row]` are successive draws of `java.util.Random(seed).nextInt(Integer.MAX_VALUE)`, so
//! a seed means the same table here and in the JVM.

use alloc::boxed::Box;

use crate::hash::FlowHash;
use crate::mismatch::Mismatch;

/// The row hashes: one multiplier per row, and the width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rows {
    multipliers: Box<[i64]>,
    /// [`folded`] of each multiplier.
    folded: Box<[u64]>,
    width: u32,
    /// `width − 1` when the width is a power of two: a remainder costs more than the rest.
    mask: Option<u32>,
}

impl Rows {
    pub(super) fn seeded(depth: u32, width: u32, seed: i32) -> Self {
        let mut random = JavaRandom::new(seed.into());
        Self::new((0..depth).map(|_| random.next_below_int_max()).collect(), width)
    }

    pub(super) fn new(multipliers: Box<[i64]>, width: u32) -> Self {
        let folded = multipliers.iter().map(|a| folded(*a)).collect();
        Self {
            multipliers,
            folded,
            width,
            mask: width.is_power_of_two().then(|| width - 1),
        }
    }

    pub(super) fn multipliers(&self) -> &[i64] {
        &self.multipliers
    }

    pub(super) fn depth(&self) -> u32 {
        self.multipliers.len() as u32
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// Calls `visit` with the table index of each of the flow's counters, row after row.
    #[inline]
    pub(super) fn for_each(&self, flow: FlowHash, visit: impl FnMut(usize)) {
        // The default depth and width justify a loop that the compiler can unroll.
        match (<&[u64; 4]>::try_from(&*self.folded), self.mask) {
            (Ok(four), Some(mask)) => walk(four, self.width, flow, |h| h & mask, visit),
            (Err(_), Some(mask)) => walk(&self.folded, self.width, flow, |h| h & mask, visit),
            (_, None) => walk(&self.folded, self.width, flow, |h| h % self.width, visit),
        }
    }

    /// Adds each weight to the counters of its flow.
    pub(super) fn add_all(&self, counters: &mut [u64], flows: &[FlowHash], weights: &[u64]) {
        let updates = flows.iter().zip(weights);
        match (<&[u64; 4]>::try_from(&*self.folded), self.mask) {
            (Ok(four), Some(_)) => add_all_to_four(four, counters, updates),
            _ => updates.for_each(|(flow, weight)| {
                self.for_each(*flow, |at| {
                    if let Some(counter) = counters.get_mut(at) {
                        *counter += weight;
                    }
                });
            }),
        }
    }

    pub(super) fn check_same(&self, other: &Self) -> Result<(), Mismatch> {
        Mismatch::check("depth", self.depth().into(), other.depth().into())?;
        Mismatch::check("width", self.width.into(), other.width.into())?;
        for (&ours, &theirs) in self.multipliers.iter().zip(&other.multipliers) {
            Mismatch::check("row hash", ours.cast_unsigned(), theirs.cast_unsigned())?;
        }
        Ok(())
    }
}

/// A multiplier that adds both halves of the product by itself: `a · (2³² + 1) · key` is
/// `h + (h << 32)`, and its upper half is the lower half of `h + (h >> 32)`.
fn folded(multiplier: i64) -> u64 {
    multiplier.cast_unsigned().wrapping_mul(0x1_0000_0001)
}

/// Spark's hash before the remainder: 31 bits.
#[inline(always)]
fn hash(folded: u64, flow: FlowHash) -> u32 {
    (folded.wrapping_mul(flow.0) >> 32) as u32 & i32::MAX.cast_unsigned()
}

/// Four rows whose width is a power of two: registers hold everything that the loop needs, and a mask of the rows' own
/// length needs no bounds check.
fn add_all_to_four<'a>(
    folded: &[u64; 4],
    counters: &mut [u64],
    updates: impl Iterator<Item = (&'a FlowHash, &'a u64)>,
) {
    let width = counters.len() / 4;
    let Some(last) = width.checked_sub(1) else {
        return;
    };
    let (upper, lower) = counters.split_at_mut(2 * width);
    let ((row0, row1), (row2, row3)) = (upper.split_at_mut(width), lower.split_at_mut(width));
    let (row1, row3) = (&mut row1[..width], &mut row3[..width]);
    let [a0, a1, a2, a3] = *folded;
    for (flow, weight) in updates {
        row0[hash(a0, *flow) as usize & last] += weight;
        row1[hash(a1, *flow) as usize & last] += weight;
        row2[hash(a2, *flow) as usize & last] += weight;
        row3[hash(a3, *flow) as usize & last] += weight;
    }
}

#[inline(always)]
fn walk<'a>(
    multipliers: impl IntoIterator<Item = &'a u64>,
    width: u32,
    flow: FlowHash,
    reduce: impl Fn(u32) -> u32,
    mut visit: impl FnMut(usize),
) {
    let mut row = 0;
    for multiplier in multipliers {
        visit(row + reduce(hash(*multiplier, flow)) as usize);
        row += width as usize;
    }
}

/// `java.util.Random`, as its specification defines it: 48-bit linear congruential, modulus 2⁴⁸.
struct JavaRandom(u64);

impl JavaRandom {
    const MULTIPLIER: u64 = 0x5_deec_e66d;
    const STATE: u64 = (1 << 48) - 1;

    fn new(seed: i64) -> Self {
        Self((seed.cast_unsigned() ^ Self::MULTIPLIER) & Self::STATE)
    }

    /// `next(31)`: the top 31 bits of the next state.
    fn next_31(&mut self) -> i64 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xb) & Self::STATE;
        (self.0 >> 17).cast_signed()
    }

    /// `nextInt(Integer.MAX_VALUE)`: Java draws again when 31 bits give the bound itself.
    fn next_below_int_max(&mut self) -> i64 {
        loop {
            let drawn = self.next_31();
            if drawn < i64::from(i32::MAX) {
                return drawn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Drawn by `OpenJDK`'s `java.util.Random`.
    #[test]
    fn multipliers_are_javas() {
        let drawn = |seed| Rows::seeded(5, 8, seed).multipliers;
        assert_eq!(*drawn(0), [1569741360, 1785505948, 516548029, 1302116447, 1368843515]);
        assert_eq!(*drawn(42), [1562431130, 117392763, 1467211248, 102948884, 662969970]);
        assert_eq!(*drawn(-7), [577934662, 1935951297, 1445645590, 2031187707, 1119890478]);
    }

    /// Computed by a JVM from Spark's expression.
    #[test]
    fn columns_are_sparks() {
        let columns = |width, key: u64| {
            let mut at = Vec::new();
            Rows::seeded(5, width, 42).for_each(FlowHash(key), |position| at.push(position));
            let mut at_four = Vec::new();
            Rows::seeded(4, width, 42).for_each(FlowHash(key), |position| at_four.push(position));
            assert_eq!(at[..4], at_four);
            [0, 1, 2, 3].map(|row| at[row] - row * width as usize)
        };
        assert_eq!(columns(16_384, 1), [3738, 1403, 7664, 8212]);
        assert_eq!(columns(16_384, u64::MAX), [12645, 14980, 8719, 8171]);
        assert_eq!(columns(16_384, 0x0123_4567_89ab_cdef), [9248, 1701, 4388, 2782]);
        assert_eq!(columns(16_384, 0xfedc_ba98_7654_3210), [3397, 13279, 4331, 5389]);
        assert_eq!(columns(1000, 1), [130, 763, 248, 884]);
        assert_eq!(columns(1000, u64::MAX), [517, 884, 399, 763]);
        assert_eq!(columns(1000, 0x0123_4567_89ab_cdef), [504, 957, 604, 702]);
        assert_eq!(columns(1000, 0xfedc_ba98_7654_3210), [661, 927, 443, 61]);
    }
}
