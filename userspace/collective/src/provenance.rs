//! The provenance graph of a window: which flow waits at which port for which flows, and which port waits for which.
//!
//! | edge | weight |
//! |---|---|
//! | port to flow | the flow's share of the packets, times the queue: what the flow contributed to it |
//! | flow to port | packets of other flows that stood before its own ([`crate::replay`]) |
//! | port to port | share of the traffic that a paused port sends on |

use crate::steps::FlowKey;
use crate::telemetry::{PortKey, Report};
use alloc::vec::Vec;
use hashbrown::HashMap;
use rocescope_model::Text;

/// A flow at a port.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowEdge {
    /// The flow.
    pub flow: FlowKey,
    /// Weight from the port to the flow.
    pub port_waits: f64,
    /// Weight from the flow to the port.
    pub flow_waits: u64,
}

/// How long a flow waited for another at a port: packets of the second before packets of the first, summed.
pub type Pairs = HashMap<(FlowKey, FlowKey), u64>;

/// The weights of a port in an epoch of a report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PortWeights {
    /// The port.
    pub port: Text,
    /// Packets that entered while it was paused.
    pub paused: u64,
    /// Its flows.
    pub flows: Vec<FlowEdge>,
    /// Flows that waited for each other.
    pub pairs: Pairs,
}

/// Shares of the traffic from the metered ingress port of a report that its egress ports have: the port, the share, and
/// the upstream port. The denominator is the sum over the egress ports of this report.
#[must_use]
pub fn egress_shares(report: &Report) -> Vec<(Text, f64, Option<PortKey>)> {
    let metered = || {
        report
            .now
            .iter()
            .filter_map(|port| Some((port, port.metered.as_ref()?)))
    };
    let total: u64 = metered().map(|(_, (.., bytes))| bytes).sum();
    metered()
        .map(|(port, (_, peer, bytes))| {
            let share = if total == 0 { 0.0 } else { *bytes as f64 / total as f64 };
            (port.port.clone(), share, peer.port.clone())
        })
        .collect()
}

/// A port in the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct PortNode {
    /// The port.
    pub key: PortKey,
    /// Time of its last report in the window.
    pub time_ns: i64,
    /// Its flows.
    pub flows: Vec<FlowEdge>,
    /// Flows that waited for each other.
    pub pairs: Pairs,
    /// Ports along which ratings spread, as indices, with the weight.
    pub next: Vec<(usize, f64)>,
}

/// The graph of a window or of a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    /// Its ports.
    pub ports: Vec<PortNode>,
    index: HashMap<PortKey, usize>,
}

impl Graph {
    /// The index of a port, which is added if it is new.
    pub fn port(&mut self, key: &PortKey, time_ns: i64) -> usize {
        if let Some(at) = self.index.get(key) {
            return *at;
        }
        self.ports.push(PortNode {
            key: key.clone(),
            time_ns,
            flows: Vec::new(),
            pairs: Pairs::new(),
            next: Vec::new(),
        });
        self.index.insert(key.clone(), self.ports.len() - 1);
        self.ports.len() - 1
    }

    /// Flows of the graph in the order of their first port.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowKey> {
        let mut flows = Vec::new();
        for edge in self.ports.iter().flat_map(|port| &port.flows) {
            if !flows.contains(&edge.flow) {
                flows.push(edge.flow);
            }
        }
        flows
    }
}
