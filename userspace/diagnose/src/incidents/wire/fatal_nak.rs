//! A responder refuses a request: remote access, invalid request, or remote operation error.

use super::View;
use super::episodes::Sign;
use crate::incidents::incident::{Certainty, Incident, Source, ToldBy};
use crate::incidents::place::Place;
use crate::incidents::victims::Victims;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::human::plural;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Incident>) {
    let mut pairs: BTreeMap<(IpAddr, IpAddr), Vec<_>> = BTreeMap::new();
    for way in view.all.iter().filter(|way| way.fatal_naks > 0) {
        pairs.entry((way.dst, way.src)).or_default().push(way);
    }
    for ((requester, responder), ways) in pairs {
        let both = [(requester, responder), (responder, requester)];
        for episode in view.episodes.of(Sign::FatalNak, both) {
            let mut incident = Incident::new(
                "fatal_nak",
                Place::pair(requester, responder),
                ToldBy::Wire,
                Source::Capture,
            );
            view.times(&mut incident, episode);
            incident.victims = Victims::of(ways.iter().map(|way| way.sender_as_victim(0)).collect());
            (incident.victims.lost_packets, incident.victims.retransmitted_packets) = (None, None);
            incident.meaning = format!(
                "{responder} refused requests for good: {} ended {}",
                plural(episode.count, "fatal NAK"),
                plural(incident.victims.connections, "connection"),
            );
            incident.certainty = Certainty::Certain;
            incident.reason =
                "the responder itself states it; `events` of kind `fatal_nak` have the reason of each".to_string();
            incident.action = format!(
                "look at the application: a memory region or key that {responder} does not have, or rights that it did not \
                 give; the network is not the cause"
            );
            for way in &ways {
                let of = format!("{} > {}", way.src, way.dst);
                incident.rests_on("connections", of, "nak_fatal", way.fatal_naks as f64, "");
            }
            incident.evidence.truncate(Victims::WORST);
            found.push(incident);
        }
    }
}
