//! The tables, one file each, and the rows of a finished window: [`WindowRows`] of captured traffic, [`MeshRows`] of
//! probes.

mod changes;
mod connection_owners;
mod connections;
mod counters;
mod events;
mod flow_paths;
mod flows;
mod groups;
mod host_ports;
mod host_verdicts;
mod incident_notes;
mod incidents;
mod link_loads;
mod links;
mod loopback;
mod opcodes;
mod pairs;
mod paths;
mod pdcs;
mod probes;
mod queue_pairs;
mod runs;
mod sla;
mod small_flows;
mod spread;
mod step_probes;
mod steps;
mod switch_drops;
mod switch_ports;
mod telemetry;
mod verdicts;
mod windows;

pub use changes::ChangeRow;
pub use connection_owners::{ConnectionOwnersRow, OWNED_CONNECTIONS, OwnedConnections};
pub use connections::ConnectionRow;
pub use counters::CounterRow;
pub use events::EventRow;
pub use flow_paths::FlowPathRow;
pub use flows::FlowRow;
pub use groups::GroupRow;
pub use host_ports::HostPortRow;
pub use host_verdicts::HostVerdictRow;
pub use incident_notes::IncidentNoteRow;
pub use incidents::IncidentRow;
pub use link_loads::LinkLoadRow;
pub use links::LinkRow;
pub use loopback::LoopbackRow;
pub use opcodes::OpcodeRow;
pub use pairs::PairRow;
pub use paths::PathRow;
pub use pdcs::PdcRow;
pub use probes::ProbeRow;
pub use queue_pairs::QueuePairRow;
pub use runs::RunRow;
pub use sla::SlaRow;
pub use small_flows::SmallFlowRow;
pub use spread::SpreadRow;
pub use step_probes::StepProbeRow;
pub use steps::StepRow;
pub use switch_drops::SwitchDropRow;
pub use switch_ports::SwitchPortRow;
pub use telemetry::TelemetryRow;
pub use verdicts::VerdictRow;
pub use windows::WindowRow;

use crate::{Cells, Row, Table};
use alloc::vec::Vec;

/// Every table of the dataset.
pub const TABLES: &[&Table] = &[
    WindowRow::TABLE,
    FlowRow::TABLE,
    OpcodeRow::TABLE,
    EventRow::TABLE,
    ConnectionRow::TABLE,
    PdcRow::TABLE,
    SpreadRow::TABLE,
    ProbeRow::TABLE,
    PathRow::TABLE,
    SlaRow::TABLE,
    VerdictRow::TABLE,
    LinkRow::TABLE,
    CounterRow::TABLE,
    QueuePairRow::TABLE,
    FlowPathRow::TABLE,
    LinkLoadRow::TABLE,
    HostVerdictRow::TABLE,
    IncidentRow::TABLE,
    IncidentNoteRow::TABLE,
    LoopbackRow::TABLE,
    SmallFlowRow::TABLE,
    StepRow::TABLE,
    StepProbeRow::TABLE,
    TelemetryRow::TABLE,
    RunRow::TABLE,
    SwitchPortRow::TABLE,
    SwitchDropRow::TABLE,
];

/// The tables that every capture writes.
pub const CAPTURE_TABLES: &[&Table] = &[
    WindowRow::TABLE,
    FlowRow::TABLE,
    OpcodeRow::TABLE,
    EventRow::TABLE,
    ConnectionRow::TABLE,
    PdcRow::TABLE,
    SpreadRow::TABLE,
];

/// The tables that a capture writes if it is asked for the steps of collectives.
pub const STEP_CAPTURE_TABLES: &[&Table] = &[
    WindowRow::TABLE,
    FlowRow::TABLE,
    OpcodeRow::TABLE,
    EventRow::TABLE,
    ConnectionRow::TABLE,
    PdcRow::TABLE,
    SpreadRow::TABLE,
    StepRow::TABLE,
];

/// The queue pair number of the first NIC in the probes of an agent; the other NICs follow.
pub const FIRST_PROBE_QPN: u32 = 0x72_7000;

/// The payload of a probe that leaves over a queue pair, whose number may be any: no whole number of words, which few other
/// datagrams have.
pub const PROBE_PAYLOAD_BYTES: u64 = 50;

/// The tables that a probing agent writes.
pub const PROBE_TABLES: &[&Table] = &[ProbeRow::TABLE, PathRow::TABLE];

/// The tables of an agent that probes and measures RDMA operations.
pub const OPERATION_TABLES: &[&Table] = &[ProbeRow::TABLE, PathRow::TABLE, CounterRow::TABLE];

/// The tables that the counters of a host are written to.
pub const COUNTER_TABLES: &[&Table] = &[CounterRow::TABLE];

/// The tables that the counters and the queue pairs of a host are written to.
pub const QUEUE_PAIR_TABLES: &[&Table] = &[CounterRow::TABLE, QueuePairRow::TABLE];

/// The tables that agents send to a collector.
pub const AGENT_TABLES: &[&Table] = &[
    ProbeRow::TABLE,
    PathRow::TABLE,
    CounterRow::TABLE,
    SmallFlowRow::TABLE,
    LoopbackRow::TABLE,
    StepRow::TABLE,
    StepProbeRow::TABLE,
];

/// The tables that loopback tests inside a host are written to.
pub const LOOPBACK_TABLES: &[&Table] = &[LoopbackRow::TABLE];

/// The tables that steps of collectives and telemetry of switches are written to.
pub const COLLECTIVE_TABLES: &[&Table] = &[StepRow::TABLE, TelemetryRow::TABLE];

