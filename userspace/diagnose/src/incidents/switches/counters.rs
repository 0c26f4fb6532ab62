//! Counters of drops: they have no flow, but a port and a time.
//!
//! A loss is placed at a port if its packets pass this port, and if nearly all frames that ports on their way dropped at that
//! time were dropped there. Whether they pass it follows from the link where probes are lost, or from the topology: a shortest
//! way between both hosts leads over the cable.

use super::{MAIN_PERCENT, MAX_PORTS};
use crate::incidents::incident::{Certainty, Incident, Source};
use crate::incidents::place::Place;
use crate::incidents::ports::{Cables, Ways};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::net::IpAddr;
use rocescope_model::human::grouped;

/// Pairs of a loss whose ways are looked at.
const MAX_PAIRS: usize = 64;
/// Fewer drops may be of anything.
const FEWEST: u64 = 10;

/// Switch and port.
type PortName = (String, String);

/// Frames that a port dropped while a loss lasted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PortDrops {
    received: u64,
    sent: u64,
    /// A part of `sent`, or all of it where the source has no counter of the port.
    by_queue: BTreeMap<u32, u64>,
}

impl PortDrops {
    pub(super) fn add(&mut self, queue: Option<u32>, received: u64, sent: u64) {
        match queue {
            None => {
                self.received += received;
                self.sent += sent;
            }
            Some(queue) => *self.by_queue.entry(queue).or_default() += sent,
        }
    }

    fn all_sent(&self) -> u64 {
        self.sent.max(self.by_queue.values().sum())
    }

    /// Whether most were to leave by the port.
    fn is_egress(&self) -> bool {
        self.all_sent() >= self.received
    }

    /// Those of the direction in which most were dropped: the other one is another way.
    fn all(&self) -> u64 {
        self.received.max(self.all_sent())
    }

    /// The queue with nearly all of them.
    fn queue(&self) -> Option<u32> {
        if !self.is_egress() {
            return None;
        }
        let worst = self.by_queue.iter().max_by_key(|(_, dropped)| **dropped);
        let main = worst.filter(|(_, dropped)| **dropped * 100 >= self.all() * MAIN_PERCENT);
        main.map(|(queue, _)| *queue)
    }

    /// The port with its queue, in a sentence.
    fn named(&self, (switch, port): &PortName) -> String {
        match self.queue() {
            Some(queue) => format!("{switch} {port}, queue {queue}"),
            None => format!("{switch} {port}"),
        }
    }
}

/// Places a loss at the port on its way that dropped nearly all frames at that time; without one, states which ports
/// dropped some.
pub(super) fn place(incident: &mut Incident, cables: &Cables, ports: BTreeMap<PortName, PortDrops>) {
    let mut ports: Vec<(PortName, PortDrops)> = ports.into_iter().filter(|(_, drops)| drops.all() > 0).collect();
    ports.sort_by_key(|(_, drops)| Reverse(drops.all()));
    // A located place has its links.
    let pairs = match incident.place.is_located() {
        true => BTreeSet::new(),
        false => pairs(incident),
    };
    let ways = cables.ways_of(&pairs);
    let passed: Vec<&(PortName, PortDrops)> = match has_other_cause(&incident.class) {
        true => Vec::new(),
        false => {
            let passed = ports.iter();
            passed
                .filter(|(port, drops)| is_passed(&incident.place, &ways, cables, port, drops))
                .collect()
        }
    };
    let all: u64 = passed.iter().map(|(_, drops)| drops.all()).sum();
    // Where fewer were dropped than lost, they are of another cause.
    let least = (incident.victims.lost_packets.unwrap_or(0) / 2).max(FEWEST);
    match passed.first() {
        Some((port, drops)) if drops.all() * 100 >= all * MAIN_PERCENT && drops.all() > least => {
            name(incident, cables, port, drops, all);
        }
        _ => list(incident, &ports),
    }
}

/// Whether the class names its cause: a full queue is another one, and switches count these drops too.
fn has_other_cause(class: &str) -> bool {
    matches!(class, "blackhole" | "no_route" | "acl")
}

/// The pairs of addresses that lose packets.
fn pairs(incident: &Incident) -> BTreeSet<(IpAddr, IpAddr)> {
    let victims = incident.victims.worst.iter().map(|victim| (victim.src, victim.dst));
    let pairs = incident.place.pairs.iter().copied().chain(victims);
    pairs.take(MAX_PAIRS).collect()
}

/// Whether what is lost passes the port in the direction in which it drops.
fn is_passed(place: &Place, ways: &Ways<'_>, cables: &Cables, (switch, port): &PortName, drops: &PortDrops) -> bool {
    if place.is_located() {
        let is_of_port = |from: &str, to: &str| {
            let (own, other) = match drops.is_egress() {
                true => (from, to),
                false => (to, from),
            };
            own == switch && cables.leads_to(switch, port).is_none_or(|end| end == other)
        };
        return place.links().any(|(from, to)| is_of_port(from, to));
    }
    ways.most_pass(switch, port, drops.is_egress())
}

fn name(incident: &mut Incident, cables: &Cables, port: &PortName, drops: &PortDrops, all: u64) {
    let (switch, port_name) = port;
    let dropped = grouped(drops.all());
    let others = match all - drops.all() {
        0 => String::from("no other port on the way dropped any"),
        others => format!("other ports on the way {}", grouped(others)),
    };
    incident.meaning += &format!(
        "; {} dropped {dropped} frames at that time, {others}",
        drops.named(port)
    );
    let counter = match drops.is_egress() {
        true => "out_dropped_frames",
        false => "in_dropped_frames",
    };
    incident.rests_on("switch_ports", drops.named(port), counter, drops.all() as f64, "frames");
    incident.sources.insert(Source::Switches);
    // That packets were lost may be certain; where is not.
    incident.certainty = Certainty::Likely;
    incident.reason = "the port on their way that dropped frames; counters do not state of which flows".to_string();
    let direction = match drops.is_egress() {
        true => "port",
        false => "from port",
    };
    let queue = drops
        .queue()
        .map(|queue| format!(", queue {queue}"))
        .unwrap_or_default();
    let at = format!("switch {switch}, {direction} {port_name}{queue}");
    incident.action =
        format!("check buffer, PFC and ECN at {at}, and what else is sent there: a lossless class must not be dropped");
    let link = cables.link(switch, port_name, drops.is_egress());
    incident.place = Place {
        kind: "port".into(),
        name: at,
        switch: Some(switch.clone()),
        link: link.or_else(|| incident.place.link.clone()),
        ..incident.place.clone()
    };
}

/// States which ports dropped something at that time.
fn list(incident: &mut Incident, ports: &[(PortName, PortDrops)]) {
    if ports.is_empty() {
        return;
    }
    let listed: Vec<String> = ports
        .iter()
        .take(MAX_PORTS)
        .map(|(port, drops)| format!("{} ({})", drops.named(port), grouped(drops.all())))
        .collect();
    let more = match ports.len() {
        count if count > MAX_PORTS => format!(" and {} more", count - MAX_PORTS),
        _ => String::new(),
    };
    incident.unknown.push(format!(
        "whether a switch dropped them: at that time frames were dropped at {}{more}; counters do not state of which flows",
        listed.join(", ")
    ));
}
