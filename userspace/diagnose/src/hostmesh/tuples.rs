//! 5-tuples and their paths.

use super::names::{End, Names};
use alloc::vec::Vec;
use core::hash::BuildHasher;
use core::net::IpAddr;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

/// The fields of a 5-tuple.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) udp_src_port: u16,
    pub(crate) udp_dst_port: u16,
}

/// A 5-tuple in use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tuple {
    pub(crate) key: Key,
    /// The number of the ordered pair of NICs.
    pub(crate) pair: u32,
    /// The number of the pair and the DSCP: probes of other classes take other queues, and other times.
    pub(crate) lane: u32,
    /// The DSCP of its latest probe; 0 before one.
    pub(crate) dscp: u8,
    /// Its latest path; [`Tuples::earlier`] holds those before.
    path: Option<Version>,
    /// The last window with a probe or trace of it.
    used: i64,
}

/// A path and since when it holds: links `start..start + length` of the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    from_ns: i64,
    start: u32,
    length: u16,
    /// Whether all its links are known.
    pub(crate) is_whole: bool,
    /// The switch at its end, if no trace came further.
    pub(crate) cut_at: Option<u32>,
    /// The last hop that answered called the destination unreachable.
    pub(crate) is_refused: bool,
    /// It ends before the link of the destination.
    pub(crate) is_short: bool,
}

/// All 5-tuples, by number.
#[derive(Debug, Default)]
pub(crate) struct Tuples {
    pub(crate) all: Vec<Tuple>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    pub(crate) pairs: Vec<(u32, u32)>,
    pair_numbers: HashMap<(u32, u32), u32>,
    /// Pairs with a DSCP.
    pub(crate) lanes: Vec<(u32, u8)>,
    lane_numbers: HashMap<(u32, u8), u32>,
    arena: Vec<u32>,
    /// Paths before the latest, in order.
    earlier: HashMap<u32, Vec<Version>>,
    /// Traces that did not reach their destination.
    pub(crate) cut_short: u64,
}

/// Links onward that a path that is cut has room for.
pub(crate) const ROOM: usize = 2;

/// The maximum number of earlier paths that are kept per 5-tuple.
const MAX_EARLIER: usize = 64;

impl Tuples {
    /// Returns the number of a 5-tuple and marks it as used in a window.
    pub(crate) fn number(&mut self, key: Key, window: i64) -> u32 {
        let hash = self.hasher.hash_one(key);
        let all = &self.all;
        let found = self.index.find(hash, |number| all[*number as usize].key == key);
        if let Some(&found) = found {
            let tuple = &mut self.all[found as usize];
            tuple.used = tuple.used.max(window);
            return found;
        }
        let next = u32::try_from(self.pairs.len()).unwrap_or(u32::MAX);
        let pair = *self.pair_numbers.entry((key.src, key.dst)).or_insert(next);
        if pair == next {
            self.pairs.push((key.src, key.dst));
        }
        let new = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let lane = self.lane(pair, 0);
        self.all.push(Tuple {
            key,
            pair,
            lane,
            dscp: 0,
            path: None,
            used: window,
        });
        let (all, hasher) = (&self.all, &self.hasher);
        self.index
            .insert_unique(hash, new, |number| hasher.hash_one(all[*number as usize].key));
        new
    }

    /// Notes the DSCP of a probe.
    pub(crate) fn classify(&mut self, number: u32, dscp: u8) {
        if self.all[number as usize].dscp == dscp {
            return;
        }
        let lane = self.lane(self.all[number as usize].pair, dscp);
        let tuple = &mut self.all[number as usize];
        (tuple.dscp, tuple.lane) = (dscp, lane);
    }

    fn lane(&mut self, pair: u32, dscp: u8) -> u32 {
        let next = u32::try_from(self.lanes.len()).unwrap_or(u32::MAX);
        let lane = *self.lane_numbers.entry((pair, dscp)).or_insert(next);
        if lane == next {
            self.lanes.push((pair, dscp));
        }
        lane
    }

