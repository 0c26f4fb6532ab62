//! Directions of the next runs, looked up together.
//!
//! State of 100,000 directions is in no cache: each run would wait for memory several times, one
//! after the other. Looked up a group at a time, and touched before the first of them is needed,
//! their waits overlap.

use super::direction::Direction;
use super::key::Key;
use super::table::Directions;
use core::hint::black_box;
use rocescope_record::RunRecord;
use rocescope_wire::Operation;

/// Runs in a group: enough to keep every outstanding miss of a core busy, few enough to stay in its
/// first cache (32 times half a kilobyte).
pub(crate) const GROUP: usize = 32;

/// So few directions are in the cache anyway.
const FEW: usize = 256;

/// What a run probably does, by its opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Requests,
    Acknowledges,
    Other,
}

impl Kind {
    fn of(run: &RunRecord) -> Self {
        match run.opcode().operation() {
            Operation::Send | Operation::RdmaWrite => Self::Requests,
            Operation::Acknowledge => Self::Acknowledges,
            _ => Self::Other,
        }
    }
}

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

impl Ahead {
    /// These runs are taken next.
    pub(super) fn load<'a>(
        &mut self,
        directions: &Directions,
        runs: impl Iterator<Item = &'a RunRecord>,
    ) {
        let mut kinds = [Kind::Other; GROUP];
        let mut places = kinds.iter_mut();
        let keys = runs.map(|run| {
            if let Some(kind) = places.next() {
                *kind = Kind::of(run);
            }
            Key::of(run)
        });
        self.next = 0;
        self.len = directions.guess(keys, &mut self.found);
        if directions.len() < FEW {
            return;
        }
        let found = || {
            let found = self.found.iter().take(self.len).zip(&kinds);
            found.filter_map(|(at, kind)| Some(((*at)?, *kind)))
        };
        let mut touched = 0;
        // First those that carry the runs, which tell who their peers are; then the peers.
        for (at, kind) in found() {
            touched ^= directions.hot(at).map_or(0, |hot| match kind {
                Kind::Requests => hot.touch() ^ hot.touch_requests(),
                Kind::Acknowledges | Kind::Other => hot.touch(),
            });
        }
        for (at, kind) in found() {
            let Some(hot) = directions.hot(at) else {
                continue;
            };
            let is_ordinary = kind != Kind::Other && hot.is_light();
            if is_ordinary && kind == Kind::Requests {
                continue;
            }
            let peer = match hot.peer() {
                peer @ Some(_) => peer,
                None => directions.get(at).and_then(|direction| direction.peer),
            };
            let peer_hot = peer.and_then(|peer| directions.hot(peer));
            touched ^= peer_hot.map_or(0, |hot| hot.touch() ^ hot.touch_requests());
            if !is_ordinary {
                for at in core::iter::once(at).chain(peer) {
                    touched ^= directions.get(at).map_or(0, Direction::touch);
                }
            }
        }
        black_box(touched);
    }

    /// The direction of the run that is taken now.
    #[inline]
    pub(super) fn find(&mut self, directions: &Directions, key: &Key) -> Option<u32> {
        let Self { found, len, next } = self;
        if *next < *len {
            let guess = found.get(*next).copied().flatten();
            *next += 1;
            // It may have come or gone since, and a guess may be wrong.
            let is_right = |at: u32| {
                let hot = directions.hot(at);
                hot.is_some_and(|hot| hot.key == *key)
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
