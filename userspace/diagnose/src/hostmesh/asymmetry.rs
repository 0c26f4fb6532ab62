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
use super::tuples::Tuples;
use alloc::vec::Vec;
use core::hash::BuildHasher;
use hashbrown::DefaultHashBuilder;

/// Returns the median latency of the reverse direction for each pair of NICs and DSCP; `None` if it is unknown.
pub(crate) fn ways_back(tuples: &Tuples, medians: &[Option<i32>]) -> Vec<Option<i32>> {
    let back = |lane: u32| medians.get(tuples.lane_back(lane)? as usize).copied()?;
    (0..).take(medians.len()).map(back).collect()
}

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
