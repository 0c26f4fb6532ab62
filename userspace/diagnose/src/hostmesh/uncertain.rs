//! Verdicts that are most likely of another place, over paths that have changed since their traces.
//!
//! Agents trace a 5-tuple every few minutes. When a link fails, and when it is back, switches send 5-tuples over other links at
//! once, and until the next trace their losses count for the links that they crossed before. What follows from that is no
//! verdict, since it would send someone to a healthy place:
//!
//! - A share of the packets of one route, pair or 5-tuple, beside a NIC, a link or a switch that loses packets. Nothing loses a
//!   share of one route alone: a filter or a forwarding entry loses all.
//! - A route, pair or 5-tuple that loses all, if each of its 5-tuples earlier crossed a link or switch that is down now: it has
//!   probably moved back. A 5-tuple that was not traced yet may cross it as well.
//! - In the window in which a link dies, a 5-tuple and a switch behind which a trace ended: probes over that link arrived before.
//! - A link that loses a small share beside a link of the same switch that is down and another that loses much more: its
//!   5-tuples are partly on the other one.

use super::cells::Cells;
use super::diagnosis::Where;
use super::joint::ends;
use super::names::Names;
use super::place::{Crossing, FaultLocation, Size, size};
use super::suspects::Symptom;
use super::tuples::Tuples;
use alloc::vec::Vec;
use rocescope_model::VerdictRow;

/// How many times as much the other link must lose: a third of the 5-tuples moves at most, where there are four links.
const MUCH_MORE: f64 = 2.0;

/// Removes uncertain verdicts; returns the number of their drops.
pub(super) fn take_uncertain(
    found: &mut Vec<(VerdictRow, Where)>,
    cells: &Cells,
    tuples: &Tuples,
    names: &Names,
) -> u64 {
    let losing = found
        .iter()
        .filter(|(row, _)| row.symptom.as_str() == Symptom::Loss.name());
    let coarse = losing.filter(|(_, place)| size(place.0) != Size::Fine);
    let coarse: Vec<Loss> = coarse.map(|(row, place)| Loss::of(row, place.0, names)).collect();
    let dead = coarse
        .iter()
        .filter(|loss| !loss.is_share && size(loss.place) != Size::Nic);
    let dead: Vec<FaultLocation> = dead.map(|loss| loss.place).collect();
    // Over a link that has just died, other probes of the window arrived.
    let is_new = coarse
        .iter()
        .any(|loss| !loss.is_share && loss.is_new && matches!(size(loss.place), Size::Link));
    let uncertain = found.extract_if(.., |(row, place)| match size(place.0) {
        _ if row.symptom.as_str() != Symptom::Loss.name() || coarse.is_empty() => false,
        Size::Switch if matches!(place.0, FaultLocation::Onward(_)) => is_new,
        Size::Fine => is_share(row) || has_moved(place.0, (&dead, is_new), cells, tuples, names),
        Size::Link => is_share(row) && is_beside(&Loss::of(row, place.0, names), &coarse),
        Size::Nic | Size::Switch => false,
    });
    uncertain.map(|(row, _)| row.anomalous).sum()
}

/// A NIC, a link or a switch that loses packets.
#[derive(Debug)]
struct Loss {
    place: FaultLocation,
    /// The switches at the ends of a link.
    switches: Vec<u32>,
    is_share: bool,
    /// It began in this window.
    is_new: bool,
    ratio: f64,
}

impl Loss {
    fn of(row: &VerdictRow, place: FaultLocation, names: &Names) -> Self {
        Self {
            place,
            switches: ends(place, names),
            is_share: is_share(row),
            is_new: row.since_ns >= row.window_start_ns,
            ratio: row.anomalous_ratio,
        }
    }
}

/// Whether a share is lost at random, and not all.
fn is_share(row: &VerdictRow) -> bool {
    matches!(row.class.as_str(), "loss" | "corruption" | "congestion_drops")
}

