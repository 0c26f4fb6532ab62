//! Texts of a column that were read recently, and what they mean.
//!
//! The rows of a host repeat a few names and addresses. A text is shared, and parsed once, as long as it stays in its
//! slot. Where a batch has a dictionary, equal texts are one text in memory: the same place is the same text, and nothing
//! is compared.

use crate::Text;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;

/// Slots: a host has some ten NICs, and its rows come in batches.
const SLOTS: usize = 256;

/// What makes it faster to read the cells of a column one after another.
pub trait Memo: Default + Debug {
    /// The cells that follow are of another batch, which may have other texts at the same places in memory.
    fn next_batch(&mut self) {}
}

impl Memo for () {}

/// Each text in the slot of its hash and in that of its place, with its meaning.
#[derive(Debug)]
pub struct Recent<T> {
    by_text: Vec<Option<(Text, T)>>,
    by_place: Vec<Option<Placed<T>>>,
    /// Number of this batch.
    batch: u64,
}

/// A text at a place in memory.
#[derive(Debug, Clone)]
struct Placed<T> {
    batch: u64,
    place: (usize, usize),
    text: (Text, T),
}

impl<T> Default for Recent<T> {
    /// Without slots, which the first text makes.
    fn default() -> Self {
        Self {
            by_text: Vec::new(),
            by_place: Vec::new(),
            batch: 0,
        }
    }
}

impl<T: Debug> Memo for Recent<T> {
    fn next_batch(&mut self) {
        self.batch += 1;
    }
}

impl<T: Clone> Recent<T> {
    /// Returns a text of this batch with its meaning, which `read` finds if the text is in neither slot; `None` if it has
    /// none.
    #[inline]
    pub(crate) fn get(&mut self, text: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<&(Text, T)> {
        let place = (text.as_ptr() as usize, text.len());
        let slot = spread(place.0 as u64);
        let is_there = |known: &Placed<T>| known.place == place && known.batch == self.batch;
        if !self
            .by_place
            .get(slot)
            .is_some_and(|known| known.as_ref().is_some_and(is_there))
        {
            let text = self.get_by_text(text, read)?.clone();
            let batch = self.batch;
            *self.by_place.get_mut(slot)? = Some(Placed { batch, place, text });
        }
        self.by_place.get(slot)?.as_ref().map(|known| &known.text)
    }

    #[cold]
    fn get_by_text(&mut self, text: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<&(Text, T)> {
        if self.by_text.is_empty() {
            self.by_text = vec![None; SLOTS];
            self.by_place = vec![None; SLOTS];
        }
        let slot = self.by_text.get_mut(slot(text))?;
        if slot.as_ref().is_none_or(|(known, _)| known.as_str() != text) {
            *slot = Some((Arc::<str>::from(text).into(), read(text)?));
        }
        slot.as_ref()
    }
}

/// Names and addresses differ at their ends.
fn slot(text: &str) -> usize {
    let bytes = text.as_bytes();
    let last = bytes.iter().rev().take(8);
    spread(last.fold(bytes.len() as u64, |number, byte| number << 8 ^ u64::from(*byte)))
}

/// Fibonacci hashing: the upper bits depend on all others.
const fn spread(number: u64) -> usize {
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize
}
#[cfg(test)]
mod tests {
    use super::{Memo, Recent, SLOTS, slot};
    use std::format;

    #[test]
    fn a_text_is_read_once_while_it_stays_and_again_after_another_one() {
        let mut recent: Recent<usize> = Recent::default();
        let mut reads = 0;
        let mut read = |recent: &mut Recent<usize>, text: &str| {
            let (known, length) = recent.get(text, |text| {
                reads += 1;
                Some(text.len())
            })?;
            assert_eq!((known.as_str(), *length), (text, text.len()));
            Some(())
        };
        for _ in 0..3 {
            recent.next_batch();
            read(&mut recent, "10.0.0.1").unwrap();
            read(&mut recent, "rail-3").unwrap();
        }
        let other = (0..)
            .map(|n| format!("x{n}"))
            .find(|other| slot(other) == slot("rail-3"));
        read(&mut recent, &other.unwrap()).unwrap();
        recent.next_batch();
        read(&mut recent, "rail-3").unwrap();
        assert_eq!(reads, 4);
        let mut none: Recent<usize> = Recent::default();
        assert!(none.get("", |_| None).is_none());
    }

    #[test]
    fn a_place_has_another_text_in_another_batch() {
        let mut memory = *b"10.0.0.1";
        let mut recent: Recent<u8> = Recent::default();
        for last in b"1213" {
            memory[7] = *last;
            recent.next_batch();
            for _ in 0..2 {
                let text = core::str::from_utf8(&memory).unwrap();
                let (known, meaning) = recent.get(text, |text| text.bytes().last()).unwrap();
                assert_eq!((known.as_str(), *meaning), (text, *last));
            }
        }
    }

    #[test]
    fn addresses_of_a_host_have_slots_of_their_own() {
        let slots = (0..8).map(|nic| slot(&format!("10.0.{nic}.77")));
        assert_eq!(slots.collect::<std::collections::BTreeSet<_>>().len(), 8);
        let all = (0..4_000).map(|n| slot(&format!("h{n}")));
        assert!(all.collect::<std::collections::BTreeSet<_>>().len() > SLOTS * 9 / 10);
    }
}
