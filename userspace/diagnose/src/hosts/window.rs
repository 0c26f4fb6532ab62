//! The rows of a window, added up.

use super::ports::Ports;
use super::watched::{ACTIVE, Set, Watched};
use super::wire::{Direction, Wire};
use alloc::collections::{BTreeMap, BTreeSet};
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
    pub(crate) hosts: BTreeMap<u32, Reads>,
    /// Devices that did not exist at a time in this window, and their ports.
    pub(crate) gone: BTreeSet<u32>,
    /// Whether a capture wrote rows, and whether it tracked connections.
    pub(crate) is_captured: bool,
    pub(crate) is_tracked: bool,
}

/// When a host read its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    /// The last time.
    pub(crate) last_ns: i64,
    /// The time from one read to the next.
    pub(crate) interval_ns: i64,
}

impl Reads {
    /// A row that was read at this time, and how long after the read before.
    pub(crate) fn add(&mut self, time_ns: i64, interval_ns: Option<i64>) {
        self.last_ns = self.last_ns.max(time_ns);
        // A counter that could not be read for a while has a longer one.
        if let Some(interval_ns) = interval_ns.filter(|interval_ns| *interval_ns > 0) {
            self.interval_ns = match self.interval_ns {
                0 => interval_ns,
                known => known.min(interval_ns),
            };
        }
    }
}

/// The counters of a port in a window.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortWindow {
    sums: Vec<(Watched, Growth)>,
    /// The last value of gauges and states.
    pub(crate) values: Vec<(Watched, f64)>,
    /// It was ACTIVE at a time, perhaps not at the end.
    pub(crate) was_up: bool,
    /// Metrics that were read.
    pub(crate) readable: Set,
    /// Metrics that can no longer be read.
    pub(crate) unreadable: Set,
    /// Metrics that were read, but whose increase is unknown in part: the first read, a reset.
    unknown: Set,
    /// Counters that stay at their largest value, and counters that do not.
    pub(crate) stopped: Set,
    pub(crate) counting: Set,
    /// Whether the device did not exist at the first read of its reader.
    pub(crate) is_absent: bool,
    /// When the device was first found to be gone or replaced.
    pub(crate) gone_ns: Option<i64>,
    /// Whether its counters were read for the first time, by this reader.
    pub(crate) is_new: bool,
    /// Its addresses, if they were read.
    pub(crate) addresses: Option<Vec<IpAddr>>,
    /// Time that small RDMA operations took: name, nanoseconds.
    pub(crate) latencies: Vec<(Text, f64)>,
    pub(crate) netdev: Option<Text>,
    pub(crate) driver: Option<Text>,
}

/// How much a counter certainly grew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Growth {
    count: u64,
    signs: Signs,
}

/// When something certainly was: from the first sign to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signs {
    /// The latest time that the first may have.
    pub(crate) first_ns: i64,
    /// The earliest time that the last may have.
    pub(crate) last_ns: i64,
}

impl Default for Signs {
    /// No sign.
    fn default() -> Self {
        Self {
            first_ns: i64::MAX,
            last_ns: i64::MIN,
        }
    }
}

impl Signs {
    /// A sign at some time from one instant to another.
    pub(crate) fn between(from_ns: i64, to_ns: i64) -> Self {
        Self {
            first_ns: to_ns,
            last_ns: from_ns,
        }
    }

    /// Those of both.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            first_ns: self.first_ns.min(other.first_ns),
            last_ns: self.last_ns.max(other.last_ns),
        }
    }

    /// How long it certainly lasted; 0 for a single sign.
    pub(crate) const fn lasted_ns(self) -> i64 {
        self.last_ns.saturating_sub(self.first_ns)
    }
}

impl PortWindow {
    /// A counter grew by this much, at some time from one instant to another.
    pub(crate) fn grow(&mut self, watched: Watched, count: u64, signs: Signs) {
        if count == 0 {
            return;
        }
        match self.sums.iter_mut().find(|(known, _)| *known == watched) {
            Some((_, sum)) => {
                sum.count = sum.count.saturating_add(count);
                sum.signs = sum.signs.with(signs);
            }
            None => self.sums.push((watched, Growth { count, signs })),
        }
    }

    /// What a counter grew by is unknown in part.
    pub(crate) const fn lose_sight(&mut self, watched: Watched) {
        self.unknown.insert(watched);
    }

    pub(crate) fn set(&mut self, watched: Watched, value: f64) {
        self.was_up |= watched == Watched::State && value == ACTIVE;
        match self.values.iter_mut().find(|(known, _)| *known == watched) {
            Some((_, known)) => *known = value,
            None => self.values.push((watched, value)),
        }
    }

    /// What it grew by; `None` if that is unknown.
    pub(crate) fn increase(&self, watched: Watched) -> Option<u64> {
        (!self.unknown.has(watched)).then(|| self.at_least(watched))
    }

    /// What it certainly grew by, as far as that is known.
    pub(crate) fn at_least(&self, watched: Watched) -> u64 {
        self.growth(watched).map_or(0, |growth| growth.count)
    }

    /// When it certainly grew.
    pub(crate) fn signs(&self, watched: Watched) -> Signs {
        self.growth(watched).map_or_else(Signs::default, |growth| growth.signs)
    }

    fn growth(&self, watched: Watched) -> Option<&Growth> {
        let found = self.sums.iter().find(|(known, _)| *known == watched);
        found.map(|(_, growth)| growth)
    }
}

impl Window {
    /// Whether the counters of a port were read, all of the time.
    pub(crate) fn counts(&self, port: u32, ports: &Ports) -> bool {
        self.hosts.contains_key(&ports.get(port).host) && !self.gone.contains(&port)
    }

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
