//! One cause is one incident.
//!
//! An incident is an effect of another if the rules say so, if traffic that meets the one may meet the other, and if both
//! lasted at the same time. The cause takes over who saw the effect, who suffers from it, and when it began. Two analyses
//! may name one fault: the name whose place is a part of a host or of the fabric stays, then the surest one.

use super::incident::{Explained, Incident, Source, ToldBy};
use super::rules::{depth, explains, family};
use super::wire::direction::Direction;
use super::wire::{Wire, is_at_work, met, reports_rnr, sees_answers};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::net::IpAddr;
use rocescope_model::human::plural;

/// A receiver without buffers.
const SLOW_RECEIVER: &str = "slow_receiver";
/// Windows of one analysis end up to this long after those of another: a minute.
const SLACK_NS: i64 = 60_000_000_000;
/// Rows of evidence that an incident keeps.
const MAX_EVIDENCE: usize = 32;
/// Packets that seem lost, at most, for each that is known to be late: where a sender repeats all after a late one, some of
/// the repeats look as if they replaced lost packets.
const LATE_FOR_LOST: u64 = 2;
/// Packets without a loss that contradict a place where packets are lost.
const MANY_PACKETS: u64 = 1_000;

/// Joins the faults of all analyses: those of one cause become one, the worst first. Captured connections name the
/// victims.
#[must_use]
pub fn join(found: Vec<Incident>, wire: &Wire) -> Vec<Incident> {
    let mut found = found;
    let traffic = wire.counted();
    // Where a tap sees no answers, no one knows who stopped to answer.
    found.retain(|one| {
        let is_seen = one.told_by == ToldBy::Wire || one.place.is_located();
        family(&one.class) != "no_answer" || is_seen || sees_answers(&traffic, &one.place)
    });
    found.retain(|one| !is_at_work(one, &traffic));
    let judged = receivers(&found);
    found.retain(|one| !is_absorbed(one, &judged, &traffic));
    // Causes before effects, and of one class the closest place first.
    found.sort_by_key(|one| {
        let precision = Reverse((one.place.is_located(), one.certainty, one.place.precision()));
        let is_wire = one.told_by == ToldBy::Wire;
        (
            depth(&one.class),
            precision,
            !is_wire,
            one.since_ns,
            one.place.name.clone(),
        )
    });
    let mut cause_of: Vec<Option<usize>> = vec![None; found.len()];
    for effect in 0..found.len() {
        let causes = (0..found.len()).filter(|cause| *cause != effect && is_cause(&found, *cause, effect));
        // A cause must not be an effect of its own effect.
        let causes = causes.filter(|cause| root(&cause_of, *cause) != effect);
        cause_of[effect] = causes.min_by_key(|cause| (depth(&found[*cause].class), *cause));
    }
    let roots: Vec<usize> = (0..found.len()).map(|one| root(&cause_of, one)).collect();
    let mut joined: Vec<Option<Incident>> = found.iter().cloned().map(Some).collect();
    for (effect, cause) in roots.iter().copied().enumerate() {
        if effect != cause
            && let Some(Some(cause)) = joined.get_mut(cause)
        {
            absorb(cause, &found[effect]);
        }
    }
    let mut incidents: Vec<Incident> = roots
        .iter()
        .enumerate()
        .filter(|(one, root)| one == *root)
        .filter_map(|(one, _)| joined[one].take())
        .collect();
    for incident in &mut incidents {
        victims(incident, &traffic);
    }
    incidents.sort_by_key(rank);
    incidents
}

/// Receivers that the totals of connections report as slow.
fn receivers(found: &[Incident]) -> BTreeSet<IpAddr> {
    let slow = found
        .iter()
        .filter(|one| one.class == SLOW_RECEIVER && one.told_by == ToldBy::Wire);
    slow.flat_map(|one| one.place.addresses.iter().copied()).collect()
}

/// Whether windows of captured traffic report a receiver whose totals show that retries absorb its NAKs.
fn is_absorbed(one: &Incident, judged: &BTreeSet<IpAddr>, traffic: &[Direction]) -> bool {
    let is_of_tap = one.class == SLOW_RECEIVER && one.sources.iter().eq([&Source::Capture]);
    let addresses = &one.place.addresses;
    is_of_tap && addresses.is_disjoint(judged) && addresses.iter().any(|address| reports_rnr(traffic, *address))
}

/// The worst first: the fabric first, then the tap, what is sure before what is possible, what hurts most.
fn rank(incident: &Incident) -> impl Ord + use<> {
    let victims = &incident.victims;
    let hurt = victims
        .lost_packets
        .unwrap_or(0)
        .saturating_add(victims.retransmitted_packets.unwrap_or(0));
    let worst_first = Reverse((incident.certainty, hurt, victims.connections, incident.sources.len()));
    (
        incident.is_of_the_tap(),
        worst_first,
        incident.since_ns,
        incident.place.name.clone(),
    )
}

