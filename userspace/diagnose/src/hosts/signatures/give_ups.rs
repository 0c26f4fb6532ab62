//! Senders that gave up: what the tap saw, and what their NICs count.

use crate::hosts::finding::Finding;
use crate::hosts::settings::SPAN;
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use crate::hosts::wire::{Direction, Wire};
use alloc::vec::Vec;
use core::net::IpAddr;

/// Windows in which the counters of a give-up may show: other hosts may be read a window later.
const WINDOWS: usize = 2;

/// Timeouts of one give-up, at least: usually eight, of a retry count of seven. One or two are those of a lossy path.
const GIVE_UP_TIMEOUTS: u64 = 4;

const COUNTED: [Watched; 5] = [
    Watched::AckTimeout,
    Watched::CompleterRetry,
    Watched::RetriesExceeded,
    Watched::RequesterError,
    Watched::RequesterFlush,
];

/// Connections from or to an address that the tap saw given up.
pub(super) fn on_wire<'a>(view: &'a View<'_>, ends: &'a [IpAddr]) -> impl Iterator<Item = (&'a Direction, &'a Wire)> {
    let gone = view.wire.iter().filter(|(_, wire)| wire.gave_up > 0);
    gone.filter(|(way, _)| ends.contains(&way.src) || ends.contains(&way.dst))
}

/// Ports whose NIC counts a give-up that no tap saw.
pub(super) fn off_wire(view: &View<'_>) -> Vec<u32> {
    let is_seen = |port: u32| {
        let own = &view.ports.get(port).addresses;
        view.wire
            .iter()
            .any(|(way, wire)| wire.gave_up > 0 && own.contains(&way.src))
    };
    let ports = view.ports.numbers();
    ports
        .filter(|port| is_counted(view, *port) && !is_seen(*port))
        .collect()
}

fn is_counted(view: &View<'_>, port: u32) -> bool {
    let lately = |watched| view.grown_lately(port, &[watched], WINDOWS);
    let waited = view.grown_lately(port, &[Watched::AckTimeout], SPAN) >= GIVE_UP_TIMEOUTS;
    let (errors, flushes) = (lately(Watched::RequesterError), lately(Watched::RequesterFlush));
    // Without a flush, no connection ended. A program that ends flushes its work requests, which some NICs count as
    // errors too; one that gives up has another error.
    let flushed = flushes > 0 || view.now(port, Watched::RequesterFlush).is_none();
    lately(Watched::RetriesExceeded) > 0 || waited && errors > 0 && errors != flushes && flushed
}

/// Adds what a sender counts of it.
pub(super) fn counted(view: &View<'_>, sender: u32, finding: &mut Finding) {
    let of = view.ports.text(sender);
    for watched in COUNTED {
        let count = view.grown_lately(sender, &[watched], SPAN);
        if count > 0 {
            finding.value(&of, watched.name(), count as f64, watched.unit());
        }
    }
}

/// Adds what the tap saw of connections, and what their senders count.
pub(super) fn seen<'a>(view: &View<'_>, ways: impl Iterator<Item = (&'a Direction, &'a Wire)>, finding: &mut Finding) {
    for (way, wire) in ways.take(4) {
        finding.value(&way.text(), "retry_exhausted", wire.gave_up as f64, "events");
        if let Some(sender) = view.ports.at(way.src) {
            counted(view, sender, finding);
        }
    }
}
