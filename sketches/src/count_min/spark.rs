//! Spark's `CountMinSketch`, version 1, as bytes. All values are big-endian and signed.
//!
//! | bytes | field |
//! |---|---|
//! | 4 | version, 1 |
//! | 8 | total |
//! | 4 | depth |
//! | 4 | width |
//! | 8 × depth | multipliers of the rows |
//! | 8 × depth × width | counters, row after row |
//!
//! The format has no field for the kind of update, but a reader can derive it: the counters of a plain row sum to the
//! total, those of a conservative one to less where it mattered.

use alloc::vec::Vec;
use core::fmt;

use super::{CEILING, CountMin, ShapeError, Update, rows::Rows};
use crate::hash::FlowHash;

const VERSION: i32 = 1;
const HEADER: usize = 20;

impl CountMin {
    /// The bytes that Spark's `CountMinSketch.readFrom` reads. Allocates them.
    #[must_use]
    pub fn to_spark(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.spark_len());
        bytes.extend_from_slice(&VERSION.to_be_bytes());
        bytes.extend_from_slice(&self.total.to_be_bytes());
        bytes.extend_from_slice(&self.depth().to_be_bytes());
        bytes.extend_from_slice(&self.width().to_be_bytes());
        bytes.extend(self.rows.multipliers().iter().flat_map(|a| a.to_be_bytes()));
        bytes.extend(self.counters.iter().flat_map(|counter| counter.to_be_bytes()));
        bytes
    }

    /// The bytes of [`to_spark`](Self::to_spark) after these updates of an empty table of this shape, as the parts that
    /// are not zero: calls `part` with the offset and the bytes of each, in ascending order.
    ///
    /// For few flows in a large table: the work grows with the updates, not with the table, which is not touched.
    pub fn sparse_spark(&self, updates: impl IntoIterator<Item = (FlowHash, u64)>, mut part: impl FnMut(usize, &[u8])) {
        let mut changed: Vec<(usize, u64)> = Vec::new();
        let mut total = 0u64;
        for (flow, weight) in updates {
            total = total.saturating_add(weight).min(CEILING);
            self.rows.for_each(flow, |at| changed.push((at, weight)));
        }
        changed.sort_unstable_by_key(|(at, _)| *at);
        part(0, &VERSION.to_be_bytes());
        part(4, &total.to_be_bytes());
        part(12, &self.depth().to_be_bytes());
        part(16, &self.width().to_be_bytes());
        for (row, multiplier) in self.rows.multipliers().iter().enumerate() {
            part(HEADER + 8 * row, &multiplier.to_be_bytes());
        }
        let table = HEADER + 8 * self.rows.multipliers().len();
        for counter in changed.chunk_by(|(a, _), (b, _)| a == b) {
            let sum = counter
                .iter()
                .fold(0u64, |sum, (_, weight)| sum.saturating_add(*weight));
            if let Some((at, _)) = counter.first() {
                part(table + 8 * at, &sum.min(CEILING).to_be_bytes());
            }
        }
    }

    /// The length of [`to_spark`](Self::to_spark) in bytes.
    #[must_use]
    pub fn spark_len(&self) -> usize {
        HEADER + 8 * (self.rows.multipliers().len() + self.counters.len())
    }

    /// Reads what Spark's `CountMinSketch.writeTo` or [`to_spark`](Self::to_spark) wrote.
    ///
    /// A table whose rows all sum to the total is plain; one with a smaller row is conservative; a larger row, which no
    /// sequence of updates makes, is rejected. A total at the ceiling counts as saturated, and then rows may exceed it.
    ///
    /// # Errors
    /// [`SparkError`] names the first error. The length is checked before any allocation, so bytes cannot request more
    /// memory than they occupy.
    pub fn from_spark(bytes: &[u8]) -> Result<Self, SparkError> {
        let (header, body) = bytes
            .split_first_chunk::<HEADER>()
            .ok_or(SparkError::Length(HEADER as u64))?;
        let [v0, v1, v2, v3, total @ .., d0, d1, d2, d3, w0, w1, w2, w3] = *header;
        let version = i32::from_be_bytes([v0, v1, v2, v3]);
        if version != VERSION {
            return Err(SparkError::Version(version));
        }
        let total = u64::from_be_bytes(total);
        if total > CEILING {
            return Err(SparkError::Negative);
        }
        let depth = u32::from_be_bytes([d0, d1, d2, d3]);
        let width = u32::from_be_bytes([w0, w1, w2, w3]);
        let counters = ShapeError::check(depth, width).map_err(SparkError::Shape)?;
        let (words, rest) = body.as_chunks::<8>();
        let wanted = counters as u64 + u64::from(depth);
        if words.len() as u64 != wanted || !rest.is_empty() {
            return Err(SparkError::Length(HEADER as u64 + 8 * wanted));
        }
        let (multipliers, table) = words.split_at(depth as usize);
        let multipliers = multipliers.iter().map(|word| i64::from_be_bytes(*word)).collect();
        let mut sketch = Self::empty(Rows::new(multipliers, width), counters, Update::Plain);
        for (counter, word) in sketch.counters.iter_mut().zip(table) {
            *counter = u64::from_be_bytes(*word);
        }
        (sketch.total, sketch.saturated) = (total, total == CEILING);
        sketch.update = sketch.update_of_rows()?;
        Ok(sketch)
    }

    /// Derives the kind of update from the sums of the rows.
    fn update_of_rows(&self) -> Result<Update, SparkError> {
        let mut update = Update::Plain;
        for row in self.counters.chunks_exact(self.width() as usize) {
            if row.iter().any(|&counter| counter > CEILING) {
                return Err(SparkError::Negative);
            }
            let sum: u128 = row.iter().map(|&counter| u128::from(counter)).sum();
            if sum > self.total.into() && !self.saturated {
                return Err(SparkError::Sum);
            }
            if sum < self.total.into() {
                update = Update::Conservative;
            }
        }
        Ok(update)
    }
}

