//! `HllSketch` of Apache DataSketches as bytes, type `HLL_8` in its register mode. All values are little-endian.
//!
//! | bytes | field |
//! |---|---|
//! | 1 | length of this header in 32-bit words, 10 |
//! | 1 | version, 1 |
//! | 1 | family, 7 |
//! | 1 | `lgK`, 14 |
//! | 1 | unused, 0 |
//! | 1 | flags: 16, order of arrival unknown |
//! | 1 | lowest register value, 0 by convention of `HLL_8` |
//! | 1 | mode: 2 (registers) plus four times type 2 (`HLL_8`), 10 |
//! | 8 | estimate by order of arrival, 0: not maintained |
//! | 8 | Σ 2^−register over registers below 32, a double |
//! | 8 | the same over registers from 32 on |
//! | 4 | registers at 0 |
//! | 4 | exceptions, 0 |
//! | 16,384 | registers |

use alloc::vec::Vec;
use core::fmt;

use super::{HIGHEST, HyperLogLog, LG_K, REGISTERS};

const HEADER: usize = 40;
/// The first eight bytes; other writers may set other flags.
const START: [u8; 8] = [10, 1, 7, LG_K, 0, OUT_OF_ORDER, 0, 10];
const OUT_OF_ORDER: u8 = 16;
const FLAGS: usize = 5;

impl HyperLogLog {
    /// The bytes that `HllSketch.heapify` and Spark's `hll_sketch_estimate` read. Allocates them.
    #[must_use]
    pub fn to_datasketches(&self) -> Vec<u8> {
        let (mut large, mut tiny, mut zeros) = (0.0, 0.0, 0u32);
        for register in &self.registers {
            let share = libm::ldexp(1.0, -i32::from(*register));
            if *register < 32 {
                large += share;
            } else {
                tiny += share;
            }
            zeros += u32::from(*register == 0);
        }
        let mut bytes = Vec::with_capacity(HEADER + REGISTERS);
        bytes.extend_from_slice(&START);
        for number in [0.0, large, tiny] {
            bytes.extend_from_slice(&f64::to_le_bytes(number));
        }
        bytes.extend_from_slice(&zeros.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.registers);
        bytes
    }

    /// Reads the bytes of [`to_datasketches`](Self::to_datasketches), or of DataSketches with the same type, mode and
    /// `lgK`.
    ///
    /// # Errors
    /// [`HllError`]: the bytes are another sketch, or no sketch.
    pub fn from_datasketches(bytes: &[u8]) -> Result<Self, HllError> {
        let (header, registers) = bytes
            .split_first_chunk::<HEADER>()
            .ok_or(HllError::Length(bytes.len()))?;
        for (at, (found, known)) in header.iter().zip(&START).enumerate() {
            if found != known && at != FLAGS {
                return Err(HllError::Header(at));
            }
        }
        if registers.len() != REGISTERS {
            return Err(HllError::Length(bytes.len()));
        }
        if registers.iter().any(|register| usize::from(*register) > HIGHEST) {
            return Err(HllError::Register);
        }
        Ok(Self {
            registers: registers.into(),
        })
    }
}

/// Why bytes are not such a sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HllError {
    /// The number of bytes is not that of the header and 16,384 registers.
    Length(usize),
    /// The header byte at this index has another type, size or version.
    Header(usize),
    /// A register is above 63.
    Register,
}

impl fmt::Display for HllError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an HLL_8 sketch of DataSketches with lgK 14: ")?;
        match self {
            Self::Length(bytes) => write!(f, "{bytes} bytes, not {}", HEADER + REGISTERS),
            Self::Header(at) => write!(f, "byte {at} of its header differs"),
            Self::Register => f.write_str("a register is above 63"),
        }
    }
}

impl core::error::Error for HllError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_words;
    use datasketches::hll::{HllSketch, HllType, HllUnion};

    /// The crate `datasketches`, fed as Java's `update(long)` is, and ours.
    fn both(flows: core::ops::Range<u64>) -> (HllSketch, HyperLogLog) {
        let mut theirs = HllSketch::new(LG_K, HllType::Hll8).unwrap();
        let mut ours = HyperLogLog::new();
        for flow in flows {
            let hash = hash_words(&[flow], 0);
            theirs.update(hash.0.cast_signed());
            ours.add(hash);
        }
        (theirs, ours)
    }

    #[test]
    fn registers_are_those_of_datasketches() {
        let (theirs, ours) = both(0..400_000);
        let read = HyperLogLog::from_datasketches(&theirs.serialize());
        assert_eq!(read.as_ref(), Ok(&ours));
        // The bytes differ only in fields that depend on the order of arrival.
        let mut union = HllUnion::new(LG_K).unwrap();
        union.update(&HllSketch::deserialize(&ours.to_datasketches()).unwrap());
        union.update(&theirs);
        let united = union.to_sketch(HllType::Hll8).serialize();
        assert_eq!(united[HEADER..], ours.to_datasketches()[HEADER..]);
        assert_eq!(united[..HEADER], ours.to_datasketches()[..HEADER]);
    }

    #[test]
    fn datasketches_reads_our_bytes_and_estimates_alike() {
        for flows in [100, 20_000, 60_000, 1_000_000] {
            let (_, ours) = both(0..flows);
            let theirs = HllSketch::deserialize(&ours.to_datasketches()).unwrap();
            let ratio = theirs.estimate() / ours.estimate();
            assert!((ratio - 1.0).abs() < 0.004, "{flows}: {ratio}");
        }
    }

    #[test]
    fn each_lie_has_its_error() {
        let bytes = both(0..9).1.to_datasketches();
        let read = |at: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            HyperLogLog::from_datasketches(&bytes)
        };
        assert_eq!(read(3, 12), Err(HllError::Header(3)));
        assert_eq!(read(FLAGS, 0), read(FLAGS, OUT_OF_ORDER));
        assert_eq!(read(HEADER, 64), Err(HllError::Register));
        let short = HyperLogLog::from_datasketches(&bytes[..100]);
        assert_eq!(short, Err(HllError::Length(100)));
        assert_eq!(HyperLogLog::from_datasketches(&bytes[..9]), Err(HllError::Length(9)));
    }
}
