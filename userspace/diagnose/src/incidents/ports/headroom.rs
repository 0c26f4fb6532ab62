//! Frames that are dropped at a port that pauses their sender, and pauses that are not heard.

use super::pauses::frames;
use super::{Cables, PortName, Ports, incident, named};
use crate::incidents::incident::{Certainty, Incident};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use rocescope_model::human::plural;

/// Fewer drops are no fault.
const MIN_DROPPED: u64 = 10;
/// Pauses that the other end must have noticed.
const MIN_SENT: u64 = 100;

pub(super) fn find(ports: &Ports, cables: &Cables, found: &mut Vec<Incident>) {
    for (port, seen) in &ports.damage {
        if seen.dropped.is_empty() {
            continue;
        }
        let of_port = ports.pauses_of_switch(&port.0).filter(|(key, _)| key.0 == *port);
        let pausing: BTreeSet<i64> = of_port.flat_map(|(_, pause)| pause.sent_at.keys().copied()).collect();
        let met: Vec<(i64, u64)> = seen
            .dropped
            .iter()
            .filter(|(time, _)| pausing.contains(time))
            .map(|(time, count)| (*time, *count))
            .collect();
        let dropped: u64 = met.iter().map(|(_, count)| count).sum();
        let (Some(first), Some(last)) = (met.first(), met.last()) else {
            continue;
        };
        if dropped < MIN_DROPPED {
            continue;
        }
        let mut headroom = incident("headroom_drops", cables, port);
        (headroom.since_ns, headroom.until_ns) = (first.0, last.0);
        headroom.is_open = last.0 >= ports.last_ns;
        headroom.certainty = Certainty::Possible;
        headroom.reason =
            "drops and pauses are of the same readings; the switch does not count drops by priority".to_string();
        headroom.meaning = format!(
            "{} dropped {} that it received while it paused their sender",
            named(port),
            plural(dropped, "frame")
        );
        headroom.action = format!(
            "check headroom (xoff, cable length, MTU) and the PFC priorities at {}: what arrives after a pause must have room",
            named(port)
        );
        headroom.rests_on(
            "switch_ports",
            named(port),
            "in_dropped_frames",
            dropped as f64,
            "frames",
        );
        found.push(headroom);
    }
    deaf(ports, cables, found);
}

/// Ports whose pauses the other end does not count.
fn deaf(ports: &Ports, cables: &Cables, found: &mut Vec<Incident>) {
    for ((port, priority), pause) in &ports.pauses {
        let far = cables.at(&port.0, &port.1).map(|cable| cable.other(&port.0, &port.1));
        let Some(far) = far.filter(|far| !far.is_host) else {
            continue;
        };
        let heard_by: PortName = (far.node.clone(), far.port.clone());
        let Some(heard) = ports.pauses.get(&(heard_by.clone(), *priority)) else {
            continue;
        };
        let sent = pause.sent.unwrap_or(0);
        let Some(first_ns) = pause.sent_at.keys().next().copied() else {
            continue;
        };
        // Both were read at that time.
        let is_read =
            heard.readings > 1 && heard.first_ns.is_some_and(|first| first <= first_ns) && heard.last_ns >= first_ns;
        if sent < MIN_SENT || heard.received != Some(0) || !is_read {
            continue;
        }
        let mut deaf = incident("pfc_mismatch", cables, port);
        deaf.since_ns = first_ns;
        deaf.until_ns = pause.sent_at.keys().next_back().copied().unwrap_or(first_ns);
        deaf.is_open = deaf.until_ns >= ports.last_ns;
        deaf.certainty = Certainty::Likely;
        deaf.reason = "one end counts what it sends, and the other receives none of it".to_string();
        let class = priority.map_or_else(Default::default, |priority| format!(" of priority {priority}"));
        deaf.meaning = format!(
            "{} sent {}{class}, and {} received none",
            named(port),
            frames(sent),
            named(&heard_by)
        );
        deaf.action = format!(
            "enable PFC for this priority at {}: it goes on sending where it should pause, and frames are lost",
            named(&heard_by)
        );
        deaf.rests_on("switch_ports", named(port), "sent_pause_frames", sent as f64, "frames");
        deaf.rests_on("switch_ports", named(&heard_by), "received_pause_frames", 0.0, "frames");
        found.push(deaf);
    }
}
