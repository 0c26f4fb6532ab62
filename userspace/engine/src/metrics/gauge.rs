//! Totals over the windows of a capture.

use super::rtt::RoundTrips;
use crate::drops::Drops;
use rocescope_diagnose::growth::Growth;
use rocescope_model::time::MINUTE_NS;
use rocescope_model::{ConnectionRow, EventRow, FlowRow, OpcodeRow, Over, Row, WindowRow, WindowRows};
use rocescope_runtime::metrics::{OpenIncidents, WorstConnections};
use rocescope_runtime::not_stored::NotStored;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a capture measures on request; the metrics of the rest do not exist.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// It tracks connections.
    pub connections: bool,
    /// It verifies ICRCs.
    pub icrc: bool,
}

/// The metrics of a capture: the pipeline adds windows, the endpoint reads.
#[derive(Clone, Debug)]
pub struct Metrics {
    values: Arc<Mutex<Values>>,
}

/// The values of the metrics.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// Maximum number of flows.
    max_flows: usize,
    /// Frames dropped before this program saw them, for a live capture.
    pub(super) drops: Option<Arc<Drops>>,
    /// What the dataset lacks, if one is written.
    pub(super) not_stored: Option<Arc<NotStored>>,
    /// The open incidents, if rows are judged.
    pub(super) incidents: Option<OpenIncidents>,
    /// The sums over all windows; its times are meaningless.
    pub(super) total: WindowRow,
    /// Windows so far.
    pub(super) windows: u64,
    /// Packets, frame bytes and payload bytes by opcode.
    pub(super) opcodes: BTreeMap<String, [u64; 3]>,
    /// Events by kind.
    pub(super) events: BTreeMap<String, u64>,
    /// Round trips, if connections are tracked.
    pub(super) round_trips: Option<RoundTrips>,
    /// The worst connections, if they are tracked.
    pub(super) worst: Option<Worst>,
    /// The last window.
    pub(super) last: Option<WindowRow>,
    /// Its largest flows.
    pub(super) flows: Vec<FlowRow>,
}

/// The worst connections of each minute of event time: a connection that lives has a row in each.
#[derive(Debug, Default)]
pub(super) struct Worst {
    growth: Growth,
    pub(super) connections: WorstConnections,
    minute: Option<i64>,
}

impl Worst {
    fn add(&mut self, rows: &[ConnectionRow], window_start_ns: Option<i64>) {
        for row in rows {
            if let Some(grown) = self.growth.row(row) {
                let (lost, retransmitted) = (grown.fabric_lost_packets, grown.retransmitted_packets);
                self.connections.add(row, lost, retransmitted);
            }
        }
        let minute = window_start_ns.map(|start| start.div_euclid(MINUTE_NS));
        if minute.is_some() && self.minute.is_some() && minute != self.minute {
            self.connections.end();
        }
        self.minute = minute.or(self.minute);
    }
}

impl Metrics {
    /// Empty metrics, which show the largest `max_flows` flows of a window.
    ///
    /// Counters exist from the beginning, because a rate needs the zero before the first count. Only opcodes
    /// appear when they are seen, because few of the 256 are used.
    #[must_use]
    pub fn new(max_flows: usize, drops: Option<Arc<Drops>>, measured: Measured) -> Self {
        let (tracked, verified) = (measured.connections.then_some(0), measured.icrc.then_some(0));
        let values = Values {
            max_flows,
            drops,
            total: WindowRow {
                icrc_bad_packets: verified,
                icrc_unverifiable_packets: verified,
                fabric_lost_packets: tracked,
                retransmitted_packets: tracked,
                mirror_lost_packets: tracked,
                mirror_duplicate_packets: tracked,
                mirror_gap_frames: Some(0),
                ..WindowRow::default()
            },
            round_trips: measured.connections.then(RoundTrips::default),
            worst: measured.connections.then(Worst::default),
            events: EventRow::KINDS
                .into_iter()
                .map(|(kind, _)| (kind.to_owned(), 0))
                .collect(),
            ..Values::default()
        };
        Self {
            values: Arc::new(Mutex::new(values)),
        }
    }

    /// Shows what the dataset lacks, too.
    #[must_use]
    pub fn with_dataset(self, not_stored: Option<Arc<NotStored>>) -> Self {
        self.lock().not_stored = not_stored;
        self
    }

    /// Shows open incidents, too.
    #[must_use]
    pub fn with_incidents(self, incidents: OpenIncidents) -> Self {
        self.lock().incidents = Some(incidents);
        self
    }

    /// Adds the rows of finished windows.
    pub fn add(&self, rows: &WindowRows) {
        let mut values = self.lock();
        values.add_windows(&rows.windows);
        for row in &rows.opcodes {
            values.add_opcode(row);
        }
        for row in &rows.events {
            values.add_event(row);
        }
        if let Some(trips) = &mut values.round_trips {
            trips.add(&rows.connections);
        }
        if let Some(worst) = &mut values.worst {
            worst.add(&rows.connections, rows.windows.last().map(|last| last.window_start_ns));
        }
        if let Some(last) = rows.windows.last() {
            let max = values.max_flows;
            values.flows.clear();
            let flows = rows.flows.iter();
            let of_last = flows.filter(|flow| flow.window_start_ns == last.window_start_ns);
            values.flows.extend(of_last.take(max).cloned());
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Values> {
        // Sums are consistent after every addition, even if a thread panicked.
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Values {
    fn add_windows(&mut self, rows: &[WindowRow]) {
        for row in rows {
            self.windows += 1;
            self.total.merge(row, Over::Time);
        }
        if let Some(last) = rows.last() {
            self.last = Some(last.without_sketches());
        }
    }

    fn add_opcode(&mut self, row: &OpcodeRow) {
        let sums = match self.opcodes.get_mut(&*row.opcode) {
            Some(sums) => sums,
            None => self.opcodes.entry(row.opcode.to_string()).or_default(),
        };
        for (sum, count) in sums.iter_mut().zip([row.packets, row.frame_bytes, row.payload_bytes]) {
            *sum += count;
        }
    }

    fn add_event(&mut self, row: &EventRow) {
        match self.events.get_mut(&*row.kind) {
            Some(sum) => *sum += row.count,
            None => {
                self.events.insert(row.kind.to_string(), row.count);
            }
        }
    }
}
