//! Senders repeat by their timer, and nothing shows why: packets or their answers were lost where the tap does not see it, or
//! answers came too late.

use super::ends::group_at_once;
use super::episodes::Episode;
use super::{Direction, Found, View, loss};
use crate::incidents::incident::{Incident, Source, ToldBy};
use crate::incidents::victims::Victims;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::human::plural;

/// Pairs that repeat by their timers at least: those of fewer may have an application that answers late.
const PAIRS: usize = 3;

pub(super) fn find(view: &View<'_>, found: &mut Found) {
    let is_open = |way: &&&Direction| {
        let is_explained = |incident: &Incident| {
            let place = &incident.place;
            let is_end = place.addresses.contains(&way.src) || place.addresses.contains(&way.dst);
            is_end || place.pairs.contains(&(way.src, way.dst)) || place.pairs.contains(&(way.dst, way.src))
        };
        way.timeouts > 0 && way.lost() == 0 && way.retransmitted > 0 && !found.incidents.iter().any(is_explained)
    };
    let ways: Vec<&Direction> = view.all.iter().filter(is_open).copied().collect();
    let pairs: BTreeSet<_> = ways.iter().map(|way| (way.src, way.dst)).collect();
    let all: BTreeSet<_> = view.all.iter().map(|way| (way.src, way.dst)).collect();
    let mut few: Vec<&Direction> = Vec::new();
    for group in group_at_once(&pairs, &all) {
        let own: Vec<&Direction> = ways
            .iter()
            .filter(|way| group.pairs.contains(&(way.src, way.dst)))
            .copied()
            .collect();
        let sum = |of: fn(&Direction) -> u64| own.iter().map(|way| of(way)).sum::<u64>();
        if group.pairs.len() < PAIRS {
            few.extend(own);
            continue;
        }
        let mut incident = Incident::new("timeouts", group.place(), ToldBy::Wire, Source::Capture);
        view.times(&mut incident, Episode::lived(&own));
        incident.victims = Victims::of(loss::victims(&own));
        incident.victims.lost_packets = None;
        incident.meaning = format!(
            "senders repeated {} after {} without a loss that the tap sees",
            plural(sum(|way| way.retransmitted), "packet"),
            plural(sum(|way| way.timeouts), "timeout"),
        );
        incident.reason = "timers expired, and no gap or NAK shows a loss".to_string();
        incident.unknown.push(
            "whether packets or their answers are lost, or answers come too late: a capture at the other end, or the \
             counters of both, would show it; and when it was within this time"
                .to_string(),
        );
        incident.action =
            "look for what these connections share: a switch, a link that went down for a moment, a timer \
                           that is shorter than the answers take"
                .to_string();
        incident.rests_on(
            "connections",
            incident.place.name.clone(),
            "timeouts",
            sum(|way| way.timeouts) as f64,
            "",
        );
        found.incidents.push(incident);
    }
    if !few.is_empty() {
        let sum = |of: fn(&Direction) -> u64| few.iter().map(|way| of(way)).sum::<u64>();
        found.notes.push(format!(
            "{} repeated after {} without a loss that the tap sees ({}): packets or answers were lost elsewhere, or answers \
             came too late",
            plural(sum(|way| way.retransmitted), "packet"),
            plural(sum(|way| way.timeouts), "timeout"),
            named(&few),
        ));
    }
}

/// The connections, those that repeat most first.
fn named(ways: &[&Direction]) -> String {
    const NAMED: usize = 3;
    let mut ways = ways.to_vec();
    ways.sort_by_key(|way| core::cmp::Reverse(way.retransmitted));
    let names = ways.iter().take(NAMED).map(|way| way.victim().to_string());
    let names = names.collect::<Vec<_>>().join(", ");
    match ways.len() > NAMED {
        true => format!("{names} and {} more", ways.len() - NAMED),
        false => names,
    }
}
