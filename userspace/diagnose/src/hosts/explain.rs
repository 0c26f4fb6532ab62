//! Which findings are the effect of another: only the cause is a verdict.

use super::faults::Faults;
use super::finding::{Class, Confidence, Finding, Place};
use super::view::View;
use alloc::vec::Vec;
use core::net::IpAddr;

/// Removes the findings that others, or faults that have begun, explain.
pub(crate) fn explain(mut found: Vec<Finding>, faults: &Faults, view: &View<'_>) -> Vec<Finding> {
    let is_explained = |finding: &Finding| {
        let is_cause = |cause: &Finding| explains(cause, finding, view);
        found.iter().any(is_cause) || faults.any(is_cause)
    };
    let kept: Vec<bool> = found.iter().map(|finding| !is_explained(finding)).collect();
    let mut kept = kept.into_iter();
    found.retain(|_| kept.next().unwrap_or(true));
    found
}

/// Whether the second finding is an effect of the first.
fn explains(cause: &Finding, effect: &Finding, view: &View<'_>) -> bool {
    use Class::{
        CnpsIgnored, Congestion, Jitter, LinkDown, MirrorRepeats, NetworkLoss, NicVanished, NoCnps, PauseStorm,
        PcieDegraded, ReceiverDied, ReceiverDrops, SickCable, SlowReceiver,
    };
    let touched = touched(cause, effect.class, view);
    let meets = ends(effect, view).iter().any(|end| touched.contains(end)) || cause.place == effect.place;
    match (cause.class, effect.class) {
        (SickCable, LinkDown) => cause.place == effect.place,
        (
            SickCable | LinkDown | NicVanished,
            NetworkLoss | ReceiverDied | ReceiverDrops | SlowReceiver | Jitter | Congestion,
        ) => meets,
        (NicVanished, LinkDown) => meets,
        (ReceiverDied, NetworkLoss | Jitter) => meets,
        (ReceiverDrops, NetworkLoss) => meets,
        (PcieDegraded, PauseStorm | ReceiverDrops | Jitter) => meets,
        (PauseStorm | NoCnps | CnpsIgnored, Congestion | Jitter | ReceiverDrops) => meets || talk(cause, effect, view),
        (Congestion | NetworkLoss | SlowReceiver, Jitter) => meets,
        // A mirror that repeats packets shows losses that no host counts.
        (MirrorRepeats, NetworkLoss) => effect.confidence == Confidence::Possible && is_mirrored(effect, cause, view),
        _ => false,
    }
}

/// The addresses that a finding is about.
fn ends(finding: &Finding, view: &View<'_>) -> Vec<IpAddr> {
    match &finding.place {
        Place::Port(port) => view.ports.addresses(*port),
        Place::Address(address) => alloc::vec![*address],
        Place::Pair(src, dst) => alloc::vec![*src, *dst],
        Place::Connection(way) => alloc::vec![way.src, way.dst],
        Place::Mirror(_) => Vec::new(),
        Place::PeerOf(senders) => senders.iter().flat_map(|port| view.ports.addresses(*port)).collect(),
    }
}

/// Whether packets of a finding are those of a mirror.
fn is_mirrored(finding: &Finding, mirror: &Finding, view: &View<'_>) -> bool {
    let Place::Mirror(observer) = &mirror.place else {
        return false;
    };
    let ends = ends(finding, view);
    let mut ways = view
        .wire
        .iter()
        .filter(|(way, _)| ends.contains(&way.src) || ends.contains(&way.dst));
    ways.any(|(_, wire)| *observer == *wire.observer)
}

/// Whether packets pass between the places of two findings; without a capture, it is assumed.
fn talk(one: &Finding, other: &Finding, view: &View<'_>) -> bool {
    let (one, other) = (ends(one, view), ends(other, view));
    let passes = |a: &[IpAddr], b: &[IpAddr]| view.wire.keys().any(|way| a.contains(&way.src) && b.contains(&way.dst));
    view.wire.is_empty() || passes(&one, &other) || passes(&other, &one)
}

/// The addresses at which a finding has effects of a class. What moved away from a NIC that vanished works elsewhere, but
/// the connections that it had there are lost.
fn touched(cause: &Finding, effect: Class, view: &View<'_>) -> Vec<IpAddr> {
    match (&cause.place, effect) {
        (Place::Port(port), Class::ReceiverDied | Class::NetworkLoss) => view.broken_addresses(*port),
        (Place::Port(port), _) => view.own_addresses(*port),
        _ => ends(cause, view),
    }
}
