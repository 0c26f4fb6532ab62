//! Packets that are sent again and again and never answered: a black hole, as NCCL's "error 12" reports it.

use super::episodes::{Episode, Sign};
use super::{Direction, View, loss, queue_pair};
use crate::incidents::incident::{Certainty, Incident, Source, ToldBy, Victims};
use crate::incidents::place::Place;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::human::plural;

/// How often packets must have been sent in all, for each that is different, to be without an answer.
const TRIES: u64 = 3;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Incident>) {
    let mut pairs: BTreeMap<(IpAddr, IpAddr), Vec<&Direction>> = BTreeMap::new();
    for way in view.all.iter().filter(|way| is_unanswered(view, way)) {
        pairs.entry((way.src, way.dst)).or_default().push(way);
    }
    for ((src, dst), ways) in pairs {
        found.push(incident(view, src, dst, &ways));
    }
}

/// Whether nothing of the other side was ever seen, while packets were sent again and again and no new ones followed.
pub(super) fn is_unanswered(view: &View<'_>, way: &Direction) -> bool {
    if way.other_direction_seen || !way.is_acknowledged {
        return false;
    }
    let different = way.packets.saturating_sub(way.retransmitted);
    // A tap that sees one direction of everything sees no answers to anything.
    let sees_answers = view.all.iter().any(|other| other.other_direction_seen) || view.is_single(way);
    sees_answers && different > 0 && way.packets >= different * TRIES
}

impl View<'_> {
    /// Whether the other end sends nothing at all, to anyone.
    fn is_single(&self, way: &Direction) -> bool {
        self.all
            .iter()
            .all(|other| (other.src, other.dst) == (way.src, way.dst))
    }
}

fn incident(view: &View<'_>, src: IpAddr, dst: IpAddr, ways: &[&Direction]) -> Incident {
    let mut incident = Incident::new("no_answer", Place::pair(src, dst), ToldBy::Wire, Source::Capture);
    let given_up = view.episodes.of(Sign::RetryExhausted, [(src, dst)]);
    let whole = Episode {
        first_ns: ways.iter().map(|way| way.first_ns).min().unwrap_or(0),
        last_ns: ways.iter().map(|way| way.last_ns).max().unwrap_or(0),
        count: 0,
    };
    view.times(&mut incident, whole);
    incident.victims = Victims::of(loss::victims(ways));
    // What nobody answers may have arrived.
    incident.victims.lost_packets = None;
    let packets: u64 = ways.iter().map(|way| way.packets).sum();
    let again: u64 = ways.iter().map(|way| way.retransmitted).sum();
    let qps: Vec<_> = ways.iter().take(3).map(|way| queue_pair(way)).collect();
    incident.meaning = format!(
        "nothing is answered: {} of {} sent, {again} of them repeats, not one acknowledged{}",
        plural(packets, "packet"),
        qps.join(", "),
        if given_up.is_empty() {
            ""
        } else {
            "; the sender gave up"
        },
    );
    incident.certainty = if given_up.is_empty() {
        Certainty::Likely
    } else {
        Certainty::Certain
    };
    incident.reason = "no packet of the other direction was seen, and no new packet was sent".to_string();
    let why = "whether the packets or their answers are lost, or the receiver has no such queue pair: its counters, and a \
               capture at its port, tell";
    incident.unknown.push(why.to_string());
    incident.action = format!(
        "check the GID index (RoCEv2 and the right address), routes and access lists in both directions, and the MTU between \
         {src} and {dst}; NCCL reports this as `error 12` (vendor err 129)"
    );
    for way in ways.iter().take(Victims::WORST) {
        let of = format!("{src} > {dst} {}", queue_pair(way));
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
