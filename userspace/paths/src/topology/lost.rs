//! What a text does not contain of a topology: it is read again.

use super::{Format, Link, Node, Topology, parse};
use std::collections::{BTreeMap, BTreeSet};

/// What reading a text does not give of the topology that it was written from, each in a line.
#[must_use]
pub fn lost(topology: &Topology, text: &str, format: Format) -> Vec<String> {
    let again = match parse(text, format, "") {
        Ok(again) => again,
        Err((_, message)) => return vec![format!("all of it: {message}")],
    };
    let mut lost = Vec::new();
    if topology.tiers != again.tiers {
        lost.push("the names of the tiers".into());
    }
    let nodes: BTreeMap<&str, &Node> = again.nodes.iter().map(|node| (&*node.name, node)).collect();
    for node in &topology.nodes {
        let Some(other) = nodes.get(&*node.name) else {
            lost.push(format!("the node {}", node.name));
            continue;
        };
        let fields = [
            ("kind", node.kind == other.kind),
            ("tier", node.tier == other.tier),
            ("addresses", node.addresses == other.addresses),
            ("ports", node.ports == other.ports),
            ("channels", node.channels == other.channels),
            ("management", node.management == other.management),
            ("driver", node.driver == other.driver),
            ("vtep", node.vtep == other.vtep),
        ];
        let missing: Vec<&str> = fields
            .iter()
            .filter(|(_, is_same)| !is_same)
            .map(|(name, _)| *name)
            .collect();
        if !missing.is_empty() {
            lost.push(format!("{} of {}", missing.join(", "), node.name));
        }
    }
    let ends = |link: &Link| link.ends.clone();
    let links: BTreeSet<_> = again.links.iter().map(ends).collect();
    for link in topology.links.iter().filter(|link| !links.contains(&link.ends)) {
        let ends: Vec<String> = link.ends.iter().map(ToString::to_string).collect();
        lost.push(format!("the link of {}", ends.join(", ")));
    }
    lost
}