    /// The sending NIC of each lane.
    pub(crate) fn senders(&self) -> Vec<u32> {
        let sender = |(pair, _): &(u32, u8)| self.pairs[*pair as usize].0;
        self.lanes.iter().map(sender).collect()
    }

    /// The sending NIC of a lane.
    pub(crate) fn sender(&self, lane: u32) -> Option<u32> {
        let (pair, _) = *self.lanes.get(lane as usize)?;
        Some(self.pairs.get(pair as usize)?.0)
    }

    /// The lane of the same NICs and DSCP in the other direction.
    pub(crate) fn lane_back(&self, lane: u32) -> Option<u32> {
        let (pair, dscp) = *self.lanes.get(lane as usize)?;
        self.lane_numbers.get(&(self.opposite(pair)?, dscp)).copied()
    }

    /// The pair of the same NICs in the other direction.
    pub(crate) fn opposite(&self, pair: u32) -> Option<u32> {
        let (src, dst) = *self.pairs.get(pair as usize)?;
        self.pair_numbers.get(&(dst, src)).copied()
    }

    pub(crate) fn find(&self, key: Key) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        let same = |number: &u32| self.all[*number as usize].key == key;
        self.index.find(hash, same).copied()
    }

    /// Sets the path of a 5-tuple from some time on to the hops of a trace. `is_refused` means that the last hop that answered
    /// called the destination unreachable.
    ///
    /// A trace that does not reach its destination does not change a path that did (Hostmesh, section 3.3.2). Without one, its hops
    /// are a path that is cut.
    pub(crate) fn trace(
        &mut self,
        number: u32,
        from_ns: i64,
        hops: &[Option<IpAddr>],
        is_refused: bool,
        names: &mut Names,
    ) {
        let Some(tuple) = self.all.get(number as usize) else {
            return;
        };
        let (key, known) = (tuple.key, tuple.path);
        let address = |nic: u32| names.nics.get(nic as usize).map(|nic| nic.address);
        let last = hops.last().copied().flatten();
        let is_cut = last.is_none() || last != address(key.dst);
        let mut hops = hops;
        if is_cut {
            self.cut_short += 1;
            let end = hops.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            hops = &hops[..end];
            if hops.is_empty() || known.is_some_and(|known| known.cut_at.is_none()) {
                return;
            }
        }
        let mut from = End::Nic(key.src);
        let mut links = Vec::with_capacity(hops.len());
        let mut is_whole = true;
        for (at, hop) in hops.iter().enumerate() {
            let link = match hop {
                Some(address) => Some(names.link(from, *address)),
                None => {
                    let after = hops.get(at + 1).copied().flatten();
                    after.and_then(|after| names.link_before(from, after))
                }
            };
            let Some(link) = link else {
                (from, is_whole) = (End::Unknown, false);
                continue;
            };
            let to = names.links.get(link as usize).map_or(End::Unknown, |link| link.to);
            names.note_leaf(from, to);
            from = to;
            links.push(link);
        }
        let cut_at = match from {
            End::Switch(last) if is_cut => Some(last),
            _ if is_cut => return,
            _ => None,
        };
        let mut since_ns = from_ns;
        if let Some(known) = known {
            let before = self.links(known);
            if before == links && is_whole && known.cut_at == cut_at {
                // No hop is missing: a lost packet had made the path look longer.
                self.all[number as usize].path = Some(Version {
                    is_whole,
                    is_refused: is_refused || known.is_refused,
                    ..known
                });
                return;
            }
            let is_less = is_cut || !is_whole && known.cut_at.is_none();
            let is_same = (before == links && known.cut_at == cut_at) || is_less && is_part(&links, before);
            if is_same || from_ns < known.from_ns {
                return;
            }
            if (!known.is_whole || known.cut_at.is_some()) && is_part(before, &links) {
                // The same path, of which more is known now.
                since_ns = known.from_ns;
            } else {
                let earlier = self.earlier.entry(number).or_default();
                earlier.push(known);
                if earlier.len() > MAX_EARLIER {
                    earlier.remove(0);
                }
            }
        }
        let path = Version {
            from_ns: since_ns,
            start: 0,
            length: u16::try_from(links.len()).unwrap_or(u16::MAX),
            is_whole,
            cut_at,
            is_refused: is_refused && is_cut,
            is_short: false,
        };
        self.all[number as usize].path = Some(self.store(path, &links));
    }

    /// Stores the links of a path; behind those of one that is cut there is room for two links onward.
    fn store(&mut self, mut path: Version, links: &[u32]) -> Version {
        path.start = u32::try_from(self.arena.len()).unwrap_or(u32::MAX);
        self.arena.extend_from_slice(links);
        if path.cut_at.is_some() {
            self.arena.extend([u32::MAX; ROOM]);
        }
        path
    }

    /// The same path with links onward from where it is cut, at most two; without any, it goes on where nothing is known.
    pub(crate) fn extended(&mut self, path: Version, links: [Option<u32>; ROOM]) -> Version {
        let mut length = path.length;
        for link in links.into_iter().flatten() {
            let room = path.start as usize + usize::from(length);
            match self.arena.get_mut(room) {
                Some(room) if path.cut_at.is_some() => *room = link,
                _ => return path,
            }
            length += 1;
        }
        Version {
            length,
            cut_at: None,
            ..path
        }
    }

    /// The paths of a 5-tuple before its latest, the oldest first.
    pub(crate) fn earlier(&self, number: u32) -> &[Version] {
        self.earlier.get(&number).map_or(&[], Vec::as_slice)
    }

    /// The links of a path, in order.
    pub(crate) fn links(&self, path: Version) -> &[u32] {
        let start = path.start as usize;
        self.arena.get(start..start + usize::from(path.length)).unwrap_or(&[])
    }

    /// Returns the path of a 5-tuple at a time; the first known one for earlier times.
    pub(crate) fn path_at(&self, number: u32, at_ns: i64) -> Option<Version> {
        let latest = self.all.get(number as usize)?.path?;
        if latest.from_ns <= at_ns || !self.has_changed(number) {
            return Some(latest);
        }
        let earlier = self.earlier.get(&number)?;
        let then = earlier.iter().rev().find(|path| path.from_ns <= at_ns);
        then.or_else(|| earlier.first()).copied().or(Some(latest))
    }

    /// Whether a 5-tuple has had several paths.
    pub(crate) fn has_changed(&self, number: u32) -> bool {
        !self.earlier.is_empty() && self.earlier.contains_key(&number)
    }

    /// Forgets 5-tuples that were last used before a window, if there are enough of them. Returns the new numbers
    /// (`u32::MAX` for the forgotten ones) if numbers have changed.
    pub(crate) fn forget_before(&mut self, window: i64) -> Option<Vec<u32>> {
        let stale = self.all.iter().filter(|tuple| tuple.used < window).count();
        if stale * 2 <= self.all.len() || stale < 1_000 {
            return None;
        }
        let mut old = core::mem::take(self);
        self.cut_short = old.cut_short;
        // Baselines have the numbers of pairs and lanes, so these stay.
        self.pairs = core::mem::take(&mut old.pairs);
        self.pair_numbers = core::mem::take(&mut old.pair_numbers);
        self.lanes = core::mem::take(&mut old.lanes);
        self.lane_numbers = core::mem::take(&mut old.lane_numbers);
        let mut numbers = Vec::with_capacity(old.all.len());
        for (was, tuple) in (0_u32..).zip(&old.all) {
            if tuple.used < window {
                numbers.push(u32::MAX);
                continue;
            }
            let new = self.number(tuple.key, tuple.used);
            self.classify(new, tuple.dscp);
            numbers.push(new);
            let mut keep = |version: Version| self.store(version, old.links(version));
            let earlier = old.earlier.get(&was);
            let earlier: Vec<Version> = earlier.into_iter().flatten().copied().map(&mut keep).collect();
            let path = tuple.path.map(keep);
            self.all[new as usize].path = path;
            if !earlier.is_empty() {
                self.earlier.insert(new, earlier);
            }
        }
        Some(numbers)
    }
}

