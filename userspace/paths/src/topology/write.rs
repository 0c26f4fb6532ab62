//! A topology as TOML or DOT.

use super::{NodeKind, Topology};
use std::fmt::Write;

/// A TOML string: the escapes of JSON are among those of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// rocescope's own format.
#[must_use]
pub fn to_toml(topology: &Topology) -> String {
    let mut out = String::new();
    let list = |items: &[String]| {
        let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
        format!("[{}]", items.join(", "))
    };
    // Writing to a string cannot fail.
    if !topology.tiers.is_empty() {
        let _ = writeln!(out, "tiers = {}\n", list(&topology.tiers));
    }
    for node in &topology.nodes {
        let _ = writeln!(out, "[[node]]\nname = {}", quoted(&node.name));
        if let Some(kind) = node.kind {
            let kind = match kind {
                NodeKind::Switch => "switch",
                NodeKind::Host => "host",
            };
            let _ = writeln!(out, "kind = \"{kind}\"");
        }
        for (key, value) in [
            ("tier", &node.tier),
            ("management", &node.management),
            ("driver", &node.driver),
        ] {
            if let Some(value) = value {
                let _ = writeln!(out, "{key} = {}", quoted(value));
            }
        }
        if !node.addresses.is_empty() {
            let addresses: Vec<String> = node.addresses.iter().map(ToString::to_string).collect();
            let _ = writeln!(out, "addresses = {}", list(&addresses));
        }
        if let Some(ports) = &node.ports {
            let _ = writeln!(out, "ports = {}", list(ports));
        }
        if !node.channels.is_empty() {
            let channels = node
                .channels
                .iter()
                .map(|(name, members)| format!("{} = {}", quoted(name), list(members)));
            let _ = writeln!(out, "channels = {{ {} }}", channels.collect::<Vec<String>>().join(", "));
        }
        out.push('\n');
    }
    for link in &topology.links {
        let ends: Vec<String> = link.ends.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "[[link]]\nends = {}\n", list(&ends));
    }
    out
}

/// Graphviz DOT, as PTM reads it.
#[must_use]
pub fn to_dot(topology: &Topology) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\\\""));
    let mut out = String::from("graph G {\n");
    for node in &topology.nodes {
        let role = match node.kind {
            Some(NodeKind::Host) => Some("host"),
            _ => node.tier.as_deref(),
        };
        let attributes = [
            ("role", role),
            ("mgmt_ip", node.management.as_deref()),
            ("driver", node.driver.as_deref()),
        ];
        let attributes = attributes
            .iter()
            .filter_map(|(key, value)| Some(format!("{key}={}", quoted((*value)?))));
        let attributes: Vec<String> = attributes.collect();
        let _ = match attributes.is_empty() {
            true => writeln!(out, "    {};", quoted(&node.name)),
            false => writeln!(out, "    {} [{}];", quoted(&node.name), attributes.join(", ")),
        };
    }
    for link in &topology.links {
        if let [a, b] = &link.ends[..] {
            let end = |port: &super::Port| format!("{}:{}", quoted(&port.node), quoted(&port.port));
            let _ = writeln!(out, "    {} -- {};", end(a), end(b));
        }
    }
    out.push_str("}\n");
    out
}
