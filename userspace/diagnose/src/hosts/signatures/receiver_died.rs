//! A sender gives up, and nothing but the receiving application explains it (the paper's scenario 1).

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::ports::ACTIVE;
use crate::hosts::view::View;
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
        found.push(of_wire(view, *dst, ways));
    }
    for port in view.ports.numbers() {
        let own = &view.ports.get(port).addresses;
        let is_on_wire = view
            .wire
            .iter()
            .any(|(way, wire)| wire.gave_up > 0 && own.contains(&way.src));
        if !is_on_wire {
            found.extend(of_counters(view, port));
        }
    }
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
    let is_up = port.is_some_and(|port| view.is_seen(port) && view.ports.value(port, Watched::State) == Some(ACTIVE));
    let lost = port.and_then(|port| lost_queue_pairs(view, port));
    let confidence = match (is_up, lost.is_some()) {
        (true, true) => Confidence::Certain,
        (true, false) => Confidence::Likely,
        (false, _) => Confidence::Possible,
    };
    let mut finding = finding(view.place(dst), confidence).because(match (is_up, lost.is_some(), answers) {
        (true, true, _) => "its senders gave up, its port is up, and queue pairs of it vanished",
        (true, false, true) => "its senders gave up, its port is up, and the host answers others",
        (true, false, false) => "its senders gave up, and its port is up and counts no errors",
        (false, _, true) => "its senders gave up, and the host answers others",
        (false, _, false) => "its senders gave up",
    });
    for (way, wire) in ways.iter().take(4) {
        finding.since_ns = earlier(finding.since_ns, wire.gave_up_ns);
        finding.value(&way.text(), "retry_exhausted", wire.gave_up as f64, "events");
        if let Some(sender) = view.ports.at(way.src) {
            timeouts(view, sender, &mut finding);
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
    finding.begins_after = Some(1);
    finding
}

/// Without a capture of it: what the sender counts.
fn of_counters(view: &View<'_>, port: u32) -> Option<Finding> {
    let now = |watched| view.now(port, watched);
    let gave_up = now(Watched::RetriesExceeded).unwrap_or(0) > 0;
    let failed = now(Watched::RequesterError).unwrap_or(0) > 0 && now(Watched::RequesterFlush) != Some(0);
    let waited = view.span(port, Watched::AckTimeout).unwrap_or(0) > 0;
    if !(gave_up || waited && failed) {
        return None;
    }
    // Not ready, congested, or its own link.
    let others = [Watched::RnrReceived, Watched::CnpHandled, Watched::XmitDiscards];
    let own = view.ports.get(port).addresses.first().copied();
    if view.any_span(port, &others).unwrap_or(0) > 0
        || own.is_some_and(|own| view.has_sick_link(own))
        || view
            .ports
            .value(port, Watched::State)
            .is_some_and(|state| state != ACTIVE)
    {
        return None;
    }
    // A peer whose link fails explains it; without a capture, anybody may be the peer.
    let own = &view.ports.get(port).addresses;
    let peers = view.wire.keys().filter(|way| own.contains(&way.src)).map(|way| way.dst);
    let mut peers: Vec<IpAddr> = peers.collect();
    if peers.is_empty() {
        peers = view
            .ports
            .numbers()
            .flat_map(|port| view.ports.get(port).addresses.clone())
            .collect();
    }
    if peers.into_iter().any(|peer| view.has_sick_link(peer)) {
        return None;
    }
    let lost: Vec<(u32, (f64, f64))> = view
        .ports
        .numbers()
        .filter(|other| view.ports.get(*other).host != view.ports.get(port).host)
        .filter_map(|other| Some((other, lost_queue_pairs(view, other)?)))
        .collect();
    let mut found = match lost[..] {
        [(receiver, (before, now))] => {
            let mut found = finding(Place::Port(receiver), Confidence::Likely).because(
                "a sender gave up, no link or congestion explains it, and only this port lost queue pairs then",
            );
            let of = view.ports.text(receiver);
            found.value(&of, "queue_pairs before", before, "objects");
            found.value(&of, Watched::QueuePairs.name(), now, "objects");
            found
        }
        _ => {
            let mut found = finding(Place::Port(port), Confidence::Possible)
                .because("this sender gave up, and no link or congestion explains it");
            found.meaning = "a receiver of this sender no longer answers, while the sender's link works".to_string();
            found.unknown("which receiver: no capture saw the connection, and no single port lost queue pairs then");
            found
        }
    };
    timeouts(view, port, &mut found);
    found.begins_after = Some(1);
    Some(found)
}

fn finding(place: Place, confidence: Confidence) -> Finding {
    Finding::new(Class::ReceiverDied, place, confidence).means(
        "the receiving application no longer answers, while its host and the network work",
        "look at the application there: its log, its process (`rocescope counters --queue-pairs`), the kernel's \
         out-of-memory messages",
    )
}

/// The queue pairs before and now, if there are fewer since these windows.
fn lost_queue_pairs(view: &View<'_>, port: u32) -> Option<(f64, f64)> {
    let (before, now) = view.lowered(port, Watched::QueuePairs)?;
    Some((before, now))
}

fn timeouts(view: &View<'_>, sender: u32, finding: &mut Finding) {
    let of = view.ports.text(sender);
    for watched in [
        Watched::AckTimeout,
        Watched::RetriesExceeded,
        Watched::RequesterError,
        Watched::RequesterFlush,
    ] {
        if let Some(count) = view.span(sender, watched).filter(|count| *count > 0) {
            finding.value(&of, watched.name(), count as f64, watched.unit());
        }
    }
}
