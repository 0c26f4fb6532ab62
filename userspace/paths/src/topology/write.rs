//! A topology as TOML or DOT.

use super::{NodeKind, Topology};
use rocescope_model::human::is_visible;
use std::fmt::Write;

/// A TOML string: the escapes of JSON are among those of TOML. Other characters that control a terminal have one too.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in serde_json::Value::from(text).to_string().chars() {
        match is_visible(c) {
            true => out.push(c),
            false => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
        }
    }
    out
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
        if let Some(vtep) = node.vtep {
            let _ = writeln!(out, "vtep = \"{vtep}\"");
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

/// Names in an attribute of DOT: separated by commas, with `%2c` for those in a name.
fn joined(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
    names.join(",")
}

fn escaped(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '%' | ',' | ';' | '=' => {
                let _ = write!(out, "%{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// The name that [`escaped`] wrote.
pub(super) fn unescaped(text: &str) -> String {
    [("%2c", ","), ("%3b", ";"), ("%3d", "="), ("%25", "%")]
        .into_iter()
        .fold(text.to_owned(), |text, (code, c)| text.replace(code, c))
}

/// Graphviz DOT, as PTM reads it; what PTM does not know is in further attributes.
#[must_use]
pub fn to_dot(topology: &Topology) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\\\""));
    let mut out = String::from("graph G {\n");
    if !topology.tiers.is_empty() {
        let _ = writeln!(out, "    tiers={};", quoted(&joined(&topology.tiers)));
    }
    for node in &topology.nodes {
        let role = match node.kind {
            Some(NodeKind::Host) => Some("host"),
            _ => node.tier.as_deref(),
        };
        let kind = node.kind.filter(|kind| *kind == NodeKind::Switch).map(|_| "switch");
        let addresses: Vec<String> = node.addresses.iter().map(ToString::to_string).collect();
        let channels = node.channels.iter();
        let channels: Vec<String> = channels
            .map(|(name, members)| format!("{}={}", escaped(name), joined(members)))
            .collect();
        let attributes = [
            ("role", role.map(str::to_owned)),
            ("kind", kind.map(str::to_owned)),
            ("tier", node.tier.clone()),
            ("mgmt_ip", node.management.clone()),
            ("driver", node.driver.clone()),
            ("addresses", (!addresses.is_empty()).then(|| addresses.join(","))),
            ("vtep", node.vtep.map(|vtep| vtep.to_string())),
            ("ports", node.ports.as_deref().map(joined)),
            ("channels", (!channels.is_empty()).then(|| channels.join(";"))),
        ];
        let attributes = attributes
            .iter()
            .filter_map(|(key, value)| Some(format!("{key}={}", quoted(value.as_deref()?))));
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
