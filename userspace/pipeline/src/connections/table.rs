//! The directions that are followed: found by key, forgotten by age.
//!
//! They lie in pieces that never move, so that a table which grows copies nothing.

use super::direction::Direction;
use super::hot::Hot;
use super::key::Key;
use crate::index::Index;
use alloc::vec::Vec;

/// Directions in a piece: 64 KiB or so.
const PIECE: usize = 64;
/// What ordinary runs need of them, in pieces of 64 KiB as well.
const HOT_PIECE: usize = 256;

/// The directions by number.
#[derive(Debug, Default)]
pub(crate) struct Pieces(Vec<Vec<Option<Direction>>>);

impl Pieces {
    #[inline]
    fn get(&self, at: u32) -> Option<&Direction> {
        self.0
            .get(at as usize / PIECE)?
            .get(at as usize % PIECE)?
            .as_ref()
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

/// What ordinary runs need of them, by number.
#[derive(Debug, Default)]
pub(super) struct Hots(Vec<Vec<Hot>>);

impl Hots {
    #[inline]
    pub(super) fn get(&self, at: u32) -> Option<&Hot> {
        let piece = self.0.get(at as usize / HOT_PIECE)?;
        piece.get(at as usize % HOT_PIECE)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut Hot> {
        let piece = self.0.get_mut(at as usize / HOT_PIECE)?;
        piece.get_mut(at as usize % HOT_PIECE)
    }
}

/// Directions by key and by number. A number is reused once its direction is removed.
#[derive(Debug, Default)]
pub(crate) struct Directions {
    index: Index,
    pub(super) hot: Hots,
    pub(super) pieces: Pieces,
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
    pub(crate) fn hot(&self, at: u32) -> Option<&Hot> {
        self.hot.get(at)
    }

    /// A direction as it was when it [settled](Self::settle) last: of a light one what never changes
    /// in the ordinary case.
    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&Direction> {
        self.pieces.get(at)
    }

    /// A direction as it is: light no more.
    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut Direction> {
        self.settle(at);
        self.pieces.get_mut(at)
    }

    /// What ordinary runs changed goes to the direction.
    #[inline]
    pub(crate) fn settle(&mut self, at: u32) {
        if self.hot(at).is_some_and(Hot::is_light) {
            self.settle_light(at);
        }
    }

    fn settle_light(&mut self, at: u32) {
        let Self { hot, pieces, .. } = self;
        if let (Some(hot), Some(cold)) = (hot.get_mut(at), pieces.get_mut(at)) {
            hot.settle(cold);
        }
    }

    /// The direction becomes light, if nothing is open at it.
    pub(crate) fn lighten(&mut self, at: u32, duplicate_ns: u64) {
        let Self { hot, pieces, .. } = self;
        if let (Some(hot), Some(cold)) = (hot.get_mut(at), pieces.get(at))
            && !hot.is_light()
        {
            hot.lighten(cold, duplicate_ns);
        }
    }

    /// When a packet of the direction passed last.
    pub(crate) fn last_ns(&self, at: u32) -> Option<u64> {
        match self.hot(at) {
            Some(hot) if hot.is_light() => Some(hot.last_ns),
            _ => self.get(at).map(|direction| direction.last_ns),
        }
    }

    /// Two directions at once.
    pub(crate) fn pair_mut(&mut self, a: u32, b: u32) -> Option<(&mut Direction, &mut Direction)> {
        self.settle(a);
        self.settle(b);
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

    pub(crate) fn find(&self, key: &Key) -> Option<u32> {
        self.index.find(tag(key), |at| {
            self.hot(at).is_some_and(|hot| hot.key == *key)
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
                if let Some(slot) = self.pieces.slot(at) {
                    *slot = direction;
                }
                if let Some(hot) = self.hot.get_mut(at) {
                    *hot = Hot::new(key);
                }
                at
            }
            None => {
                let at = self.slots;
                let pieces = &mut self.pieces.0;
                if (at as usize).is_multiple_of(PIECE) {
                    pieces.push(Vec::with_capacity(PIECE));
                }
                if (at as usize).is_multiple_of(HOT_PIECE) {
                    self.hot.0.push(Vec::with_capacity(HOT_PIECE));
                }
                if let (Some(piece), Some(hot)) = (pieces.last_mut(), self.hot.0.last_mut()) {
                    piece.push(direction);
                    hot.push(Hot::new(key));
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
        if let Some(hot) = self.hot.get_mut(at) {
            hot.leave();
        }
        self.index.remove(tag, at);
        self.free.push(at);
    }

    pub(crate) fn numbers(&self) -> core::ops::Range<u32> {
        0..self.slots
    }
}
