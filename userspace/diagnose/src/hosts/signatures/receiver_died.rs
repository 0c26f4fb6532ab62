//! A sender gives up, or goes on to retry in vain, and nothing but the receiving application explains it (the paper's
//! scenario 1).

use super::{give_ups, unanswered};
use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::settings::SPAN;
use crate::hosts::view::View;
use crate::hosts::watched::ACTIVE;
use crate::hosts::watched::Watched;
use crate::hosts::wire::{Direction, Wire, earlier};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;

/// Share of marked packets from which congestion is another explanation.
const CONGESTED: f64 = 0.01;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    let earliest_ns = view.start_ns.saturating_sub(view.settings.window_ns);
    let mut by_receiver: BTreeMap<IpAddr, Vec<(Direction, Wire)>> = BTreeMap::new();
    for (way, wire) in &view.wire {
        // The counters of a give-up may be read a window later.
        if wire.gave_up > 0 && wire.gave_up_ns.is_some_and(|at| at >= earliest_ns) && !is_denied(view, way.src) {
            by_receiver.entry(way.dst).or_default().push((*way, wire.clone()));
        }
    }
    for (way, wire) in unanswered::find(view) {
        let ways = by_receiver.entry(way.dst).or_default();
        if !is_denied(view, way.src) && ways.iter().all(|(gone, _)| gone != way) {
            ways.push((*way, wire.clone()));
        }
    }
    by_receiver.retain(|_, ways| !ways.is_empty());
    let mut senders: BTreeMap<IpAddr, BTreeSet<IpAddr>> = BTreeMap::new();
    for (dst, ways) in &by_receiver {
        for (way, _) in ways {
            senders.entry(way.src).or_default().insert(*dst);
        }
    }
    for (dst, ways) in &by_receiver {
        // A sender that gives up several receivers at once is cut off itself.
        let is_cut_off = |src: &IpAddr| senders.get(src).is_some_and(|given_up| given_up.len() > 1);
        if ways.iter().all(|(way, _)| is_cut_off(&way.src)) || is_otherwise_explained(view, *dst, ways) {
            continue;
        }
        let mut finding = of_wire(view, *dst, ways);
        let is_over = gave_up(ways) && !is_early(view, *dst, ways);
        finding.begins_after = is_over.then_some(1);
        found.push(finding);
    }
    let senders = unexplained(view);
    let of_wire = found.iter_mut().find(|finding| finding.class == Class::ReceiverDied);
    match (of_wire, &senders[..]) {
        (_, []) => {}
        // The tap names a receiver, and does not see all of its senders.
        (Some(finding), [sender, ..]) => finding.unknown(format!(
            "whether it is also the receiver that {} gave up, which the tap does not see",
            view.ports.text(*sender)
        )),
        (None, senders) => found.push(of_counters(view, senders)),
    }
}

/// Whether one of the senders gave up; otherwise all of them still retry.
fn gave_up(ways: &[(Direction, Wire)]) -> bool {
    ways.iter().any(|(_, wire)| wire.gave_up > 0)
}

/// Whether the ends of connections that were given up in this window were not read since.
fn is_early(view: &View<'_>, dst: IpAddr, ways: &[(Direction, Wire)]) -> bool {
    let is_read_since = |end: IpAddr, at_ns: i64| {
        let port = view.ports.at(end).filter(|port| view.is_host_read(*port));
        port.is_none_or(|port| view.ports.host_of(port).reads.last_ns >= at_ns)
    };
    ways.iter().any(|(way, wire)| {
        let new = wire.gave_up_ns.filter(|at| *at >= view.start_ns);
        new.is_some_and(|at| !is_read_since(dst, at) || !is_read_since(way.src, at))
    })
}

/// Whether the sender is known to have counted no timeout: then it did not give up, whatever the mirror shows.
fn is_denied(view: &View<'_>, src: IpAddr) -> bool {
    let port = view.ports.at(src);
    let counted = port.and_then(|port| view.any_span(port, &[Watched::AckTimeout, Watched::CompleterRetry]));
    counted == Some(0)
}

/// The link, congestion, or a receiver that was not ready.
fn is_otherwise_explained(view: &View<'_>, dst: IpAddr, ways: &[(Direction, Wire)]) -> bool {
    let ends = ways.iter().map(|(way, _)| way.src).chain([dst]);
    let mut ends = ends.collect::<BTreeSet<_>>().into_iter();
    if ends.any(|end| view.has_sick_link(end)) {
        return true;
    }
    let is_pair = |way: &Direction| ways.iter().any(|(gone, _)| gone.src == way.src && gone.dst == way.dst);
    let is_back = |way: &Direction| ways.iter().any(|(gone, _)| gone.src == way.dst && gone.dst == way.src);
    let (mut packets, mut marked, mut rnr) = (0, 0, 0);
    for (way, wire) in &view.wire {
        if is_pair(way) {
            packets += wire.packets;
            marked += wire.marked;
        } else if is_back(way) {
            rnr += wire.rnr;
        }
    }
    rnr > 0 || marked as f64 > packets as f64 * CONGESTED
}

