//! Everything that documents are made from.

use crate::collect::{
    ConnectionFigures, EventFigures, FlowFigures, MeshFigures, OpcodeFigures, Origin, Scope, Totals,
};
use crate::series::{Join, Series};
use rocescope_model::WindowRow;

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
    /// Their sums. Of `flows` and its kin the most in one window.
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
        add_window(&mut self.sums, &other.sums);
        self.windows += other.windows;
        self.peak_bps = self.peak_bps.max(other.peak_bps);
        self.peak_pps = self.peak_pps.max(other.peak_pps);
    }
}

/// Adds the counts of a window; of flows, which windows share, keeps the most.
pub(crate) fn add_window(sum: &mut WindowRow, row: &WindowRow) {
    macro_rules! add {
        ($($field:ident),+) => {$(sum.$field = sum.$field.saturating_add(row.$field);)+};
    }
    macro_rules! add_known {
        ($($field:ident),+) => {$(
            if let Some(count) = row.$field {
                sum.$field = Some(sum.$field.unwrap_or(0).saturating_add(count));
            }
        )+};
    }
    macro_rules! most {
        ($($field:ident),+) => {$(sum.$field = sum.$field.max(row.$field);)+};
    }
    add!(
        frames,
        roce_packets,
        not_roce_frames,
        malformed_frames,
        fragment_frames,
        filtered_frames,
        snapped_frames,
        roce_v1_frames,
        frame_bytes,
        payload_bytes,
        messages,
        ecn_ce_packets,
        cnp_packets,
        nak_packets,
        rnr_nak_packets,
        unknown_opcode_packets,
        lost_packets,
        late_packets,
        jitter_events
    );
    add_known!(
        icrc_bad_packets,
        icrc_unverifiable_packets,
        mirror_lost_packets
    );
    most!(
        flows,
        estimated_flows,
        estimated_flows_stderr_ratio,
        elephant_flows,
        mouse_flows,
        boundary_slack_ns
    );
}
