//! Ports that a neighbor names by an alias: which port of its own report it is.
//!
//! `SONiC` announces the alias of a port (`etp2`), while its own report has its name (`Ethernet4`). Two reports of one link
//! are joined by what they can agree on: the description, which is the name unless an operator wrote another; that no
//! other port is left; or the order of the ports of parallel links.

use super::{Neighbor, Port, Report};
use std::collections::BTreeMap;

/// A neighbor of a report: the name of its node, and its place.
type Place<'a> = (&'a str, usize);

/// The true port of each neighbor whose alias is resolved.
pub(super) fn join(reports: &[Report]) -> BTreeMap<Place<'_>, Port> {
    let mut joined = BTreeMap::new();
    for (at, one) in reports.iter().enumerate() {
        for other in &reports[at + 1..] {
            let (mut here, mut there) = (Side::of(one, other), Side::of(other, one));
            for is_pair in [both_agree, one_agrees] {
                while let Some((a, b)) = only_pair(&here, &there, is_pair) {
                    take(&mut here, &mut there, (a, b), &mut joined);
                }
            }
            if let ([a], [b]) = (&here.open[..], &there.open[..])
                && may_be(a.1, b.1)
                && may_be(b.1, a.1)
            {
                take(&mut here, &mut there, (0, 0), &mut joined);
            }
            in_order(&mut here, &mut there, &mut joined);
        }
    }
    joined
}

/// The neighbors of a report that are ports of the other node, as far as they are not joined.
struct Side<'a> {
    node: &'a str,
    open: Vec<(usize, &'a Neighbor)>,
}

impl<'a> Side<'a> {
    fn of(report: &'a Report, other: &Report) -> Self {
        let neighbors = report.neighbors.iter().enumerate();
        Self {
            node: &report.node,
            open: neighbors.filter(|(_, one)| one.far.node == other.node).collect(),
        }
    }
}

/// Whether `a` names the port of `b`.
fn names(a: &Neighbor, b: &Neighbor) -> bool {
    a.far.port == b.port || a.is_alias && a.description.as_deref() == Some(&*b.port)
}

/// Whether `a` may mean the port of `b`: it names it, or has an alias.
fn may_be(a: &Neighbor, b: &Neighbor) -> bool {
    a.is_alias || names(a, b)
}

fn both_agree(a: &Neighbor, b: &Neighbor) -> bool {
    names(a, b) && names(b, a)
}

fn one_agrees(a: &Neighbor, b: &Neighbor) -> bool {
    (names(a, b) || names(b, a)) && may_be(a, b) && may_be(b, a)
}

/// Places of the first pair that fits, of which neither fits another.
fn only_pair(here: &Side<'_>, there: &Side<'_>, fits: fn(&Neighbor, &Neighbor) -> bool) -> Option<(usize, usize)> {
    let of_here = |b: &Neighbor| here.open.iter().filter(|(_, a)| fits(a, b)).count();
    here.open.iter().enumerate().find_map(|(at, (_, a))| {
        let mut fitting = there.open.iter().enumerate().filter(|(_, (_, b))| fits(a, b));
        let (place, (_, b)) = fitting.next()?;
        (fitting.next().is_none() && of_here(b) == 1).then_some((at, place))
    })
}

fn take<'a>(here: &mut Side<'a>, there: &mut Side<'a>, (a, b): (usize, usize), joined: &mut BTreeMap<Place<'a>, Port>) {
    let ((a_at, a), (b_at, b)) = (here.open.remove(a), there.open.remove(b));
    for (side, at, own, far) in [(&*here, a_at, a, b), (&*there, b_at, b, a)] {
        let port = Port {
            node: own.far.node.clone(),
            port: far.port.clone(),
        };
        joined.insert((side.node, at), port);
    }
}

/// Parallel links: ports and aliases count up together, so the order of one side's aliases is that of the other side's
/// ports. Only where both sides say the same.
fn in_order<'a>(here: &mut Side<'a>, there: &mut Side<'a>, joined: &mut BTreeMap<Place<'a>, Port>) {
    let all = here.open.iter().chain(&there.open);
    if here.open.len() < 2 || here.open.len() != there.open.len() || !all.into_iter().all(|(_, one)| one.is_alias) {
        return;
    }
    let by = |side: &Side<'_>, key: fn(&Neighbor) -> &str| {
        let mut order: Vec<usize> = (0..side.open.len()).collect();
        order.sort_by(|one, other| natural(key(side.open[*one].1), key(side.open[*other].1)));
        order
    };
    let pairs = |aliases: Vec<usize>, ports: Vec<usize>| aliases.into_iter().zip(ports);
    let mut one: Vec<(usize, usize)> = pairs(by(here, |one| &one.far.port), by(there, |one| &one.port)).collect();
    let mut other: Vec<(usize, usize)> = pairs(by(here, |one| &one.port), by(there, |one| &one.far.port)).collect();
    one.sort_unstable();
    other.sort_unstable();
    if one == other {
        // From the last of `here`, so that the places of the others stay; those of `there` move.
        let ports: Vec<(usize, usize)> = one.iter().map(|(a, b)| (here.open[*a].0, there.open[*b].0)).collect();
        for (a, b) in ports {
            let place = |side: &Side<'_>, at: usize| side.open.iter().position(|(own, _)| *own == at);
            if let (Some(a), Some(b)) = (place(here, a), place(there, b)) {
                take(here, there, (a, b), joined);
            }
        }
    }
}

/// Compares names by their text and numbers: `Ethernet8` is before `Ethernet12`.
fn natural(one: &str, other: &str) -> std::cmp::Ordering {
    let parts = |text: &str| {
        let mut parts: Vec<(String, u64)> = Vec::new();
        for sign in text.chars() {
            match (sign.to_digit(10), parts.last_mut()) {
                (Some(digit), Some((_, number))) => *number = number.saturating_mul(10).saturating_add(digit.into()),
                (Some(digit), None) => parts.push((String::new(), digit.into())),
                (None, Some((text, 0))) => text.push(sign),
                (None, _) => parts.push((sign.into(), 0)),
            }
        }
        parts
    };
    parts(one).cmp(&parts(other))
}
