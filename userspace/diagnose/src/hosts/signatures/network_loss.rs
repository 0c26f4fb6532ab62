//! The network, or the NIC of the receiver, loses packets.

use crate::hosts::NOT_COUNTED;
use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::settings::SPAN;
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;

/// Losses a second between two addresses. A lossless fabric has none; one packet now and then is no fault to look for.
const LOST: f64 = 0.5;
/// Share of the losses that the NIC of the receiver must have dropped, to be the cause.
const DROPPED: f64 = 0.5;

const DROPS: &[Watched] = &[
    Watched::RcvDiscards,
    Watched::RcvDiscardsPhy,
    Watched::RcvDiscardsPriority,
    Watched::PcieOverflow,
];
/// What the sender of lost packets counts: reasons to repeat requests, or a READ that came again for its lost response.
const OF_SENDER: &[Watched] = &[
    Watched::SequenceNak,
    Watched::AckTimeout,
    Watched::ImpliedNak,
    Watched::Retransmitted,
    Watched::CompleterRetry,
    Watched::DuplicateRequest,
];
/// What their receiver counts: requests out of sequence, or a response that is not the next one.
const OF_RECEIVER: &[Watched] = &[Watched::OutOfSequence, Watched::DuplicateRequest, Watched::ImpliedNak];

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    let least = view.at_rate(LOST).max(2);
    let mut pairs: BTreeMap<(IpAddr, IpAddr), u64> = BTreeMap::new();
    for (way, wire) in &view.current().wire {
        // What a receiver that is gone does not answer is not lost.
        let gave_up = view.wire.get(way).is_some_and(|wire| wire.gave_up > 0);
        if wire.lost > 0 && !gave_up {
            *pairs.entry((way.src, way.dst)).or_default() += wire.lost;
        }
    }
    pairs.retain(|(src, dst), lost| *lost >= least && !view.has_sick_link(*src) && !view.has_sick_link(*dst));
    let pairs: Vec<((IpAddr, IpAddr), u64)> = pairs.into_iter().collect();
    let sources: BTreeSet<IpAddr> = pairs.iter().map(|((src, _), _)| *src).collect();
    let targets: BTreeSet<IpAddr> = pairs.iter().map(|((_, dst), _)| *dst).collect();
    // Several pairs that share an end have one fault.
    let shared = match (pairs.len(), sources.len(), targets.len()) {
        (0 | 1, ..) => None,
        (_, 1, _) => sources.first().copied(),
        (_, _, 1) => targets.first().copied(),
        _ => None,
    };
    if let Some(shared) = shared {
        found.extend(finding(view, &view.place(shared), &pairs));
    } else {
        for pair in pairs.chunks(1).take(8) {
            let ((src, dst), _) = pair[0];
            found.extend(finding(view, &Place::Pair(src, dst), pair));
        }
    }
}

fn finding(view: &View<'_>, place: &Place, pairs: &[((IpAddr, IpAddr), u64)]) -> Option<Finding> {
    let lost: u64 = pairs.iter().map(|(_, lost)| lost).sum();
    let ports = |of: fn(&(IpAddr, IpAddr)) -> IpAddr| {
        let ports: BTreeSet<u32> = pairs.iter().filter_map(|(pair, _)| view.ports.at(of(pair))).collect();
        ports
    };
    let (senders, receivers) = (ports(|pair| pair.0), ports(|pair| pair.1));
    let sum = |ports: &BTreeSet<u32>, watched: &[Watched]| {
        // What was counted is a fact, even if a part of the time is unknown.
        let grown = |port| Some(view.grown_lately(port, watched, SPAN)).filter(|count| *count > 0);
        let of_port = |port| view.any_span(port, watched).or_else(|| grown(port));
        let known = ports.iter().filter_map(|port| of_port(*port));
        known.fold(None, |sum: Option<u64>, count| Some(sum.unwrap_or(0) + count))
    };
    let (of_sender, of_receiver) = (sum(&senders, OF_SENDER), sum(&receivers, OF_RECEIVER));
    // Both ends count and noticed nothing: the tap is wrong, which is a verdict of its own.
    if (of_sender, of_receiver) == (Some(0), Some(0)) {
        return None;
    }
    let notices = |count: Option<u64>| count.is_some_and(|count| count > 0);
    let is_noticed = notices(of_sender) || notices(of_receiver);
    // What an end counts that is read since these windows only will be known soon.
    if !is_noticed && senders.union(&receivers).any(|port| view.is_new(*port)) {
        return None;
    }
    let confidence = match (notices(of_sender), notices(of_receiver)) {
        (true, true) => Confidence::Certain,
        (true, false) | (false, true) => Confidence::Likely,
        (false, false) => Confidence::Possible,
    };
    let dropper = receivers.iter().copied().find(|port| {
        let drops = view.any_now(*port, DROPS).unwrap_or(0);
        drops as f64 >= lost as f64 * DROPPED
    });
    let mut finding = match dropper {
        Some(port) => Finding::new(Class::ReceiverDrops, Place::Port(port), confidence).means(
            "the NIC drops packets that reached it, for lack of buffers: its host does not take them fast enough",
            "look at this host: PCIe link, memory bandwidth, IOMMU, interrupts; or the buffers and PFC settings of the port",
        ),
        None => Finding::new(Class::NetworkLoss, place.clone(), confidence).means(
            match place {
                Place::Pair(..) => "the network loses packets on this way",
                _ => "packets of several connections of this end are lost, and its link counts no errors",
            },
            "look at the discards and errors of the switch ports on the way (buffers, PFC settings, error counters); \
             `rocescope connections` shows which side of the tap loses them",
        ),
    }
    .because(match (notices(of_sender), notices(of_receiver)) {
        (true, true) => "the tap sees the losses, and both ends count them",
        (true, false) => "the tap sees the losses, and the sender counts them",
        (false, true) => "the tap sees the losses, and the receiver counts them",
        (false, false) => match (of_sender, of_receiver) {
            (None, None) => "the tap sees the losses; the counters of neither end are known",
            (_, None) => "the tap sees the losses; the sender counts none, and the counters of the receiver are unknown",
            _ => "the tap sees the losses; the receiver counts none, and the counters of the sender are unknown",
        },
    });
    for ((src, dst), lost) in pairs.iter().take(4) {
        finding.sum(&format!("{src}>{dst}"), "loss", *lost as f64, "packets");
    }
    for port in senders.iter().take(4) {
        for watched in OF_SENDER {
            finding.counted(
                &view.ports.text(*port),
                *watched,
                view.now(*port, *watched).filter(|count| *count > 0),
            );
        }
    }
    for port in receivers.iter().take(4) {
        for watched in OF_RECEIVER.iter().chain(DROPS) {
            finding.counted(
                &view.ports.text(*port),
                *watched,
                view.now(*port, *watched).filter(|count| *count > 0),
            );
        }
    }
    for (count, who) in [(of_sender, "sender"), (of_receiver, "receiver")] {
        if count.is_none() {
            finding.unknown(format!("what the {who} counts: {NOT_COUNTED}"));
        }
    }
    Some(finding)
}
