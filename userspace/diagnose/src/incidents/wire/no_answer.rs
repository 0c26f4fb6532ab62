//! Packets that no one answers, from the start or any more: a black hole, as NCCL's "error 12" reports it, or an end that is
//! cut off.

use super::ends::{Group, group_at_once};
use super::episodes::{Episode, Sign};
use super::{Direction, View, loss, queue_pair};
use crate::incidents::incident::{Certainty, Incident, Source, ToldBy};
use crate::incidents::victims::Victims;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::human::plural;

/// How often packets must have been sent in all, for each that is different, to be without an answer.
const TRIES: u64 = 3;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Incident>) {
    let is_silent = |way: &&&Direction| is_unanswered(view, way) || was_given_up(view, way);
    let ways: Vec<&Direction> = view.all.iter().filter(is_silent).copied().collect();
    let pairs: BTreeSet<(IpAddr, IpAddr)> = ways.iter().map(|way| (way.src, way.dst)).collect();
    let all: BTreeSet<(IpAddr, IpAddr)> = view.all.iter().map(|way| (way.src, way.dst)).collect();
    for group in group_at_once(&pairs, &all) {
        let own: Vec<&Direction> = ways
            .iter()
            .filter(|way| group.pairs.contains(&(way.src, way.dst)))
            .copied()
            .collect();
        found.push(incident(view, &group, &own));
    }
}

/// Whether nothing of the other side was ever seen, while packets were repeated and no new ones followed.
pub(super) fn is_unanswered(view: &View<'_>, way: &Direction) -> bool {
    if way.other_direction_seen || !way.is_acknowledged {
        return false;
    }
    let different = way.packets.saturating_sub(way.retransmitted);
    different > 0 && way.packets >= different * TRIES && view.taps.see_answers(way)
}

/// Whether its sender gave up, although the receiver had answered before, and had buffers.
fn was_given_up(view: &View<'_>, way: &Direction) -> bool {
    let is_ready = || {
        let mut back = view
            .all
            .iter()
            .filter(|back| (back.src, back.dst) == (way.dst, way.src));
        back.all(|back| back.rnr_naks + back.fatal_naks == 0)
    };
    let is_silent = way.is_acknowledged && way.other_direction_seen && way.timeouts > 0;
    // A box that sees one direction sees no answer to anything: what it takes for the end of the retries is none.
    is_silent
        && is_ready()
        && view
            .episodes
            .saw(&way.observer, Sign::RetryExhausted, (way.src, way.dst))
}

fn incident(view: &View<'_>, group: &Group, ways: &[&Direction]) -> Incident {
    let mut incident = Incident::new("no_answer", group.place(), ToldBy::Wire, Source::Capture);
    let given_up = view.episodes.of(Sign::RetryExhausted, group.pairs.iter().copied());
    let is_from_the_start = ways.iter().all(|way| !way.other_direction_seen);
    let losses = view.episodes.of(Sign::Loss, group.pairs.iter().copied());
    let signs = given_up.iter().chain(&losses).copied().reduce(Episode::with);
    view.times(
        &mut incident,
        signs
            .filter(|_| !is_from_the_start)
            .unwrap_or_else(|| Episode::lived(ways)),
    );
    let victims = loss::victims(ways).into_iter().map(|mut victim| {
        // What no one answers may have arrived.
        victim.lost_packets = 0;
        victim
    });
    incident.victims = Victims::of(victims.collect());
    incident.victims.lost_packets = None;
    let sum = |of: fn(&Direction) -> u64| ways.iter().map(|way| of(way)).sum::<u64>();
    incident.meaning = match is_from_the_start {
        true => format!(
            "nothing is answered: {} of {} sent, {} of them repeats, not one acknowledged{}",
            plural(sum(|way| way.packets), "packet"),
            some(ways),
            sum(|way| way.retransmitted),
            if given_up.is_empty() {
                ""
            } else {
                "; the sender gave up"
            },
        ),
        false => format!(
            "answers stopped: senders repeated {} and gave up {}",
            plural(sum(|way| way.retransmitted), "packet"),
            plural(ways.len() as u64, "connection"),
        ),
    };
    incident.certainty = match (is_from_the_start, given_up.is_empty()) {
        (true, true) => Certainty::Likely,
        _ => Certainty::Certain,
    };
    incident.reason = match is_from_the_start {
        true => "no packet of the other direction was seen, and no new packet was sent",
        false => "senders used up their retries",
    }
    .to_string();
    incident.unknown.push(
        "whether the packets or their answers are lost, or the other end is gone: the counters of both ends, and a capture \
         at the other end, would show it"
            .to_string(),
    );
    incident.action = action(group, is_from_the_start);
    for way in ways.iter().take(Victims::WORST) {
        let of = format!("{} > {} {}", way.src, way.dst, queue_pair(way));
        incident.rests_on("connections", of.as_str(), "packets", way.packets as f64, "packets");
        incident.rests_on(
            "connections",
            of.as_str(),
            "retransmitted_packets",
            way.retransmitted as f64,
            "packets",
        );
        if way.timeouts > 0 {
            incident.rests_on("connections", of.as_str(), "timeouts", way.timeouts as f64, "");
        }
    }
    incident
}

fn some(ways: &[&Direction]) -> String {
    let named: Vec<String> = ways.iter().take(3).map(|way| queue_pair(way)).collect();
    match ways.len() > 3 {
        true => format!("{} and {} more", named.join(", "), ways.len() - 3),
        false => named.join(", "),
    }
}

fn action(group: &Group, is_from_the_start: bool) -> String {
    let between = match (group.end(), group.pairs.first()) {
        (Some(end), _) => format!("at {end}"),
        (None, Some((src, dst))) => format!("between {src} and {dst}"),
        (None, None) => String::new(),
    };
    match is_from_the_start {
        true => format!(
            "check the GID index (RoCEv2 and the right address), routes and access lists in both directions, and the MTU \
             {between}; NCCL reports this as `error 12` (vendor err 129)"
        ),
        false => format!(
            "check whether the host, its port and its link are up, then routes and access lists in both directions {between}; \
             NCCL reports this as `error 12` (vendor err 129)"
        ),
    }
}
