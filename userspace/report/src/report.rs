//! Everything that documents are made from.

use crate::collect::{
    ConnectionFigures, EventFigures, FlowFigures, MeshFigures, OpcodeFigures, Origin, Scope, Totals,
};
use crate::series::{Join, Series};
use rocescope_model::{Over, Row, WindowRow};

/// A dataset, or the chosen part of it, summed up.
#[derive(Debug)]
pub struct Report {
    /// Where the rows came from.
    pub origin: Origin,
    /// What was asked for.
    pub scope: Scope,
    /// Capture points that rows name, in the order of their names.
    pub observers: Vec<String>,
    /// What a reader must know before believing the figures, a sentence each.
    pub notes: Vec<String>,
    /// Sums over all windows.
    pub totals: Totals,
    /// Windows over time.
    pub series: Series<Period>,
    /// The opcode mix.
    pub opcodes: OpcodeFigures,
    /// The top flows.
    pub flows: FlowFigures,
    /// Queue pairs.
    pub connections: ConnectionFigures,
    /// What happened.
    pub events: EventFigures,
    /// The mesh of probes; none where the dataset has no table of it.
    pub mesh: Option<MeshFigures>,
}

impl Report {
    /// Whether there is not one window of captured traffic.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.totals.windows == 0
    }

    /// First and last nanosecond of what was captured, or else of what was probed.
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

/// One or several windows that follow each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Period {
    /// Their sums, by the rules of the columns.
    pub sums: WindowRow,
    /// How many.
    pub windows: u64,
    /// Frame bits a second of the window with most.
    pub peak_bps: f64,
    /// RoCE packets a second of the window with most.
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
    /// One window, as all of its capture points saw it together; none without rows. They add up as over
    /// time: what one point measured deserves its sentence, though another did not measure it.
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
