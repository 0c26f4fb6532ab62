//! The rows of a window, added up.

use super::watched::{Set, Watched};
use super::wire::{Direction, Wire};
use alloc::collections::BTreeMap;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashMap;
use rocescope_model::Text;

/// Directions of a window that are kept; a capture writes 1,000 flows a window by default.
const DIRECTIONS: usize = 100_000;

/// A window of all hosts and captures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    pub(crate) ports: HashMap<u32, PortWindow>,
    pub(crate) wire: BTreeMap<Direction, Wire>,
    /// Rows of further directions.
    pub(crate) crowded_out: u64,
    /// Hosts that read their counters.
    pub(crate) hosts: BTreeSet<u32>,
    /// Whether a capture wrote rows, and whether it tracked connections.
    pub(crate) is_captured: bool,
    pub(crate) is_tracked: bool,
}

/// The counters of a port in a window.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortWindow {
    sums: Vec<(Watched, u64)>,
    /// The last value of gauges and states.
    pub(crate) values: Vec<(Watched, f64)>,
    /// Metrics that were read.
    pub(crate) readable: Set,
    /// Metrics that can no longer be read.
    pub(crate) unreadable: Set,
    /// Metrics that were read, but whose increase is unknown: the first read, a reset.
    unknown: Set,
    /// Its addresses, if they were read.
    pub(crate) addresses: Option<Vec<IpAddr>>,
    /// Time that small RDMA operations took: name, nanoseconds.
    pub(crate) latencies: Vec<(Text, f64)>,
    pub(crate) netdev: Option<Text>,
    pub(crate) driver: Option<Text>,
}

impl PortWindow {
    pub(crate) fn grow(&mut self, watched: Watched, increase: Option<u64>) {
        let Some(increase) = increase else {
            self.unknown.insert(watched);
            return;
        };
        match self.sums.iter_mut().find(|(known, _)| *known == watched) {
            Some((_, sum)) => *sum = sum.saturating_add(increase),
            None if increase > 0 => self.sums.push((watched, increase)),
            None => {}
        }
    }

    pub(crate) fn set(&mut self, watched: Watched, value: f64) {
        match self.values.iter_mut().find(|(known, _)| *known == watched) {
            Some((_, known)) => *known = value,
            None => self.values.push((watched, value)),
        }
    }

    /// What it grew by; `None` if that is unknown.
    pub(crate) fn increase(&self, watched: Watched) -> Option<u64> {
        if self.unknown.has(watched) {
            return None;
        }
        let found = self.sums.iter().find(|(known, _)| *known == watched);
        Some(found.map_or(0, |(_, sum)| *sum))
    }
}

impl Window {
    /// The counts of a direction; `None` if there are too many.
    pub(crate) fn direction(&mut self, direction: Direction, observer: &Text) -> Option<&mut Wire> {
        if self.wire.len() >= DIRECTIONS && !self.wire.contains_key(&direction) {
            self.crowded_out += 1;
            return None;
        }
        let wire = self.wire.entry(direction).or_default();
        if wire.observer.is_empty() {
            wire.observer = observer.clone();
        }
        Some(wire)
    }
}
