//! A receiver has no buffers posted: RNR NAKs, or dropped packets.

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;

/// RNR NAKs a second. Each makes its sender wait for up to 655 ms; a job that starts has a few.
const RNR: f64 = 1.0;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    let least = view.at_rate(RNR).max(1);
    let mut receivers: BTreeMap<Place, (u64, IpAddr)> = BTreeMap::new();
    for (way, wire) in &view.current().wire {
        if wire.rnr > 0 {
            receivers.entry(view.place(way.src)).or_insert((0, way.src)).0 += wire.rnr;
        }
    }
    let mut named = 0;
    for port in view.ports.numbers() {
        let counted = view
            .now(port, Watched::OutOfBuffer)
            .max(view.now(port, Watched::RnrSent));
        let on_wire = receivers.remove(&Place::Port(port));
        if counted.max(on_wire.map(|(count, _)| count)).unwrap_or(0) < least {
            continue;
        }
        named += 1;
        let of = view.ports.text(port);
        let confidence = match (counted, on_wire) {
            (Some(count), Some(_)) if count > 0 => Confidence::Certain,
            _ => Confidence::Likely,
        };
        let mut finding = finding(Place::Port(port), confidence).because(match (counted, on_wire) {
            (Some(count), Some(_)) if count > 0 => {
                "the tap sees its RNR NAKs, and the NIC counts packets without a buffer"
            }
            (_, Some(_)) => "the tap sees its RNR NAKs",
            _ => "the NIC counts packets without a buffer",
        });
        finding.counted(&of, Watched::OutOfBuffer, view.now(port, Watched::OutOfBuffer));
        finding.counted(&of, Watched::RnrSent, view.now(port, Watched::RnrSent));
        if let Some((count, address)) = on_wire {
            finding.sum(&format!("from {address}"), "rnr_nak", count as f64, "packets");
        }
        senders(view, &mut finding);
        found.push(finding);
    }
    for (place, (count, address)) in receivers.into_iter().filter(|(_, (count, _))| *count >= least) {
        named += 1;
        let mut finding = finding(place, Confidence::Likely).because("the tap sees its RNR NAKs");
        finding.sum(&format!("from {address}"), "rnr_nak", count as f64, "packets");
        finding.unknown("what the receiver counts: no row of counters has its address");
        senders(view, &mut finding);
        found.push(finding);
    }
    // Only the sender counts, and nothing names the receiver.
    let senders = view
        .ports
        .numbers()
        .filter(|port| view.now(*port, Watched::RnrReceived).unwrap_or(0) >= least);
    for port in senders.filter(|_| named == 0) {
        let mut finding = Finding::new(Class::SlowReceiver, Place::Port(port), Confidence::Possible)
            .because("its NIC counts RNR NAKs; no receiver counts packets without a buffer, and no tap sees the NAKs")
            .means(
                "receivers of this sender have no buffers posted for what it sends",
                "find its peers with `rocescope counters --queue-pairs` and post more receive requests there",
            );
        finding.counted(
            &view.ports.text(port),
            Watched::RnrReceived,
            view.now(port, Watched::RnrReceived),
        );
        finding.unknown("which receiver");
        found.push(finding);
    }
}

fn finding(place: Place, confidence: Confidence) -> Finding {
    Finding::new(Class::SlowReceiver, place, confidence).means(
        "the application posts too few receive requests: senders have to wait, or packets are dropped",
        "look at the receiving application: post more receive requests, or use a shared receive queue with a limit event; \
         the network is not at fault",
    )
}

/// What senders count.
fn senders(view: &View<'_>, finding: &mut Finding) {
    let counted = view
        .ports
        .numbers()
        .map(|port| (port, view.now(port, Watched::RnrReceived)));
    let counted: Vec<(u32, Option<u64>)> = counted.filter(|(_, count)| count.unwrap_or(0) > 0).take(4).collect();
    for (port, count) in counted {
        finding.counted(&view.ports.text(port), Watched::RnrReceived, count);
    }
}