/// The tables that a job under `rocescope run` is always written to.
pub const RUN_TABLES: &[&Table] = &[RunRow::TABLE];

/// The tables that counters and drops of switches are written to.
pub const SWITCH_TABLES: &[&Table] = &[SwitchPortRow::TABLE, SwitchDropRow::TABLE];

/// The tables that the analysis of probes writes.
pub const DIAGNOSIS_TABLES: &[&Table] = &[SlaRow::TABLE, VerdictRow::TABLE, LinkRow::TABLE];

/// The tables that a run of path discovery writes.
pub const FLOW_PATH_TABLES: &[&Table] = &[FlowPathRow::TABLE, LinkLoadRow::TABLE];

/// The tables that the loads of links are written to.
pub const LINK_LOAD_TABLES: &[&Table] = &[LinkLoadRow::TABLE];

/// The tables that the join of all analyses writes.
pub const INCIDENT_TABLES: &[&Table] = &[IncidentRow::TABLE];

/// The tables that notes about incidents are written to.
pub const INCIDENT_NOTE_TABLES: &[&Table] = &[IncidentNoteRow::TABLE];

/// The tables that the analysis of hosts writes.
pub const HOST_DIAGNOSIS_TABLES: &[&Table] = &[HostVerdictRow::TABLE];

/// Tables that are computed from others when they are read; the dataset does not store them.
pub const DERIVED_TABLES: &[&Table] = &[
    GroupRow::TABLE,
    PairRow::TABLE,
    HostPortRow::TABLE,
    ConnectionOwnersRow::TABLE,
];

/// Returns the stored table of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name).copied()
}

/// All rows that one finished window, or several in order, adds to the dataset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowRows {
    /// Totals: one row for each window.
    pub windows: Vec<WindowRow>,
    /// Top flows of the windows.
    pub flows: Vec<FlowRow>,
    /// Opcodes seen in the windows.
    pub opcodes: Vec<OpcodeRow>,
    /// Events of the windows.
    pub events: Vec<EventRow>,
    /// Directions of connections that ended or whose periodic row is due.
    pub connections: Vec<ConnectionRow>,
    /// Directions of UET's packet delivery contexts.
    pub pdcs: Vec<PdcRow>,
    /// UDP source ports of sprayed directions in the windows.
    pub spread: Vec<SpreadRow>,
    /// Steps of collectives that completed, if they are asked for.
    pub steps: Vec<StepRow>,
    /// The smallest flows of the windows, if they are asked for: for the controller, not for the dataset.
    pub small_flows: Vec<FlowRow>,
}

impl WindowRows {
    /// The rows by table. `windows` comes last: a store that writes in this order writes that row only after all other
    /// rows of the window.
    #[must_use]
    pub fn tables(&self) -> [&dyn Cells; 8] {
        [
            &self.flows,
            &self.opcodes,
            &self.events,
            &self.connections,
            &self.pdcs,
            &self.spread,
            &self.steps,
            &self.windows,
        ]
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables().iter().all(|cells| cells.rows() == 0)
    }

    /// Moves all rows of `other` behind these.
    pub fn append(&mut self, other: &mut Self) {
        self.windows.append(&mut other.windows);
        self.flows.append(&mut other.flows);
        self.opcodes.append(&mut other.opcodes);
        self.events.append(&mut other.events);
        self.connections.append(&mut other.connections);
        self.pdcs.append(&mut other.pdcs);
        self.spread.append(&mut other.spread);
        self.steps.append(&mut other.steps);
        self.small_flows.append(&mut other.small_flows);
    }

    /// Removes all rows and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.windows.clear();
        self.flows.clear();
        self.opcodes.clear();
        self.events.clear();
        self.connections.clear();
        self.pdcs.clear();
        self.spread.clear();
        self.steps.clear();
        self.small_flows.clear();
    }

    #[cfg(test)]
    pub(crate) fn one_default_row_each() -> Self {
        Self {
            windows: alloc::vec![WindowRow::default()],
            flows: alloc::vec![FlowRow::default()],
            opcodes: alloc::vec![OpcodeRow::default()],
            events: alloc::vec![EventRow::default()],
            connections: alloc::vec![ConnectionRow::default()],
            pdcs: alloc::vec![PdcRow::default()],
            spread: alloc::vec![SpreadRow::default()],
            steps: alloc::vec![StepRow::default()],
            small_flows: Vec::new(),
        }
    }
}

/// The state of the mesh of probes in a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeshRows {
    /// Start of the window, in nanoseconds since 1970.
    pub start_ns: i64,
    /// Length of the window in nanoseconds.
    pub window_ns: i64,
    /// All pairs of NICs that were probed.
    pub pairs: Vec<PairRow>,
    /// The row of `sla`; empty if the window was not analyzed.
    pub sla: Vec<SlaRow>,
    /// The verdicts of the window.
    pub verdicts: Vec<VerdictRow>,
    /// The discovered links.
    pub links: Vec<LinkRow>,
}

impl MeshRows {
    /// The rows by table.
    #[must_use]
    pub fn tables(&self) -> [&dyn Cells; 4] {
        [&self.pairs, &self.sla, &self.verdicts, &self.links]
    }
}

#[cfg(test)]
mod tests {
    use super::{TABLES, WindowRows, find};

    #[test]
    fn the_totals_are_written_last() {
        let rows = WindowRows::default();
        assert!(rows.is_empty());
        let last = rows.tables().last().unwrap().table().name;
        assert_eq!(last, "windows");
    }

    #[test]
    fn tables_are_found_by_name() {
        assert!(TABLES.iter().all(|table| find(table.name) == Some(table)));
        assert_eq!(find("windowz"), None);
    }
}
