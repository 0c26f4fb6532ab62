//! A port is congested, and who causes it (the paper's scenario 2).

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::ports::Latency;
use crate::hosts::settings::SPAN;
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use crate::hosts::wire::{Direction, Wire};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashMap;

/// Share of the packets that arrive marked. DCQCN keeps a busy port at the foot of its marking curve, below this.
const MARKED: f64 = 0.01;
/// CNPs a second.
const CNPS: f64 = 1.0;
/// Latency relative to the baseline. The paper saw 9.1 to 87.7 % more.
const SLOWER: f64 = 1.05;
/// Share of the CNPs that one sender handles, to be the cause, and how far it must be ahead of the next.
const MOST: f64 = 0.5;
const AHEAD: f64 = 2.0;

/// A place where marked packets arrive.
struct Hot {
    place: Place,
    address: Option<IpAddr>,
    marked: u64,
    packets: u64,
    is_counted: bool,
}

pub(super) fn find(view: &View<'_>, latencies: &HashMap<Direction, Latency>, found: &mut Vec<Finding>) {
    for hot in hot_places(view) {
        let senders = senders(view, &hot);
        let notified: u64 = senders.iter().map(|sender| sender.cnps).sum();
        if (notified as f64) < CNPS * view.seconds() {
            continue;
        }
        let is_loaded = [
            receives(view, &hot),
            senders.first().and_then(|first| sends(view, first)),
        ];
        if is_loaded.contains(&Some(false)) {
            continue;
        }
        let is_loaded = is_loaded.iter().all(Option::is_some);
        let latency = latency(view, latencies, &hot, &senders);
        // Marks and CNPs that keep the latency are congestion control at work.
        if latency.is_some_and(|ratio| ratio < SLOWER) {
            continue;
        }
        found.push(finding(view, &hot, &senders, notified, latency, is_loaded));
    }
}

fn hot_places(view: &View<'_>) -> Vec<Hot> {
    let mut on_wire: BTreeMap<Place, (u64, u64, IpAddr)> = BTreeMap::new();
    for (way, wire) in &view.current().wire {
        let sum = on_wire.entry(view.place(way.dst)).or_insert((0, 0, way.dst));
        (sum.0, sum.1) = (sum.0 + wire.marked, sum.1 + wire.packets);
    }
    let mut hot = Vec::new();
    for port in view.ports.numbers() {
        let wire = on_wire.remove(&Place::Port(port));
        let own = (view.now(port, Watched::EcnMarked), view.now(port, Watched::RcvPackets));
        let (marked, packets, is_counted) = match (own, wire) {
            ((Some(marked), Some(packets)), _) => (marked, packets, true),
            ((Some(marked), None), Some((_, packets, _))) => (marked, packets, true),
            (_, Some((marked, packets, _))) => (marked, packets, false),
            _ => continue,
        };
        let address = wire.map(|(.., address)| address);
        let address = address.or_else(|| view.ports.get(port).addresses.first().copied());
        hot.push(Hot {
            place: Place::Port(port),
            address,
            marked,
            packets,
            is_counted,
        });
    }
    hot.extend(on_wire.into_iter().map(|(place, (marked, packets, address))| Hot {
        place,
        address: Some(address),
        marked,
        packets,
        is_counted: false,
    }));
    hot.retain(|hot| hot.marked > 0 && hot.marked as f64 >= hot.packets as f64 * MARKED);
    hot
}

/// A sender to a hot place.
struct Sender {
    place: Place,
    /// CNPs of the last windows.
    cnps: u64,
    /// Those of the current window: evidence adds up window by window.
    cnps_now: u64,
    bytes: u64,
    is_counted: bool,
    /// A capture saw its packets to the place, or those back.
    is_on_wire: bool,
}

/// Those of the last windows, so that none is the cause at random; most CNPs first.
fn senders(view: &View<'_>, hot: &Hot) -> Vec<Sender> {
    let mut all: BTreeMap<Place, Sender> = BTreeMap::new();
    let is_hot = |address: IpAddr| view.is_at(address, &hot.place);
    for (way, wire) in &view.wire {
        let (other, cnps, bytes) = match (is_hot(way.src), is_hot(way.dst)) {
            (true, false) => (way.dst, wire.cnps(), 0),
            (false, true) => (way.src, 0, wire.bytes),
            _ => continue,
        };
        let place = view.place(other);
        let sender = all.entry(place.clone()).or_insert(Sender {
            place,
            cnps: 0,
            cnps_now: 0,
            bytes: 0,
            is_counted: false,
            is_on_wire: true,
        });
        sender.cnps += cnps;
        if cnps > 0 {
            sender.cnps_now += view.current().wire.get(way).map_or(0, Wire::cnps);
        }
        sender.bytes += bytes;
    }
    let is_on_wire = !all.is_empty();
    for port in view.ports.numbers() {
        let handled = view.any_span(port, &[Watched::CnpHandled]);
        let Some(handled) = handled.filter(|handled| *handled > 0 && hot.place != Place::Port(port)) else {
            continue;
        };
        let place = Place::Port(port);
        match all.get_mut(&place) {
            // What the tap saw belongs to this place; the counter to all that the port sends to.
            Some(sender) => {
                sender.is_counted = true;
                if sender.cnps == 0 && sender.bytes > 0 {
                    sender.cnps = handled;
                }
            }
            None if !is_on_wire => {
                let sender = Sender {
                    cnps: handled,
                    cnps_now: 0,
                    bytes: view.now(port, Watched::XmitData).unwrap_or(0),
                    is_counted: true,
                    is_on_wire: false,
                    place: place.clone(),
                };
                all.insert(place, sender);
            }
            None => {}
        }
    }
    let mut all: Vec<Sender> = all.into_values().filter(|sender| sender.cnps > 0).collect();
    all.sort_by_key(|sender| core::cmp::Reverse(sender.cnps));
    all
}

