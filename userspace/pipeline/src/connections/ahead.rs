//! Directions of the next runs, looked up together.
//!
//! State of 100,000 directions is in no cache: each run would wait for memory several times, one
//! after the other. Looked up a group at a time, and touched before the first of them is needed,
//! their waits overlap.

use super::Connections;
use super::direction::Direction;
use super::key::Key;
use core::hint::black_box;
use rocescope_record::RunRecord;

/// Runs in a group: enough to keep every outstanding miss of a core busy, few enough to stay in its
/// first cache (32 times half a kilobyte).
pub(crate) const GROUP: usize = 32;

/// So few directions are in the cache anyway.
const FEW: usize = 256;

/// What the next runs will probably need.
#[derive(Debug)]
pub(crate) struct Ahead {
    /// `None` for a direction that is not there yet.
    found: [Option<u32>; GROUP],
    len: usize,
    next: usize,
}

impl Default for Ahead {
    fn default() -> Self {
        Self {
            found: [None; GROUP],
            len: 0,
            next: 0,
        }
    }
}

impl Connections {
    /// These runs are taken next.
    pub(super) fn look_ahead<'a>(&mut self, runs: impl Iterator<Item = &'a RunRecord>) {
        let Self {
            ahead, directions, ..
        } = self;
        ahead.next = 0;
        ahead.len = directions.guess(runs.map(Key::of), &mut ahead.found);
        if directions.len() < FEW {
            return;
        }
        let found = || ahead.found.iter().take(ahead.len).flatten();
        let mut touched = 0;
        // First those that carry the runs, which tell who their peers are; then the peers.
        for direction in found().filter_map(|at| directions.get(*at)) {
            touched ^= direction.touch();
        }
        for direction in found().filter_map(|at| directions.get(*at)) {
            let peer = direction.peer.and_then(|peer| directions.get(peer));
            touched ^= peer.map_or(0, Direction::touch);
        }
        black_box(touched);
    }

    /// The direction of the run that is taken now.
    #[inline]
    pub(super) fn looked_up(&mut self, key: &Key) -> Option<u32> {
        let Ahead { found, len, next } = &mut self.ahead;
        if *next < *len {
            let guess = found.get(*next).copied().flatten();
            *next += 1;
            // It may have come or gone since, and a guess may be wrong.
            let is_right = |at: u32| {
                let direction = self.directions.get(at);
                direction.is_some_and(|direction| direction.key == *key)
            };
            if let Some(at) = guess
                && is_right(at)
            {
                return guess;
            }
        }
        self.directions.find(key)
    }
}
