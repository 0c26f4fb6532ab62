//! Which pairs lose packets for one reason: what `ends` knows of addresses, and what the counts of the pairs add.

use super::Direction;
use super::ends::{Group, Pair, Share, group};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A pair that loses this many times as much of its packets as the others, and more than all of them together, has a fault of
/// its own.
const OUTLIER: f64 = 10.0;
/// Fewer lossy pairs are not compared.
const COMPARED: usize = 4;
/// A direction that should have lost this many packets at the rate of its neighbours, and lost none, does not share their
/// fault.
const EXPECTED: f64 = 5.0;
/// Single pairs of which only some queue pairs lose, from which on they have one cause.
const PARTIAL: usize = 3;

/// Groups the pairs of lossy directions.
pub(super) fn groups(lossy: &[&Direction], all: &[&Direction]) -> Vec<Group> {
    let mut pairs: BTreeSet<Pair> = lossy.iter().map(|way| pair(way)).collect();
    let traffic: BTreeSet<Pair> = all.iter().map(|way| pair(way)).collect();
    let outlier = outlier(lossy);
    let mut found: Vec<Group> = outlier.map(Group::single).into_iter().collect();
    outlier.inspect(|outlier| {
        pairs.remove(outlier);
    });
    found.extend(group(&pairs, &traffic));
    let (partial, mut whole): (Vec<Group>, Vec<Group>) = found
        .into_iter()
        .partition(|group| group.share == Share::Pair && !healthy_beside(group, lossy, all).is_empty());
    if partial.len() >= PARTIAL {
        whole.push(Group::scattered(partial.into_iter().flat_map(|group| group.pairs)));
    } else {
        whole.extend(partial);
    }
    whole
}

/// The queue pairs of the same pairs of addresses that lose nothing, although they send enough to lose some.
pub(super) fn healthy_beside<'a>(group: &Group, lossy: &[&Direction], all: &[&'a Direction]) -> Vec<&'a Direction> {
    healthy(lossy, all, group, |way| group.pairs.contains(&pair(way)))
}

/// The traffic classes of lossy directions and of healthy ones, if none has both.
pub(super) fn classes_apart(lossy: &[&Direction], healthy: &[&Direction]) -> Option<(String, String)> {
    let of = |ways: &[&Direction]| -> BTreeSet<String> {
        let known = ways.iter().filter_map(|way| way.dscp.as_deref());
        known.map(ToString::to_string).collect()
    };
    let (lossy, healthy) = (of(lossy), of(healthy));
    let are_apart = lossy.len() == 1 && !healthy.is_empty() && lossy.is_disjoint(&healthy);
    let list = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join(", ");
    are_apart.then(|| (list(lossy), list(healthy)))
}

/// The queue pairs that send or receive at the end of a group as its pairs do, to other addresses, and lose nothing.
pub(super) fn healthy_at_end(group: &Group, lossy: &[&Direction], all: &[&Direction]) -> u64 {
    let Some(end) = group.end() else { return 0 };
    let (sends, receives) = (
        group.pairs.iter().any(|(src, _)| *src == end),
        group.pairs.iter().any(|(_, dst)| *dst == end),
    );
    healthy(lossy, all, group, |way| {
        let is_at_end = (sends && way.src == end) || (receives && way.dst == end);
        is_at_end && !group.pairs.contains(&pair(way))
    })
    .len() as u64
}

/// Directions of this kind that should have lost packets at the rate of a group, and lost none.
fn healthy<'a>(
    lossy: &[&Direction],
    all: &[&'a Direction],
    group: &Group,
    is_one: impl Fn(&Direction) -> bool,
) -> Vec<&'a Direction> {
    let ways = || lossy.iter().filter(|way| group.pairs.contains(&pair(way)));
    let lost: u64 = ways().map(|way| way.lost()).sum();
    let packets: u64 = ways().map(|way| way.packets).sum();
    let rate = lost as f64 / packets.max(1) as f64;
    let is_healthy = |way: &&&Direction| way.lost() == 0 && way.packets as f64 * rate >= EXPECTED && is_one(way);
    all.iter().filter(is_healthy).copied().collect()
}

/// The pair that loses more than all others together, and far more of its packets.
fn outlier(lossy: &[&Direction]) -> Option<Pair> {
    let mut counts: BTreeMap<Pair, (u64, u64)> = BTreeMap::new();
    for way in lossy {
        let (lost, packets) = counts.entry(pair(way)).or_default();
        (*lost, *packets) = (*lost + way.lost(), *packets + way.packets);
    }
    if counts.len() < COMPARED {
        return None;
    }
    let (worst, (lost, packets)) = counts.iter().max_by_key(|(_, (lost, _))| *lost)?;
    let others = counts.iter().filter(|(pair, _)| *pair != worst);
    let (other_lost, other_packets) = others.fold((0, 0), |(lost, packets), (_, count)| {
        (lost + count.0, packets + count.1)
    });
    let rate = |lost: u64, packets: u64| lost as f64 / packets.max(1) as f64;
    let is_outlier = *lost > other_lost && rate(*lost, *packets) >= OUTLIER * rate(other_lost, other_packets);
    is_outlier.then_some(*worst)
}

const fn pair(way: &Direction) -> Pair {
    (way.src, way.dst)
}
