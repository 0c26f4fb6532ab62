//! The network loses packets.

use super::ends::{Group, Share, group};
use super::episodes::{Episode, Sign};
use super::{Direction, Found, View, lossy, no_answer, order, queue_pair, traces};
use crate::incidents::incident::{Certainty, Incident, Source, ToldBy};
use crate::incidents::victims::{Victim, Victims};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::human::{grouped, plural};

/// What a port shows of its losses.
const COUNTERS: &str = "drops by port and queue, CRC and FEC errors, and light levels";

pub(super) fn find(view: &View<'_>, found: &mut Found) {
    if view.is_part {
        from_events(view, &mut found.incidents);
    }
    let located = located(view.all);
    let is_lossy = |direction: &&&Direction| {
        direction.lost() > 0
            && !no_answer::is_unanswered(view, direction)
            && !order::explains_losses(direction)
            && !are_of_answers(direction, &located)
    };
    let mut lossy: Vec<&Direction> = view.all.iter().filter(is_lossy).copied().collect();
    found.notes.extend(traces::take_out(&mut lossy, view.all));
    for group in lossy::groups(&lossy, view.all) {
        let is_in = |way: &&&Direction| group.pairs.contains(&(way.src, way.dst));
        let ways: Vec<&Direction> = lossy.iter().filter(is_in).copied().collect();
        let mut episodes = view.episodes.of(Sign::Loss, group.pairs.iter().copied());
        if episodes.is_empty() {
            if view.is_part {
                // Nothing shows that it was in the time asked for.
                continue;
            }
            episodes.push(Episode::lived(&ways));
        }
        let is_only = episodes.len() == 1;
        found.incidents.extend(
            episodes
                .iter()
                .map(|episode| incident(view, &group, (&ways, &lossy), *episode, is_only)),
        );
    }
}

/// The losses of each pair whose direction is known.
fn located(all: &[&Direction]) -> BTreeMap<(IpAddr, IpAddr), u64> {
    let mut located = BTreeMap::new();
    for way in all {
        *located.entry((way.src, way.dst)).or_default() += way.lost_upstream + way.lost_downstream;
    }
    located
}

/// A request that is repeated after a long wait was lost, or its answer was. Where the way of the answers is known to lose as
/// many, and this one is not known to lose any, the answers were.
fn are_of_answers(way: &Direction, located: &BTreeMap<(IpAddr, IpAddr), u64>) -> bool {
    let of_answers = located.get(&(way.dst, way.src)).copied().unwrap_or(0);
    way.lost_upstream + way.lost_downstream == 0 && way.unanswered > 0 && of_answers >= way.unanswered
}

/// Losses in a part of the time in which no connection has written a row: events alone show them.
fn from_events(view: &View<'_>, found: &mut Vec<Incident>) {
    let is_counted = |pair: &(IpAddr, IpAddr)| {
        let mut ways = view.all.iter();
        ways.any(|way| (way.src, way.dst) == *pair && way.lost() > 0)
    };
    let pairs: BTreeSet<(IpAddr, IpAddr)> = view
        .episodes
        .pairs(Sign::Loss)
        .filter(|pair| !is_counted(pair))
        .collect();
    let all: BTreeSet<(IpAddr, IpAddr)> = view.all.iter().map(|way| (way.src, way.dst)).collect();
    for group in group(&pairs, &all.union(&pairs).copied().collect()) {
        for episode in view.episodes.of(Sign::Loss, group.pairs.iter().copied()) {
            let mut incident = Incident::new("network_loss", group.place(), ToldBy::Wire, Source::Capture);
            view.times(&mut incident, episode);
            incident.meaning = format!("{} lost", plural(episode.count, "packet"));
            incident.certainty = Certainty::Likely;
            incident.reason = "events show each loss; the totals of its connections come once a minute".to_string();
            incident.action = action(&group, 1, 1);
            incident.rests_on(
                "events",
                incident.place.name.clone(),
                "loss",
                episode.count as f64,
                "packets",
            );
            found.push(incident);
        }
    }
}

