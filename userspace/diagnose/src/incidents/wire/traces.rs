//! Pairs that lose a packet now and then.

use super::Direction;
use super::ends::{Pair, Share, group};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::human::plural;

/// A pair that lost at most this many packets, and a smaller share than one in the second figure, lost a trace. A few
/// packets are lost on every fabric without PFC, and once in a while on the others; they must not widen the place of a
/// fault beside them.
const TRACE: (u64, u64) = (5, 500);
/// Traces of this many pairs and more that share an end or a way have a common cause.
const MANY: usize = 5;
/// Pairs that a note names.
const NAMED: usize = 3;

/// Takes the directions of pairs that lost a trace out of the lossy ones, with a note about them.
pub(super) fn take_out(lossy: &mut Vec<&Direction>, all: &[&Direction]) -> Option<String> {
    let mut sent: BTreeMap<Pair, u64> = BTreeMap::new();
    for way in all {
        *sent.entry((way.src, way.dst)).or_default() += way.packets;
    }
    let mut traces: BTreeMap<Pair, u64> = BTreeMap::new();
    for way in &*lossy {
        *traces.entry((way.src, way.dst)).or_default() += way.lost();
    }
    let (most, one_in) = TRACE;
    traces.retain(|pair, lost| *lost <= most && lost.saturating_mul(one_in) < sent.get(pair).copied().unwrap_or(0));
    let pairs: BTreeSet<Pair> = traces.keys().copied().collect();
    for common in group(&pairs, &sent.keys().copied().collect()) {
        if common.share != Share::Pair && common.pairs.len() >= MANY {
            traces.retain(|pair, _| !common.pairs.contains(pair));
        }
    }
    if traces.is_empty() {
        return None;
    }
    lossy.retain(|way| !traces.contains_key(&(way.src, way.dst)));
    let named = traces.iter().take(NAMED);
    let named: Vec<String> = named
        .map(|((src, dst), lost)| format!("{src} > {dst} {lost}"))
        .collect();
    Some(format!(
        "a few packets lost between {}, at most {most} each and below 0.2 %: {}; `rocescope connections` has them",
        plural(traces.len() as u64, "pair"),
        named.join(", ")
    ))
}
