//! Which pairs share an end: faults of several pairs at one address have one cause.

use crate::incidents::place::Place;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;

/// Pairs whose faults have one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they share.
    pub(super) share: Share,
    /// The pairs, source first.
    pub(super) pairs: Vec<Pair>,
}

/// What the pairs of a group share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// Both ends: it is one pair, or the two ways between two addresses.
    Pair,
    /// An end.
    End(IpAddr),
    /// The way from one set of addresses to another.
    Way(BTreeSet<IpAddr>, BTreeSet<IpAddr>),
    /// Nothing that is known.
    Nothing,
}

impl Group {
    fn of(share: Share, pairs: impl IntoIterator<Item = Pair>) -> Self {
        Self {
            share,
            pairs: pairs.into_iter().collect(),
        }
    }

    /// Pairs without anything in common.
    pub(super) fn scattered(pairs: impl IntoIterator<Item = Pair>) -> Self {
        Self::of(Share::Nothing, pairs)
    }

    /// One pair.
    pub(super) fn single(pair: Pair) -> Self {
        Self::of(Share::Pair, [pair])
    }

    /// The end that is at fault.
    pub(super) const fn end(&self) -> Option<IpAddr> {
        match self.share {
            Share::End(end) => Some(end),
            _ => None,
        }
    }

    /// The place.
    pub(super) fn place(&self) -> Place {
        let hosts: BTreeSet<IpAddr> = self.pairs.iter().flat_map(|(src, dst)| [*src, *dst]).collect();
        let place = match (&self.share, self.pairs.as_slice()) {
            (Share::End(end), _) => Place {
                name: format!("{end} or its link"),
                ..Place::address(*end)
            },
            (Share::Way(from, to), _) => Place::named("group", format!("{} > {}", names(from), names(to))),
            (Share::Pair, [(src, dst)]) => Place::pair(*src, *dst),
            (Share::Pair, [(src, dst), ..]) => Place {
                name: format!("{src} <> {dst}"),
                ..Place::pair(*src, *dst)
            },
            (_, pairs) => Place::named(
                "group",
                format!(
                    "{} pairs of {} addresses without a common end",
                    pairs.len(),
                    hosts.len()
                ),
            ),
        };
        Place {
            pairs: self.pairs.iter().copied().collect(),
            ..place
        }
    }
}

/// Some addresses by name.
fn names(all: &BTreeSet<IpAddr>) -> String {
    const NAMED: usize = 4;
    let named: Vec<String> = all.iter().take(NAMED).map(ToString::to_string).collect();
    match all.len() > NAMED {
        true => format!("{} and {} more", named.join(", "), all.len() - NAMED),
        false => named.join(", "),
    }
}

/// Groups pairs by their ends; several groups at one time have one cause: more than three are one.
pub(super) fn group_at_once(faulty: &BTreeSet<Pair>, all: &BTreeSet<Pair>) -> Vec<Group> {
    const FEW: usize = 3;
    let groups = group_by_ends(faulty.clone(), all);
    match groups.len() > FEW {
        false => groups,
        true => Vec::from([Group::scattered(faulty.iter().copied())]),
    }
}

/// More single pairs than this have a cause that no end shows.
const MAX_SINGLES: usize = 8;

/// This many faulty pairs, if they are half of all, have a cause in the middle, unless one end has most of them.
const MANY: usize = 12;
/// The share of the faulty pairs that the end must have then.
const MOST: f64 = 0.6;

/// Groups faulty pairs: by the way between two sets of addresses, then by their ends.
pub(super) fn group(faulty: &BTreeSet<Pair>, all: &BTreeSet<Pair>) -> Vec<Group> {
    let mut groups = ways(faulty, all);
    let mut left = faulty.clone();
    left.retain(|pair| !groups.iter().any(|way| way.pairs.contains(pair)));
    groups.extend(group_by_ends(left, all));
    groups
}