fn root(cause_of: &[Option<usize>], mut one: usize) -> usize {
    // At most one step for each incident: the list has no circle, and a wrong one must not hang.
    for _ in 0..cause_of.len() {
        match cause_of.get(one).copied().flatten() {
            Some(cause) => one = cause,
            None => break,
        }
    }
    one
}

fn is_cause(found: &[Incident], cause: usize, effect: usize) -> bool {
    let (one, other) = (&found[cause], &found[effect]);
    if !explains(&one.class, &other.class) || !overlap(one, other) {
        return false;
    }
    let is_same_place = one.place.kind == other.place.kind && one.place.name == other.place.name;
    // A mirror is beside all that it shows.
    let is_shown = one.is_of_the_tap() && other.told_by == ToldBy::Wire;
    if !is_same_place && !is_shown && !one.place.meets(&other.place) {
        return false;
    }
    if one.class == "reordering" && other.told_by == ToldBy::Wire {
        return late(one) * LATE_FOR_LOST >= other.victims.lost_packets.unwrap_or(0);
    }
    let is_one_fault = family(&one.class) == family(&other.class);
    if one.told_by == ToldBy::Collectives && other.told_by == ToldBy::Collectives {
        // A flow that fills the queues of several ports on its way is one cause; what it halts is none.
        return (is_same_place || fill_queues_together(one, other)) && (!is_one_fault || cause < effect);
    }
    // Two analyses look at one fault; one analysis keeps two faults apart.
    !is_one_fault || (cause < effect && (is_same_place || one.told_by != other.told_by))
}

/// Whether a flow has a part in both, by what is known of their flows without those that suffer.
fn fill_queues_together(one: &Incident, other: &Incident) -> bool {
    let flows = |incident: &Incident| {
        let mut flows = incident.place.pairs.clone();
        incident.victims.worst.iter().for_each(|victim| {
            flows.remove(&(victim.src, victim.dst));
        });
        match flows.is_empty() {
            // A storm has no flows of its own.
            true => incident.place.pairs.clone(),
            false => flows,
        }
    };
    !flows(one).is_disjoint(&flows(other))
}

/// The packets that came late, as far as the evidence goes.
fn late(reordering: &Incident) -> u64 {
    let rows = reordering
        .evidence
        .iter()
        .filter(|row| row.name == "out_of_order_packets");
    rows.map(|row| row.value as u64).sum()
}

fn overlap(one: &Incident, other: &Incident) -> bool {
    let end = |incident: &Incident| match incident.is_open {
        true => i64::MAX,
        false => incident.until_ns.saturating_add(SLACK_NS),
    };
    one.since_ns <= end(other) && other.since_ns <= end(one)
}

fn absorb(cause: &mut Incident, effect: &Incident) {
    let is_new = family(&cause.class) != family(&effect.class) || !effect.sources.is_subset(&cause.sources);
    if is_new {
        cause.explains.push(Explained {
            class: effect.class.clone(),
            source: effect.sources.first().copied().unwrap_or(Source::Capture),
            sentence: effect.sentence(),
        });
    }
    cause.explains.extend(effect.explains.iter().cloned());
    cause.sources.extend(effect.sources.iter().copied());
    // A loopback test is a moment; what it found is older.
    cause.since_ns = cause.since_ns.min(effect.since_ns);
    cause.until_ns = cause.until_ns.max(effect.until_ns);
    cause.is_open |= effect.is_open;
    cause.certainty = cause.certainty.max(effect.certainty.min(super::Certainty::Likely));
    cause.victims.add(&effect.victims);
    for unknown in &effect.unknown {
        if !cause.unknown.contains(unknown) && family(&cause.class) == family(&effect.class) && !is_new {
            cause.unknown.push(unknown.clone());
        }
    }
    let room = MAX_EVIDENCE.saturating_sub(cause.evidence.len());
    cause.evidence.extend(effect.evidence.iter().take(room).cloned());
}

/// Names who suffers from a fault that another analysis saw, or states that captured traffic contradicts it.
fn victims(incident: &mut Incident, traffic: &[Direction]) {
    if incident.victims.connections > 0 || incident.is_of_the_tap() {
        return;
    }
    let met = met(traffic, &incident.place);
    if met.victims.connections > 0 {
        incident.victims = met.victims;
    } else if is_loss(&incident.class) && met.packets >= MANY_PACKETS {
        incident.unknown.push(format!(
            "captured traffic contradicts: of {} over this place none was lost or retransmitted; the fault may be on other \
             paths of it",
            plural(met.packets, "packet")
        ));
    }
}

fn is_loss(class: &str) -> bool {
    explains(class, "network_loss")
}
