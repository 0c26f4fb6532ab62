//! One byte of every key in a bucket, compared in parallel.
//!
//! The position of a flow is unpredictable, so a search that stops at it pays for a branch misprediction each time.
//! This one compares 32 bytes in four words and names the few that match.

use super::WAYS;

const WORDS: usize = WAYS / 8;
/// A one in every byte.
const ONES: u64 = u64::MAX / 255;

/// The lowest byte of the key in each way: way `8 · word + byte`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tags([u64; WORDS]);

impl Tags {
    pub(super) const EMPTY: Self = Self([0; WORDS]);

    pub(super) fn set(&mut self, way: usize, tag: u8) {
        let (word, shift) = (&mut self.0[way / 8], way % 8 * 8);
        *word = *word & !(0xff << shift) | u64::from(tag) << shift;
    }

    /// Every way whose tag is `tag`, and rarely one whose tag is not.
    #[inline]
    pub(super) fn candidates(&self, tag: u8) -> impl Iterator<Item = usize> {
        // Bit `8 · byte + word` of the matches: four words fit next to each other.
        let mut matches = 0;
        for (at, word) in self.0.iter().enumerate() {
            matches |= zero_bytes(word ^ (ONES * u64::from(tag))) >> (7 - at);
        }
        core::iter::from_fn(move || {
            let bit = matches.trailing_zeros() as usize;
            if matches == 0 {
                return None;
            }
            matches &= matches - 1;
            Some(bit % 8 * 8 + bit / 8)
        })
    }
}

/// The top bit of every byte that is 0 (Warren, *Hacker's Delight*, §6-1). A byte 1 above a byte 0 also matches, which
/// the comparison of keys corrects.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn no_way_is_overlooked(tags: [u8; WAYS], tag in 0u8..4) {
            let mut kept = Tags::EMPTY;
            for (way, &tag) in tags.iter().enumerate() {
                kept.set(way, tag % 4);
            }
            let candidates: Vec<usize> = kept.candidates(tag).collect();
            for (way, &there) in tags.iter().enumerate() {
                prop_assert!(there % 4 != tag || candidates.contains(&way));
            }
            prop_assert!(candidates.iter().all(|way| *way < WAYS));
        }
    }
}
