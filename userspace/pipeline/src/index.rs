//! Maps tags to numbers: open addressing, eight slots per cache line.
//!
//! Reading the slot where a tag belongs needs no branch that depends on memory, so a group of reads overlaps.

use alloc::vec::Vec;

/// A tag and its number.
type Slot = (u32, u32);
const FREE: u32 = u32::MAX;
/// Initial slots: 8 KiB. There are always at least twice as many slots as numbers.
const FIRST: usize = 1_024;

/// Numbers by tag; several may have the same tag. 16 to 32 bytes per number.
#[derive(Debug, Default)]
pub(crate) struct Index {
    slots: Vec<Slot>,
    len: usize,
}

impl Index {
    /// Removes every number; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.slots.fill((0, FREE));
        self.len = 0;
    }

    fn mask(&self) -> usize {
        self.slots.len().wrapping_sub(1)
    }

    /// Reads the slot where `tag` belongs.
    #[inline]
    pub(crate) fn touch(&self, tag: u32) -> u32 {
        self.slots
            .get(tag as usize & self.mask())
            .map_or(0, |(_, number)| *number)
    }

    /// The first number of this tag that the caller accepts.
    #[inline]
    pub(crate) fn find(&self, tag: u32, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = tag as usize & self.mask();
        loop {
            let (other, number) = *self.slots.get(at)?;
            if number == FREE {
                return None;
            }
            if other == tag && wanted(number) {
                return Some(number);
            }
            at = (at + 1) & self.mask();
        }
    }

    pub(crate) fn insert(&mut self, tag: u32, number: u32) {
        if 2 * (self.len + 1) > self.slots.len() {
            let larger = (2 * self.slots.len()).max(FIRST);
            let slots = core::mem::replace(&mut self.slots, alloc::vec![(0, FREE); larger]);
            for (tag, number) in slots {
                if number != FREE {
                    self.put(tag, number);
                }
            }
        }
        self.put(tag, number);
        self.len += 1;
    }

    fn put(&mut self, tag: u32, number: u32) {
        let mask = self.mask();
        let mut at = tag as usize & mask;
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.1 == FREE {
                *slot = (tag, number);
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// Removes a number; those behind it move up, so that no tombstones are needed.
    pub(crate) fn remove(&mut self, tag: u32, number: u32) {
        let mask = self.mask();
        let mut at = tag as usize & mask;
        loop {
            match self.slots.get(at) {
                Some((_, found)) if *found == number => break,
                Some((_, found)) if *found != FREE => at = (at + 1) & mask,
                _ => return,
            }
        }
        self.len -= 1;
        let mut next = at;
        loop {
            next = (next + 1) & mask;
            let Some(&(tag, number)) = self.slots.get(next) else {
                return;
            };
            let is_free = number == FREE;
            // It may move unless its own slot is between the hole and its position.
            let distance = |from: usize, to: usize| to.wrapping_sub(from) & mask;
            if !is_free && distance(tag as usize & mask, next) < distance(at, next) {
                continue;
            }
            if let Some(hole) = self.slots.get_mut(at) {
                *hole = if is_free { (0, FREE) } else { (tag, number) };
            }
            if is_free {
                return;
            }
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Index;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        /// Tags crowd at both ends of the table.
        #[test]
        fn it_is_a_map(steps in proptest::collection::vec((0u32..400, any::<bool>()), 0..3_000)) {
            let (mut index, mut map) = (Index::default(), BTreeMap::new());
            for (number, insert) in steps {
                let tag = (number / 3).wrapping_mul(0x10_0001).wrapping_sub(7);
                if insert && map.insert(number, tag).is_none() {
                    index.insert(tag, number);
                } else if !insert && map.remove(&number).is_some() {
                    index.remove(tag, number);
                }
                prop_assert_eq!(index.len, map.len());
            }
            for number in 0u32..400 {
                let tag = (number / 3).wrapping_mul(0x10_0001).wrapping_sub(7);
                let found = index.find(tag, |other| other == number);
                prop_assert_eq!(found.is_some(), map.contains_key(&number));
            }
        }
    }
}