/// Whether packets arrive at a hot place; `None` if neither its counters nor a capture show it.
fn receives(view: &View<'_>, hot: &Hot) -> Option<bool> {
    let counted = hot
        .place
        .port()
        .and_then(|port| view.any_now(port, &[Watched::RcvData, Watched::RcvPackets]));
    match counted {
        // The tap is right where a port does not count what it receives.
        Some(0) | None if hot.packets > 0 => Some(true),
        counted => counted.map(|count| count > 0),
    }
}

/// Whether a sender transmits, likewise.
fn sends(view: &View<'_>, sender: &Sender) -> Option<bool> {
    let port = sender.place.port();
    let counted = port.and_then(|port| view.any_span(port, &[Watched::XmitData, Watched::XmitPackets]));
    match counted {
        Some(0) | None if sender.bytes > 0 && sender.is_on_wire => Some(true),
        counted => counted.map(|count| count > 0),
    }
}

/// The largest ratio of a latency at either end to its baseline; `None` without one.
fn latency(view: &View<'_>, latencies: &HashMap<Direction, Latency>, hot: &Hot, senders: &[Sender]) -> Option<f64> {
    let places = senders.iter().map(|sender| &sender.place).chain([&hot.place]);
    let of_ports = places
        .filter_map(Place::port)
        .flat_map(|port| view.ports.get(port).latencies.values());
    let of_ways = latencies.iter().filter(|(way, _)| view.is_at(way.dst, &hot.place));
    let all = of_ports.chain(of_ways.map(|(_, latency)| latency));
    all.filter_map(|latency| latency.ratio(view.start_ns))
        .max_by(f64::total_cmp)
}

fn finding(
    view: &View<'_>,
    hot: &Hot,
    senders: &[Sender],
    notified: u64,
    latency: Option<f64>,
    is_loaded: bool,
) -> Finding {
    let cause = senders.first().filter(|first| {
        let next = senders.get(1).map_or(0, |next| next.cnps);
        first.cnps as f64 >= notified as f64 * MOST && first.cnps as f64 >= next as f64 * AHEAD
    });
    let counted = hot.is_counted && senders.first().is_some_and(|first| first.is_counted);
    let confidence = match (latency.is_some(), counted) {
        _ if !is_loaded => Confidence::Possible,
        (true, true) => Confidence::Certain,
        (true, false) | (false, true) => Confidence::Likely,
        (false, false) => Confidence::Possible,
    };
    let receiver = view.text(&hot.place);
    let mut finding = match cause {
        Some(cause) => Finding::new(Class::Congestion, cause.place.clone(), confidence).means(
            format!(
                "it congests the way to {receiver}: {:.0} % of the CNPs about it go to this sender",
                cause.cnps as f64 / notified as f64 * 100.0
            ),
            "look at what this sender runs: limit its rate or its number of queue pairs, or move one end of the flow to \
             another rail",
        ),
        None => Finding::new(Class::Congestion, hot.place.clone(), confidence).means(
            format!("{} senders congest the way to it, none of them alone", senders.len()),
            "spread the senders over time or over more receivers (incast); check that ECMP spreads them over all links of \
             the way",
        ),
    }
    .because(match (latency.is_some(), counted) {
        (true, true) => "both ends count it, and the latency rose",
        (true, false) => "the tap sees marks and CNPs, and the latency rose; one end does not count them",
        (false, true) => "both ends count it; the latency is unknown",
        (false, false) => "the tap sees marks and CNPs; one end does not count them, and the latency is unknown",
    });
    // Which sender it is may be found out later; and without the latency, congestion needs longer to be a fault.
    finding.known_by = Some(hot.place.clone());
    if latency.is_none() {
        finding.begins_after = Some(SPAN as u32);
    }
    match hot.place.port() {
        Some(port) if hot.is_counted => {
            for watched in [Watched::EcnMarked, Watched::CnpSent, Watched::RcvData] {
                finding.counted(&receiver, watched, view.now(port, watched));
            }
        }
        _ => finding.sum(
            &format!("to {receiver}"),
            "ecn_ce_packets",
            hot.marked as f64,
            "packets",
        ),
    }
    for sender in senders.iter().take(4) {
        let of = view.text(&sender.place);
        match sender.place.port() {
            Some(port) if sender.is_counted => {
                for watched in [Watched::CnpHandled, Watched::XmitData] {
                    finding.counted(&of, watched, view.now(port, watched));
                }
            }
            _ => finding.sum(
                &format!("to {of}"),
                "CNPs on the wire",
                sender.cnps_now as f64,
                "packets",
            ),
        }
    }
    match latency {
        Some(ratio) => finding.value(&receiver, "latency relative to its baseline", ratio, "ratio"),
        None => finding.unknown(
            "whether the latency rose: neither `rdma_operation_latency` of an end nor round trips of a connection before",
        ),
    }
    if !is_loaded {
        finding.unknown(
            "whether both ends are loaded: one counts neither bytes nor packets, and no capture shows what it sends",
        );
    }
    if hot.address.is_none() {
        finding.unknown("which flows: the port has no address in the counters");
    }
    finding
}
