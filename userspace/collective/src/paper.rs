//! The provenance graph as the paper defines it.

use crate::provenance::{FlowEdge, Graph, Pairs, PortWeights};
use crate::replay::{Entry, replay};
use crate::steps::FlowKey;
use crate::telemetry::{FlowCounters, PortCounters, PortKey, Report, Trigger};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Length of an epoch of the switches.
const EPOCH_NS: i64 = 1_000_000;

/// The weights of a port in an epoch: the entries of a flow are one, and the depth is what its packets found on average,
/// rounded. Packets that entered while the port was paused have no depth of their own and count with that of the others.
#[must_use]
pub fn weights(port: &PortCounters) -> PortWeights {
    let mut flows: Vec<FlowCounters> = Vec::new();
    for entry in &port.flows {
        match flows.iter_mut().find(|known| known.flow == entry.flow) {
            Some(known) => {
                known.packets += entry.packets;
                known.queued += entry.queued;
                known.paused += entry.paused;
            }
            None => flows.push(*entry),
        }
    }
    let entries: Vec<Entry> = flows
        .iter()
        .map(|flow| {
            let counted = flow.packets.saturating_sub(flow.paused);
            Entry {
                packets: flow.packets,
                depth: (flow.queued + counted / 2).checked_div(counted).unwrap_or(0),
            }
        })
        .collect();
    let before = replay(&entries);
    let mut pairs = Pairs::new();
    let mut edges = Vec::new();
    for (at, flow) in flows.iter().enumerate() {
        let mut waits = 0;
        for (other, its) in flows.iter().enumerate().filter(|(other, _)| *other != at) {
            pairs.insert((flow.flow, its.flow), before[at][other]);
            waits += before[at][other];
        }
        let share = match port.packets {
            0 => 0.0,
            packets => flow.packets as f64 / packets as f64,
        };
        edges.push(FlowEdge {
            flow: flow.flow,
            port_waits: share * port.queued as f64,
            flow_waits: waits,
        });
    }
    PortWeights {
        port: port.port.clone(),
        paused: port.paused,
        flows: edges,
        pairs,
    }
}

/// The epochs of a port that are to be counted, each once.
#[derive(Default)]
struct Epoch<'a> {
    time_ns: i64,
    now: Option<&'a PortCounters>,
    last: Option<&'a PortCounters>,
}

/// The reports of each port, without those about an epoch that a later report has in full.
fn epochs<'a>(reports: &[&'a Report]) -> Vec<(PortKey, Vec<Epoch<'a>>)> {
    let mut all: Vec<(PortKey, Vec<Epoch<'a>>)> = Vec::new();
    let mut index: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for report in reports {
        let mut add = |port: &'a PortCounters, is_now: bool| {
            let at = *index.entry((&report.switch, &port.port)).or_insert_with(|| {
                let key = PortKey {
                    switch: report.switch.clone(),
                    port: port.port.clone(),
                };
                all.push((key, Vec::new()));
                all.len() - 1
            });
            let epochs = &mut all[at].1;
            if epochs.last().is_none_or(|epoch| epoch.time_ns != report.time_ns) {
                if let Some(before) = epochs.last_mut() {
                    let since_ns = report.time_ns.saturating_sub(before.time_ns);
                    if since_ns < EPOCH_NS {
                        epochs.pop();
                    } else if since_ns < 2 * EPOCH_NS {
                        before.now = None;
                    }
                }
                epochs.push(Epoch {
                    time_ns: report.time_ns,
                    ..Epoch::default()
                });
            }
            if let Some(epoch) = epochs.last_mut() {
                let side = if is_now { &mut epoch.now } else { &mut epoch.last };
                *side = Some(port);
            }
        };
        for port in &report.now {
            add(port, true);
        }
        for port in &report.last {
            add(port, false);
        }
    }
    all
}

/// The graph of reports: all that a window or a step has, in the order of their times at each switch.
#[must_use]
pub fn graph(reports: &[&Report]) -> Graph {
    let mut graph = Graph::default();
    for (key, epochs) in epochs(reports) {
        let at = graph.port(&key, 0);
        let node = &mut graph.ports[at];
        for epoch in epochs {
            node.time_ns = node.time_ns.max(epoch.time_ns);
            for port in [epoch.last, epoch.now].into_iter().flatten() {
                add(&mut node.flows, &mut node.pairs, weights(port));
            }
        }
        node.flows.retain(|edge| edge.port_waits > 0.0);
    }
    for (from, to, weight) in shares(reports) {
        let to = graph.port(&to, 0);
        let from = graph.port(&from, 0);
        graph.ports[from].next.push((to, weight));
    }
    graph
}

fn add(flows: &mut Vec<FlowEdge>, pairs: &mut Pairs, weights: PortWeights) {
    for edge in weights.flows {
        match flows.iter_mut().find(|known| known.flow == edge.flow) {
            Some(known) => {
                known.port_waits += edge.port_waits;
                known.flow_waits += edge.flow_waits;
            }
            None => flows.push(edge),
        }
    }
    for (pair, waits) in weights.pairs {
        *pairs.entry(pair).or_default() += waits;
    }
}

/// Traffic from an upstream port, through an ingress port, to an egress port.
struct Meter {
    from: PortKey,
    to: PortKey,
    bytes: f64,
}

/// Edges from paused ports to the ports that they wait for, with their weights: the part of the traffic into the port
/// downstream that comes from the paused port.
fn shares(reports: &[&Report]) -> Vec<(PortKey, PortKey, f64)> {
    let mut meters: Vec<Meter> = Vec::new();
    for report in reports.iter().filter(|report| report.trigger == Trigger::Pause) {
        for port in &report.now {
            let Some((_, peer, bytes)) = &port.metered else {
                continue;
            };
            let Some(from) = &peer.port else { continue };
            let to = PortKey {
                switch: report.switch.clone(),
                port: port.port.clone(),
            };
            match meters.iter_mut().find(|meter| meter.from == *from && meter.to == to) {
                Some(meter) => meter.bytes += *bytes as f64,
                None => meters.push(Meter {
                    from: from.clone(),
                    to,
                    bytes: *bytes as f64,
                }),
            }
        }
    }
    let weight = |meter: &Meter| {
        let into = meters.iter().filter(|other| other.to == meter.to);
        let all: f64 = into.map(|other| other.bytes).sum();
        if all > 0.0 { meter.bytes / all } else { 0.0 }
    };
    let mut edges: Vec<(PortKey, PortKey, f64)> = meters
        .iter()
        .map(|meter| (meter.from.clone(), meter.to.clone(), weight(meter)))
        .collect();
    edges.retain(|(.., weight)| *weight > 0.0);
    edges.sort_by(|a, b| match a.0.compare(&b.0) {
        Ordering::Equal => a.1.compare(&b.1),
        order => order,
    });
    edges
}

/// Whether a flow waits at a port: the edge from the flow to the port exists.
#[must_use]
pub fn waits(edges: &[FlowEdge], flow: &FlowKey) -> bool {
    edges.iter().any(|edge| edge.flow == *flow && edge.flow_waits > 0)
}

/// The reports within a time.
#[must_use]
pub fn within(reports: &[Report], from_ns: i64, to_ns: i64) -> Vec<&Report> {
    let within = |report: &&Report| (from_ns..=to_ns).contains(&report.time_ns);
    reports.iter().filter(within).collect()
}

#[cfg(test)]
#[path = "paper_tests.rs"]
mod tests;