fn of_wire(view: &View<'_>, dst: IpAddr, ways: &[(Direction, Wire)]) -> Finding {
    let port = view.ports.at(dst);
    let is_sender = |address: IpAddr| ways.iter().any(|(gone, _)| gone.src == address);
    let mut current = view.current().wire.iter();
    let answers = current.any(|(way, wire)| way.src == dst && wire.packets > 0 && !is_sender(way.dst));
    let since_ns = ways.iter().filter_map(|(_, wire)| wire.gave_up_ns).min();
    let since_ns = since_ns.or(Some(view.start_ns));
    let is_up = port.is_some_and(|port| {
        let is_read_since = Some(view.ports.host_of(port).reads.last_ns) >= since_ns;
        is_read_since && view.is_seen(port) && view.ports.value(port, Watched::State) == Some(ACTIVE)
    });
    let lost = port.and_then(|port| view.lost_queue_pairs(port));
    let confidence = match (is_up, lost.is_some()) {
        (true, true) => Confidence::Certain,
        (true, false) => Confidence::Likely,
        (false, _) => Confidence::Possible,
    };
    let senders = match gave_up(ways) {
        true => "its senders gave up",
        false => "its senders send nothing new, and get no answer to what they repeat",
    };
    let receiver = match (is_up, lost.is_some(), answers) {
        (true, true, _) => ", its port is up, and queue pairs of it vanished",
        (true, false, true) => ", its port is up, and the host answers others",
        (true, false, false) => ", and its port is up and counts no errors",
        (false, _, true) => ", and the host answers others",
        (false, _, false) => "",
    };
    let mut finding = finding(view.place(dst), confidence).because(format!("{senders}{receiver}"));
    if !is_up && !answers {
        finding = finding.means(
            "it no longer answers its senders: the application, the host, its link or the way there is gone",
            "look whether the host and its port are up, then at the application there; run `rocescope counters` on the \
             host, so that the next verdict can say which",
        );
    }
    for (way, wire) in ways.iter().take(4) {
        finding.since_ns = earlier(finding.since_ns, wire.gave_up_ns);
        if wire.gave_up > 0 {
            finding.value(&way.text(), "retry_exhausted", wire.gave_up as f64, "events");
        } else {
            unanswered::counted(way, wire, &mut finding);
        }
        if let Some(sender) = view.ports.at(way.src) {
            give_ups::counted(view, sender, &mut finding);
        } else {
            finding.unknown(format!(
                "what the sender {} counts: no row of counters has its address",
                way.src
            ));
        }
    }
    if let (Some(port), Some((before, now))) = (port, lost) {
        let of = view.ports.text(port);
        finding.value(&of, "queue_pairs before", before, "objects");
        finding.value(&of, Watched::QueuePairs.name(), now, "objects");
    } else if is_up {
        finding.unknown(
            "whether the queue pairs still exist (`rocescope counters` reads them from RDMA netlink), or the \
                         network drops the packets of these connections alone",
        );
    } else {
        finding.unknown("whether the application, the host or its link is gone: its host sends no counters");
    }
    finding
}

/// Senders that gave up unseen by a tap, and that nothing else explains.
fn unexplained(view: &View<'_>) -> Vec<u32> {
    let senders = give_ups::off_wire(view);
    // Any port that failed may be that of the receiver, and has a verdict of its own.
    if senders.is_empty() || view.ports.numbers().any(|port| view.failed_lately(port)) {
        return Vec::new();
    }
    // Not ready, or congested.
    let others = [Watched::RnrReceived, Watched::CnpHandled, Watched::XmitDiscards];
    let is_explained = |port: &u32| view.grown_lately(*port, &others, SPAN) > 0;
    senders.into_iter().filter(|port| !is_explained(port)).collect()
}

/// Without a capture of them: what the senders count. The same event lets several give up.
fn of_counters(view: &View<'_>, senders: &[u32]) -> Finding {
    // Senders that give up destroy their queue pairs, too.
    let is_sender = |port: u32| {
        senders
            .iter()
            .any(|sender| view.ports.get(*sender).host == view.ports.get(port).host)
    };
    let others = view.ports.numbers().filter(|port| !is_sender(*port));
    let lost = others.filter_map(|port| Some((port, view.lost_queue_pairs(port)?)));
    let lost: Vec<(u32, (f64, f64))> = lost.collect();
    let mut found = match lost[..] {
        [(receiver, (before, now))] => {
            let mut found = finding(Place::Port(receiver), Confidence::Likely).because(
                "senders gave up, no link or congestion explains it, and only this port lost queue pairs then",
            );
            let of = view.ports.text(receiver);
            found.value(&of, "queue_pairs before", before, "objects");
            found.value(&of, Watched::QueuePairs.name(), now, "objects");
            found
        }
        _ => {
            let mut found = finding(Place::PeerOf(senders.to_vec()), Confidence::Possible)
                .because("the senders gave up, and no link or congestion explains it");
            found.meaning = "it no longer answers these senders, whose links work".to_string();
            found.unknown("which receiver: no capture saw the connections, and no single port lost queue pairs then");
            found
        }
    };
    // The receiver may become known a window later.
    found.known_by = Some(Place::PeerOf(Vec::new()));
    for sender in senders.iter().take(4) {
        give_ups::counted(view, *sender, &mut found);
    }
    found
}

fn finding(place: Place, confidence: Confidence) -> Finding {
    Finding::new(Class::ReceiverDied, place, confidence).means(
        "the receiving application no longer answers, while its host and the network work",
        "look at the application there: its log, its process (`rocescope counters --queue-pairs`), the kernel's \
         out-of-memory messages",
    )
}
