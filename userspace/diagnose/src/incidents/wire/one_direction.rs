//! What a tap that sees one direction knows.

use super::episodes::{Episode, Sign};
use super::{Direction, Found, View, no_answer, queue_pair};
use crate::incidents::incident::{Incident, Source, ToldBy};
use crate::incidents::place::Place;
use crate::incidents::victims::Victims;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::human::plural;

/// Directions with fewer packets say nothing about what a tap does not see.
const ENOUGH_PACKETS: u64 = 8;
/// Fewer signs than this are nothing to look for.
const FEWEST: u64 = 3;

pub(super) fn find(view: &View<'_>, found: &mut Found) {
    signs(view, &mut found.incidents);
    note(view, found);
}

/// What shows a loss although the tap does not see how: NAKs without the packets that they are about, and repeats without
/// their reason.
fn signs(view: &View<'_>, found: &mut Vec<Incident>) {
    let is_judged = |way: &&&Direction| way.is_acknowledged && !way.other_direction_seen && way.lost() == 0;
    let mut pairs: BTreeMap<(IpAddr, IpAddr), Vec<&Direction>> = BTreeMap::new();
    for way in view.all.iter().filter(is_judged) {
        let repeats = way.retransmitted >= FEWEST && !no_answer::is_unanswered(view, way);
        if way.naks >= FEWEST || repeats {
            // NAKs are about packets of the other direction.
            let pair = if way.naks > 0 {
                (way.dst, way.src)
            } else {
                (way.src, way.dst)
            };
            pairs.entry(pair).or_default().push(way);
        }
    }
    for ((src, dst), ways) in pairs {
        let sum = |of: fn(&Direction) -> u64| ways.iter().map(|way| of(way)).sum::<u64>();
        let (naks, repeats) = (sum(|way| way.naks), sum(|way| way.retransmitted));
        let mut incident = Incident::new("network_loss", Place::pair(src, dst), ToldBy::Wire, Source::Capture);
        let of_naks = view
            .episodes
            .of(Sign::Nak, [(dst, src)])
            .into_iter()
            .reduce(Episode::with);
        view.times(&mut incident, of_naks.unwrap_or_else(|| Episode::lived(&ways)));
        let victim = |way: &&Direction| match way.naks {
            0 => way.victim(),
            _ => way.sender_as_victim(0),
        };
        incident.victims = Victims::of(ways.iter().map(victim).collect());
        incident.victims.lost_packets = None;
        (incident.meaning, incident.reason) = match naks {
            0 => (
                format!("{} repeated, and the tap does not see why", plural(repeats, "packet")),
                "only requests reach the tap: lost packets, lost answers and late ones look alike".to_string(),
            ),
            _ => (
                format!(
                    "{} ask for packets again that were lost or overtaken",
                    plural(naks, "NAK")
                ),
                "only answers reach the tap: how many packets were lost is not known".to_string(),
            ),
        };
        incident
            .unknown
            .push("how many packets were lost, and where: mirror both directions".to_string());
        incident.action = format!(
            "mirror both directions to know more; then check the links from {src} to {dst}: drops by port and queue, CRC and \
             FEC errors, and light levels"
        );
        for way in ways.iter().take(Victims::WORST) {
            let of = format!("{} > {} {}", way.src, way.dst, queue_pair(way));
            let (name, value) = match way.naks {
                0 => ("retransmitted_packets", way.retransmitted),
                naks => ("nak_psn_sequence", naks),
            };
            incident.rests_on("connections", of, name, value as f64, "");
        }
        found.push(incident);
    }
}

/// States that losses are a lower bound where the tap sees no answers.
fn note(view: &View<'_>, found: &mut Found) {
    let is_judged = |way: &&&Direction| way.is_acknowledged && way.packets >= ENOUGH_PACKETS;
    let all = view.all.iter().filter(is_judged).count();
    let unseen = view
        .all
        .iter()
        .filter(is_judged)
        .filter(|way| !way.other_direction_seen)
        .count();
    let silent = view
        .all
        .iter()
        .filter(|way| !way.is_acknowledged && way.packets >= ENOUGH_PACKETS)
        .count();
    if silent > 0 {
        found.notes.push(format!(
            "{} of UC or UD: no one acknowledges, so losses downstream of the tap leave no trace, and those of UD none at all",
            plural(silent as u64, "direction")
        ));
    }
    if unseen * 2 > all {
        found.notes.push(format!(
            "one direction only: of {unseen} of {all} directions the tap sees no answers, so losses downstream of it are a \
             lower bound: mirror both directions"
        ));
    }
}
