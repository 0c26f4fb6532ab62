//! Rows in, verdicts out, window by window.

use super::explain::explain;
use super::faults::Faults;
use super::ports::{Latency, Ports};
use super::round_trips::RoundTrips;
use super::settings::{SPAN, Settings, SettingsError};
use super::signatures;
use super::unknown::{Unknown, unknowns, unread};
use super::verdict::HostVerdict;
use super::view::View;
use super::watched::{ABSENT, Watched};
use super::window::{PortWindow, Signs, Window};
use super::wire::{Direction, earlier};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashMap;
use rocescope_model::{ConnectionRow, CounterRow, EventRow, FlowRow, Time};

/// Accepts rows of `counters`, `flows`, `events` and `connections` in any order within the caller's lateness, and
/// analyzes each window when the watermark passes it.
#[derive(Debug)]
pub struct Analyzer {
    settings: Settings,
    ports: Ports,
    open: BTreeMap<i64, Window>,
    /// Windows before this are closed.
    next: i64,
    /// Closed windows of which rows came since the caller asked.
    late_windows: BTreeSet<i64>,
    recent: VecDeque<(i64, Window)>,
    faults: Faults,
    round_trips: RoundTrips,
    /// Round trips of directions, window by window.
    latencies: HashMap<Direction, Latency>,
    /// Addresses on the wire whose port is unknown, with their packets.
    strangers: BTreeMap<IpAddr, u64>,
    counts: Counts,
}

/// What was analyzed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Windows.
    pub windows: u64,
    /// Windows with rows of a capture.
    pub captured_windows: u64,
    /// Rows that arrived after their window was analyzed.
    pub late_rows: u64,
    /// Rows of ports and directions beyond what is followed.
    pub crowded_out_rows: u64,
    /// Ports of hosts.
    pub ports: u64,
}

/// A window that was analyzed.
#[derive(Clone, Debug, PartialEq)]
pub struct HostsWindow {
    /// Its start.
    pub start_ns: i64,
    /// Its end.
    pub end_ns: i64,
    /// Faults that began or ended with it.
    pub changes: Vec<HostVerdict>,
}

/// Directions and addresses whose history is kept.
const KEPT: usize = 100_000;

