//! The hashes of the first flows of a window: a small count should be exact.

use alloc::boxed::Box;

use crate::hash::FlowHash;

/// The maximum number of flows that are counted exactly.
///
/// 128 flows in 256 slots of 8 bytes: 2 KiB, half full at most, so that a probe ends at once.
pub const FIRST_FLOWS: u16 = 128;
/// Slots are chosen by a byte of the hash.
const SLOTS: usize = 256;

/// A set of at most [`FIRST_FLOWS`] hashes with open addressing. One more closes it permanently: whether it is open
/// depends only on the set of flows, never on their order or their shards.
#[derive(Debug, Clone)]
pub(super) struct FirstFlows {
    /// 0 is an empty slot; the flow whose hash is 0 is `zero`.
    slots: Box<[u64; SLOTS]>,
    zero: bool,
    len: u16,
    open: bool,
}

/// Whether the set knows that a flow arrived before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Membership {
    Known,
    Unknown,
}

impl FirstFlows {
    pub(super) fn new() -> Self {
        Self {
            slots: Box::new([0; SLOTS]),
            zero: false,
            len: 0,
            open: true,
        }
    }

    /// The number of flows, or `None` if there were too many to keep.
    pub(super) fn count(&self) -> Option<u64> {
        self.open.then(|| u64::from(self.len))
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Keeps the flow if there is room. [`Membership::Known`] means that it was already kept.
    #[inline]
    pub(super) fn add(&mut self, flow: FlowHash) -> Membership {
        if self.open {
            self.insert(flow.0)
        } else {
            Membership::Unknown
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if !other.open {
            return self.close();
        }
        if other.zero {
            self.add(FlowHash(0));
        }
        for &hash in other.slots.iter().filter(|&&hash| hash != 0) {
            self.add(FlowHash(hash));
        }
    }

    pub(super) fn close(&mut self) {
        self.open = false;
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(0);
        (self.zero, self.len, self.open) = (false, 0, true);
    }

    #[inline]
    fn insert(&mut self, hash: u64) -> Membership {
        if hash == 0 {
            return if self.zero {
                Membership::Known
            } else {
                self.grow(|set| set.zero = true)
            };
        }
        // The bitmap uses the top bits of the hash, this set the lowest.
        let mut at = hash as u8;
        loop {
            match self.slots[usize::from(at)] {
                kept if kept == hash => return Membership::Known,
                0 => return self.grow(|set| set.slots[usize::from(at)] = hash),
                _ => at = at.wrapping_add(1),
            }
        }
    }

    #[cold]
    fn grow(&mut self, keep: impl FnOnce(&mut Self)) -> Membership {
        keep(self);
        self.len += 1;
        self.open = self.len <= FIRST_FLOWS;
        Membership::Unknown
    }
}

/// Two sets are equal if they have the same flows; the slot of a flow depends on its arrival.
impl PartialEq for FirstFlows {
    fn eq(&self, other: &Self) -> bool {
        match (self.open, other.open) {
            (true, true) => {
                let holds = |hash: &u64| *hash == 0 || other.slots.contains(hash);
                (self.zero, self.len) == (other.zero, other.len) && self.slots.iter().all(holds)
            }
            (ours, theirs) => ours == theirs,
        }
    }
}

impl Eq for FirstFlows {}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(hashes: impl IntoIterator<Item = u64>) -> FirstFlows {
        let mut set = FirstFlows::new();
        for hash in hashes {
            set.add(FlowHash(hash));
        }
        set
    }

    #[test]
    fn counts_each_flow_once_and_the_zero_hash_too() {
        assert_eq!(of([0, 5, 5, 261, 0, 517]).count(), Some(4));
    }

    #[test]
    fn closes_with_the_flow_that_is_one_too_many() {
        assert_eq!(of(0..128).count(), Some(128));
        assert_eq!(of(0..129).count(), None);
        assert_eq!(of((0..128).map(|i| i << 8 | 255)).count(), Some(128));
    }

    #[test]
    fn order_does_not_matter() {
        assert_eq!(of([1, 257, 513, 0]), of([513, 0, 257, 1]));
        assert_ne!(of([1, 257]), of([1, 513]));
        assert_eq!(of(0..300), of(200..900));
    }

    #[test]
    fn clears_to_new() {
        let mut set = of(0..300);
        set.clear();
        assert_eq!(set, FirstFlows::new());
    }
}