fn incident(
    view: &View<'_>,
    group: &Group,
    (ways, lossy): (&[&Direction], &[&Direction]),
    episode: Episode,
    is_only: bool,
) -> Incident {
    let mut incident = Incident::new("network_loss", group.place(), ToldBy::Wire, Source::Capture);
    view.times(&mut incident, episode);
    incident.victims = Victims::of(victims(ways));
    if !is_only {
        // The rows of connections count all episodes.
        incident.victims.lost_packets = Some(episode.count);
        incident.victims.retransmitted_packets = None;
    }
    let lost = incident.victims.lost_packets.unwrap_or(episode.count);
    let sum = |of: fn(&Direction) -> u64| ways.iter().map(|way| of(way)).sum::<u64>();
    let (up, down) = (
        sum(|way| way.lost_upstream),
        sum(|way| way.lost_downstream + way.unanswered),
    );
    let packets = sum(|way| way.packets);
    (incident.certainty, incident.reason) = certainty(view, ways, lost, up);
    incident.meaning = format!(
        "{} lost{}, {}, in {}",
        share(lost, packets),
        while_it_lasted(ways, lost, packets, episode),
        if is_only {
            where_of_tap(up, down)
        } else {
            "in a part of the time".to_string()
        },
        plural(ways.len() as u64, "connection"),
    );
    let beside = lossy::healthy_beside(group, lossy, view.all);
    incident.action = action(group, up, down);
    if let Some((lossy, healthy)) = lossy::classes_apart(ways, &beside) {
        incident.meaning += &format!("; only those with DSCP {lossy}, those with DSCP {healthy} lose nothing");
        incident.action = format!(
            "check the queue of this traffic class on the switches between: buffer, PFC, ECN, and which class DSCP {lossy} \
             is mapped to; {COUNTERS}"
        );
    } else if !beside.is_empty() && group.end().is_none() {
        incident.meaning += "; other queue pairs of the same addresses lose nothing";
        incident.action = format!(
            "look for one member of a LAG or one path of several (ECMP) that these queue pairs share (`rocescope paths`): \
             {COUNTERS}"
        );
    }
    let at_end = lossy::healthy_at_end(group, lossy, view.all);
    if at_end > 0 {
        incident.certainty = incident.certainty.min(Certainty::Likely);
        incident.unknown.push(format!(
            "why {} of the same end lose nothing: a way that only the lossy ones take would explain it too",
            plural(at_end, "other queue pair")
        ));
    }
    for way in ways.iter().take(Victims::WORST) {
        let of = format!("{} > {} {}", way.src, way.dst, queue_pair(way));
        for (name, value) in [
            ("fabric_lost_upstream_packets", way.lost_upstream),
            ("fabric_lost_downstream_packets", way.lost_downstream),
            ("unanswered_packets", way.unanswered),
            ("retransmitted_packets", way.retransmitted),
        ] {
            if value > 0 {
                incident.rests_on("connections", of.as_str(), name, value as f64, "packets");
            }
        }
    }
    if ways.iter().all(|way| way.is_acknowledged && !way.other_direction_seen) {
        let why = "how many more were lost: only one direction reaches the tap, so this is a lower bound";
        incident.unknown.push(why.to_string());
    }
    if down > 0 && view.observers.icrc_bad.is_none() {
        let why = "whether they were dropped, damaged (`capture --verify-icrc`) or overtaken downstream of the tap";
        incident.unknown.push(why.to_string());
    }
    incident
}