/// An address is the place of its pairs if it has at least three faulty ones with different peers, or the only two that are
/// left, and if at least half of its pairs of that direction are faulty.
fn group_by_ends(mut left: BTreeSet<Pair>, all: &BTreeSet<Pair>) -> Vec<Group> {
    let mut groups = Vec::new();
    if left.len() >= MANY && left.len() * 2 >= all.len() {
        let most = best(&left, all).map_or(0, |(_, pairs)| pairs.len());
        if (most as f64) < left.len() as f64 * MOST {
            groups.push(Group::scattered(left));
            return groups;
        }
    }
    while let Some((address, pairs)) = best(&left, all) {
        left.retain(|pair| !pairs.contains(pair));
        groups.push(Group::of(Share::End(address), pairs));
    }
    // Both ways between two addresses are one fault.
    let mut singles: BTreeMap<Pair, Vec<Pair>> = BTreeMap::new();
    for (src, dst) in left {
        singles
            .entry((src.min(dst), src.max(dst)))
            .or_default()
            .push((src, dst));
    }
    let singles = singles.into_values();
    if singles.len() > MAX_SINGLES {
        groups.push(Group::scattered(singles.flatten()));
    } else {
        groups.extend(singles.map(|pairs| Group::of(Share::Pair, pairs)));
    }
    groups
}

pub(super) type Pair = (IpAddr, IpAddr);

/// The share of the pairs from one set of addresses to another that must be faulty, for the way between the sets to be at
/// fault.
const DENSE: f64 = 0.8;

/// Faulty pairs that are nearly all pairs from several senders to several other receivers: what they share is the way
/// between, and several ends at fault at once are less likely.
fn ways(faulty: &BTreeSet<Pair>, all: &BTreeSet<Pair>) -> Vec<Group> {
    let mut found = Vec::new();
    let mut left = faulty.clone();
    while let Some(first) = left.first().copied() {
        // The pairs that are reached from one over common senders and receivers.
        let (mut from, mut to) = (BTreeSet::from([first.0]), BTreeSet::from([first.1]));
        loop {
            let known = from.len() + to.len();
            for (src, dst) in faulty {
                if from.contains(src) || to.contains(dst) {
                    from.insert(*src);
                    to.insert(*dst);
                }
            }
            if from.len() + to.len() == known {
                break;
            }
        }
        let is_between = |pair: &&Pair| from.contains(&pair.0) && to.contains(&pair.1);
        let pairs: Vec<Pair> = faulty.iter().filter(is_between).copied().collect();
        left.retain(|pair| !from.contains(&pair.0));
        let traffic = all.iter().filter(is_between).count();
        let is_way = from.len() > 1 && to.len() > 1 && from.is_disjoint(&to);
        if is_way && pairs.len() as f64 >= traffic as f64 * DENSE {
            found.push(Group::of(Share::Way(from, to), pairs));
        }
    }
    found
}

