//! Texts of a column that were read recently, and what they mean.
//!
//! The rows of a host repeat a few names and addresses. A text is shared, and parsed once, as long as it stays in its
//! slot.

use crate::Text;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Slots: a host has some ten NICs, and its rows come in batches.
const SLOTS: usize = 256;

/// Each text in the slot of its hash, with its meaning.
#[derive(Debug)]
pub struct Recent<T>(Vec<Option<(Text, T)>>);

impl<T> Default for Recent<T> {
    /// Without slots, which the first text makes.
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> Recent<T> {
    /// Returns a text with its meaning, which `read` finds if the text is not in its slot; `None` if it has none.
    pub(crate) fn get(&mut self, text: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<&(Text, T)> {
        if self.0.is_empty() {
            self.0 = vec![None; SLOTS];
        }
        let slot = self.0.get_mut(slot(text))?;
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
    let number = last.fold(bytes.len() as u64, |number, byte| number << 8 ^ u64::from(*byte));
    // Fibonacci hashing: the upper bits depend on all others.
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize
}

#[cfg(test)]
mod tests {
    use super::{Recent, SLOTS, slot};
    use std::format;

    #[test]
    fn a_text_is_read_once_while_it_stays_and_again_after_another_one() {
        let mut recent: Recent<usize> = Recent::default();
        let mut reads = 0;
        let mut read = |text: &str| {
            let (known, length) = recent.get(text, |text| {
                reads += 1;
                Some(text.len())
            })?;
            assert_eq!((known.as_str(), *length), (text, text.len()));
            Some(())
        };
        for _ in 0..3 {
            read("10.0.0.1").unwrap();
            read("rail-3").unwrap();
        }
        let other = (0..)
            .map(|n| format!("x{n}"))
            .find(|other| slot(other) == slot("rail-3"));
        read(&other.unwrap()).unwrap();
        read("rail-3").unwrap();
        assert_eq!(reads, 4);
        let mut none: Recent<usize> = Recent::default();
        assert!(none.get("", |_| None).is_none());
    }

    #[test]
    fn addresses_of_a_host_have_slots_of_their_own() {
        let slots = (0..8).map(|nic| slot(&format!("10.0.{nic}.77")));
        assert_eq!(slots.collect::<std::collections::BTreeSet<_>>().len(), 8);
        let all = (0..4_000).map(|n| slot(&format!("h{n}")));
        assert!(all.collect::<std::collections::BTreeSet<_>>().len() > SLOTS * 9 / 10);
    }
}
