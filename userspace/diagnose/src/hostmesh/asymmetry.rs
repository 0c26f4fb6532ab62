//! Compares the two directions of a pair of NICs.
//!
//! ECMP hashes the 5-tuple, so the two directions use different paths in any healthy fabric: that is a statistic
//! ([`one_way_share`]), not a problem. The problem is a direction that takes longer than the reverse one, by more than
//! clocks and jitter explain ([`ways_back`]). A latency that was high before the first window never exceeds its
//! baseline; only the reverse direction reveals it.

use super::by_key::ByKey;
use super::cells::{Cell, Cells};
use super::names::Names;
use super::place::Crossing;
use super::quantiles::ratio;
use super::record::quantile;
use super::tuples::Tuples;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::BuildHasher;
use hashbrown::DefaultHashBuilder;

/// Returns what each pair of NICs and DSCP may take, by the median latency of the reverse direction; `None` if that is unknown.
///
/// A NIC from which probes to most others take longer than back adds that itself: a part of its host's work is between the time
/// stamp and the wire, or its clock is ahead. No path explains it, so it is added to the time of the way back. Of two others, both
/// must; with one other alone, nothing separates the NIC from the path.
pub(crate) fn ways_back(tuples: &Tuples, medians: &[Option<i32>]) -> Vec<Option<i32>> {
    let back = |lane: u32| medians.get(tuples.lane_back(lane)? as usize).copied()?;
    let lanes = || (0_u32..).zip(medians);
    let nics = tuples.pairs.iter().map(|(src, _)| *src as usize + 1).max().unwrap_or(0);
    // One of each pair, whatever its classes of service.
    let mut of_pair = vec![None; tuples.pairs.len()];
    for (lane, median) in lanes() {
        if let (Some((pair, _)), Some(median), Some(back)) = (tuples.lanes.get(lane as usize), median, back(lane)) {
            of_pair[*pair as usize].get_or_insert(median.saturating_sub(back));
        }
    }
    let pairs = tuples.pairs.iter().zip(of_pair);
    let excesses: Vec<(u32, i32)> = pairs.filter_map(|((src, _), excess)| Some((*src, excess?))).collect();
    let mut of_sender = ByKey::group(nics, excesses.into_iter());
    let own = |excesses: &mut [i32]| match excesses.len() {
        ..MIN_OTHERS => excesses.iter().copied().min().unwrap_or(0).max(0),
        _ => quantile(excesses, 0.5).unwrap_or(0).max(0),
    };
    let own: Vec<i32> = of_sender.each_mut().map(own).collect();
    let may_take = |lane: u32| {
        let own = own.get(tuples.sender(lane)? as usize).copied().unwrap_or(0);
        Some(back(lane)?.saturating_add(own))
    };
    lanes().map(|(lane, _)| may_take(lane)).collect()
}

/// Ways to other NICs, at least, of which most are slow because of the sender: of two, one may be a longer path.
const MIN_OTHERS: usize = 3;

/// Returns the share of traced 5-tuples of a window for which no 5-tuple of the reverse direction crosses the same
/// links between switches. `None` without a pair that was traced in both directions.
pub(crate) fn one_way_share(cells: &Cells, tuples: &Tuples, names: &Names) -> Option<f64> {
    let hasher = DefaultHashBuilder::default();
    let reversed: Vec<Option<u32>> = (0..).take(names.links.len()).map(|link| names.reverse(link)).collect();
    let pair = |cell: &Cell| tuples.all[cell.tuple as usize].pair;
    let traced = cells.all.iter().filter(|cell| cell.path.is_some());
    let there = traced.clone().filter_map(|cell| {
        let links = Crossing::of(cell, tuples).inner(names);
        Some((pair(cell), sum(&hasher, links.map(Some))?))
    });
    let there = ByKey::group(tuples.pairs.len(), there);
    let (mut all, mut one_way) = (0_u64, 0_u64);
    for cell in traced {
        let back = tuples.opposite(pair(cell)).map_or(&[][..], |pair| there.of(pair));
        if back.is_empty() {
            continue;
        }
        let links = Crossing::of(cell, tuples).inner(names);
        let wanted = sum(&hasher, links.map(|link| reversed[link as usize]));
        all += 1;
        one_way += u64::from(wanted.is_none_or(|wanted| !back.contains(&wanted)));
    }
    ratio(one_way, all)
}

/// Returns one hash for the links of a path, if all are known. It does not depend on their order, which is opposite in
/// the reverse direction.
fn sum(hasher: &DefaultHashBuilder, mut links: impl Iterator<Item = Option<u32>>) -> Option<u64> {
    links.try_fold(0_u64, |sum, link| Some(sum.wrapping_add(hasher.hash_one(link?))))
}
