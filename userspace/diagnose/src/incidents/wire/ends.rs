//! Which pairs share an end: faults of several pairs at one address have one cause.

use alloc::collections::{BTreeMap, BTreeSet};
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

/// More single pairs than this have a cause that no end shows.
const MAX_SINGLES: usize = 8;

/// Groups faulty pairs. An address is the place of its pairs if at least three of them are faulty, or two and no other
/// pair is, and if at least half of its pairs in `all` are faulty.
pub(super) fn group(faulty: &BTreeSet<(IpAddr, IpAddr)>, all: &BTreeSet<(IpAddr, IpAddr)>) -> Vec<Group> {
    let mut left = faulty.clone();
    let mut groups = Vec::new();
    loop {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for (src, dst) in &left {
            *counts.entry(*src).or_default() += 1;
            *counts.entry(*dst).or_default() += 1;
        }
        let needed = if left.len() == 2 { 2 } else { 3 };
        let is_end = |(address, count): &(&IpAddr, &usize)| {
            let traffic = all.iter().filter(|pair| touches(**pair, **address)).count();
            **count >= needed && **count * 2 >= traffic
        };
        let most = counts.iter().filter(is_end).max_by_key(|(_, count)| **count);
        let Some((address, _)) = most else { break };
        let address = *address;
        let (of_end, others) = left.iter().partition(|pair| touches(**pair, address));
        groups.push(Group {
            end: Some(address),
            pairs: BTreeSet::into_iter(of_end).collect(),
        });
        left = others;
    }
    if left.len() > MAX_SINGLES {
        groups.push(Group {
            end: None,
            pairs: left.into_iter().collect(),
        });
    } else {
        groups.extend(left.into_iter().map(|pair| Group {
            end: None,
            pairs: Vec::from([pair]),
        }));
    }
    groups
}

fn touches(pair: (IpAddr, IpAddr), address: IpAddr) -> bool {
    pair.0 == address || pair.1 == address
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
        let ring: Vec<(u8, u8)> = (1..=12).map(|n| (2 * n, 2 * n + 1)).collect();
        assert_eq!(ends(&ring, &ring), [(None, 12)]);
    }
}
