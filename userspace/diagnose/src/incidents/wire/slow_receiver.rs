//! A receiver has no buffers posted, and reports it: receiver-not-ready NAKs.

use super::episodes::Sign;
use super::{Direction, Found, View};
use crate::incidents::incident::{Certainty, Incident, Source, ToldBy};
use crate::incidents::place::Place;
use crate::incidents::victims::Victims;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::human::plural;

/// Fewer in all happen when an application starts: they are a note, unless a sender gives up.
const FEWEST: u64 = 16;
/// Fewer a second happen where an application posts buffers in time for nearly all messages: retries absorb them.
const RATE: f64 = 0.5;
/// A sender that gives up because of such NAKs does it within this time after the last of them: a timer of 655 ms and more.
const GIVES_UP_NS: i64 = 2_000_000_000;

pub(super) fn find(view: &View<'_>, found: &mut Found) {
    let mut rare = Vec::new();
    let mut receivers: BTreeMap<IpAddr, Vec<&Direction>> = BTreeMap::new();
    for way in view.all.iter().filter(|way| way.rnr_naks > 0) {
        receivers.entry(way.src).or_default().push(way);
    }
    for (receiver, ways) in receivers {
        let naks: u64 = ways.iter().map(|way| way.rnr_naks).sum();
        let pairs = ways.iter().flat_map(|way| [(way.src, way.dst), (way.dst, way.src)]);
        let mut given_up = view.episodes.of(Sign::RetryExhausted, pairs.clone());
        let episodes = view.episodes.of(Sign::RnrNak, pairs.clone());
        given_up.retain(|end| {
            let mut naks = episodes.iter();
            naks.any(|naks| end.first_ns <= naks.last_ns.saturating_add(GIVES_UP_NS) && end.last_ns >= naks.first_ns)
        });
        if naks < FEWEST && given_up.is_empty() {
            rare.push(format!("{naks} from {receiver}"));
            continue;
        }
        for episode in episodes {
            let place = Place {
                pairs: ways.iter().map(|way| (way.dst, way.src)).collect(),
                ..Place::address(receiver)
            };
            let mut incident = Incident::new("slow_receiver", place, ToldBy::Wire, Source::Capture);
            view.times(&mut incident, episode);
            let again = |way: &Direction| {
                let mut sender = view
                    .all
                    .iter()
                    .filter(|other| (other.src, other.dst, other.dst_qpn) == (way.dst, way.src, way.src_qpn));
                sender.next().map_or(0, |sender| sender.retransmitted)
            };
            incident.victims = Victims::of(ways.iter().map(|way| way.sender_as_victim(again(way))).collect());
            incident.victims.lost_packets = None;
            let seconds = episode.last_ns.saturating_sub(episode.first_ns) as f64 / 1e9;
            if (episode.count as f64) < RATE * seconds && given_up.is_empty() {
                rare.push(format!("{} from {receiver}", episode.count));
                continue;
            }
            incident.meaning = format!(
                "the application posts receive buffers too late: {} to {}{}",
                plural(episode.count, "receiver-not-ready NAK"),
                plural(incident.victims.connections, "connection"),
                if given_up.is_empty() { "" } else { "; a sender gave up" },
            );
            incident.certainty = Certainty::Certain;
            incident.reason = "the receiver itself reports that it is not ready".to_string();
            incident.action = format!(
                "look at the process on {receiver}: post more receive buffers, look for a stall (CPU, paging, a slow GPU \
                 copy); the network is not the cause"
            );
            for way in ways.iter().take(Victims::WORST) {
                let of = format!("{} > {}", way.src, way.dst);
                incident.rests_on("connections", of, "rnr_nak", way.rnr_naks as f64, "");
            }
            found.incidents.push(incident);
        }
    }
    if !rare.is_empty() {
        found.notes.push(format!(
            "receiver-not-ready NAKs, as few as at the start of an application or at a rate that retries absorb: {}",
            rare.join(", ")
        ));
    }
}
