//! Ports that receive damaged frames, and what their light shows.

use super::seen::Damage;
use super::{Cables, PortName, Ports, incident, named};
use crate::incidents::incident::{Certainty, Incident, Source};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::human::{grouped, plural};

/// Fewer damaged frames are no fault: a restart of the other end damages some.
const MIN_DAMAGED: u64 = 10;
/// The share of damaged frames from which on a link is sick. A link with the bit error ratio of 1e-12 that IEEE 802.3 asks for
/// damages 3e-8 of frames of 4 KiB.
const MIN_SHARE: f64 = 1e-7;
/// Light that is weaker than that of the neighbours by this many decibels: half of it.
const WEAK_DB: f64 = 3.0;
/// Neighbours whose median counts.
const MIN_NEIGHBOURS: usize = 3;

pub(super) fn find(ports: &Ports, cables: &Cables, found: &mut Vec<Incident>) {
    for (port, seen) in &ports.damage {
        let Some(first_ns) = seen.first_ns else { continue };
        if !is_sick(seen) {
            continue;
        }
        let mut sick = incident("sick_cable", cables, port);
        sick.since_ns = first_ns;
        sick.until_ns = seen.last_ns;
        sick.is_open = seen.last_ns >= ports.last_ns;
        sick.certainty = Certainty::Likely;
        sick.reason =
            "the switch counts the damage itself; at which end of the cable it arises, it does not see".to_string();
        sick.meaning = sentence(ports, port, seen);
        sick.action = action(ports, cables, port, seen);
        evidence(port, seen, &mut sick);
        found.push(sick);
    }
}

/// States beside a fault of a link or NIC what its ports counted.
pub(super) fn beside(ports: &Ports, cables: &Cables, incident: &mut Incident) {
    let is_placed = incident.sources.contains(&Source::Switches);
    let mut ends = Vec::new();
    for cable in cables.of(&incident.place) {
        ends.extend([&cable.a, &cable.b].map(|end| (end.node.clone(), end.port.clone())));
    }
    for port in ends {
        let Some(seen) = ports.damage.get(&port) else { continue };
        match seen.damaged() {
            // It is an incident of its own, and the cause of this one.
            Some(damaged) if damaged > 0 && is_sick(seen) => continue,
            // Dropped frames explain it already.
            Some(0) if is_placed => {}
            Some(_) => incident.meaning += &format!("; {}", sentence(ports, &port, seen)),
            None if weak(ports, &port, seen).is_some() || seen.dark_lanes > 0 => {
                incident.meaning += &format!("; {}", sentence(ports, &port, seen));
            }
            None => incident.unknown.push(format!(
                "whether {} damages frames: it does not count them",
                named(&port)
            )),
        }
        if weak(ports, &port, seen).is_some() || seen.dark_lanes > 0 {
            incident.action += &format!("; {}", action(ports, cables, &port, seen));
        }
        evidence(&port, seen, incident);
        incident.sources.insert(Source::Switches);
    }
}

fn is_sick(seen: &Damage) -> bool {
    let damaged = seen.damaged().unwrap_or(0);
    let frames = seen.in_frames.unwrap_or(0).saturating_add(damaged);
    damaged >= MIN_DAMAGED && (seen.in_frames.is_none() || damaged as f64 >= MIN_SHARE * frames as f64)
}

/// What the port counted.
fn sentence(ports: &Ports, port: &PortName, seen: &Damage) -> String {
    let of = match seen.in_frames {
        Some(frames) => format!(" of {}", grouped(frames)),
        None => String::new(),
    };
    let mut text = match (seen.fcs.max(seen.errors), seen.uncorrected) {
        (None, None) => format!("{} does not count damaged frames", named(port)),
        (Some(0) | None, Some(0) | None) => format!("{} counted no damaged frame{of}", named(port)),
        (Some(0) | None, Some(words)) => {
            format!("{} could not correct {} (FEC)", named(port), plural(words, "code word"))
        }
        (Some(frames), words) => {
            let words = words.filter(|words| *words > 0);
            let words = words.map(|words| format!(", {} not corrected (FEC)", plural(words, "code word")));
            format!(
                "{} received {}{of}{}",
                named(port),
                plural(frames, "damaged frame"),
                words.unwrap_or_default()
            )
        }
    };
    if let Some(ratio) = seen.bit_error_ratio.filter(|ratio| *ratio > 0.0) {
        text += &format!(", {ratio:.0e} wrong bits before FEC");
    }
    if seen.dark_lanes > 0 {
        text += &format!(", {} without light", plural(seen.dark_lanes.into(), "lane"));
    }
    if let (Some(dbm), Some(under)) = (seen.rx_dbm, weak(ports, port, seen)) {
        text += &format!(", receives {dbm:.1} dBm, {under:.1} dB under its neighbours");
    }
    text
}

fn action(ports: &Ports, cables: &Cables, port: &PortName, seen: &Damage) -> String {
    let cable = cables.at(&port.0, &port.1);
    let far = cable.map(|cable| cable.other(&port.0, &port.1));
    let end = match far {
        Some(far) => format!("between {} and {} {}", named(port), far.node, far.port),
        None => format!("at {}", named(port)),
    };
    let is_weak = weak(ports, port, seen).is_some() || seen.dark_lanes > 0;
    let far_seen = far.and_then(|far| ports.damage.get(&(far.node.clone(), far.port.clone())));
    match (is_weak, far_seen.and_then(|far| far.tx_dbm)) {
        (true, Some(sent)) => format!(
            "clean or replace the optics {end}: the other end sends {sent:.1} dBm; if that is normal for its kind, the fiber or its \
             connectors lose the light"
        ),
        (true, None) => format!("clean or replace the optics {end}, at the end that sends first"),
        (false, _) => {
            format!("replace the cable {end}, or swap it with a good one to see whether the damage moves with it")
        }
    }
}

/// By how many decibels a port receives less light than the median of the other ports of its switch, if that is much.
fn weak(ports: &Ports, port: &PortName, seen: &Damage) -> Option<f64> {
    let own = seen.rx_dbm?;
    let of_switch = (port.0.clone(), String::new())..;
    let neighbours = ports.damage.range(of_switch).take_while(|(other, _)| other.0 == port.0);
    let mut lights: Vec<f64> = neighbours
        .filter(|(other, _)| *other != port)
        .filter_map(|(_, other)| other.rx_dbm)
        .collect();
    if lights.len() < MIN_NEIGHBOURS {
        return None;
    }
    lights.sort_by(f64::total_cmp);
    let under = lights.get(lights.len() / 2)? - own;
    (under >= WEAK_DB).then_some(under)
}

fn evidence(port: &PortName, seen: &Damage, incident: &mut Incident) {
    let counts = [
        ("fcs_errors", seen.fcs, "frames"),
        ("in_errors", seen.errors, "frames"),
        ("fec_uncorrected", seen.uncorrected, "code words"),
    ];
    for (name, count, unit) in counts {
        if let Some(count) = count {
            incident.rests_on("switch_ports", named(port), name, count as f64, unit);
        }
    }
    for (name, value, unit) in [
        ("bit_error_ratio", seen.bit_error_ratio, ""),
        ("rx_power_dbm", seen.rx_dbm, "dBm"),
    ] {
        if let Some(value) = value {
            incident.rests_on("switch_ports", named(port), name, value, unit);
        }
    }
}
