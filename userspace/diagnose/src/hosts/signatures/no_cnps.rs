//! Packets arrive marked, and their receiver sends no CNPs.

use crate::hosts::finding::{Class, Confidence, Finding};
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;

/// Marked packets a second. A receiver that is configured answers the first mark of a connection at once, and one in
/// each 50 µs or so after that.
const MARKED: f64 = 5.0;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    let least = view.at_rate(MARKED).max(1);
    for port in view.ports.numbers() {
        let (marked, sent) = (view.now(port, Watched::EcnMarked), view.now(port, Watched::CnpSent));
        let (Some(marked), Some(0)) = (marked, sent) else {
            continue;
        };
        if marked >= least {
            let mut finding = finding(crate::hosts::finding::Place::Port(port), Confidence::Certain)
                .because("the NIC counts the marks, and that it sent no CNP");
            let of = view.ports.text(port);
            finding.counted(&of, Watched::EcnMarked, Some(marked));
            finding.counted(&of, Watched::CnpSent, Some(0));
            found.push(finding);
        }
    }
    by_wire(view, least, found);
}

/// Receivers whose driver does not count CNPs, by what the tap saw.
fn by_wire(view: &View<'_>, least: u64, found: &mut Vec<Finding>) {
    // Marked packets to an address; packets and CNPs from it.
    let mut seen: BTreeMap<IpAddr, (u64, u64, u64)> = BTreeMap::new();
    for (way, wire) in &view.current().wire {
        seen.entry(way.dst).or_default().0 += wire.marked;
        let from = seen.entry(way.src).or_default();
        from.1 += wire.packets;
        from.2 += wire.cnps();
    }
    for (address, (marked, packets, cnps)) in seen {
        let port = view.ports.at(address);
        let is_counted = port.is_some_and(|port| view.now(port, Watched::CnpSent).is_some());
        // Without its acknowledgements, the tap does not see its CNPs either.
        if marked < least || cnps > 0 || packets == 0 || is_counted {
            continue;
        }
        let mut finding = finding(view.place(address), Confidence::Likely)
            .because("the tap sees the marked packets and the answers of the receiver, and no CNP among them");
        finding.sum(&format!("to {address}"), "ecn_ce_packets", marked as f64, "packets");
        finding.sum(&format!("from {address}"), "CNPs on the wire", 0.0, "packets");
        finding.unknown("what the receiver counts: its driver has no counter of CNPs sent, or its host is unknown");
        found.push(finding);
    }
}

fn finding(place: crate::hosts::finding::Place, confidence: Confidence) -> Finding {
    Finding::new(Class::NoCnps, place, confidence).means(
        "packets arrive with congestion marks, and the receiver sends no CNPs: senders do not learn of the congestion",
        "enable the notification point of DCQCN on this NIC for the priority of the traffic (mlx5: \
         /sys/class/net/IFACE/ecn/roce_np/enable/PRIORITY), and check that its DSCP is mapped to it",
    )
}
