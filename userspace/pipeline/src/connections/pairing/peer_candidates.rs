//! Finds the direction that answers another: matches PSNs of ACKs and READ responses with requests.
//!
//! While a direction has no peer, the first and last PSN of each of its request runs is entered
//! under its two hosts. An ACK or response in the other direction looks up its PSN there. The matches are candidates;
//! the next ACK keeps those with its PSN. Two answers that leave one candidate make a pair; one is enough while so few
//! PSNs are entered that a random match is rarer than one in a thousand. UDP source ports are never used.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use hashbrown::HashTable;

/// The maximum number of entries; the oldest is evicted. 48 bytes each: at most 12 MiB.
const MAX_ENTRIES: usize = 262_144;
/// Directions kept for one PSN: several queue pairs may begin at PSN 0.
const MAX_SHARED: usize = 8;
/// Directions between two hosts to search when a NAK names a PSN inside a run: collectives open hundreds of queue pairs.
const MAX_SEARCHED: usize = 512;
/// Up to this number of entries, a random match has a probability below 2^14 / 2^24, a thousandth.
const FEW_ENTRIES: usize = 1 << 14;

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    directions: [u32; MAX_SHARED],
    count: u8,
    /// There were more: the entry is ambiguous.
    is_full: bool,
}

/// The possible peers of an unpaired direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidates {
    directions: [u32; MAX_SHARED],
    count: u8,
    answers: u8,
}

/// PSNs of requests whose direction has no peer yet.
#[derive(Debug, Default)]
pub(crate) struct OpenRequests {
    table: HashTable<Entry>,
    order: VecDeque<u64>,
    /// Directions that may still lack a peer, by hosts.
    hosts: BTreeMap<u64, Vec<u32>>,
}

/// What an answer shows about its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing.
    Nothing,
    /// It answers this direction.
    Peer(u32),
}

/// Whether a NAK can be for a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NakTarget {
    /// It has a peer already, or is gone.
    Paired,
    /// It sent the PSN.
    Sent,
    /// It did not.
    Other,
}

