//! The weights of the provenance graph, by report.

use super::flows::FlowDocument;
use crate::analysis::ReportWeights;
use crate::provenance::PortWeights;
use crate::telemetry::PortKey;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;

/// A port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PortDocument {
    /// The switch.
    pub switch: String,
    /// The port.
    pub port: String,
}

impl PortDocument {
    pub(super) fn of(key: &PortKey) -> Self {
        Self {
            switch: key.switch.to_string(),
            port: key.port.to_string(),
        }
    }
}

/// Weights of a flow at a port.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowWeightDocument {
    /// The flow.
    #[serde(flatten)]
    pub flow: FlowDocument,
    /// From the port to the flow.
    pub port_to_flow: f64,
    /// From the flow to the port.
    pub flow_to_port: u64,
}

/// Weights of a port in an epoch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PortWeightDocument {
    /// The port.
    pub port: String,
    /// `now` or `last`.
    pub epoch: &'static str,
    /// Packets that entered while it was paused.
    pub paused_packets: u64,
    /// Its flows.
    pub flows: Vec<FlowWeightDocument>,
}

/// Share of the traffic that a paused port sends on to a port.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShareDocument {
    /// The port.
    pub port: String,
    /// Its share.
    pub weight: f64,
    /// The paused port; null if the topology is unknown.
    pub upstream: Option<PortDocument>,
}

/// Weights of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportDocument {
    /// The switch.
    pub switch: String,
    /// Time of the report.
    pub time_ns: i64,
    /// Why it was made: `flow` or `pause`.
    pub trigger: &'static str,
    /// Ports in both epochs.
    pub ports: Vec<PortWeightDocument>,
    /// Where the traffic of the paused port goes.
    pub shares: Vec<ShareDocument>,
}

impl ReportDocument {
    pub(super) fn of(report: &ReportWeights) -> Self {
        let port = |port: &PortWeights, epoch| PortWeightDocument {
            port: port.port.to_string(),
            epoch,
            paused_packets: port.paused,
            flows: port
                .flows
                .iter()
                .map(|edge| FlowWeightDocument {
                    flow: FlowDocument::of(&edge.flow),
                    port_to_flow: edge.port_waits,
                    flow_to_port: edge.flow_waits,
                })
                .collect(),
        };
        let now = report.now.iter().map(|one| port(one, "now"));
        Self {
            switch: report.switch.to_string(),
            time_ns: report.time_ns,
            trigger: report.trigger.name(),
            ports: now.chain(report.last.iter().map(|one| port(one, "last"))).collect(),
            shares: report
                .shares
                .iter()
                .map(|(port, weight, upstream)| ShareDocument {
                    port: port.to_string(),
                    weight: *weight,
                    upstream: upstream.as_ref().map(PortDocument::of),
                })
                .collect(),
        }
    }
}
