//! What rules see: the last windows, and the ports as of the last.

use super::finding::Place;
use super::ports::Ports;
use super::settings::{SPAN, Settings};
use super::watched::Watched;
use super::window::Window;
use super::wire::{Direction, Wire};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use core::net::IpAddr;

/// What rules see of a window.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) ports: &'a Ports,
    /// The last windows, the current one last.
    windows: &'a VecDeque<(i64, Window)>,
    /// The wire of all of them.
    pub(crate) wire: BTreeMap<Direction, Wire>,
    pub(crate) start_ns: i64,
}

impl<'a> View<'a> {
    /// The view of the last window; `None` without windows.
    pub(crate) fn new(settings: &'a Settings, ports: &'a Ports, windows: &'a VecDeque<(i64, Window)>) -> Option<Self> {
        let (start_ns, _) = windows.back()?;
        let mut wire: BTreeMap<Direction, Wire> = BTreeMap::new();
        for (_, window) in windows {
            for (direction, seen) in &window.wire {
                wire.entry(*direction).or_default().add(seen);
            }
        }
        Some(Self {
            settings,
            ports,
            windows,
            wire,
            start_ns: *start_ns,
        })
    }

    pub(crate) fn current(&self) -> &Window {
        // `new` refuses to be without windows.
        &self.windows[self.windows.len() - 1].1
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.settings.window_ns as f64 / 1e9
    }

    /// The number in a window, at a rate for each second.
    pub(crate) fn at_rate(&self, each_second: f64) -> u64 {
        (each_second * self.seconds()) as u64
    }

    /// Whether the host of a port read its counters in this window.
    pub(crate) fn is_seen(&self, port: u32) -> bool {
        self.current().hosts.contains(&self.ports.get(port).host)
    }

    /// The port, or its device, whichever has the metric.
    fn source(&self, port: u32, watched: Watched) -> Option<u32> {
        let has = |number: &u32| self.ports.get(*number).known.has(watched);
        Some(port)
            .filter(has)
            .or_else(|| self.ports.own_device(port).filter(has))
    }

    /// What a counter grew by in this window; `None` if that is unknown: its host was not read, its driver does not
    /// have it, it was read for the first time or reset.
    pub(crate) fn now(&self, port: u32, watched: Watched) -> Option<u64> {
        self.in_window(self.current(), port, watched)
    }

    fn in_window(&self, window: &Window, port: u32, watched: Watched) -> Option<u64> {
        let source = self.source(port, watched)?;
        if !window.hosts.contains(&self.ports.get(source).host) {
            return None;
        }
        window.ports.get(&source).map_or(Some(0), |seen| seen.increase(watched))
    }

    /// What it grew by in the last windows; `None` if that is unknown in one of them.
    pub(crate) fn span(&self, port: u32, watched: Watched) -> Option<u64> {
        let grown = self
            .windows
            .iter()
            .map(|(_, window)| self.in_window(window, port, watched));
        grown.sum()
    }

    /// The sum of several counters in the last windows, as far as they are known; `None` if none of them is.
    pub(crate) fn any_span(&self, port: u32, watched: &[Watched]) -> Option<u64> {
        sum(watched.iter().map(|watched| self.span(port, *watched)))
    }

    /// The same in this window.
    pub(crate) fn any_now(&self, port: u32, watched: &[Watched]) -> Option<u64> {
        sum(watched.iter().map(|watched| self.now(port, *watched)))
    }

    /// The values of a gauge in the last windows: the highest before, and the last, if that is lower.
    pub(crate) fn lowered(&self, port: u32, watched: Watched) -> Option<(f64, f64)> {
        let now = self.ports.value(port, watched)?;
        let source = self.source(port, watched)?;
        let seen = self.windows.iter().filter_map(|(_, window)| window.ports.get(&source));
        let values = seen
            .flat_map(|seen| &seen.values)
            .filter(|(known, _)| *known == watched);
        let before = self
            .ports
            .get(source)
            .before
            .iter()
            .filter(|(known, _)| *known == watched);
        // The value before the last change counts only if it changed in these windows.
        let has_changed = values.clone().count() > 0;
        let highest = values.chain(before.filter(|_| has_changed)).map(|(_, value)| *value);
        let before = highest.max_by(f64::total_cmp)?;
        (before > now).then_some((before, now))
    }

    /// Whether there are as many windows as rules add up.
    pub(crate) fn is_full(&self) -> bool {
        self.windows.len() >= SPAN
    }

    /// Whether a capture that tracks connections saw all of the last windows.
    pub(crate) fn is_tracked(&self) -> bool {
        self.windows.iter().all(|(_, window)| window.is_tracked)
    }

    /// The counts of a direction in each of the last windows, oldest first.
    pub(crate) fn each_window(&self, direction: Direction) -> impl Iterator<Item = Option<&Wire>> {
        self.windows.iter().map(move |(_, window)| window.wire.get(&direction))
    }

    /// The place of an address: its port, if that is known.
    pub(crate) fn place(&self, address: IpAddr) -> Place {
        self.ports.at(address).map_or(Place::Address(address), Place::Port)
    }

    /// The name of a place.
    pub(crate) fn text(&self, place: &Place) -> String {
        match place {
            Place::Port(port) => self.ports.text(*port),
            Place::Address(address) => address.to_string(),
            Place::Pair(src, dst) => format!("{src}>{dst}"),
            Place::Connection(direction) => direction.text(),
            Place::Mirror(observer) => format!("mirror of {observer}"),
        }
    }

    /// Whether an address belongs to a place.
    pub(crate) fn is_at(&self, address: IpAddr, place: &Place) -> bool {
        self.place(address) == *place
    }

    /// Whether the link of the port at an address had a failure or an error in the last windows.
    pub(crate) fn has_sick_link(&self, address: IpAddr) -> bool {
        let Some(port) = self.ports.at(address) else {
            return false;
        };
        let failed = self.any_span(port, LINK_FAILURES).is_some_and(|count| count > 0);
        let is_down = self
            .ports
            .value(port, Watched::State)
            .is_some_and(|state| state != super::ports::ACTIVE);
        failed || is_down || self.any_span(port, LINK_ERRORS).is_some_and(|count| count >= 3)
    }
}

/// Errors that a cable, a transceiver or their contacts cause.
pub(crate) const LINK_ERRORS: &[Watched] = &[
    Watched::SymbolError,
    Watched::LinkRecovery,
    Watched::LinkIntegrity,
    Watched::RcvErrors,
    Watched::Icrc,
    Watched::CrcPhy,
    Watched::SymbolPhy,
    Watched::PcsSymbol,
];

pub(crate) const LINK_FAILURES: &[Watched] = &[Watched::LinkDowned, Watched::LinkDownPhy];

/// The sum of those that are known; `None` if none is.
fn sum(values: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    values.flatten().fold(None, |sum, value| Some(sum.unwrap_or(0) + value))
}
