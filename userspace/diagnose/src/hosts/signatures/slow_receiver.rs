//! A receiver has no buffers posted: RNR NAKs, or dropped packets.

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use crate::hosts::window::Signs;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;

/// RNR NAKs a second. Each makes its sender wait for up to 655 ms. A job that starts has a burst of them, perhaps at the
/// edge of two windows.
const RNR: f64 = 1.0;

/// What the receiver counts.
const OF_RECEIVER: [Watched; 2] = [Watched::OutOfBuffer, Watched::RnrSent];

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    let least = view.at_rate(RNR).max(1);
    let mut receivers: BTreeMap<Place, Refused> = BTreeMap::new();
    for (way, wire) in view.current().wire.iter().filter(|(_, wire)| wire.rnr > 0) {
        let refused = receivers.entry(view.place(way.src)).or_insert(Refused {
            address: way.src,
            count: 0,
            signs: Signs::default(),
        });
        refused.count += wire.rnr;
        refused.signs = refused.signs.with(wire.rnr_signs);
    }
    let mut named = 0;
    for port in view.ports.numbers() {
        let counted = OF_RECEIVER
            .into_iter()
            .map(|watched| view.grown(port, &[watched]))
            .max()
            .unwrap_or(0);
        let on_wire = receivers.remove(&Place::Port(port));
        if counted.max(on_wire.as_ref().map_or(0, |refused| refused.count)) < least {
            continue;
        }
        named += 1;
        let of = view.ports.text(port);
        let mut finding = match (counted > 0, on_wire.is_some()) {
            (true, true) => finding(Place::Port(port), Confidence::Certain)
                .because("the tap sees its RNR NAKs, and the NIC counts packets without a buffer"),
            (false, true) => finding(Place::Port(port), Confidence::Likely).because("the tap sees its RNR NAKs"),
            _ => finding(Place::Port(port), Confidence::Likely).because("the NIC counts packets without a buffer"),
        };
        for watched in OF_RECEIVER {
            finding.grown(&of, watched, view.grown(port, &[watched]));
        }
        let mut signs = view.signs(port, &OF_RECEIVER);
        if let Some(refused) = on_wire {
            signs = signs.with(refused.signs);
            refused.add_to(&mut finding);
        }
        finding.signs = Some(signs);
        senders(view, &mut finding);
        found.push(finding);
    }
    for (place, refused) in receivers.into_iter().filter(|(_, refused)| refused.count >= least) {
        named += 1;
        let mut finding = finding(place, Confidence::Likely).because("the tap sees its RNR NAKs");
        finding.signs = Some(refused.signs);
        refused.add_to(&mut finding);
        finding.unknown("what the receiver counts: no row of counters has its address");
        senders(view, &mut finding);
        found.push(finding);
    }
    // Only the sender counts, and nothing names the receiver.
    let of_sender = [Watched::RnrReceived];
    let senders = view
        .ports
        .numbers()
        .filter(|port| view.grown(*port, &of_sender) >= least);
    for port in senders.filter(|_| named == 0) {
        let mut finding = Finding::new(Class::SlowReceiver, Place::Port(port), Confidence::Possible)
            .because("its NIC counts RNR NAKs; no receiver counts packets without a buffer, and no tap sees the NAKs")
            .means(
                "receivers of this sender have no buffers posted for what it sends",
                "find its peers with `rocescope counters --queue-pairs` and post more receive requests there",
            );
        finding.signs = Some(view.signs(port, &of_sender));
        finding.grown(
            &view.ports.text(port),
            Watched::RnrReceived,
            view.grown(port, &of_sender),
        );
        finding.unknown("which receiver");
        found.push(finding);
    }
}

/// RNR NAKs that the tap saw of a receiver.
struct Refused {
    address: IpAddr,
    count: u64,
    signs: Signs,
}

impl Refused {
    fn add_to(&self, finding: &mut Finding) {
        finding.sum(
            &format!("from {}", self.address),
            "rnr_nak",
            self.count as f64,
            "packets",
        );
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
        .map(|port| (port, view.grown(port, &[Watched::RnrReceived])));
    for (port, count) in counted.filter(|(_, count)| *count > 0).take(4) {
        finding.grown(&view.ports.text(port), Watched::RnrReceived, count);
    }
}
