//! The network changes the order of packets, or delivers them twice.

use super::episodes::{Episode, Sign};
use super::{Direction, View, loss};
use crate::incidents::incident::{Certainty, Incident, Source, ToldBy, Victims};
use crate::incidents::place::Place;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::human::plural;

/// Fewer packets in a wrong order, or twice, are nothing to look for.
const FEWEST: u64 = 3;
/// Where this many packets came late for each that seems lost, those are late ones too.
const MOSTLY: u64 = 3;

/// Whether packets that seem to be lost are most likely late.
pub(super) const fn explains_losses(way: &Direction) -> bool {
    is_reordered(way) && way.out_of_order >= MOSTLY * way.lost()
}

const fn is_reordered(way: &Direction) -> bool {
    // A sender that repeats only what is missing minds no other order: it may spray packets over paths.
    way.out_of_order >= FEWEST && !way.is_selective
}

pub(super) fn find(view: &View<'_>, found: &mut Vec<Incident>) {
    for ((src, dst), ways) in by_pair(view, is_reordered) {
        let late: u64 = ways.iter().map(|way| way.out_of_order).sum();
        let again: u64 = ways.iter().map(|way| way.retransmitted).sum();
        let mut incident = incident(view, "reordering", (src, dst), &ways);
        incident.meaning = format!(
            "{} overtaken on the way: the receiver asks for them again, and {again} were sent again",
            plural(late, "packet")
        );
        let naks = view.episodes.of(Sign::Nak, [(dst, src)]);
        incident.certainty = if naks.is_empty() {
            Certainty::Likely
        } else {
            Certainty::Certain
        };
        incident.reason = "packets with earlier sequence numbers came after later ones, once".to_string();
        incident.action = format!(
            "look for a path between {src} and {dst} that balances packet by packet, or a LAG that changes members: RC of \
             most NICs needs one path for a flow"
        );
        column(&mut incident, &ways, "out_of_order_packets", |way| way.out_of_order);
        found.push(incident);
    }
    for ((src, dst), ways) in by_pair(view, |way| way.duplicates >= FEWEST) {
        let twice: u64 = ways.iter().map(|way| way.duplicates).sum();
        let mut incident = incident(view, "duplicates", (src, dst), &ways);
        incident.victims.lost_packets = None;
        incident.meaning = format!(
            "{} seen twice although their sender sent them once",
            plural(twice, "packet")
        );
        incident.reason = "the second copy has the time and the order of the first".to_string();
        incident.unknown.push(
            "whether the fabric or the mirror copies them: a capture at the receiver, or its `duplicate_request` counter, \
             tells"
                .to_string(),
        );
        incident.action =
            "check whether both directions of a link, or two ports of the way, are mirrored to the tap".to_string();
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

fn incident(view: &View<'_>, class: &str, (src, dst): (IpAddr, IpAddr), ways: &[&Direction]) -> Incident {
    let mut incident = Incident::new(class, Place::pair(src, dst), ToldBy::Wire, Source::Capture);
    let whole = Episode {
        first_ns: ways.iter().map(|way| way.first_ns).min().unwrap_or(0),
        last_ns: ways.iter().map(|way| way.last_ns).max().unwrap_or(0),
        count: 0,
    };
    view.times(&mut incident, whole);
    incident.victims = Victims::of(loss::victims(ways));
    incident
}

fn column(incident: &mut Incident, ways: &[&Direction], name: &str, of: fn(&Direction) -> u64) {
    for way in ways.iter().take(Victims::WORST) {
        let place = format!("{} > {} {}", way.src, way.dst, super::queue_pair(way));
        incident.rests_on("connections", place, name, of(way) as f64, "packets");
    }
}
