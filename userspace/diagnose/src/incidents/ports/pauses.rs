//! Ports that are paused, and where the pauses begin.
//!
//! A port that is paused cannot empty its queues; the switch then pauses the ports that fill them. So pauses spread from their
//! origin towards the senders, and the origin is what pauses others without being paused: a NIC whose host takes too little, or
//! a switch whose queues fill by themselves.

use super::seen::Busy;
use super::{Cables, PortName, Ports, named};
use crate::incidents::incident::{Certainty, Incident, Source, ToldBy};
use crate::incidents::place::Place;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::human::{self, grouped, plural};
use rocescope_model::{Unit, Value};

/// Paused ports that are listed.
const MAX_LISTED: usize = 3;

/// Where pauses begin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// A NIC: host and port.
    Nic(String, String),
    /// A switch.
    Switch(String),
    /// The other end of this port, which is not known.
    Beyond(PortName),
    /// Switches that pause each other in a circle, or whose pauses come from elsewhere.
    Circle,
}

/// Ports that an origin pauses, in one priority.
#[derive(Default)]
struct Paused<'a> {
    ports: Vec<(&'a PortName, &'a Busy, u64)>,
    storms: u64,
    restores: u64,
}

pub(super) fn find(ports: &Ports, cables: &Cables, found: &mut Vec<Incident>) {
    let mut origins: BTreeMap<(Option<u8>, Origin), Paused<'_>> = BTreeMap::new();
    let with_priorities: BTreeSet<&PortName> = ports
        .pauses
        .keys()
        .filter(|key| key.1.is_some())
        .map(|key| &key.0)
        .collect();
    for ((port, priority), pause) in &ports.pauses {
        // The row of the port repeats what those of its priorities count.
        let is_sum = priority.is_none() && with_priorities.contains(port);
        if !pause.paused.is_any() || is_sum {
            continue;
        }
        let origin = origin(ports, cables, port, *priority, &pause.paused);
        let paused = origins.entry((*priority, origin)).or_default();
        paused.ports.push((port, &pause.paused, pause.received.unwrap_or(0)));
        paused.storms += pause.storms;
        paused.restores += pause.restores;
    }
    let passed_on = |priority: Option<u8>| {
        let circle = origins.get(&(priority, Origin::Circle));
        circle.map_or(0, |paused| paused.ports.len())
    };
    let has_origin: BTreeSet<Option<u8>> = origins
        .keys()
        .filter(|key| key.1 != Origin::Circle)
        .map(|key| key.0)
        .collect();
    for ((priority, origin), paused) in &origins {
        // What is paused by a switch that is paused itself is an effect, if it has a cause.
        if *origin == Origin::Circle && has_origin.contains(priority) {
            continue;
        }
        let further = match origin {
            Origin::Circle => 0,
            _ => passed_on(*priority),
        };
        found.push(storm(ports, cables, *priority, origin, paused, further));
    }
}

/// Where the pauses of a port come from.
fn origin(ports: &Ports, cables: &Cables, port: &PortName, priority: Option<u8>, busy: &Busy) -> Origin {
    let Some(cable) = cables.at(&port.0, &port.1) else {
        return Origin::Beyond(port.clone());
    };
    let sender = cable.other(&port.0, &port.1);
    if sender.is_host {
        return Origin::Nic(sender.node.clone(), sender.port.clone());
    }
    let is_paused = ports.pauses_of_switch(&sender.node).any(|((_, of), pause)| {
        let is_same_class = *of == priority || of.is_none() || priority.is_none();
        is_same_class && pause.paused.overlaps(busy)
    });
    match is_paused {
        true => Origin::Circle,
        false => Origin::Switch(sender.node.clone()),
    }
}

