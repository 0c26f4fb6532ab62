//! The tracked directions: found by key, removed by age.
//!
//! They are in pieces that never move, so a growing table copies nothing.

use crate::connections::direction::Direction;
use crate::connections::fast::state::FastState;
use crate::connections::pairing::key::DirectionKey;
use crate::index::Index;
use alloc::vec::Vec;

/// Directions in a piece of about 64 KiB.
const PIECE: usize = 64;
/// Their fast states, in pieces of 64 KiB as well.
const FAST_PIECE: usize = 256;

/// The directions by number.
#[derive(Debug, Default)]
pub(crate) struct Pieces(Vec<Vec<Option<Direction>>>);

impl Pieces {
    #[inline]
    fn get(&self, at: u32) -> Option<&Direction> {
        self.0.get(at as usize / PIECE)?.get(at as usize % PIECE)?.as_ref()
    }

    #[inline]
    fn slot(&mut self, at: u32) -> Option<&mut Option<Direction>> {
        let piece = self.0.get_mut(at as usize / PIECE)?;
        piece.get_mut(at as usize % PIECE)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut Direction> {
        self.slot(at)?.as_mut()
    }
}

/// Fast states by number.
#[derive(Debug, Default)]
pub(crate) struct FastStates(Vec<Vec<FastState>>);

impl FastStates {
    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&FastState> {
        let piece = self.0.get(at as usize / FAST_PIECE)?;
        piece.get(at as usize % FAST_PIECE)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut FastState> {
        let piece = self.0.get_mut(at as usize / FAST_PIECE)?;
        piece.get_mut(at as usize % FAST_PIECE)
    }
}

/// Directions by key and by number. A number is reused once its direction is removed.
#[derive(Debug, Default)]
pub(crate) struct Directions {
    index: Index,
    pub(crate) fast: FastStates,
    pub(crate) pieces: Pieces,
    slots: u32,
    free: Vec<u32>,
}

/// The tag of a key in the index: half of its hash.
#[inline]
fn tag(key: &DirectionKey) -> u32 {
    (key.hash() >> 32) as u32
}

impl Directions {
    pub(crate) fn len(&self) -> usize {
        self.slots as usize - self.free.len()
    }

    #[inline]
    pub(crate) fn fast(&self, at: u32) -> Option<&FastState> {
        self.fast.get(at)
    }

    /// A direction as it was when its fast state was [flushed](Self::flush) last: the fast path changes only some of
    /// its fields.
    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&Direction> {
        self.pieces.get(at)
    }

    /// A direction with all sums in it; its fast state is no longer active.
    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut Direction> {
        self.flush(at);
        self.pieces.get_mut(at)
    }

    /// Adds what the fast path counted to the direction.
    #[inline]
    pub(crate) fn flush(&mut self, at: u32) {
        if self.fast(at).is_some_and(FastState::is_active) {
            self.flush_active(at);
        }
    }

    fn flush_active(&mut self, at: u32) {
        let Self { fast, pieces, .. } = self;
        if let (Some(fast), Some(direction)) = (fast.get_mut(at), pieces.get_mut(at)) {
            fast.flush(direction);
        }
    }

    /// Activates the fast state of a direction, if nothing is open at it.
    pub(crate) fn load_fast(&mut self, at: u32, duplicate_ns: u64) {
        let Self { fast, pieces, .. } = self;
        if let (Some(fast), Some(direction)) = (fast.get_mut(at), pieces.get(at))
            && !fast.is_active()
        {
            fast.load(direction, duplicate_ns);
        }
    }

    /// Time of the last packet of the direction.
    pub(crate) fn last_ns(&self, at: u32) -> Option<u64> {
        match self.fast(at) {
            Some(fast) if fast.is_active() => Some(fast.last_ns),
            _ => self.get(at).map(|direction| direction.last_ns),
        }
    }

    /// Two directions at once.
    pub(crate) fn pair_mut(&mut self, a: u32, b: u32) -> Option<(&mut Direction, &mut Direction)> {
        self.flush(a);
        self.flush(b);
        let (a, b) = (a as usize, b as usize);
        let pieces = &mut self.pieces.0;
        let (one, other) = if a / PIECE == b / PIECE {
            let piece = pieces.get_mut(a / PIECE)?;
            let [one, other] = piece.get_disjoint_mut([a % PIECE, b % PIECE]).ok()?;
            (one, other)
        } else {
            let [one, other] = pieces.get_disjoint_mut([a / PIECE, b / PIECE]).ok()?;
            (one.get_mut(a % PIECE)?, other.get_mut(b % PIECE)?)
        };
        Some((one.as_mut()?, other.as_mut()?))
    }

    pub(crate) fn find(&self, key: &DirectionKey) -> Option<u32> {
        self.index
            .find(tag(key), |at| self.fast(at).is_some_and(|fast| fast.key == *key))
    }

    /// The directions that probably have these keys; does not access them.
    pub(crate) fn guess<const N: usize>(
        &self,
        keys: impl Iterator<Item = DirectionKey>,
        found: &mut [Option<u32>; N],
    ) -> usize {
        let mut tags = [0; N];
        let (mut count, mut touched) = (0, 0);
        for (key, slot) in keys.zip(&mut tags) {
            *slot = tag(&key);
            touched ^= self.index.touch(*slot);
            count += 1;
        }
        core::hint::black_box(touched);
        for (tag, found) in tags.iter().zip(found).take(count) {
            *found = self.index.find(*tag, |_| true);
        }
        count
    }

    /// Adds a direction; returns its number.
    pub(crate) fn insert(&mut self, key: DirectionKey, now_ns: u64) -> u32 {
        let tag = tag(&key);
        let direction = Some(Direction::new(key, now_ns));
        let at = match self.free.pop() {
            Some(at) => {
                if let Some(slot) = self.pieces.slot(at) {
                    *slot = direction;
                }
                if let Some(fast) = self.fast.get_mut(at) {
                    *fast = FastState::new(key);
                }
                at
            }
            None => {
                let at = self.slots;
                let pieces = &mut self.pieces.0;
                if (at as usize).is_multiple_of(PIECE) {
                    pieces.push(Vec::with_capacity(PIECE));
                }
                if (at as usize).is_multiple_of(FAST_PIECE) {
                    self.fast.0.push(Vec::with_capacity(FAST_PIECE));
                }
                if let (Some(piece), Some(fast)) = (pieces.last_mut(), self.fast.0.last_mut()) {
                    piece.push(direction);
                    fast.push(FastState::new(key));
                    self.slots += 1;
                }
                at
            }
        };
        self.index.insert(tag, at);
        at
    }

    pub(crate) fn remove(&mut self, at: u32) {
        let Some(slot) = self.pieces.slot(at) else {
            return;
        };
        let Some(direction) = slot.take() else {
            return;
        };
        let tag = tag(&direction.key);
        if let Some(fast) = self.fast.get_mut(at) {
            fast.clear();
        }
        self.index.remove(tag, at);
        self.free.push(at);
    }

    pub(crate) fn numbers(&self) -> core::ops::Range<u32> {
        0..self.slots
    }
}