fn certainty(view: &View<'_>, ways: &[&Direction], lost: u64, upstream: u64) -> (Certainty, String) {
    let observers: BTreeSet<&str> = ways.iter().map(|way| &*way.observer).collect();
    if view.observers.lost_any(&observers) {
        let reason = "the tap lost packets too, and a loss there looks alike";
        return (Certainty::Possible, reason.to_string());
    }
    let answered = ways.iter().any(|way| way.other_direction_seen);
    let acknowledged = ways.iter().any(|way| way.is_acknowledged);
    match (lost, answered, acknowledged) {
        (1, ..) => (Certainty::Likely, "a single packet".to_string()),
        (_, true, _) if upstream == 0 => (
            Certainty::Likely,
            "the receiver asked for them again, or a timer expired".to_string(),
        ),
        (_, true, _) => (
            Certainty::Certain,
            "sequence numbers, and what was retransmitted for them, show each loss".to_string(),
        ),
        (_, false, true) => (Certainty::Likely, "only one direction reaches the tap".to_string()),
        (_, false, false) => (
            Certainty::Likely,
            "sequence numbers are missing; this service neither acknowledges nor repeats".to_string(),
        ),
    }
}

fn where_of_tap(upstream: u64, downstream: u64) -> String {
    match (upstream, downstream) {
        (_, 0) => "upstream of the tap".to_string(),
        (0, _) => "downstream of the tap".to_string(),
        (up, down) => format!("{up} upstream and {down} downstream of the tap"),
    }
}

/// The share of the packets while a loss lasted, if that is a part of the time of its connections. That they sent evenly is
/// assumed.
fn while_it_lasted(ways: &[&Direction], lost: u64, packets: u64, episode: Episode) -> String {
    const SHORTEST_NS: i64 = 1_000_000_000;
    const PART: f64 = 0.7;
    let begun = ways.iter().map(|way| way.first_ns).min().unwrap_or(episode.first_ns);
    let ended = ways.iter().map(|way| way.last_ns).max().unwrap_or(episode.last_ns);
    let lasted_ns = episode.last_ns.saturating_sub(episode.first_ns);
    let part = lasted_ns as f64 / ended.saturating_sub(begun).max(1) as f64;
    if lasted_ns < SHORTEST_NS || part > PART {
        return String::new();
    }
    let sent = packets as f64 * part;
    format!(
        ", about {:.1} % while it lasted",
        lost as f64 * 100.0 / (sent + lost as f64)
    )
}

fn share(lost: u64, packets: u64) -> String {
    let all = lost + packets;
    let percent = lost as f64 * 100.0 / all.max(1) as f64;
    let of = format!("{} of {}", grouped(lost), plural(all, "packet"));
    if percent < 0.01 {
        of
    } else {
        format!("{of} ({percent:.2} %)")
    }
}

fn action(group: &Group, upstream: u64, downstream: u64) -> String {
    let (src, dst) = group.pairs.first().copied().unwrap_or_else(unspecified);
    match (&group.share, group.pairs.len()) {
        (Share::End(end), _) => {
            format!("check the cable, transceiver and switch port of {end}, and its NIC: {COUNTERS}")
        }
        (_, 1) => match (upstream, downstream) {
            (_, 0) => format!("check the links from {src} to the mirrored port: {COUNTERS}"),
            (0, _) => format!("check the links from the mirrored port to {dst}: {COUNTERS}"),
            _ => format!("check all links from {src} to {dst}: {COUNTERS}"),
        },
        (Share::Way(..), _) => {
            format!("check the switches and links between these addresses (`rocescope paths`): {COUNTERS}")
        }
        _ => format!(
            "look for a switch or link that these pairs share (`rocescope paths`): {COUNTERS}; and whether PFC and ECN are \
             on for this traffic class on every switch"
        ),
    }
}

const fn unspecified() -> (IpAddr, IpAddr) {
    let any = IpAddr::V4(core::net::Ipv4Addr::UNSPECIFIED);
    (any, any)
}

/// Victims of a list of directions.
pub(super) fn victims(ways: &[&Direction]) -> Vec<Victim> {
    ways.iter().map(|way| way.victim()).collect()
}