fn key(hosts: u64, psn: u32) -> u64 {
    (hosts ^ u64::from(psn).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

impl OpenRequests {
    /// `direction`, from one host to another, sent a request with this PSN. `is_open`: whether a direction still has no
    /// peer.
    pub(crate) fn enter(&mut self, hosts: u64, psn: u32, direction: u32, is_open: impl Fn(u32) -> bool) {
        let key = key(hosts, psn);
        if let Some(entry) = self.table.find_mut(key, |entry| entry.key == key) {
            entry.put(direction, is_open);
            return;
        }
        if self.order.len() >= MAX_ENTRIES
            && let Some(oldest) = self.order.pop_front()
            && let Ok(entry) = self.table.find_entry(oldest, |entry| entry.key == oldest)
        {
            entry.remove();
        }
        let mut directions = [u32::MAX; MAX_SHARED];
        directions[0] = direction;
        let entry = Entry {
            key,
            directions,
            count: 1,
            is_full: false,
        };
        self.table.insert_unique(key, entry, |entry| entry.key);
        self.order.push_back(key);
    }

    /// `direction`, from one host to another, began to send requests.
    pub(crate) fn begin(&mut self, hosts: u64, direction: u32) {
        let directions = self.hosts.entry(hosts).or_default();
        if directions.len() < MAX_SEARCHED {
            directions.push(direction);
        }
    }

    /// A NAK names a PSN inside a run, which is not entered: the only direction between the hosts that `sent` it.
    pub(crate) fn find_by_nak(&mut self, hosts: u64, sent: impl Fn(u32) -> NakTarget) -> Found {
        let Some(directions) = self.hosts.get_mut(&hosts) else {
            return Found::Nothing;
        };
        directions.retain(|direction| sent(*direction) != NakTarget::Paired);
        let mut hits = directions.iter().filter(|d| sent(**d) == NakTarget::Sent);
        match (hits.next(), hits.next()) {
            (Some(direction), None) => Found::Peer(*direction),
            _ => Found::Nothing,
        }
    }

    /// Whether another direction between the hosts than this one may have sent the PSN.
    fn is_sent_elsewhere(&self, hosts: u64, but: u32, sent: impl Fn(u32) -> NakTarget) -> bool {
        let directions = self.hosts.get(&hosts).into_iter().flatten();
        directions
            .filter(|other| **other != but)
            .any(|other| sent(*other) == NakTarget::Sent)
    }

    /// An answer with this PSN passed. `hosts` are those of the requests; `is_open`: whether a direction still has no
    /// peer.
    pub(crate) fn answer(
        &self,
        candidates: &mut Option<Candidates>,
        hosts: u64,
        psn: u32,
        is_open: impl Fn(u32) -> bool,
        sent: impl Fn(u32) -> NakTarget,
    ) -> Found {
        let key = key(hosts, psn);
        let Some(entry) = self.table.find(key, |entry| entry.key == key) else {
            return Found::Nothing;
        };
        if entry.is_full {
            return Found::Nothing;
        }
        let mut now = Candidates {
            directions: [u32::MAX; MAX_SHARED],
            count: 0,
            answers: 1,
        };
        let mut keep = |direction: u32| {
            if let Some(slot) = now.directions.get_mut(now.count as usize) {
                *slot = direction;
                now.count += 1;
            }
        };
        let open = entry.directions.iter().take(entry.count as usize);
        let open = open.copied().filter(|direction| is_open(*direction));
        match candidates.filter(|before| open.clone().any(|d| before.holds(d))) {
            Some(before) => {
                open.filter(|d| before.holds(*d)).for_each(&mut keep);
                now.answers = before.answers.saturating_add(1);
            }
            None => open.for_each(&mut keep),
        }
        *candidates = Some(now);
        // Queue pairs that begin with the same PSN match systematically, not at random.
        let certain = now.answers >= 2
            || self.table.len() <= FEW_ENTRIES && !self.is_sent_elsewhere(hosts, now.directions[0], sent);
        match now.directions.first() {
            Some(direction) if now.count == 1 && certain => Found::Peer(*direction),
            _ => Found::Nothing,
        }
    }
}

impl Entry {
    fn put(&mut self, direction: u32, is_open: impl Fn(u32) -> bool) {
        let count = self.count as usize;
        if self.directions.iter().take(count).any(|d| *d == direction) {
            return;
        }
        if count == MAX_SHARED {
            // Directions that have found their peer are removed.
            let open = self.directions.into_iter().filter(|d| is_open(*d));
            let mut directions = [u32::MAX; MAX_SHARED];
            let mut kept = 0;
            for (slot, direction) in directions.iter_mut().zip(open) {
                *slot = direction;
                kept += 1;
            }
            (self.directions, self.count) = (directions, kept);
        }
        match self.directions.get_mut(self.count as usize) {
            Some(slot) => {
                *slot = direction;
                self.count += 1;
            }
            None => self.is_full = true,
        }
    }
}

impl Candidates {
    fn holds(&self, direction: u32) -> bool {
        self.directions
            .iter()
            .take(self.count as usize)
            .any(|candidate| *candidate == direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_with_equal_first_psns_are_distinguished_by_their_next() {
        let mut open = OpenRequests::default();
        for direction in 0..4 {
            open.enter(1, 0, direction, |_| true);
        }
        open.enter(1, 7, 2, |_| true);
        let mut candidates = None;
        assert_eq!(
            open.answer(&mut candidates, 1, 0, |_| true, |_| NakTarget::Other),
            Found::Nothing
        );
        assert_eq!(
            open.answer(&mut candidates, 1, 7, |_| true, |_| NakTarget::Other),
            Found::Peer(2)
        );
    }

    #[test]
    fn hosts_and_paired_directions_do_not_match() {
        let mut open = OpenRequests::default();
        open.enter(1, 5, 0, |_| true);
        assert_eq!(
            open.answer(&mut None, 2, 5, |_| true, |_| NakTarget::Other),
            Found::Nothing
        );
        assert_eq!(
            open.answer(&mut None, 1, 5, |_| false, |_| NakTarget::Other),
            Found::Nothing
        );
        assert_eq!(
            open.answer(&mut None, 1, 5, |_| true, |_| NakTarget::Other),
            Found::Peer(0)
        );
    }

    #[test]
    fn a_psn_that_too_many_share_is_ambiguous_until_some_have_found_their_peers() {
        let mut open = OpenRequests::default();
        for direction in 0..9 {
            open.enter(1, 0, direction, |_| true);
            open.enter(1, 1, direction, |direction| direction > 3);
        }
        // 8 is unknown here: 7 must not become the peer because it is the only one left.
        let answer = open.answer(&mut None, 1, 0, |d| d >= 7, |_| NakTarget::Other);
        assert_eq!(answer, Found::Nothing);
        let answer = open.answer(&mut None, 1, 1, |d| d == 8, |_| NakTarget::Other);
        assert_eq!(answer, Found::Peer(8));
    }

    #[test]
    fn one_answer_is_not_enough_if_another_has_sent_the_psn() {
        let mut open = OpenRequests::default();
        open.begin(1, 0);
        open.begin(1, 1);
        open.enter(1, 5, 0, |_| true);
        let mut candidates = None;
        let sent = |direction| match direction {
            1 => NakTarget::Sent,
            _ => NakTarget::Other,
        };
        assert_eq!(open.answer(&mut candidates, 1, 5, |_| true, sent), Found::Nothing);
        open.enter(1, 9, 0, |_| true);
        assert_eq!(open.answer(&mut candidates, 1, 9, |_| true, sent), Found::Peer(0));
    }

    #[test]
    fn entries_are_bounded() {
        let mut open = OpenRequests::default();
        for psn in 0..300_000 {
            open.enter(1, psn, 0, |_| true);
        }
        assert_eq!(open.table.len(), MAX_ENTRIES);
        assert_eq!(
            open.answer(&mut None, 1, 3, |_| true, |_| NakTarget::Other),
            Found::Nothing
        );
    }
}
