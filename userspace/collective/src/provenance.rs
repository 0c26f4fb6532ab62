//! The provenance graph of a window: which flow waits at which port for which flows, and which port waits for which.
//!
//! | edge | weight |
//! |---|---|
//! | port to flow | the flow's share of the packets, times the queue: what the flow contributed to it |
//! | flow to port | packets of other flows that stood before its own ([`replay`]) |
//! | port to port | share of the traffic that a paused port sends on |

use crate::replay::{Entry, replay};
use crate::steps::FlowKey;
use crate::telemetry::{PortCounters, PortKey, Report};
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

/// The weights of a port as the authors' program computes them.
///
/// Each entry of a flow is replayed by itself, and later entries of a flow replace what earlier ones found; the waits of
/// a flow are summed over all pairs of entries. The depth is that of packets that were not paused, cut to a whole number.
#[must_use]
pub fn authors_weights(port: &PortCounters) -> PortWeights {
    let entries: Vec<Entry> = port
        .flows
        .iter()
        .map(|flow| Entry {
            packets: flow.packets,
            depth: flow
                .queued
                .checked_div(flow.packets.saturating_sub(flow.paused))
                .unwrap_or(0),
        })
        .collect();
    let before = replay(&entries);
    let mut pairs = Pairs::new();
    let others = |at: usize| {
        let flow = port.flows[at].flow;
        (0..port.flows.len()).filter(move |other| port.flows[*other].flow != flow)
    };
    for (at, entry) in port.flows.iter().enumerate() {
        for other in others(at) {
            pairs.insert((entry.flow, port.flows[other].flow), before[at][other]);
        }
    }
    let mut flows: Vec<FlowEdge> = Vec::new();
    for (at, entry) in port.flows.iter().enumerate() {
        let share = entry.packets as f64 / port.packets as f64;
        let port_waits = if port.packets == 0 {
            0.0
        } else {
            share * port.queued as f64
        };
        let waits = others(at).map(|other| pairs[&(entry.flow, port.flows[other].flow)]);
        let flow_waits = waits.sum::<u64>();
        match flows.iter_mut().find(|known| known.flow == entry.flow) {
            Some(known) => {
                known.port_waits = port_waits;
                known.flow_waits += flow_waits;
            }
            None => flows.push(FlowEdge {
                flow: entry.flow,
                port_waits,
                flow_waits,
            }),
        }
    }
    PortWeights {
        port: port.port.clone(),
        paused: port.paused,
        flows,
        pairs,
    }
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

    /// The graph of the reports of a window as the authors' program makes it.
    ///
    /// Edges come from the current epoch. Which flow waited for which is overwritten by the epoch before, if the two flows
    /// met in it. Between ports the edge leads from the port that caused the pause to the port that was paused: ratings
    /// gain from the paused port, not from its cause.
    #[must_use]
    pub fn authors<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Self {
        let mut graph = Self::default();
        let mut edges = Vec::new();
        for report in reports {
            let key = |port: &Text| PortKey {
                switch: report.switch.clone(),
                port: port.clone(),
            };
            for (ports, is_now) in [(&report.now, true), (&report.last, false)] {
                for port in ports {
                    let weights = authors_weights(port);
                    let at = graph.port(&key(&port.port), report.time_ns);
                    let node = &mut graph.ports[at];
                    if is_now {
                        node.flows = weights.flows.into_iter().filter(|edge| edge.port_waits > 0.0).collect();
                    }
                    node.pairs.extend(weights.pairs);
                }
            }
            for (port, share, upstream) in egress_shares(report) {
                edges.extend(upstream.map(|upstream| (key(&port), upstream, share, report.time_ns)));
            }
        }
        // Ports of a report come before ports that only others name.
        for (paused_by, paused, share, time_ns) in edges {
            let from = graph.port(&paused_by, time_ns);
            let to = graph.port(&paused, time_ns);
            graph.ports[from].next.push((to, share));
        }
        graph
    }
}