fn storm(
    ports: &Ports,
    cables: &Cables,
    priority: Option<u8>,
    origin: &Origin,
    paused: &Paused<'_>,
    further: usize,
) -> Incident {
    let mut incident = Incident::new("pause_storm", place(cables, origin), ToldBy::Switches, Source::Switches);
    let of_all = paused.ports.iter().map(|port| port.1);
    incident.since_ns = of_all.clone().map(|busy| busy.first_ns).min().unwrap_or(0);
    incident.until_ns = of_all.clone().map(|busy| busy.last_ns).max().unwrap_or(0);
    // A watchdog that has not ended its action: counters that stand still are no end of a storm.
    incident.is_open = incident.until_ns >= ports.last_ns || paused.storms > paused.restores;
    let is_counted = of_all.clone().all(|busy| busy.is_counted || busy.readings == 0);
    let worst = of_all.clone().max_by(|a, b| a.share().total_cmp(&b.share()));
    let share = worst.map_or(0.0, Busy::share);
    let lasted = of_all.map(|busy| busy.time_ns).fold(0.0, f64::max);
    let lasted = human::readable(&Value::I64(lasted as i64), Unit::Nanoseconds);
    let class = match priority {
        Some(priority) => format!(" in priority {priority}"),
        None => String::new(),
    };
    let up_to = if is_counted { "" } else { "up to " };
    let frames: u64 = paused.ports.iter().map(|port| port.2).sum();
    let listed: Vec<String> = paused.ports.iter().take(MAX_LISTED).map(|port| named(port.0)).collect();
    let more = match paused.ports.len() {
        count if count > MAX_LISTED => format!(" and {} more", count - MAX_LISTED),
        _ => String::new(),
    };
    let pauses = match origin {
        Origin::Circle => "switches pause each other",
        _ => "it pauses its link",
    };
    incident.meaning = format!(
        "{pauses}{class}: {} received {}, {up_to}{:.0} % of {lasted}",
        listed.join(", ") + &more,
        plural(frames, "pause frame"),
        100.0 * share
    );
    if further > 0 {
        incident.meaning += &format!(
            "; {} paused by switches that are paused themselves",
            match further {
                1 => "1 further port is".to_string(),
                _ => format!("{further} further ports are"),
            }
        );
    }
    if paused.storms > 0 {
        incident.meaning += &format!("; the PFC watchdog found {}", plural(paused.storms, "storm"));
        if paused.storms > paused.restores {
            incident.unknown.push(
                "whether it goes on: while a watchdog drops the frames of a queue, some switches do not count pauses"
                    .to_string(),
            );
        }
    }
    for (port, _, received) in paused.ports.iter().take(MAX_LISTED) {
        incident.rests_on(
            "switch_ports",
            named(port),
            "received_pause_frames",
            *received as f64,
            "frames",
        );
    }
    (incident.certainty, incident.reason) = certainty(ports, origin);
    incident.action = action(origin);
    incident
}

fn place(cables: &Cables, origin: &Origin) -> Place {
    match origin {
        Origin::Nic(host, port) => {
            let end = cables.at(host, port);
            let end = end.map(|cable| [&cable.a, &cable.b]);
            let own = end.and_then(|ends| ends.into_iter().find(|end| end.node == *host && end.port == *port));
            Place {
                host: Some(host.clone()),
                nic: Some(format!("{host}/{port}")),
                addresses: own.map(|end| end.addresses.clone()).unwrap_or_default(),
                ..Place::named("nic", format!("{host}/{port}"))
            }
        }
        Origin::Switch(switch) => Place {
            switch: Some(switch.clone()),
            ..Place::named("switch", format!("switch {switch}"))
        },
        Origin::Beyond(port) => Place {
            switch: Some(port.0.clone()),
            ..Place::named("port", format!("the other end of {}", named(port)))
        },
        Origin::Circle => Place::named("ports", "a circle of switches"),
    }
}

fn certainty(ports: &Ports, origin: &Origin) -> (Certainty, String) {
    match origin {
        Origin::Nic(..) => (
            Certainty::Certain,
            "a NIC is the other end of the cable, and nothing behind it can pause it".into(),
        ),
        Origin::Switch(switch) if ports.pauses_of_switch(switch).next().is_some() => (
            Certainty::Likely,
            format!("{switch} pauses others, and none of its own ports is paused"),
        ),
        Origin::Switch(switch) => (
            Certainty::Possible,
            format!("{switch} pauses others; whether it is paused itself is not known, it has no readings"),
        ),
        Origin::Beyond(_) => (
            Certainty::Possible,
            "the port receives pauses; without a topology it is not known from where".into(),
        ),
        Origin::Circle => (
            Certainty::Possible,
            "each of them is paused, and no port that pauses without being paused has readings".into(),
        ),
    }
}

fn action(origin: &Origin) -> String {
    match origin {
        Origin::Nic(host, port) => format!(
            "look at PCIe, memory and GPUs of {host} ({port}): a NIC that pauses takes less than the network brings; if it does so \
             without traffic, reset or replace it"
        ),
        Origin::Switch(switch) => format!(
            "look for what fills the queues of {switch}: many senders to one port (incast), a slower port, or buffers and ECN \
             thresholds that differ from its peers"
        ),
        Origin::Beyond(port) => format!(
            "find what is at the other end of {} (`--topology`, LLDP): a NIC that pauses has a slow host behind it; a switch passes \
             on what is paused further on",
            named(port)
        ),
        Origin::Circle => {
            "break the circle: shut one of its links, and look for routes that go down and up again (cyclic buffer dependency)".into()
        }
    }
}

/// A count in a sentence.
pub(super) fn frames(count: u64) -> String {
    format!("{} PFC frames", grouped(count))
}