/// The address that most of the faulty pairs share, as sender, as receiver or as both, and these pairs.
fn best(faulty: &BTreeSet<Pair>, all: &BTreeSet<Pair>) -> Option<(IpAddr, BTreeSet<Pair>)> {
    let addresses: BTreeSet<IpAddr> = faulty.iter().flat_map(|(src, dst)| [*src, *dst]).collect();
    let needed = if faulty.len() == 2 { 2 } else { 3 };
    let roles: [fn(&Pair, IpAddr) -> bool; 3] = [
        |pair, address| pair.1 == address,
        |pair, address| pair.0 == address,
        |pair, address| pair.0 == address || pair.1 == address,
    ];
    let mut found: Option<(IpAddr, BTreeSet<Pair>)> = None;
    for address in addresses {
        for is_of in roles {
            let own: BTreeSet<Pair> = faulty.iter().filter(|pair| is_of(pair, address)).copied().collect();
            let peers: BTreeSet<IpAddr> = own
                .iter()
                .map(|pair| if pair.0 == address { pair.1 } else { pair.0 })
                .collect();
            let traffic = all.iter().filter(|pair| is_of(pair, address)).count();
            let is_better = found.as_ref().is_none_or(|(_, pairs)| own.len() > pairs.len());
            if peers.len() >= needed && own.len() * 2 >= traffic && is_better {
                found = Some((address, own));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Share, group};
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;
    use core::net::IpAddr;

    fn pairs(list: &[(u8, u8)]) -> BTreeSet<(IpAddr, IpAddr)> {
        let address = |last| IpAddr::from([10, 0, 0, last]);
        list.iter().map(|(a, b)| (address(*a), address(*b))).collect()
    }

    fn ends(faulty: &[(u8, u8)], all: &[(u8, u8)]) -> Vec<(Option<IpAddr>, usize)> {
        let groups = group(&pairs(faulty), &pairs(all));
        groups
            .into_iter()
            .map(|group| (group.end(), group.pairs.len()))
            .collect()
    }

    #[test]
    fn what_all_pairs_between_two_sets_share_is_the_way_between() {
        let between: Vec<(u8, u8)> = (1..=4).flat_map(|a| (11..=14).map(move |b| (a, b))).collect();
        let inside: Vec<(u8, u8)> = (1..=4).flat_map(|a| (1..=4).map(move |b| (a, b))).collect();
        let all: Vec<(u8, u8)> = between
            .iter()
            .chain(inside.iter().filter(|(a, b)| a != b))
            .copied()
            .collect();
        let shares = |faulty: &[(u8, u8)]| {
            let groups = group(&pairs(faulty), &pairs(&all));
            let named = groups.into_iter().map(|group| match group.share {
                Share::Way(from, to) => (from.len(), to.len()),
                Share::End(_) => (1, group.pairs.len()),
                Share::Pair => (1, 1),
                Share::Nothing => (0, 0),
            });
            named.collect::<Vec<(usize, usize)>>()
        };
        assert_eq!(shares(&between), [(4, 4)]);
        // One of sixteen has lost nothing yet.
        assert_eq!(shares(&between[1..]), [(4, 4)]);
        assert_eq!(shares(&[(1, 11), (1, 12), (2, 11), (2, 12)]), [(2, 2)]);
        // One sender, or one receiver.
        assert_eq!(shares(&between[..4]), [(1, 4)]);
        assert_eq!(shares(&[(1, 11), (2, 11), (3, 11)]), [(1, 3)]);
    }

    #[test]
    fn pairs_of_one_end_are_one_group_and_others_stand_alone() {
        let at = |last| Some(IpAddr::from([10, 0, 0, last]));
        assert_eq!(ends(&[(1, 2)], &[(1, 2), (1, 3)]), [(None, 1)]);
        assert_eq!(ends(&[(1, 2), (3, 2)], &[(1, 2), (3, 2), (4, 5)]), [(at(2), 2)]);
        let incast = [(1, 9), (2, 9), (3, 9), (4, 5)];
        assert_eq!(ends(&incast, &incast), [(at(9), 3), (None, 1)]);
        // Most pairs of the address are healthy.
        let busy: Vec<(u8, u8)> = (1..=8).map(|n| (n, 9)).collect();
        assert_eq!(ends(&busy[..3], &busy), [(None, 1); 3]);
        // Two hosts, both ways.
        assert_eq!(ends(&[(1, 2), (2, 1)], &[(1, 2), (2, 1), (1, 3), (3, 1)]), [(None, 2)]);
        // One receiver of seven loses nothing yet.
        let to: Vec<(u8, u8)> = (1..=7).map(|n| (n, 9)).collect();
        let both: Vec<(u8, u8)> = to.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
        assert_eq!(ends(&to[..6], &both), [(at(9), 6)]);
        // All to all: no host is at fault.
        let every: Vec<(u8, u8)> = (1..=8)
            .flat_map(|a| (1..=8).map(move |b| (a, b)))
            .filter(|(a, b)| a != b)
            .collect();
        assert_eq!(ends(&every, &every), [(None, 56)]);
        let ring: Vec<(u8, u8)> = (1..=12).map(|n| (2 * n, 2 * n + 1)).collect();
        assert_eq!(ends(&ring, &ring), [(None, 12)]);
    }
}
