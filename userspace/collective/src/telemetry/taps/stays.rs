//! Which packets of a port were captured before, and how long they waited.

use super::{Capture, Passed};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// A packet that was captured on both sides of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stay {
    /// Index among the packets of the port.
    pub(super) packet: usize,
    /// When it entered the queue, by the clock of the port.
    pub(super) entered_ns: i64,
    /// Packets that left the port during its wait.
    pub(super) before: u64,
}

/// The stays of the packets of a port, in the order in which they left.
pub(super) fn stays(entries: &[&Capture], out: &Capture) -> Vec<Stay> {
    // Of each identity: how many left, how many entered, and the first that entered.
    let mut known: HashMap<u64, (u32, u32, usize, i64)> = HashMap::new();
    for packet in &out.packets {
        known.entry(packet.identity).or_default().0 += 1;
    }
    for (entry, capture) in entries.iter().enumerate() {
        for packet in &capture.packets {
            if let Some((_, entered, at, time_ns)) = known.get_mut(&packet.identity) {
                *entered += 1;
                (*at, *time_ns) = (entry, packet.time_ns);
            }
        }
    }
    // A retransmission that one point missed could be taken for the other.
    let entered = |packet: &Passed| match known.get(&packet.identity) {
        Some((1, 1, entry, time_ns)) => Some((*entry, *time_ns)),
        _ => None,
    };
    let mut shortest: BTreeMap<(usize, u32), i64> = BTreeMap::new();
    for packet in &out.packets {
        if let Some((entry, time_ns)) = entered(packet) {
            let stayed_ns = packet.time_ns.saturating_sub(time_ns);
            let least = shortest.entry((entry, packet.bytes)).or_insert(stayed_ns);
            *least = stayed_ns.min(*least);
        }
    }
    // A packet needs no longer than a larger one: the last packet of a message has a size of its own, and may be the only one.
    let mut larger: Option<(usize, i64)> = None;
    for ((entry, _), least) in shortest.iter_mut().rev() {
        if let Some((of, limit)) = larger
            && of == *entry
        {
            *least = limit.min(*least);
        }
        larger = Some((*entry, *least));
    }
    let mut stays = Vec::new();
    for (at, packet) in out.packets.iter().enumerate() {
        let Some((entry, time_ns)) = entered(packet) else {
            continue;
        };
        let Some(least) = shortest.get(&(entry, packet.bytes)) else {
            continue;
        };
        let wait_ns = packet.time_ns.saturating_sub(time_ns).saturating_sub(*least);
        let entered_ns = packet.time_ns.saturating_sub(wait_ns);
        // One that leaves in the nanosecond in which another enters stood there until then: the rule between links of one rate.
        let first = out.packets[..at].partition_point(|other| other.time_ns < entered_ns);
        stays.push(Stay {
            packet: at,
            entered_ns,
            before: if wait_ns > 0 { (at - first) as u64 } else { 0 },
        });
    }
    stays
}
