//! The tap sees retransmissions, and the hosts count none: the mirror repeats packets.

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Retransmitted packets in the last windows. Fewer may be at the edge of two windows.
const RETRANSMITTED: u64 = 20;

/// How many times as often as its NIC counts a reason must a sender seem to go back.
const EXPLAINED: u64 = 4;

/// A reason to retransmit, as a sender counts it. One of each list must be known to count none.
const REASONS: &[&[Watched]] = &[
    &[Watched::AckTimeout, Watched::CompleterRetry, Watched::Retransmitted],
    &[Watched::SequenceNak],
];
const OTHER_REASONS: &[Watched] = &[
    // Repeats the response to a READ.
    Watched::DuplicateRequest,
    Watched::ImpliedNak,
    Watched::RnrReceived,
    Watched::AdaptiveRetransmission,
    Watched::RetriesExceeded,
];

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    if !view.is_full() || !view.is_tracked() {
        return;
    }
    let mut mirrors: BTreeMap<String, Vec<(u32, u64)>> = BTreeMap::new();
    for port in view.ports.numbers() {
        let own = &view.ports.get(port).addresses;
        // Requests of the port, and responses to it: its own NIC counts why they were repeated.
        let ways = view.wire.iter().filter(|(way, _)| own.contains(&way.src));
        let mut observer = String::new();
        let (mut retransmitted, mut episodes) = (0, 0);
        for (_, wire) in ways {
            retransmitted += wire.retransmitted.unwrap_or(0);
            episodes += wire.episodes;
            if wire.retransmitted.unwrap_or(0) > 0 {
                observer = wire.observer.to_string();
            }
        }
        let counted: Option<u64> = REASONS.iter().map(|any| view.any_span(port, any)).sum();
        let Some(counted) = counted else {
            continue;
        };
        let reasons = counted + view.any_span(port, OTHER_REASONS).unwrap_or(0);
        // One reason may repeat many packets, but a sender goes back only once for it.
        let is_unexplained = reasons == 0 || episodes >= RETRANSMITTED && episodes >= reasons * EXPLAINED;
        if retransmitted >= RETRANSMITTED && is_unexplained {
            mirrors.entry(observer).or_default().push((port, retransmitted));
        }
    }
    for (observer, ports) in mirrors {
        let mut finding = Finding::new(Class::MirrorRepeats, Place::Mirror(observer), Confidence::Likely)
            .because("the senders count no timeouts and NAKs for them, or hardly any")
            .means(
                "the capture shows retransmissions that no host made: the mirror repeats or reorders packets",
                "look at the mirror: two sessions or both directions of a port mirrored, or a loop; until then do not \
                 trust retransmissions and losses of this capture",
            );
        for (port, retransmitted) in ports.iter().take(4) {
            let of = view.ports.text(*port);
            finding.value(&of, "retransmitted_packets", *retransmitted as f64, "packets");
            for watched in REASONS.iter().flat_map(|any| any.iter()) {
                finding.counted(&of, *watched, view.now(*port, *watched));
            }
        }
        found.push(finding);
    }
}
