//! What only a live capture knows of itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What only a live capture knows of itself.
#[derive(Clone, Debug, Default)]
pub struct LiveReport {
    /// Interfaces by name, and how their frames were taken.
    pub interfaces: Vec<(String, &'static str)>,
    /// What became of the frames behind XDP.
    pub verdict: Option<VerdictReason>,
    /// The clock of the times.
    pub clock_source: &'static str,
    /// By how much a run may reach over the end of its window, in nanoseconds.
    pub boundary_slack_ns: u64,
    /// What the interfaces dropped by themselves, where they tell.
    pub nic_dropped: Option<u64>,
    /// Counters of drivers that speak of drops and have grown, as `interface name`. They may count what
    /// `nic_dropped` has, or what the port itself refused.
    pub driver_drops: Vec<(String, u64)>,
    /// What was dropped on the way to the socket.
    pub socket_dropped: u64,
    /// The same while the capture goes on; every clone of this shares one number.
    pub socket_dropped_so_far: Arc<AtomicU64>,
    /// Runs that found a ring full.
    pub lost_runs: u64,
    /// CM datagrams and TCP segments that found the ring of control packets full.
    pub lost_events: u64,
    /// Times in which runs were lost.
    pub blind_intervals: u64,
    /// Their length together.
    pub blind_ns: u64,
    /// Warnings of the kernel program.
    pub warnings: Vec<String>,
}

impl LiveReport {
    /// So much was dropped on the way to the socket by now.
    pub fn so_far(&self, socket_dropped: u64) {
        self.socket_dropped_so_far
            .store(socket_dropped, Ordering::Relaxed);
    }
}

/// What happens to frames behind XDP, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictReason {
    /// Whether they are dropped; else they go on to the kernel.
    pub is_drop: bool,
    /// Why.
    pub reason: String,
}

impl VerdictReason {
    /// `drop` or `pass`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        if self.is_drop { "drop" } else { "pass" }
    }
}
