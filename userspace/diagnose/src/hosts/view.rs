//! What rules see: the last windows, and the ports as of the last.

use super::finding::Place;
use super::ports::{LONG_AGO_NS, Ports};
use super::settings::{SPAN, Settings};
use super::watched::{ACTIVE, Watched};
use super::window::{Signs, Window};
use super::wire::{Direction, Wire};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;

/// Senders that a place names.
const PEERS: usize = 4;

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

    pub(crate) const fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add(self.settings.window_ns)
    }

    /// Whether the host of a port reads its counters.
    pub(crate) fn is_host_read(&self, port: u32) -> bool {
        self.ports.host_of(port).is_read(self.end_ns(), self.settings.window_ns)
    }

    /// Whether it does and the device exists, so that the last states and gauges of the port hold in this window.
    pub(crate) fn is_seen(&self, port: u32) -> bool {
        self.is_host_read(port) && !self.current().gone.contains(&port)
    }

    /// Whether counters of a port were read in this window, so that those without a row grew by 0.
    pub(crate) fn is_counted(&self, port: u32) -> bool {
        self.current().counts(port, self.ports)
    }

    /// Devices that were gone at a time in this window.
    pub(crate) fn gone(&self) -> impl Iterator<Item = u32> + '_ {
        let gone = self.current().gone.iter().copied();
        gone.filter(|number| self.ports.get(*number).port.is_none())
    }

    /// Whether a device, or that of a port, was gone in the last windows.
    pub(crate) fn has_vanished(&self, port: u32) -> bool {
        self.windows.iter().any(|(_, window)| window.gone.contains(&port))
    }

    /// The start of the oldest of the last windows.
    fn oldest_ns(&self) -> i64 {
        self.windows.front().map_or(self.start_ns, |(start_ns, _)| *start_ns)
    }

    /// Whether a port was down until one of the last windows.
    pub(crate) fn came_back(&self, port: u32) -> bool {
        let back_ns = self.ports.get(port).back_ns;
        back_ns.is_some_and(|at| at >= self.oldest_ns())
    }

    /// Whether the counters of a port were read for the first time in the last windows.
    pub(crate) fn is_new(&self, port: u32) -> bool {
        let numbers = [Some(port), self.ports.own_device(port)];
        let new = numbers
            .into_iter()
            .flatten()
            .filter_map(|number| self.ports.get(number).new_ns);
        new.max().is_some_and(|at| at >= self.oldest_ns())
    }

    /// The port, or its device, whichever has the metric.
    fn source(&self, port: u32, watched: Watched) -> Option<u32> {
        let has = |number: &u32| self.ports.get(*number).known.has(watched);
        Some(port)
            .filter(has)
            .or_else(|| self.ports.own_device(port).filter(has))
    }

    /// What a counter grew by in this window; `None` if that is unknown: its host was not read, its device was gone, its
    /// driver does not have it, it was read for the first time or reset.
    pub(crate) fn now(&self, port: u32, watched: Watched) -> Option<u64> {
        self.in_window(self.current(), port, watched)
    }

    fn in_window(&self, window: &Window, port: u32, watched: Watched) -> Option<u64> {
        let source = self.source(port, watched)?;
        if !window.counts(source, self.ports) {
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

    /// What several counters certainly grew by in this window: as far as it is known, so that it may be more.
    pub(crate) fn grown(&self, port: u32, watched: &[Watched]) -> u64 {
        self.grown_in(self.current(), port, watched)
    }

    /// What they certainly grew by in the last windows, of this number.
    pub(crate) fn grown_lately(&self, port: u32, watched: &[Watched], windows: usize) -> u64 {
        let lately = self.windows.iter().rev().take(windows);
        lately.map(|(_, window)| self.grown_in(window, port, watched)).sum()
    }

    fn grown_in(&self, window: &Window, port: u32, watched: &[Watched]) -> u64 {
        let seen = |watched: Watched| {
            window
                .ports
                .get(&self.source(port, watched)?)
                .map(|seen| seen.at_least(watched))
        };
        watched.iter().filter_map(|watched| seen(*watched)).sum()
    }

    /// When one of several counters certainly grew, in this window.
    pub(crate) fn signs(&self, port: u32, watched: &[Watched]) -> Signs {
        let window = self.current();
        let seen = |watched: Watched| Some(window.ports.get(&self.source(port, watched)?)?.signs(watched));
        let signs = watched.iter().filter_map(|watched| seen(*watched));
        signs.fold(Signs::default(), Signs::with)
    }

    /// The sum of several counters in this window, as far as they are known; `None` if none of them is.
    pub(crate) fn any_now(&self, port: u32, watched: &[Watched]) -> Option<u64> {
        sum(watched.iter().map(|watched| self.now(port, *watched)))
    }

    /// The number of queue pairs of a port before some vanished, and now: in the last windows, or in the last minute if
    /// that is longer, because senders give up later than their receiver dies.
    pub(crate) fn lost_queue_pairs(&self, port: u32) -> Option<(f64, f64)> {
        let now = self.ports.value(port, Watched::QueuePairs)?;
        let (at, before) = self.ports.get(self.source(port, Watched::QueuePairs)?).fell?;
        let oldest_ns = self.windows.front().map_or(self.start_ns, |(start_ns, _)| *start_ns);
        let is_recent = at >= oldest_ns.min(self.start_ns.saturating_sub(LONG_AGO_NS));
        (is_recent && before > now).then_some((before, now))
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
            Place::PeerOf(senders) => self.peer_text(senders),
        }
    }

    fn peer_text(&self, senders: &[u32]) -> String {
        let names: Vec<String> = senders.iter().take(PEERS).map(|port| self.ports.text(*port)).collect();
        let more = match senders.len().saturating_sub(PEERS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("peer of {}{more}", names.join(", "))
    }

    /// Whether an address belongs to a place.
    pub(crate) fn is_at(&self, address: IpAddr, place: &Place) -> bool {
        self.place(address) == *place
    }

    /// Whether the link of the port at an address had a failure or an error in the last windows, or the port was down or
    /// gone.
    pub(crate) fn has_sick_link(&self, address: IpAddr) -> bool {
        let Some(port) = self.ports.at(address) else {
            return false;
        };
        let is_down = self
            .ports
            .value(port, Watched::State)
            .is_some_and(|state| state != ACTIVE);
        is_down
            || self.came_back(port)
            || self.has_vanished(port)
            || self.grown_lately(port, LINK_FAILURES, SPAN) > 0
            || self.grown_lately(port, LINK_ERRORS, SPAN) >= 3
    }

    /// Addresses of a port, or of the ports of a device, without those that have moved to another one.
    pub(crate) fn own_addresses(&self, number: u32) -> Vec<IpAddr> {
        let mut addresses = self.ports.addresses(number);
        addresses.retain(|address| !self.ports.has_moved(*address, number));
        addresses
    }

    /// Addresses whose connections a port may have broken: until all timers have expired, also those that have moved away
    /// since its device vanished.
    pub(crate) fn broken_addresses(&self, number: u32) -> Vec<IpAddr> {
        let gone_ns = self.ports.gone_ns(number);
        match gone_ns.is_some_and(|at| at > self.start_ns.saturating_sub(TIMERS_NS)) {
            true => self.ports.addresses(number),
            false => self.own_addresses(number),
        }
    }

    /// Whether a port failed so lately that its connections may be given up now, by senders that no capture sees. Each
    /// such failure is a verdict of its own.
    pub(crate) fn failed_lately(&self, port: u32) -> bool {
        self.went_down(port)
            || self.came_back(port)
            || self.has_vanished(port)
            || self.grown_lately(port, LINK_FAILURES, SPAN) > 0
            || self.grown_lately(port, LINK_ERRORS, SPAN) >= SICK
    }

    /// Whether a port is down since less than the time after which the slowest timers have expired.
    pub(crate) fn went_down(&self, port: u32) -> bool {
        let down_ns = self.ports.get(port).down_ns;
        self.is_seen(port) && down_ns.is_some_and(|at| at > self.start_ns.saturating_sub(TIMERS_NS))
    }
}

/// A sender gives up after eight timeouts. Usual ones are below 5 s; eight of 69 s (exponent 24) are within ten minutes.
const TIMERS_NS: i64 = 600_000_000_000;

/// Errors of a link in the last windows that make it sick. The specification allows a link 10 symbol errors an hour; a
/// link with FEC has none that it does not correct.
pub(crate) const SICK: u64 = 10;

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
