//! A mirror that samples: the tap has one packet of many, of all connections alike.

use super::{Direction, Found, View};
use alloc::format;

/// Fewer packets are no sample.
const FEWEST: u64 = 30;
/// The share of its packets that follow a gap, in a direction that is sampled.
const AFTER_GAPS: f64 = 0.6;
/// Packets that are missing, at least, for each that is there.
const MISSING: u64 = 2;
/// The share of the packets in sequences that come in such directions.
const MOST: f64 = 0.8;

/// The number of packets for each that the tap has, if a mirror samples them.
pub(super) fn one_of(view: &View<'_>) -> Option<u64> {
    // Answers have no gaps of their own.
    let in_sequence = |way: &&&Direction| way.gaps > 0 || way.retransmitted + way.lost() > 0;
    let is_sampled = |way: &&&Direction| {
        way.gaps as f64 >= way.packets as f64 * AFTER_GAPS && way.gap_packets >= MISSING * way.packets
    };
    let sum = |of: fn(&Direction) -> u64, is_one: &dyn Fn(&&&Direction) -> bool| {
        let ways = view.all.iter().filter(is_one);
        ways.map(|way| of(way)).sum::<u64>()
    };
    let all = sum(|way| way.packets, &in_sequence);
    let sampled = sum(|way| way.packets, &is_sampled);
    if sampled < FEWEST || (sampled as f64) < all as f64 * MOST {
        return None;
    }
    let missing = sum(|way| way.gap_packets, &is_sampled);
    Some((sampled + missing + sampled / 2) / sampled)
}

/// States what a sample cannot show.
pub(super) fn note(found: &mut Found, one_of: u64) {
    found.sampled_one_of = Some(one_of);
    found.notes.push(format!(
        "the tap has about 1 of {one_of} packets: the mirror samples. Rates are those of the sample; \
         losses, retransmissions and round trips are unknown: mirror all packets to know them"
    ));
}
