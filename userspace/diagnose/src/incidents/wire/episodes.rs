//! When a sign showed itself: events without a long pause between them are one episode.

use super::Direction;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::EventRow;

/// Events with a longer pause between them are two episodes: 5 minutes.
const PAUSE_NS: i64 = 300_000_000_000;
/// Episodes that are kept of a sign between two addresses; more of them join the last.
const MAX_EPISODES: usize = 64;

/// Signs between two addresses that are kept; events of more change nothing.
const MAX_PAIRS: usize = 65_536;

/// A kind of events that is a sign of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    Loss,
    RetryExhausted,
    RnrNak,
    FatalNak,
    Nak,
}

impl Sign {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "loss" => Self::Loss,
            "retry_exhausted" => Self::RetryExhausted,
            "rnr_nak" => Self::RnrNak,
            "fatal_nak" => Self::FatalNak,
            "nak" => Self::Nak,
            _ => return None,
        })
    }
}

/// A time in which a sign showed itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Episode {
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
    /// What the events count.
    pub(super) count: u64,
}

/// The episodes of signs by source and destination of their events, as each capture box saw them.
#[derive(Debug, Default)]
pub struct Episodes(BTreeMap<(Sign, IpAddr, IpAddr), BTreeMap<String, Vec<Episode>>>);

impl Episodes {
    pub(super) fn add(&mut self, row: &EventRow) {
        let (Some(sign), Some(src), Some(dst)) = (Sign::of(&row.kind), row.src, row.dst) else {
            return;
        };
        let now = Episode {
            first_ns: row.time_ns,
            last_ns: row.time_ns,
            count: row.count,
        };
        if self.0.len() < MAX_PAIRS || self.0.contains_key(&(sign, src, dst)) {
            let boxes = self.0.entry((sign, src, dst)).or_default();
            insert(boxes.entry(row.observer.to_string()).or_default(), now);
        }
    }

    /// Whether this capture box saw a sign from one address to another.
    pub(super) fn saw(&self, observer: &str, sign: Sign, (src, dst): (IpAddr, IpAddr)) -> bool {
        let boxes = self.0.get(&(sign, src, dst));
        boxes.is_some_and(|boxes| boxes.contains_key(observer))
    }

    /// The pairs with a sign.
    pub(super) fn pairs(&self, sign: Sign) -> impl Iterator<Item = (IpAddr, IpAddr)> {
        let of_sign = self.0.keys().filter(move |(of, ..)| *of == sign);
        of_sign.map(|(_, src, dst)| (*src, *dst))
    }

    /// Forgets episodes that ended before this time.
    pub(super) fn forget(&mut self, before_ns: i64) {
        self.0.retain(|_, boxes| {
            boxes.retain(|_, all| {
                all.retain(|episode| episode.last_ns >= before_ns);
                !all.is_empty()
            });
            !boxes.is_empty()
        });
    }

    /// The episodes of a sign between these pairs, source first, each as the capture box counts them that counts most.
    pub(super) fn of(&self, sign: Sign, pairs: impl IntoIterator<Item = (IpAddr, IpAddr)>) -> Vec<Episode> {
        let pairs: BTreeSet<(IpAddr, IpAddr)> = pairs.into_iter().collect();
        let mut joined = Vec::new();
        for (src, dst) in pairs {
            let boxes = self.0.get(&(sign, src, dst)).into_iter().flatten();
            let most = boxes.max_by_key(|(_, all)| all.iter().map(|episode| episode.count).sum::<u64>());
            for episode in most.into_iter().flat_map(|(_, all)| all) {
                insert(&mut joined, *episode);
            }
        }
        joined
    }
}

/// Adds an episode in order, and joins those that it connects.
fn insert(all: &mut Vec<Episode>, new: Episode) {
    let is_near = |known: &Episode| {
        new.first_ns <= known.last_ns.saturating_add(PAUSE_NS) && known.first_ns <= new.last_ns.saturating_add(PAUSE_NS)
    };
    let from = all.iter().position(is_near);
    let Some(from) = from else {
        let at = all.partition_point(|known| known.first_ns < new.first_ns);
        all.insert(at, new);
        if all.len() > MAX_EPISODES
            && let Some(last) = all.pop()
            && let Some(before) = all.last_mut()
        {
            *before = before.with(last);
        }
        return;
    };
    let to = all.iter().rposition(is_near).unwrap_or(from);
    let joined = all.drain(from..=to).fold(new, Episode::with);
    all.insert(from, joined);
}

impl Episode {
    /// Without events, all that is known is when the connections lived.
    pub(super) fn lived(ways: &[&Direction]) -> Self {
        Self {
            first_ns: ways.iter().map(|way| way.first_ns).min().unwrap_or(0),
            last_ns: ways.iter().map(|way| way.last_ns).max().unwrap_or(0),
            count: ways.iter().map(|way| way.lost()).sum(),
        }
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self {
            first_ns: self.first_ns.min(other.first_ns),
            last_ns: self.last_ns.max(other.last_ns),
            count: self.count + other.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Episode, insert};
    use alloc::vec::Vec;

    #[test]
    fn a_pause_of_five_minutes_ends_an_episode_whatever_the_order_of_events() {
        const MINUTE: i64 = 60_000_000_000;
        let at = |minute: i64| Episode {
            first_ns: minute * MINUTE,
            last_ns: minute * MINUTE,
            count: 1,
        };
        let spans = |minutes: &[i64]| {
            let mut all = Vec::new();
            minutes.iter().for_each(|minute| insert(&mut all, at(*minute)));
            let span = |e: &Episode| (e.first_ns / MINUTE, e.last_ns / MINUTE, e.count);
            all.iter().map(span).collect::<Vec<_>>()
        };
        assert_eq!(spans(&[0, 4, 8, 20, 21]), [(0, 8, 3), (20, 21, 2)]);
        assert_eq!(spans(&[21, 8, 0, 20, 4]), [(0, 8, 3), (20, 21, 2)]);
        let far: Vec<i64> = (0..200).map(|n| n * 10).collect();
        let all = spans(&far);
        assert_eq!(all.len(), super::MAX_EPISODES);
        assert_eq!(all.iter().map(|e| e.2).sum::<u64>(), 200);
    }
}