/// Whether every 5-tuple of a place that loses packets earlier crossed one of these links and switches, which are down, and is not
/// believed to do so now.
fn has_moved(
    place: FaultLocation,
    (dead, is_new): (&[FaultLocation], bool),
    cells: &Cells,
    tuples: &Tuples,
    names: &Names,
) -> bool {
    let crosses = |crossing: Crossing<'_>| dead.iter().any(|place| crossing.meets(*place, names));
    let mut lossy = cells.all.iter().filter(|cell| cell.drops > 0);
    let mut any = false;
    let all = lossy.all(|cell| {
        let crossing = Crossing::of(cell, tuples);
        if !crossing.meets(place, names) || crosses(crossing) {
            return true;
        }
        any = true;
        // A 5-tuple that was not traced yet may cross it; so may one whose path is known in part, over a link that has just died.
        let is_open = cell.path.is_none_or(|path| is_new && !path.is_whole);
        if is_open && matches!(place, FaultLocation::Tuple { .. }) {
            return true;
        }
        let earlier = tuples.earlier(cell.tuple).iter();
        let mut earlier = earlier.map(|path| Crossing {
            links: tuples.links(*path),
            ..crossing
        });
        earlier.any(crosses)
    });
    any && all
}

/// Whether a switch of this link has another one that is down, and one that loses much more.
fn is_beside(this: &Loss, coarse: &[Loss]) -> bool {
    this.switches.iter().any(|switch| {
        let links = || {
            coarse
                .iter()
                .filter(|other| other.place != this.place && other.switches.contains(switch))
        };
        links().any(|other| !other.is_share)
            && links().any(|other| other.is_share && other.ratio >= MUCH_MORE * this.ratio)
    })
}

#[cfg(test)]
mod tests {
    use super::take_uncertain;
    use crate::hostmesh::cells::{Cell, Cells};
    use crate::hostmesh::diagnosis::Where;
    use crate::hostmesh::names::Names;
    use crate::hostmesh::place::FaultLocation;
    use crate::hostmesh::record::{ProbeOutcome, Record};
    use crate::hostmesh::tuples::{Key, Tuples};
    use core::net::IpAddr;
    use rocescope_model::{Text, VerdictRow};
    use std::vec::Vec;

