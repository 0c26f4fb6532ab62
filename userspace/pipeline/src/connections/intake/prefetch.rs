//! Looks up the directions of the next runs together.
//!
//! The state of 100,000 directions is not in the cache: each run would wait for memory several times in sequence.
//! Looking up a group of runs and touching their state before it is needed makes the waits overlap.

use crate::connections::direction::Direction;
use crate::connections::pairing::key::DirectionKey;
use crate::connections::pairing::table::Directions;
use core::hint::black_box;
use rocescope_record::RunRecord;
use rocescope_wire::Operation;

/// Runs in a group: enough to keep every outstanding miss of a core busy, few enough to stay in its
/// first cache (32 times half a kilobyte).
pub(crate) const GROUP: usize = 32;

/// Up to this many directions are in the cache anyway.
const CACHED_DIRECTIONS: usize = 256;

/// The probable effect of a run, by its opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedUse {
    Requests,
    Acknowledges,
    Other,
}

impl ExpectedUse {
    fn of(run: &RunRecord) -> Self {
        match run.opcode().operation() {
            Operation::Send | Operation::RdmaWrite => Self::Requests,
            Operation::Acknowledge => Self::Acknowledges,
            _ => Self::Other,
        }
    }
}

/// The state that the next runs will probably need.
#[derive(Debug)]
pub(crate) struct Prefetch {
    /// `None` for a new direction.
    found: [Option<u32>; GROUP],
    len: usize,
    next: usize,
}

impl Default for Prefetch {
    fn default() -> Self {
        Self {
            found: [None; GROUP],
            len: 0,
            next: 0,
        }
    }
}

impl Prefetch {
    /// Prefetches the state for these runs.
    pub(crate) fn load<'a>(&mut self, directions: &Directions, runs: impl Iterator<Item = &'a RunRecord>) {
        let mut kinds = [ExpectedUse::Other; GROUP];
        let mut next_kind = kinds.iter_mut();
        let keys = runs.map(|run| {
            if let Some(kind) = next_kind.next() {
                *kind = ExpectedUse::of(run);
            }
            DirectionKey::of(run)
        });
        self.next = 0;
        self.len = directions.guess(keys, &mut self.found);
        if directions.len() < CACHED_DIRECTIONS {
            return;
        }
        let found = || {
            let found = self.found.iter().take(self.len).zip(&kinds);
            found.filter_map(|(at, kind)| Some(((*at)?, *kind)))
        };
        let mut touched = 0;
        // First the directions of the runs, which have their peers; then the peers.
        for (at, kind) in found() {
            touched ^= directions.fast(at).map_or(0, |fast| match kind {
                ExpectedUse::Requests => fast.touch() ^ fast.touch_requests(),
                ExpectedUse::Acknowledges | ExpectedUse::Other => fast.touch(),
            });
        }
        for (at, kind) in found() {
            let Some(fast) = directions.fast(at) else {
                continue;
            };
            let is_fast = kind != ExpectedUse::Other && fast.is_active();
            if is_fast && kind == ExpectedUse::Requests {
                continue;
            }
            let peer = match fast.peer() {
                peer @ Some(_) => peer,
                None => directions.get(at).and_then(|direction| direction.peer),
            };
            let peer_fast = peer.and_then(|peer| directions.fast(peer));
            touched ^= peer_fast.map_or(0, |fast| fast.touch() ^ fast.touch_requests());
            if !is_fast {
                for at in core::iter::once(at).chain(peer) {
                    touched ^= directions.get(at).map_or(0, Direction::touch);
                }
            }
        }
        black_box(touched);
    }

    /// The direction of the current run.
    #[inline]
    pub(crate) fn find(&mut self, directions: &Directions, key: &DirectionKey) -> Option<u32> {
        let Self { found, len, next } = self;
        if *next < *len {
            let guess = found.get(*next).copied().flatten();
            *next += 1;
            // It may be new or removed since, and a guess may be wrong.
            let is_right = |at: u32| {
                let fast = directions.fast(at);
                fast.is_some_and(|fast| fast.key == *key)
            };
            if let Some(at) = guess
                && is_right(at)
            {
                return guess;
            }
        }
        directions.find(key)
    }
}
