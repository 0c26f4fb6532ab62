//! The network changes the order of packets, or the tap sees them twice.

use super::ends::group;
use super::episodes::{Episode, Sign};
use super::{Direction, Found, View, loss, queue_pair};
use crate::incidents::incident::{Certainty, Incident, Source, ToldBy};
use crate::incidents::place::Place;
use crate::incidents::victims::Victims;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::human::plural;

/// Fewer packets in a wrong order, or twice, are nothing to look for.
const FEWEST: u64 = 3;
/// Where this many packets came late for each that seems lost, those are late ones too.
const MOSTLY: u64 = 3;
/// More pairs than this whose packets come twice have one cause: the mirror.
const MAX_PAIRS: usize = 3;

/// Whether packets that seem to be lost are most likely late.
pub(super) const fn explains_losses(way: &Direction) -> bool {
    is_reordered(way) && way.out_of_order >= MOSTLY * way.lost()
}

const fn is_reordered(way: &Direction) -> bool {
    // A sender that repeats only what is missing minds no other order: it may spray packets over paths.
    way.out_of_order >= FEWEST && !way.is_selective
}

pub(super) fn find(view: &View<'_>, found: &mut Found) {
    let (mut tolerated, mut connections) = (0, 0);
    for ((src, dst), ways) in by_pair(view, is_reordered) {
        let sum = |of: fn(&Direction) -> u64| ways.iter().map(|way| of(way)).sum::<u64>();
        let naks = view
            .episodes
            .of(Sign::Nak, [(dst, src)])
            .into_iter()
            .reduce(Episode::with);
        let Some(naks) = naks.filter(|_| sum(|way| way.retransmitted) > 0) else {
            // No one minds: receivers take them in any order, or drop the message, as those of UC do.
            tolerated += sum(|way| way.out_of_order);
            connections += ways.len() as u64;
            continue;
        };
        let mut incident = Incident::new("reordering", Place::pair(src, dst), ToldBy::Wire, Source::Capture);
        view.times(&mut incident, naks);
        incident.victims = Victims::of(loss::victims(&ways));
        incident.meaning = format!(
            "{} overtaken on the way: the receiver asks for them again, and {} were retransmitted",
            plural(sum(|way| way.out_of_order), "packet"),
            sum(|way| way.retransmitted)
        );
        incident.certainty = Certainty::Certain;
        incident.reason = "packets with earlier sequence numbers came after later ones, once".to_string();
        incident.action = format!(
            "look for a path between {src} and {dst} that balances packet by packet, or a LAG that changes members: RC of \
             most NICs needs one path for a flow"
        );
        column(&mut incident, &ways, "out_of_order_packets", |way| way.out_of_order);
        found.incidents.push(incident);
    }
    if tolerated > 0 {
        found.notes.push(format!(
            "{} of {} came out of order, and no receiver asked for them again",
            plural(tolerated, "packet"),
            plural(connections, "direction")
        ));
    }
    duplicates(view, &mut found.incidents);
}

fn duplicates(view: &View<'_>, found: &mut Vec<Incident>) {
    // Packets that overtake each other downstream of the tap are asked for again, and look like copies.
    // And a sender that goes back after a late packet repeats some that are still on their way.
    let is_copied = |way: &Direction| way.duplicates >= FEWEST && way.lost_downstream == 0 && !is_reordered(way);
    let twice = by_pair(view, is_copied);
    let pairs: BTreeSet<(IpAddr, IpAddr)> = twice.keys().copied().collect();
    let is_mirror = pairs.len() > MAX_PAIRS;
    let groups = match is_mirror {
        true => Vec::from([pairs.into_iter().collect::<Vec<_>>()]),
        false => group(&pairs, &pairs).into_iter().map(|group| group.pairs).collect(),
    };
    for pairs in groups {
        let ways: Vec<&Direction> = pairs.iter().flat_map(|pair| &twice[pair]).copied().collect();
        let place = match (is_mirror, pairs.as_slice()) {
            (false, [(src, dst)]) => Place::pair(*src, *dst),
            (false, _) => Place::named("group", format!("{} pairs", pairs.len())),
            (true, _) => Place::named("mirror", format!("mirror of {} pairs", pairs.len())),
        };
        let mut incident = Incident::new("duplicates", place, ToldBy::Wire, Source::Capture);
        view.times(&mut incident, Episode::lived(&ways));
        incident.victims = Victims::of(loss::victims(&ways));
        incident.victims.lost_packets = None;
        let copies: u64 = ways.iter().map(|way| way.duplicates).sum();
        incident.meaning = format!(
            "{} seen twice although their sender sent them once",
            plural(copies, "packet")
        );
        incident.reason = "the copies come when their sender repeats nothing".to_string();
        incident.unknown.push(
            "whether the fabric or the mirror copies them: a capture at the receiver, or its `duplicate_request` counter, \
             shows it"
                .to_string(),
        );
        incident.action =
            "check whether both directions of a link, or two ports of the way, are mirrored to the tap; if not, \
                           look for a loop or a switch that copies"
                .to_string();
        column(&mut incident, &ways, "duplicate_packets", |way| way.duplicates);
        found.push(incident);
    }
}

type Pairs<'a> = BTreeMap<(IpAddr, IpAddr), Vec<&'a Direction>>;

fn by_pair<'a>(view: &View<'a>, is_one: impl Fn(&Direction) -> bool) -> Pairs<'a> {
    let mut pairs = Pairs::new();
    for way in view.all.iter().filter(|way| is_one(way)) {
        pairs.entry((way.src, way.dst)).or_default().push(way);
    }
    pairs
}

fn column(incident: &mut Incident, ways: &[&Direction], name: &str, of: fn(&Direction) -> u64) {
    for way in ways.iter().take(Victims::WORST) {
        let place = format!("{} > {} {}", way.src, way.dst, queue_pair(way));
        incident.rests_on("connections", place, name, of(way) as f64, "packets");
    }
}