    fn at(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn row(place: FaultLocation, class: &'static str, anomalous_ratio: f64) -> (VerdictRow, Where) {
        let row = VerdictRow {
            symptom: "loss".into(),
            class: class.into(),
            anomalous: 7,
            anomalous_ratio,
            ..VerdictRow::default()
        };
        (row, Where(place))
    }

    /// A leaf with three uplinks, and the 5-tuple of port 1, first over the uplink to `.2`, now over that to `.3`.
    fn fabric() -> (Names, Tuples, Cells, [FaultLocation; 3], FaultLocation) {
        let (mut names, mut tuples) = (Names::default(), Tuples::default());
        for (last, node) in [(1, "r0"), (2, "s0"), (3, "s1"), (4, "s2")] {
            names.know(at(last), node);
        }
        let [src, dst] = [8, 9].map(|last| names.nic(at(last), &"h0".into(), &Text::from("rail")));
        let key = Key {
            src,
            dst,
            udp_src_port: 1,
            udp_dst_port: 4791,
        };
        let tuple = tuples.number(key, 0);
        for (from_ns, spine) in [(0, 2), (10, 3)] {
            let hops = [1, spine, 9].map(|last| Some(at(last)));
            tuples.trace(tuple, from_ns, &hops, false, &mut names);
        }
        let records = [Record::new(tuple, 20_000, ProbeOutcome::Timeout, None, None)];
        let cells = Cells::group(&records, 0, &tuples);
        let leaf = names.links[tuples.links(tuples.path_at(tuple, 20_000).unwrap())[0] as usize].to;
        let links = [2, 3, 4].map(|last| FaultLocation::Link(names.link(leaf, at(last))));
        let tuple = FaultLocation::Tuple {
            src,
            dst,
            udp_src_port: 1,
            udp_dst_port: 4791,
        };
        (names, tuples, cells, links, tuple)
    }

    #[test]
    fn a_share_of_one_route_is_of_the_link_beside_it_and_alone_a_verdict() {
        let (names, tuples, cells, [link, ..], tuple) = fabric();
        let left = |mut rows: Vec<_>| {
            let uncertain = take_uncertain(&mut rows, &cells, &tuples, &names);
            (rows.len(), uncertain)
        };
        let (src, dst) = (1, 0);
        let route = FaultLocation::Route { switch: 9, nic: 0 };
        let pair = FaultLocation::Pair { src, dst };
        let shares = [tuple, pair, route].map(|place| row(place, "loss", 0.2));
        let link = row(link, "loss", 0.2);
        assert_eq!(left([core::slice::from_ref(&link), &shares[..]].concat()), (1, 21));
        assert_eq!(left(shares.to_vec()), (3, 0));
        // No probe of the second pair was lost, so it did not move.
        let dead = [row(pair, "acl", 1.0), row(route, "no_route", 1.0)];
        assert_eq!(left([&[link], &dead[..]].concat()), (3, 0));
    }

    #[test]
    fn a_tuple_that_crossed_a_dead_link_earlier_has_moved_back() {
        let (names, tuples, mut cells, [before, now, other], tuple) = fabric();
        let left = |cells: &Cells, link| {
            let mut rows = Vec::from([row(link, "link_down", 1.0), row(tuple, "blackhole", 1.0)]);
            take_uncertain(&mut rows, cells, &tuples, &names);
            rows.len()
        };
        assert_eq!(left(&cells, before), 1);
        assert_eq!([now, other].map(|link| left(&cells, link)), [2, 2]);
        // Another 5-tuple of the place that did not.
        let one: Cell = cells.all[0];
        let path = tuples.earlier(one.tuple)[0];
        cells.all.push(Cell {
            path: Some(path),
            ..one
        });
        assert_eq!(left(&cells, before), 1);
    }

    #[test]
    fn what_is_not_traced_yet_is_no_verdict_beside_a_dead_link() {
        let (names, tuples, mut cells, [_, _, other], tuple) = fabric();
        let dead = |since_ns: i64| {
            let (row, place) = row(other, "link_down", 1.0);
            (VerdictRow { since_ns, ..row }, place)
        };
        let left = |cells: &Cells, since_ns, place| {
            let mut rows = Vec::from([dead(since_ns), row(place, "blackhole", 1.0)]);
            take_uncertain(&mut rows, cells, &tuples, &names);
            rows.len()
        };
        // Its path is known, and is not over the dead link.
        assert_eq!(left(&cells, 0, tuple), 2);
        let mut part = cells.all[0].path.unwrap();
        part.is_whole = false;
        cells.all[0].path = Some(part);
        assert_eq!([left(&cells, 0, tuple), left(&cells, -1, tuple)], [1, 2]);
        cells.all[0].path = None;
        assert_eq!([left(&cells, 0, tuple), left(&cells, -1, tuple)], [1, 1]);
        let onward = FaultLocation::Onward(0);
        assert_eq!([left(&cells, 0, onward), left(&cells, -1, onward)], [1, 2]);
        // A NIC is judged as before.
        assert_eq!(left(&cells, 0, FaultLocation::Nic(7)), 2);
    }

    #[test]
    fn a_small_share_beside_a_link_that_is_down_and_one_that_loses_much_is_of_the_latter() {
        let (names, tuples, cells, [down, corrupt, third], _) = fabric();
        let left = |rows: &[(VerdictRow, Where)]| {
            let mut rows = rows.to_vec();
            take_uncertain(&mut rows, &cells, &tuples, &names);
            rows.len()
        };
        let (down, corrupt) = (row(down, "link_down", 1.0), row(corrupt, "corruption", 0.2));
        let [small, large] = [0.06, 0.15].map(|ratio| row(third, "loss", ratio));
        assert_eq!(left(&[down.clone(), corrupt.clone(), small.clone()]), 2);
        assert_eq!(left(&[down.clone(), corrupt.clone(), large]), 3);
        // Without one that is down, and without another that loses a share.
        assert_eq!([left(&[corrupt, small.clone()]), left(&[down, small])], [2, 2]);
    }
}
