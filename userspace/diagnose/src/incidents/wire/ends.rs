//! Which pairs share an end: faults of several pairs at one address have one cause.

use crate::incidents::place::Place;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;

/// Pairs that have an end in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The common end; `None` of a single pair, and of pairs without a common end.
    pub(super) end: Option<IpAddr>,
    /// The pairs, source first.
    pub(super) pairs: Vec<(IpAddr, IpAddr)>,
}

impl Group {
    /// The place.
    pub(super) fn place(&self) -> Place {
        let hosts: BTreeSet<IpAddr> = self.pairs.iter().flat_map(|(src, dst)| [*src, *dst]).collect();
        let place = match (self.end, self.pairs.as_slice()) {
            (Some(end), _) => Place {
                name: format!("{end} or its link"),
                ..Place::address(end)
            },
            (None, [(src, dst)]) => Place::pair(*src, *dst),
            (None, [(src, dst), ..]) if hosts.len() == 2 => Place {
                name: format!("{src} <> {dst}"),
                ..Place::pair(*src, *dst)
            },
            (None, pairs) => Place::named(
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

/// As [`group`], but several groups at one time have one cause: more than three are one.
pub(super) fn group_at_once(faulty: &BTreeSet<Pair>, all: &BTreeSet<Pair>) -> Vec<Group> {
    const FEW: usize = 3;
    let groups = group(faulty, all);
    match groups.len() > FEW {
        false => groups,
        true => Vec::from([Group {
            end: None,
            pairs: faulty.iter().copied().collect(),
        }]),
    }
}

/// More single pairs than this have a cause that no end shows.
const MAX_SINGLES: usize = 8;

/// This many faulty pairs, if they are half of all, have a cause in the middle, unless one end has most of them.
const MANY: usize = 12;
/// The share of the faulty pairs that the end must have then.
const MOST: f64 = 0.6;

/// Groups faulty pairs. An address is the place of its pairs if it has at least three faulty ones with different peers, or
/// the only two that are left, and if at least half of its pairs of that direction are faulty.
pub(super) fn group(faulty: &BTreeSet<Pair>, all: &BTreeSet<Pair>) -> Vec<Group> {
    let mut left = faulty.clone();
    let mut groups = Vec::new();
    if faulty.len() >= MANY && faulty.len() * 2 >= all.len() {
        let most = best(faulty, all).map_or(0, |(_, pairs)| pairs.len());
        if (most as f64) < faulty.len() as f64 * MOST {
            groups.push(Group {
                end: None,
                pairs: left.into_iter().collect(),
            });
            return groups;
        }
    }
    while let Some((address, pairs)) = best(&left, all) {
        left.retain(|pair| !pairs.contains(pair));
        groups.push(Group {
            end: Some(address),
            pairs: pairs.into_iter().collect(),
        });
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
        groups.push(Group {
            end: None,
            pairs: singles.flatten().collect(),
        });
    } else {
        groups.extend(singles.map(|pairs| Group { end: None, pairs }));
    }
    groups
}

type Pair = (IpAddr, IpAddr);

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
    use super::group;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;
    use core::net::IpAddr;

    fn pairs(list: &[(u8, u8)]) -> BTreeSet<(IpAddr, IpAddr)> {
        let address = |last| IpAddr::from([10, 0, 0, last]);
        list.iter().map(|(a, b)| (address(*a), address(*b))).collect()
    }

    fn ends(faulty: &[(u8, u8)], all: &[(u8, u8)]) -> Vec<(Option<IpAddr>, usize)> {
        let groups = group(&pairs(faulty), &pairs(all));
        groups.into_iter().map(|group| (group.end, group.pairs.len())).collect()
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