impl Analyzer {
    /// Creates an analyzer.
    ///
    /// # Errors
    /// The settings are invalid.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            ports: Ports::default(),
            open: BTreeMap::new(),
            next: i64::MIN,
            late_windows: BTreeSet::new(),
            recent: VecDeque::new(),
            faults: Faults::default(),
            round_trips: RoundTrips::default(),
            latencies: HashMap::new(),
            strangers: BTreeMap::new(),
            counts: Counts::default(),
        })
    }

    /// Names the host of an address: its port is known if the host has only one. Addresses in rows of `counters` come
    /// first.
    pub fn know(&mut self, address: IpAddr, host: &str) {
        self.ports.name(address, host);
    }

    /// The length of a window.
    #[must_use]
    pub const fn window_ns(&self) -> i64 {
        self.settings.window_ns
    }

    /// The windows, by their starts, that were closed before rows of them came, since the last call.
    pub fn late_windows(&mut self) -> impl Iterator<Item = Time> {
        let window_ns = self.settings.window_ns;
        let late = core::mem::take(&mut self.late_windows);
        late.into_iter()
            .map(move |window| Time(window.saturating_mul(window_ns)))
    }

    /// Adds a row of `counters`.
    pub fn counter(&mut self, row: &CounterRow) {
        let Some((host, number)) = self.ports.number(&row.observer, &row.device, row.port) else {
            self.counts.crowded_out_rows += 1;
            return;
        };
        // A value that was read at the start of a window is about the one before.
        let Some(window) = self.window(row.time_ns.saturating_sub(1)) else {
            return;
        };
        // Operations are measured by another part of an agent.
        if &*row.source != "operation" {
            window.hosts.entry(host).or_default().add(row.time_ns, row.interval_ns);
        }
        let seen = window.ports.entry(number).or_default();
        if seen.driver.is_none() && !row.driver.is_empty() {
            seen.driver = Some(row.driver.clone());
        }
        if seen.netdev.is_none() {
            seen.netdev.clone_from(&row.netdev);
        }
        match row.metric.as_deref() {
            Some("addresses") => seen.addresses = row.text.as_deref().map(addresses),
            Some("rdma_operation_latency") => {
                if let Some(value) = row.value {
                    seen.latencies.push((row.name.clone(), value));
                }
            }
            Some(name) => {
                if let Some(watched) = Watched::named(name) {
                    watch(seen, watched, row);
                }
            }
            None => {}
        }
    }

    /// Adds a row of `flows`.
    pub fn flow(&mut self, row: &FlowRow) {
        let Some(window) = self.window(row.window_start_ns) else {
            return;
        };
        window.is_captured = true;
        window.is_tracked |= row.retransmitted_packets.is_some();
        let direction = Direction {
            src: row.src,
            dst: row.dst,
            dst_qpn: row.dst_qpn,
        };
        let Some(wire) = window.direction(direction, &row.observer) else {
            return;
        };
        if &*row.service == "CNP" {
            wire.cnp_flows += row.packets;
            return;
        }
        wire.packets += row.packets;
        wire.bytes += row.frame_bytes;
        wire.marked += row.ecn_ce_packets;
        if let Some(retransmitted) = row.retransmitted_packets {
            wire.retransmitted = Some(wire.retransmitted.unwrap_or(0) + retransmitted);
        }
    }

    /// Adds a row of `events`.
    pub fn event(&mut self, row: &EventRow) {
        let (Some(src), Some(dst), Some(dst_qpn)) = (row.src, row.dst, row.dst_qpn) else {
            return;
        };
        let direction = Direction { src, dst, dst_qpn };
        let Some(window) = self.window(row.time_ns) else {
            return;
        };
        window.is_captured = true;
        let Some(wire) = window.direction(direction, &row.observer) else {
            return;
        };
        match &*row.kind {
            "loss" => wire.lost += row.count,
            "retransmission" => wire.episodes += 1,
            "cnp_burst" => wire.cnp_events += row.count,
            "rnr_nak" => {
                wire.rnr += row.count;
                wire.rnr_signs = wire.rnr_signs.with(Signs::between(row.time_ns, row.time_ns));
            }
            "nak" => wire.naks += row.count,
            "retry_exhausted" => {
                wire.gave_up += 1;
                wire.gave_up_ns = earlier(wire.gave_up_ns, Some(row.time_ns));
            }
            "jitter" => {
                let (now, before) = (row.value.unwrap_or(0.0), row.previous.unwrap_or(0.0));
                // A flow that stops or starts is the application's doing.
                if now.min(before) >= GOES_ON * now.max(before) {
                    wire.changes += row.count;
                    wire.changed_ns = earlier(wire.changed_ns, Some(row.time_ns));
                    wire.largest_change_bps = wire.largest_change_bps.max((now - before).abs());
                }
            }
            _ => {}
        }
    }

    /// Adds a row of `connections`; those of a connection in the order of time.
    pub fn connection(&mut self, row: &ConnectionRow) {
        let Some(dst_qpn) = row.dst_qpn else {
            return;
        };
        let direction = Direction {
            src: row.src,
            dst: row.dst,
            dst_qpn,
        };
        let median = self.round_trips.median_since_last(row);
        let Some(window) = self.window(row.time_ns.saturating_sub(1)) else {
            return;
        };
        if let Some(wire) = window.direction(direction, &row.observer) {
            wire.round_trip_ns = median.or(wire.round_trip_ns);
        }
    }

    fn window(&mut self, time_ns: i64) -> Option<&mut Window> {
        let number = time_ns.div_euclid(self.settings.window_ns);
        if number < self.next {
            self.counts.late_rows += 1;
            self.late_windows.insert(number);
            return None;
        }
        Some(self.open.entry(number).or_default())
    }

    /// Analyzes the earliest window that ends at the watermark or before; later rows of it only count as late.
    pub fn advance_one(&mut self, watermark: Time) -> Option<HostsWindow> {
        self.next = self.next.max(watermark.0.div_euclid(self.settings.window_ns));
        let (number, _) = self.open.first_key_value()?;
        let number = Some(*number).filter(|number| *number < self.next)?;
        self.close(number)
    }

    /// Analyzes the earliest window that has rows.
    pub fn finish_one(&mut self) -> Option<HostsWindow> {
        let (number, _) = self.open.first_key_value()?;
        let number = *number;
        self.next = self.next.max(number + 1);
        self.close(number)
    }

    fn close(&mut self, number: i64) -> Option<HostsWindow> {
        let mut window = self.open.remove(&number)?;
        let start_ns = number.saturating_mul(self.settings.window_ns);
        let end_ns = start_ns.saturating_add(self.settings.window_ns);
        // What was seen long ago is no evidence about now.
        let oldest = start_ns.saturating_sub((SPAN as i64 - 1).saturating_mul(self.settings.window_ns));
        self.recent.retain(|(start, _)| *start >= oldest);
        self.ports.close(&mut window, start_ns);
        self.note(&window, start_ns);
        self.counts.windows += 1;
        self.counts.captured_windows += u64::from(window.is_captured);
        self.counts.crowded_out_rows += window.crowded_out;
        self.counts.ports = self.ports.numbers().count() as u64;
        self.recent.push_back((start_ns, window));
        let view = View::new(&self.settings, &self.ports, &self.recent)?;
        let latencies = &self.latencies;
        let found = signatures::all(&view, latencies);
        let found = explain(found, &self.faults, &view);
        let changes = self.faults.close(found, &view);
        self.calm(start_ns);
        Some(HostsWindow {
            start_ns,
            end_ns,
            changes,
        })
    }

    /// Takes over what a window shows of directions.
    fn note(&mut self, window: &Window, start_ns: i64) {
        for (direction, wire) in &window.wire {
            if let Some(round_trip) = wire.round_trip_ns
                && (self.latencies.len() < KEPT || self.latencies.contains_key(direction))
            {
                self.latencies.entry(*direction).or_default().set(start_ns, round_trip);
            }
            for address in [direction.src, direction.dst] {
                if self.ports.at(address).is_some() {
                    self.strangers.remove(&address);
                } else if self.strangers.len() < KEPT || self.strangers.contains_key(&address) {
                    *self.strangers.entry(address).or_default() += wire.packets;
                }
            }
        }
    }

    /// Latencies of a window without congestion are the baseline.
    fn calm(&mut self, start_ns: i64) {
        let Some((_, window)) = self.recent.back() else {
            return;
        };
        for (direction, wire) in &window.wire {
            if wire.marked == 0
                && wire.cnps() == 0
                && let Some(latency) = self.latencies.get_mut(direction)
            {
                latency.calm(start_ns);
            }
        }
        let calm = [Watched::EcnMarked, Watched::CnpHandled];
        for (number, seen) in &window.ports {
            if calm
                .iter()
                .all(|watched| seen.increase(*watched).is_none_or(|count| count == 0))
            {
                let latencies = &mut self.ports.all[*number as usize].latencies;
                latencies.values_mut().for_each(|latency| latency.calm(start_ns));
            }
        }
    }

    /// The faults that go on.
    #[must_use]
    pub fn open_faults(&self) -> Vec<HostVerdict> {
        let view = View::new(&self.settings, &self.ports, &self.recent);
        view.map(|view| self.faults.open(&view)).unwrap_or_default()
    }

    /// What could not be judged, and why.
    #[must_use]
    pub fn unknowns(&self) -> Vec<Unknown> {
        let mut all = unknowns(&self.ports, &self.strangers, &self.counts);
        if let Some(view) = View::new(&self.settings, &self.ports, &self.recent) {
            all.extend(self.faults.pending(&view));
            all.extend(unread(&view));
        }
        all
    }

    /// What was analyzed.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            crowded_out_rows: self.counts.crowded_out_rows + self.ports.crowded_out,
            ..self.counts
        }
    }
}

