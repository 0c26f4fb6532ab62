//! What the tap saw of a direction in a window.

use super::window::Signs;
use core::net::IpAddr;
use rocescope_model::{EventRow, Text};

/// One direction of a queue pair's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Direction {
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    pub(crate) dst_qpn: u32,
}

/// Its counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wire {
    /// The capture that saw it.
    pub(crate) observer: Text,
    /// Packets of all opcodes but CNPs.
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Packets marked with ECN congestion experienced.
    pub(crate) marked: u64,
    /// Packets that the sender retransmitted; `None` if the capture does not track connections.
    pub(crate) retransmitted: Option<u64>,
    /// How often the sender went back, with a row for each.
    pub(crate) episodes: u64,
    /// CNPs that this direction carried: those of events, and the packets of flows that begin with one. A flow has the
    /// service of its first packet: acknowledgements that share the UDP source port of CNPs are in the same row.
    pub(crate) cnp_events: u64,
    pub(crate) cnp_flows: u64,
    /// Packets that the fabric lost.
    pub(crate) lost: u64,
    /// RNR NAKs that this direction carried, when, and other NAKs.
    pub(crate) rnr: u64,
    pub(crate) rnr_signs: Signs,
    pub(crate) naks: u64,
    /// How often the sender gave up, and when first.
    pub(crate) gave_up: u64,
    pub(crate) gave_up_ns: Option<i64>,
    /// Changes of the rate of a big flow that goes on, when the first was, and the largest in bit/s.
    pub(crate) changes: u64,
    pub(crate) changed_ns: Option<i64>,
    pub(crate) largest_change_bps: f64,
    /// Median round trip of the samples that the row of this window added.
    pub(crate) round_trip_ns: Option<f64>,
}

impl Wire {
    /// CNPs that this direction carried. An event counts them exactly; without one, because events have a limit a window,
    /// the flows do.
    pub(crate) const fn cnps(&self) -> u64 {
        match self.cnp_events {
            0 => self.cnp_flows,
            exact => exact,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        if self.observer.is_empty() {
            self.observer = other.observer.clone();
        }
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.marked += other.marked;
        self.retransmitted = match (self.retransmitted, other.retransmitted) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        self.episodes += other.episodes;
        self.cnp_events += other.cnp_events;
        self.cnp_flows += other.cnp_flows;
        self.lost += other.lost;
        self.rnr += other.rnr;
        self.rnr_signs = self.rnr_signs.with(other.rnr_signs);
        self.naks += other.naks;
        self.gave_up += other.gave_up;
        self.gave_up_ns = earlier(self.gave_up_ns, other.gave_up_ns);
        self.changes += other.changes;
        self.changed_ns = earlier(self.changed_ns, other.changed_ns);
        self.largest_change_bps = self.largest_change_bps.max(other.largest_change_bps);
        self.round_trip_ns = other.round_trip_ns.or(self.round_trip_ns);
    }
}

pub(crate) fn earlier(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.into_iter().chain(other).min()
}

/// Kinds of events that rules read.
const KINDS: [&str; 7] = [
    "loss",
    "retransmission",
    "cnp_burst",
    "rnr_nak",
    "nak",
    "retry_exhausted",
    "jitter",
];

/// Whether rules read an event.
#[must_use]
pub fn is_judged(row: &EventRow) -> bool {
    KINDS.contains(&&*row.kind) && row.src.is_some() && row.dst.is_some() && row.dst_qpn.is_some()
}
