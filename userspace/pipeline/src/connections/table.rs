//! The directions that are followed: found by key, forgotten by age.
//!
//! They lie in pieces that never move, so that a table which grows copies nothing.

use super::direction::Direction;
use super::index::Index;
use super::key::Key;
use alloc::vec::Vec;

/// Directions in a piece: 64 KiB or so.
const PIECE: usize = 64;

/// Directions by key and by number. A number is reused once its direction is removed.
#[derive(Debug, Default)]
pub(crate) struct Directions {
    index: Index,
    pieces: Vec<Vec<Option<Direction>>>,
    slots: u32,
    free: Vec<u32>,
}

/// What the index knows of a key: half of its hash.
#[inline]
fn tag(key: &Key) -> u32 {
    (key.hash() >> 32) as u32
}

impl Directions {
    pub(crate) fn len(&self) -> usize {
        self.slots as usize - self.free.len()
    }

    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&Direction> {
        let piece = self.pieces.get(at as usize / PIECE)?;
        piece.get(at as usize % PIECE)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut Direction> {
        self.slot(at)?.as_mut()
    }

    #[inline]
    fn slot(&mut self, at: u32) -> Option<&mut Option<Direction>> {
        let piece = self.pieces.get_mut(at as usize / PIECE)?;
        piece.get_mut(at as usize % PIECE)
    }

    /// Two directions at once.
    pub(crate) fn pair_mut(&mut self, a: u32, b: u32) -> Option<(&mut Direction, &mut Direction)> {
        let (a, b) = (a as usize, b as usize);
        let (one, other) = if a / PIECE == b / PIECE {
            let piece = self.pieces.get_mut(a / PIECE)?;
            let [one, other] = piece.get_disjoint_mut([a % PIECE, b % PIECE]).ok()?;
            (one, other)
        } else {
            let [one, other] = self.pieces.get_disjoint_mut([a / PIECE, b / PIECE]).ok()?;
            (one.get_mut(a % PIECE)?, other.get_mut(b % PIECE)?)
        };
        Some((one.as_mut()?, other.as_mut()?))
    }

    pub(crate) fn find(&self, key: &Key) -> Option<u32> {
        self.index.find(tag(key), |at| {
            self.get(at).is_some_and(|direction| direction.key == *key)
        })
    }

    /// The directions that probably have these keys; none of them is looked at.
    pub(crate) fn guess<const N: usize>(
        &self,
        keys: impl Iterator<Item = Key>,
        found: &mut [Option<u32>; N],
    ) -> usize {
        let mut tags = [0; N];
        let (mut count, mut touched) = (0, 0);
        for (key, place) in keys.zip(&mut tags) {
            *place = tag(&key);
            touched ^= self.index.touch(*place);
            count += 1;
        }
        core::hint::black_box(touched);
        for (tag, found) in tags.iter().zip(found).take(count) {
            *found = self.index.find(*tag, |_| true);
        }
        count
    }

    /// The number of a direction that is not there yet.
    pub(crate) fn insert(&mut self, key: Key, now_ns: u64) -> u32 {
        let tag = tag(&key);
        let direction = Some(Direction::new(key, now_ns));
        let at = match self.free.pop() {
            Some(at) => {
                if let Some(slot) = self.slot(at) {
                    *slot = direction;
                }
                at
            }
            None => {
                let at = self.slots;
                if (at as usize).is_multiple_of(PIECE) {
                    self.pieces.push(Vec::with_capacity(PIECE));
                }
                if let Some(piece) = self.pieces.last_mut() {
                    piece.push(direction);
                    self.slots += 1;
                }
                at
            }
        };
        self.index.insert(tag, at);
        at
    }

    pub(crate) fn remove(&mut self, at: u32) {
        let Some(slot) = self.slot(at) else {
            return;
        };
        let Some(direction) = slot else {
            return;
        };
        let tag = tag(&direction.key);
        *slot = None;
        self.index.remove(tag, at);
        self.free.push(at);
    }

    pub(crate) fn numbers(&self) -> core::ops::Range<u32> {
        0..self.slots
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Direction)> {
        (0..)
            .zip(self.pieces.iter().flatten())
            .filter_map(|(at, slot)| Some((at, slot.as_ref()?)))
    }
}