/// Whether the links of a path are also of another, in the same order: hops that did not answer are missing.
fn is_part(part: &[u32], whole: &[u32]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|link| whole.any(|other| other == link))
}

#[cfg(test)]
mod tests {
    use super::{Key, Tuples};
    use crate::hostmesh::names::Names;
    use core::net::IpAddr;
    use rocescope_model::Text;

    #[test]
    fn pairs_and_lanes_keep_their_numbers_when_tuples_are_forgotten() {
        let key = |src, dst, udp_src_port| Key {
            src,
            dst,
            udp_src_port,
            udp_dst_port: 4791,
        };
        let mut tuples = Tuples::default();
        // The first 5-tuple of the first pair is old, and so are many of other pairs.
        for port in 0..1_500 {
            tuples.number(key(u32::from(port % 7), 9, port), 1);
        }
        let first = tuples.number(key(5, 9, 2_000), 10);
        tuples.classify(first, 26);
        let second = tuples.number(key(0, 9, 2_001), 10);
        let before = [first, second].map(|number| (tuples.all[number as usize].pair, tuples.all[number as usize].lane));
        let numbers = tuples.forget_before(5).unwrap();
        let after = [first, second].map(|number| {
            let tuple = tuples.all[numbers[number as usize] as usize];
            (tuple.pair, tuple.lane)
        });
        assert_eq!(tuples.all.len(), 2);
        assert_eq!(before, after);
        assert_eq!(tuples.all[numbers[first as usize] as usize].dscp, 26);
    }

