//! Assigns runs to windows.

mod clock;
mod close;
mod losses;

use crate::anonymize::Anonymizer;
use crate::connections::{ConnectionSummary, Connections};
use crate::delivery::Delivery;
use crate::overflow::Sketches;
use crate::pauses::Pauses;
use crate::pdcs::Pdcs;
use crate::port_counts::PortCounts;
use crate::settings::{Settings, SettingsError};
use crate::spray::{Spray, direction_of};
use crate::summary::Summary;
use crate::time::EventTime;
use crate::totals::FrameCounts;
use crate::window::Window;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use close::ClosedWindows;
use rocescope_model::WindowRows;
use rocescope_record::{ControlPacket, Counters, RunRecord, Sink, UetRecord};
use rocescope_wire::{FlowKey, Packet};

/// Turns runs into rows of finished windows.
///
/// Time is event time: [`turn`](Self::turn) advances it, and closes every window that ended before the lateness bound.
/// A run that arrives too late for its own window is counted as late in the oldest open one, so nothing is lost.
///
/// In a file, time without frames has no windows. A live source turns the clock without frames, and every window
/// since its first turn becomes rows.
#[derive(Debug)]
pub struct Pipeline {
    settings: Settings,
    anonymizer: Option<Anonymizer>,
    /// Open windows by start, ascending; rarely more than two.
    open: VecDeque<(u64, Window)>,
    /// A closed window whose memory is reused.
    spare: Option<Window>,
    /// Start of the first window that may still be opened.
    floor_ns: u64,
    /// The latest time seen.
    newest_ns: u64,
    /// Start of the window of the capture's clock.
    clock_ns: Option<u64>,
    /// Length of that window, or 0 to request a turn before its end.
    current_ns: u64,
    /// The counters when that window began.
    counted: FrameCounts,
    /// How long after that the counters were read.
    read_late_ns: u64,
    /// Start of the next window to close, of a live source.
    unclosed_ns: Option<u64>,
    closed: ClosedWindows,
    connections: Option<Box<Connections>>,
    pdcs: Pdcs,
    pauses: Pauses,
    spray: Spray,
}

impl Sink for Pipeline {
    fn publish(&mut self, run: &RunRecord, _: &mut Counters) {
        self.ingest(run);
    }

    fn uet(&mut self, record: &UetRecord, _: &mut Counters) {
        self.ingest_uet(record);
    }

    fn other_port(&mut self, run: &FlowKey, first_ns: u64, packet: &Packet) {
        if !self.wants(packet) {
            return;
        }
        let flow = match &mut self.anonymizer {
            None => *run,
            Some(anonymizer) => anonymizer.flow(run),
        };
        let at = self.window_at(first_ns);
        if let Some((_, window)) = self.open.get_mut(at) {
            let counts = PortCounts::of_packet(packet);
            let ports = (flow.udp_src_port, packet.flow.udp_src_port);
            let direction = direction_of(&flow);
            window.ports.move_packet(&direction, ports, &counts);
            if packet.is_trimmed() {
                window.ports.trim(&direction, ports.0, -1);
                window.ports.trim(&direction, ports.1, 1);
            }
        }
    }

    fn control_packet(&mut self, event: ControlPacket<'_>) -> bool {
        let filter = &self.settings.filter;
        if let Some(connections) = &mut self.connections
            && filter.as_ref().is_none_or(|filter| filter.may_want(&event))
        {
            match (&mut self.anonymizer, event) {
                (Some(anonymizer), ControlPacket::Mad(mad)) => {
                    connections.control_packet(ControlPacket::Mad(&anonymizer.mad(mad)));
                }
                (Some(anonymizer), ControlPacket::Handshake(handshake)) => {
                    connections.control_packet(ControlPacket::Handshake(&anonymizer.handshake(handshake)));
                }
                (None, event) => connections.control_packet(event),
            }
        }
        true
    }
}