/// The smaller rate of a flow that goes on is at least this share of the larger.
const GOES_ON: f64 = 0.1;

fn watch(seen: &mut PortWindow, watched: Watched, row: &CounterRow) {
    let is_readable = row.raw_value.is_some() || row.value.is_some();
    if is_readable {
        seen.readable.insert(watched);
    } else {
        seen.unreadable.insert(watched);
    }
    if &*row.kind != "counter" {
        if let Some(value) = row.value {
            seen.set(watched, value);
        }
        seen.is_absent |= watched == Watched::Present && row.event.as_deref() == Some("absent");
        // A device that returned was gone, although no read may have found it so.
        if watched == Watched::Present && (row.value == Some(ABSENT) || row.event.as_deref() == Some("returned")) {
            seen.gone_ns = earlier(seen.gone_ns, Some(row.time_ns));
        }
        return;
    }
    seen.is_new |= row.event.as_deref() == Some("first");
    match row.event.as_deref() {
        Some("stopped") => seen.stopped.insert(watched),
        _ if is_readable => seen.counting.insert(watched),
        _ => {}
    }
    let since_ns = row.time_ns.saturating_sub(row.interval_ns.unwrap_or(0));
    match row.increase.filter(|_| is_readable) {
        Some(increase) => seen.grow(watched, increase, Signs::between(since_ns, row.time_ns)),
        None => seen.lose_sight(watched),
    }
}

fn addresses(text: &str) -> Vec<IpAddr> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}