    #[test]
    fn of_one_path_the_trace_that_shows_most_counts_from_the_first_on() {
        let (mut tuples, mut names) = (Tuples::default(), Names::default());
        let at = |last: u8| Some(IpAddr::from([10, 0, 0, last]));
        for (address, node) in [(1, "r0"), (2, "s0"), (3, "s1"), (4, "r1"), (5, "r1")] {
            names.know(at(address).unwrap(), node);
        }
        let [src, dst] = [8, 9].map(|last| names.nic(at(last).unwrap(), &"h0".into(), &Text::from("rail")));
        let key = |udp_src_port| Key {
            src,
            dst,
            udp_src_port,
            udp_dst_port: 4791,
        };
        let [one, two] = [1, 2].map(|port| tuples.number(key(port), 0));
        tuples.trace(one, 10, &[at(1), None, None, at(9)], false, &mut names);
        let first = tuples.path_at(one, 10).unwrap();
        assert!(!first.is_whole && tuples.links(first).len() == 2);
        tuples.trace(one, 20, &[at(1), at(2), at(4), at(9)], false, &mut names);
        let path = tuples.path_at(one, 10).unwrap();
        assert!(path.is_whole && tuples.links(path).len() == 4 && !tuples.has_changed(one));
        // Fewer answers are no other path.
        tuples.trace(one, 30, &[at(1), None, None, at(9)], false, &mut names);
        assert_eq!(tuples.path_at(one, 40), Some(path));
        // A lost packet made it look longer.
        let three = tuples.number(key(3), 0);
        tuples.trace(three, 10, &[at(1), at(2), at(4), None, at(9)], false, &mut names);
        assert!(!tuples.path_at(three, 10).unwrap().is_whole);
        tuples.trace(three, 20, &[at(1), at(2), at(4), at(9)], false, &mut names);
        assert!(tuples.path_at(three, 10).unwrap().is_whole);
        // A missing hop between two that one link joins is no missing link.
        tuples.trace(two, 10, &[at(1), None, at(4), at(9)], false, &mut names);
        assert_eq!(tuples.links(tuples.path_at(two, 10).unwrap()), tuples.links(path));
        tuples.trace(one, 50, &[at(1), at(3), at(5), at(9)], false, &mut names);
        assert_ne!(tuples.path_at(one, 60), Some(path));
        assert_eq!(
            (tuples.path_at(one, 45), tuples.earlier(one)),
            (Some(path), &[path][..])
        );
    }
}