/// Why bytes are not a Spark Count-Min sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SparkError {
    /// A version other than 1.
    Version(i32),
    /// Depth or width is not positive, or too large.
    Shape(ShapeError),
    /// The header requires exactly this many bytes (or the header itself is incomplete).
    Length(u64),
    /// The total or a counter is negative.
    Negative,
    /// The counters of a row exceed the total.
    Sum,
}

impl fmt::Display for SparkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a Spark CountMinSketch: ")?;
        match self {
            Self::Version(version) => write!(f, "version {version}, only {VERSION} is known"),
            Self::Shape(shape) => shape.fmt(f),
            Self::Length(bytes) => write!(f, "must be {bytes} bytes long"),
            Self::Negative => f.write_str("a count is negative"),
            Self::Sum => f.write_str("a row adds up to more than the total"),
        }
    }
}

impl core::error::Error for SparkError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_words;
    use alloc::vec;
    use proptest::prelude::*;

    fn small(update: Update) -> CountMin {
        let mut sketch = CountMin::new(2, 4, 42, update).unwrap();
        (0..40).for_each(|flow| sketch.add(hash_words(&[flow], 0), flow + 1));
        sketch
    }

    /// Every byte of a small sketch, written out from Spark's format.
    #[test]
    fn golden_bytes() {
        let mut sketch = CountMin::new(2, 4, 42, Update::Plain).unwrap();
        sketch.add(FlowHash(1), 0x0102);
        let mut golden = Vec::new();
        golden.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 2, 0, 0, 0, 4]);
        for word in [1_562_431_130u64, 117_392_763] {
            golden.extend(word.to_be_bytes());
        }
        // 1,562,431,130 is 2 modulo 4 and 117,392,763 is 3.
        for word in [0u64, 0, 0x0102, 0, 0, 0, 0, 0x0102] {
            golden.extend(word.to_be_bytes());
        }
        assert_eq!(sketch.to_spark(), golden);
    }

    #[test]
    fn reads_what_it_writes() {
        let plain = small(Update::Plain);
        assert_eq!(CountMin::from_spark(&plain.to_spark()), Ok(plain));
        let conservative = small(Update::Conservative);
        assert_eq!(CountMin::from_spark(&conservative.to_spark()), Ok(conservative));
    }

    #[test]
    fn each_lie_has_its_error() {
        let read = |at: usize, word: &[u8]| {
            let mut bytes = small(Update::Plain).to_spark();
            bytes[at..at + word.len()].copy_from_slice(word);
            CountMin::from_spark(&bytes).unwrap_err()
        };
        assert_eq!(read(0, &[0, 0, 0, 2]), SparkError::Version(2));
        assert_eq!(read(4, &[0x80]), SparkError::Negative);
        assert_eq!(read(12, &[0; 4]), SparkError::Shape(ShapeError { depth: 0, width: 4 }));
        assert_eq!(read(16, &[0x7f; 4]), SparkError::Length(20 + 16 * (1 + 0x7f7f_7f7f)));
        assert_eq!(read(16, &[0, 0, 0, 5]), SparkError::Length(20 + 8 * 12));
        assert_eq!(read(36, &[0xff; 8]), SparkError::Negative);
        assert_eq!(read(36, &[0x7f; 8]), SparkError::Sum);
        assert_eq!(CountMin::from_spark(&[0; 19]), Err(SparkError::Length(20)));
    }

    proptest! {
        /// The parts that are not zero, put into zeros, are the bytes of a table with the same updates: collisions,
        /// repeated flows and a total at the ceiling included.
        #[test]
        fn sparse_bytes_are_the_bytes_of_the_table(
            updates in prop::collection::vec((0u64..40, prop_oneof![0u64..5_000, Just(CEILING / 2 + 1)]), 0..60),
            width in prop::sample::select(vec![16u32, 17, 4_096]),
        ) {
            let empty = CountMin::new(4, width, 42, Update::Plain).unwrap();
            let updates: Vec<_> = updates.iter().map(|&(flow, weight)| (hash_words(&[flow], 0), weight)).collect();
            let mut table = empty.clone();
            updates.iter().for_each(|&(flow, weight)| table.add(flow, weight));
            let mut bytes = vec![0; empty.spark_len()];
            let mut end = 0;
            empty.sparse_spark(updates, |at, part| {
                assert!(at >= end, "in ascending order");
                end = at + part.len();
                bytes[at..end].copy_from_slice(part);
            });
            prop_assert_eq!(bytes, table.to_spark());
        }

        /// Reading any bytes gives a sketch that writes the same bytes, or an error.
        #[test]
        fn hostile_bytes_do_no_harm(
            at in 0usize..108,
            byte: u8,
            length in 0usize..110,
        ) {
            let mut bytes = small(Update::Conservative).to_spark();
            bytes[at % 100] = byte;
            bytes.resize(length, 0);
            if let Ok(sketch) = CountMin::from_spark(&bytes) {
                prop_assert_eq!(sketch.to_spark(), bytes);
            }
        }
    }
}
