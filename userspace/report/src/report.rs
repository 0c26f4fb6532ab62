//! The data of all documents.

use crate::collect::agreement::Agreement;
use crate::collect::{
    CollectiveFigures, ConnectionFigures, CounterFigures, EventFigures, FlowFigures, GroupFigures, LoopbackFigures,
    MeshFigures, OpcodeFigures, Origin, OwnerFigures, PathFigures, PdcFigures, Scope, SwitchFigures, Totals,
};
use crate::series::{Join, Series};
use rocescope_diagnose::hosts::{HostVerdict, Unknown};
use rocescope_diagnose::incidents;
use rocescope_model::{Over, Row, WindowRow};
use serde::Serialize;

/// A summary of a dataset, or of the selected part of it.
#[derive(Debug)]
pub struct Report {
    /// The source of the rows.
    pub origin: Origin,
    /// The request.
    pub scope: Scope,
    /// Observers in the rows, sorted by name.
    pub observers: Vec<String>,
    /// Caveats for the reader, one sentence each.
    pub notes: Vec<String>,
    /// Sums over all windows.
    pub totals: Totals,
    /// What found the disk full.
    pub not_stored: NotStored,
    /// Why an input was not read to its end, one for each.
    pub ended_early: Vec<String>,
    /// Packets of connections that were not tracked because the memory was full.
    pub untracked_packets: u64,
    /// Packets that connections left out because the capture fell behind.
    pub yielded_packets: u64,
    /// Whether the tables agree about each window.
    pub agreement: Agreement,
    /// Windows over time.
    pub series: Series<Period>,
    /// The opcode mix.
    pub opcodes: OpcodeFigures,
    /// The top flows.
    pub flows: FlowFigures,
    /// Traffic by source, destination, queue pair or opcode, if requested.
    pub groups: Option<GroupFigures>,
    /// Queue pairs.
    pub connections: ConnectionFigures,
    /// Traffic by owner; `None` if no agent reported a queue pair.
    pub owners: Option<OwnerFigures>,
    /// UET's packet delivery contexts.
    pub pdcs: PdcFigures,
    /// The events.
    pub events: EventFigures,
    /// The mesh of probes; `None` if the dataset has no table of it.
    pub mesh: Option<MeshFigures>,
    /// The counters of hosts; `None` if the dataset has none.
    pub counters: Option<CounterFigures>,
    /// Loopback tests inside hosts; `None` if the dataset has none.
    pub loopback: Option<LoopbackFigures>,
    /// Paths of flows; `None` if the dataset has none.
    pub paths: Option<PathFigures>,
    /// What switches counted; `None` if the dataset has no rows of them.
    pub switches: Option<SwitchFigures>,
    /// What is wrong; `None` if it was not analyzed.
    pub incidents: Option<incidents::Document>,
    /// What counters and captured traffic show together; `None` if it was not analyzed.
    pub host_faults: Option<HostFaults>,
    /// The slowest collective; `None` if the dataset has none.
    pub collective: Option<CollectiveFigures>,
}

/// The faults that counters and captured traffic show together.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HostFaults {
    /// One for each fault, in the order in which they began.
    pub verdicts: Vec<HostVerdict>,
    /// What could not be judged, and why.
    pub unknown: Vec<Unknown>,
}

impl Report {
    /// Whether there is no window of captured traffic.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.totals.windows == 0
    }

    /// Returns the fabric loss of the windows, in packets; `None` if connections were not tracked.
    #[must_use]
    pub fn fabric_lost_packets(&self) -> Option<u64> {
        let sums = &self.totals.sums;
        let is_tracked = self.connections.count > 0 || sums.mirror_lost_packets.is_some();
        // A dataset of an earlier version has no column for it, but every loss has an event.
        let events = || self.events.count("loss");
        sums.fabric_lost_packets.or_else(|| is_tracked.then(events))
    }

    /// Whether all frames that reached the capture are accounted for, all rows are in sealed and readable segments, and
    /// the tables agree.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_whole = self.origin.unreadable.is_empty() && self.origin.open_segments == 0 && self.not_stored.gaps == 0;
        let is_whole = is_whole && self.ended_early.is_empty();
        is_whole && self.totals.complete() && self.agreement.holds()
    }

    /// Returns start and end of the captured traffic, or else of the probes.
    #[must_use]
    pub fn span_ns(&self) -> Option<(i64, i64)> {
        let mesh = self.mesh.as_ref();
        let captured = (self.totals.start_ns, self.totals.end_ns);
        match self.is_empty() {
            true => mesh.map(|mesh| (mesh.start_ns, mesh.end_ns)),
            false => Some(captured),
        }
    }
}

/// Spans that the dataset lacks because its disk was full or failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NotStored {
    /// Number of spans: events of the kind `not_stored`.
    pub gaps: u64,
    /// Their sum, in nanoseconds.
    pub span_ns: i64,
}

/// One or several consecutive windows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Period {
    /// Their sums, by the rules of the columns.
    pub sums: WindowRow,
    /// Number of windows.
    pub windows: u64,
    /// Frame rate of the peak window, in bit/s.
    pub peak_bps: f64,
    /// Packet rate of the peak window, in packets per second.
    pub peak_pps: f64,
}

impl Join for Period {
    fn join(&mut self, other: Self) {
        if self.windows == 0 {
            *self = other;
            return;
        }
        self.sums.merge(&other.sums, Over::Time);
        self.windows += other.windows;
        self.peak_bps = self.peak_bps.max(other.peak_bps);
        self.peak_pps = self.peak_pps.max(other.peak_pps);
    }
}

impl Period {
    /// Merges one window of all observers; `None` without rows. Uses the rules over time: a value that one observer
    /// measured is reported even if another did not measure it.
    pub(crate) fn of(rows: &[&WindowRow]) -> Option<Self> {
        let (first, others) = rows.split_first()?;
        let mut period = Self {
            sums: first.without_sketches(),
            windows: 1,
            ..Self::default()
        };
        for row in others {
            period.sums.merge(row, Over::Time);
        }
        for row in rows {
            let window_ns = row.window_ns.max(1) as f64;
            period.peak_bps += row.frame_bytes as f64 * 8e9 / window_ns;
            period.peak_pps += row.roce_packets as f64 * 1e9 / window_ns;
        }
        Some(period)
    }
}