impl Pipeline {
    /// A pipeline without windows.
    ///
    /// # Errors
    /// [`SettingsError`] if the settings are invalid.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            anonymizer: settings.addresses.clone().map(Anonymizer::new),
            open: VecDeque::new(),
            spare: None,
            floor_ns: 0,
            newest_ns: 0,
            clock_ns: None,
            current_ns: settings.window_ns,
            counted: FrameCounts::default(),
            read_late_ns: 0,
            unclosed_ns: None,
            closed: ClosedWindows::new(&settings, Sketches::default()),
            pdcs: Pdcs::default(),
            pauses: Pauses::default(),
            spray: Spray::new(settings.effective_flow_key()),
            connections: settings
                .connections
                .map(|chosen| Box::new(Connections::new(chosen, &settings))),
            settings,
        })
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Sets what may change during a capture: thresholds, filter, numbers of top flows. Open windows use the new
    /// settings when they close.
    pub fn reconfigure(&mut self, settings: &Settings) {
        let own = &mut self.settings;
        own.elephant_bps = settings.elephant_bps;
        own.jitter = settings.jitter;
        own.filter.clone_from(&settings.filter);
        own.top = settings.top;
        own.flow_rows = settings.flow_rows;
        own.spread_rows = settings.spread_rows;
        own.small_flows = settings.small_flows;
        self.closed.changes.set_thresholds(&self.settings);
        self.spray.set_mode(self.settings.effective_flow_key());
    }

    /// Whether `time_ns` is in the window of the clock. If not, call [`turn`](Self::turn) before that frame is
    /// observed.
    #[must_use]
    #[inline(always)]
    pub fn is_current(&self, time_ns: u64) -> bool {
        match self.clock_ns {
            Some(start) => time_ns.wrapping_sub(start) < self.current_ns,
            None => false,
        }
    }

    /// The mask of the key of runs: see [`Config::key_mask`](rocescope_record::Config::key_mask). It leaves the UDP source
    /// port out while most packets are sprayed over many.
    #[must_use]
    pub const fn key_mask(&self) -> u64 {
        self.spray.key_mask()
    }

    /// Whether a turn is needed before the window's end, because too many runs wait to be sorted.
    #[must_use]
    pub const fn is_pressed(&self) -> bool {
        self.current_ns == 0
    }

    /// Whether `time_ns` is after every window so far, so that a turn to it may close some. Out-of-order frames turn
    /// the clock back and forth without closing any.
    #[must_use]
    pub fn is_ahead(&self, time_ns: u64) -> bool {
        time_ns / self.settings.window_ns > self.newest_ns / self.settings.window_ns
    }

    /// All runs that began before `time_ns` were published, also those of the current slice.
    pub fn complete_before(&mut self, time_ns: u64) {
        if let Some(connections) = &mut self.connections {
            connections.complete_before(time_ns);
        }
    }

    /// Leaves the runs that follow out of connections, or no longer: a live capture that falls behind its source gives up
    /// connections before it loses runs.
    pub fn yield_connections(&mut self, yields: bool) {
        if let Some(connections) = &mut self.connections {
            connections.set_yielding(yields);
        }
    }

    /// Adds impaired runs and fabric loss to the windows of their times.
    fn take_impaired_runs(&mut self) {
        let Some(connections) = &mut self.connections else {
            return;
        };
        let mut impaired = core::mem::take(&mut connections.impaired_runs);
        let mut losses = core::mem::take(&mut connections.losses);
        for (time_ns, packets) in losses.drain(..) {
            let at = self.window_of_loss(time_ns);
            if let Some((_, window)) = self.open.get_mut(at) {
                window.fabric_lost_packets += packets;
            }
        }
        for impaired in impaired.drain(..) {
            let at = self.window_at(impaired.time_ns);
            if let Some((_, window)) = self.open.get_mut(at) {
                window.retransmitted_packets += impaired.impairment.retransmitted;
                let max = self.settings.exact_flows;
                let flow = self.spray.key_of(&impaired.flow);
                window.impaired_flows.add(&flow, impaired.impairment, max);
            }
        }
        if let Some(connections) = &mut self.connections {
            // Its memory is reused.
            connections.impaired_runs = impaired;
            connections.losses = losses;
        }
    }

    /// Rows of the windows closed since they were last taken; the caller clears them.
    pub fn rows(&mut self) -> &mut WindowRows {
        &mut self.closed.rows
    }

    /// Statistics of the connection state, if connections are tracked.
    #[must_use]
    pub fn connections(&self) -> Option<ConnectionSummary> {
        let connections = self.connections.as_ref();
        connections.map(|connections| connections.summary())
    }

    /// Fabric loss, retransmissions and mirror loss so far, if connections are tracked.
    #[must_use]
    pub fn delivery(&self) -> Option<Delivery> {
        self.connections().map(|summary| summary.delivery)
    }

    /// The totals of all closed windows.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::new(&self.closed.total, self.delivery(), self.settings.top);
        summary.pdcs.contexts = self.pdcs.lives();
        summary.pdcs.untracked_packets = self.pdcs.untracked;
        summary.pdcs.filtered_packets = self.pdcs.filtered;
        summary
    }

    /// Adds a run to its window.
    #[inline]
    pub fn ingest(&mut self, run: &RunRecord) {
        if let Some(filter) = &self.settings.filter
            && !filter.wants(run)
        {
            let at = self.window_at(run.first_ns);
            if let Some((_, window)) = self.open.get_mut(at) {
                window.totals.filtered_packets += u64::from(run.packets);
            }
            return;
        }
        let other;
        let run = match &mut self.anonymizer {
            None => run,
            Some(anonymizer) => {
                other = anonymizer.run(run);
                &other
            }
        };
        if let Some(connections) = &mut self.connections {
            connections.run(run);
            if connections.wants_turn() {
                // The next frame asks for a turn, though its window is not over.
                self.current_ns = 0;
            }
        }
        let Self {
            open,
            settings,
            closed,
            spray,
            ..
        } = self;
        let key = spray.flow_of(run);
        // Most runs belong to the youngest window.
        if let Some((start, window)) = open.back_mut()
            && run.first_ns.wrapping_sub(*start) < settings.window_ns
        {
            window.add(run, &key, settings, &closed.empty);
            if window.is_crowded() {
                let before = spray.key_mask();
                window.merge_sprayed(spray, &closed.empty);
                if spray.key_mask() != before {
                    // The next frame asks for a turn, with which the cache adopts the key.
                    self.current_ns = 0;
                }
            }
            return;
        }
        self.ingest_elsewhere(run, &key);
    }

    /// Adds a UET packet to its window.
    pub fn ingest_uet(&mut self, record: &UetRecord) {
        let filter = self.settings.filter.as_ref();
        if filter.is_some_and(|filter| !filter.may_want_flow(&record.flow)) {
            self.pdcs.filtered += 1;
            return;
        }
        let other;
        let record = match &mut self.anonymizer {
            None => record,
            Some(anonymizer) => {
                other = anonymizer.uet(record);
                &other
            }
        };
        let at = self.window_at(record.time_ns);
        if let Some((start_ns, window)) = self.open.get_mut(at) {
            self.pdcs.observe(record, *start_ns, &mut window.pdcs);
        }
    }

    fn ingest_elsewhere(&mut self, run: &RunRecord, key: &FlowKey) {
        let late = run.first_ns < self.floor_ns;
        let at = self.window_at(run.first_ns);
        let Self {
            open, settings, closed, ..
        } = self;
        if let Some((_, window)) = open.get_mut(at) {
            window.add(run, key, settings, &closed.empty);
            if late {
                window.totals.late_packets += u64::from(run.packets);
            }
        }
    }

    /// Whether the filter lets a packet pass.
    #[must_use]
    pub fn wants(&self, packet: &Packet) -> bool {
        let filter = self.settings.filter.as_ref();
        filter.is_none_or(|filter| filter.wants_packet(packet))
    }

    /// Counts a packet whose ICRC was looked at: wrong, or not to be verified.
    pub fn count_icrc(&mut self, time_ns: u64, wrong: bool) {
        let at = self.window_at(time_ns);
        if let Some((_, window)) = self.open.get_mut(at) {
            if wrong {
                window.totals.icrc_bad += 1;
            } else {
                window.totals.icrc_unverifiable += 1;
            }
        }
    }

    /// Index of the window that holds `time_ns`, or of the oldest that may be opened when that is
    /// over; opens it where it is missing.
    fn window_at(&mut self, time_ns: u64) -> usize {
        let time_ns = time_ns.max(self.floor_ns);
        let start = time_ns.floor(self.settings.window_ns);
        match self.open.binary_search_by_key(&start, |(start, _)| *start) {
            Ok(at) => at,
            Err(at) => {
                let window = self.spare.take().unwrap_or_else(|| Window::new(&self.settings));
                self.open.insert(at, (start, window));
                at
            }
        }
    }
}
