//! How much each flow outside the collective delayed its flows: equations 1 to 3 of the paper.

use crate::provenance::Graph;
use crate::steps::FlowKey;
use alloc::vec;
use alloc::vec::Vec;

/// What delayed a flow of the collective in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Delay {
    /// The flow of the collective.
    pub flow: FlowKey,
    /// Time of the last report about it.
    pub time_ns: i64,
    /// Other flows with their ratings, the highest first.
    pub contributors: Vec<(FlowKey, f64)>,
}

/// Equation 1: the contribution of a flow to a port, its own plus what spreads to it from the next ports.
///
/// Each port counts once: an edge that leads back into a circle of pauses is left out.
fn contribution(graph: &Graph, flow: FlowKey, port: usize) -> f64 {
    let mut known: Vec<Option<f64>> = vec![None; graph.ports.len()];
    let mut on_path = vec![false; graph.ports.len()];
    // The port, and its next edge to follow.
    let mut stack = vec![(port, 0)];
    on_path[port] = true;
    while let Some((at, edge)) = stack.last_mut() {
        let node = &graph.ports[*at];
        if let Some((next, _)) = node.next.get(*edge) {
            *edge += 1;
            if known[*next].is_none() && !on_path[*next] {
                on_path[*next] = true;
                stack.push((*next, 0));
            }
            continue;
        }
        let parts = node
            .next
            .iter()
            .map(|(next, weight)| known[*next].unwrap_or(0.0) * weight);
        let own = own(graph, flow, *at);
        known[*at] = Some(parts.fold(own, |sum, part| sum + part));
        on_path[*at] = false;
        stack.pop();
    }
    known[port].unwrap_or(0.0)
}

/// Weight from a port to a flow; 0 without an edge.
fn own(graph: &Graph, flow: FlowKey, port: usize) -> f64 {
    let mut edges = graph.ports[port].flows.iter();
    edges.find(|edge| edge.flow == flow).map_or(0.0, |edge| edge.port_waits)
}

/// Equation 2, for every flow of the collective in the graph: at ports where both wait, the wait for the other flow
/// replaces the other's share of the queue.
#[must_use]
pub fn delays(graph: &Graph, is_collective: impl Fn(&FlowKey) -> bool) -> Vec<Delay> {
    let flows = graph.flows();
    let mut delays = Vec::new();
    for flow in flows.iter().filter(|flow| is_collective(flow)) {
        let at = |port: &usize| graph.ports[*port].flows.iter().find(|edge| edge.flow == *flow);
        let ports: Vec<usize> = (0..graph.ports.len()).filter(|port| at(port).is_some()).collect();
        let time_ns = ports.last().map_or(0, |port| graph.ports[*port].time_ns);
        let waits: Vec<usize> = ports
            .into_iter()
            .filter(|port| at(port).is_some_and(|edge| edge.flow_waits > 0))
            .collect();
        let mut contributors = Vec::new();
        for other in flows.iter().filter(|other| !is_collective(other)) {
            let mut rating = 0.0;
            let mut is_related = false;
            for port in &waits {
                let through_port = contribution(graph, *other, *port);
                rating += through_port;
                is_related |= through_port > 0.0;
                let edge = graph.ports[*port].flows.iter().find(|edge| edge.flow == *other);
                if let Some(edge) = edge.filter(|edge| edge.flow_waits > 0) {
                    let pair = graph.ports[*port].pairs.get(&(*flow, *other));
                    rating += pair.map_or(0.0, |pair| *pair as f64) - edge.port_waits;
                }
            }
            if is_related {
                contributors.push((*other, rating));
            }
        }
        sort(&mut contributors);
        delays.push(Delay {
            flow: *flow,
            time_ns,
            contributors,
        });
    }
    delays
}

/// Sorts by rating, the highest first.
pub fn sort(contributors: &mut [(FlowKey, f64)]) {
    contributors.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}

/// Sums ratings by flow.
#[derive(Debug, Default)]
pub struct Sums {
    sums: Vec<(FlowKey, f64)>,
}

impl Sums {
    /// Adds a part of the rating of a flow.
    pub fn add(&mut self, flow: FlowKey, rating: f64) {
        match self.sums.iter_mut().find(|known| known.0 == flow) {
            Some(known) => known.1 += rating,
            None => self.sums.push((flow, rating)),
        }
    }

    /// All sums, the highest first.
    #[must_use]
    pub fn finish(mut self) -> Vec<(FlowKey, f64)> {
        sort(&mut self.sums);
        self.sums
    }
}

#[cfg(test)]
#[path = "rating_tests.rs"]
mod tests;
