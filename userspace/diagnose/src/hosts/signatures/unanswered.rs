//! Senders that retry in vain: they repeat what they sent before, send nothing new, and nothing comes back. They have not
//! given up yet, and some never do: soft-RoCE takes a retry count of 7 as unlimited.

use crate::hosts::finding::Finding;
use crate::hosts::view::View;
use crate::hosts::wire::{Direction, Wire};

/// How often a sender goes back in a window, at least: once may be the last message before a pause.
const EPISODES: u64 = 2;

/// Directions that were so in all of the last window. A receiver that answers the same sender on another queue pair is
/// alive: no sign.
pub(super) fn find<'a>(view: &'a View<'_>) -> impl Iterator<Item = (&'a Direction, &'a Wire)> {
    let now = &view.current().wire;
    let is_answered = |way: &Direction| {
        now.iter()
            .any(|(back, seen)| (back.src, back.dst) == (way.dst, way.src) && seen.packets > 0)
    };
    now.iter().filter(move |(way, wire)| {
        let nothing_new = wire.packets > 0 && wire.retransmitted.is_some_and(|repeated| repeated >= wire.packets);
        nothing_new && wire.episodes >= EPISODES && !is_answered(way)
    })
}

/// Adds what the tap saw.
pub(super) fn counted(way: &Direction, wire: &Wire, finding: &mut Finding) {
    finding.sum(&way.text(), "retransmission", wire.episodes as f64, "events");
    let packets = wire.retransmitted.unwrap_or(0);
    finding.sum(&way.text(), "retransmitted_packets", packets as f64, "packets");
}
