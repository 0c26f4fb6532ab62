//! Neighbors as `lldpcli -f json show neighbors details` prints them, or `-f json0`.
//!
//! The plain format collapses a list of one element to the element, and puts names into keys. A report does not contain
//! the name of the node that printed it: the name of its file is that name.

mod aliases;

use super::check::Contradiction;
use super::line::LineError;
use super::{Link, Node, NodeKind, Port, Topology, management};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The neighbors of one node.
#[derive(Debug)]
pub(super) struct Report {
    node: String,
    neighbors: Vec<Neighbor>,
    /// Ports whose neighbor states no name or no port.
    nameless: Vec<String>,
}

#[derive(Debug)]
struct Neighbor {
    port: String,
    far: Port,
    /// The port of the neighbor is named by an alias: `SONiC` announces that in place of the name that its own report has.
    is_alias: bool,
    /// The description of that port: on `SONiC` its name, unless an operator described it.
    description: Option<String>,
    management: Option<String>,
    is_host: bool,
}

impl Report {
    pub(super) fn parse(node: &str, text: &str) -> Result<Self, LineError> {
        let document: Value = serde_json::from_str(text).map_err(|error| (Some(error.line()), error.to_string()))?;
        let lldp = document.get("lldp");
        let lldp = lldp.ok_or_else(|| {
            (
                None,
                "no `lldp`: print it with `lldpcli -f json show neighbors details`".into(),
            )
        })?;
        let mut report = Self {
            node: node.into(),
            neighbors: Vec::new(),
            nameless: Vec::new(),
        };
        for part in list(lldp) {
            for entry in part.get("interface").map_or(&[][..], list) {
                for (port, interface) in named(entry) {
                    match neighbor(port, interface) {
                        Some(neighbor) => report.neighbors.push(neighbor),
                        None => report.nameless.push(port.into()),
                    }
                }
            }
        }
        Ok(report)
    }
}

/// A list, or its only element.
fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(list) => list,
        other => std::slice::from_ref(other),
    }
}

/// The named objects in an entry: `{"name": "eth0", …}`, or `{"eth0": {…}}`.
fn named(entry: &Value) -> Vec<(&str, &Value)> {
    match entry {
        Value::Object(map) => match map.get("name").and_then(text) {
            Some(name) => vec![(name, entry)],
            None => map.iter().map(|(name, value)| (&**name, value)).collect(),
        },
        _ => Vec::new(),
    }
}

/// A text, or the text of its only element: `"a"`, `{"value": "a"}`, `[{"value": "a"}]`.
fn text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(list) => list.first().and_then(text),
        Value::Object(map) => map.get("value").and_then(text),
        _ => None,
    }
}

fn neighbor(port: &str, interface: &Value) -> Option<Neighbor> {
    let chassis = list(interface.get("chassis")?).first()?;
    let id_name;
    let (name, chassis) = match (chassis.get("name").and_then(text), chassis.get("id")) {
        (Some(name), _) => (name, chassis),
        // Without a system name, the identifier names it, without the colons that end the name of a node.
        (None, Some(id)) => {
            id_name = text(id)?.replace(':', "-");
            (&*id_name, chassis)
        }
        // Plain JSON has the system name as a key.
        (None, None) => named(chassis).into_iter().find(|(_, value)| value.is_object())?,
    };
    let far = list(interface.get("port")?).first()?;
    let id = list(far.get("id")?).first()?;
    let kind = id.get("type").and_then(text).unwrap_or_default();
    let is_name = matches!(kind, "ifname" | "local");
    let description = far.get("descr").and_then(text);
    let far_port = match is_name {
        true => text(id),
        false => description.or_else(|| text(id)),
    }?;
    let capabilities = chassis.get("capability").map_or(&[][..], list);
    let enabled = |name: &str| {
        capabilities.iter().any(|entry| {
            let on = entry.get("enabled").is_some_and(|on| on.as_bool() == Some(true));
            entry.get("type").and_then(text) == Some(name) && on
        })
    };
    Some(Neighbor {
        port: port.into(),
        far: Port {
            node: name.into(),
            port: far_port.into(),
        },
        is_alias: kind == "local",
        description: description.map(str::to_owned),
        management: chassis.get("mgmt-ip").and_then(text).map(str::to_owned),
        is_host: enabled("Station") && !enabled("Bridge") && !enabled("Router"),
    })
}

/// Joins the reports of several nodes. A link between two nodes that both reported must be in both reports.
pub(super) fn topology(reports: &[Report]) -> Topology {
    let mut topology = Topology::default();
    let reporting: BTreeSet<&str> = reports.iter().map(|report| &*report.node).collect();
    let mut seen: BTreeSet<(Port, Port)> = BTreeSet::new();
    let mut details: BTreeMap<&str, &Neighbor> = BTreeMap::new();
    let joined = aliases::join(reports);
    for report in reports {
        if let [first, ..] = &report.nameless[..] {
            let (name, count) = (&report.node, report.nameless.len());
            let neighbors = if count == 1 { "neighbor" } else { "neighbors" };
            let message = format!(
                "{name} has {count} {neighbors} that LLDP gives no name or port of, left out (the first at {name}:{first})"
            );
            topology
                .notes
                .push(Contradiction::new(None, "neighbor_without_name", message));
        }
        for (at, neighbor) in report.neighbors.iter().enumerate() {
            let near = Port {
                node: report.node.clone(),
                port: neighbor.port.clone(),
            };
            details.entry(&neighbor.far.node).or_insert(neighbor);
            let far = joined.get(&(&*report.node, at)).unwrap_or(&neighbor.far);
            seen.insert((near, far.clone()));
        }
    }
    let is_both = |near: &Port, far: &Port| seen.contains(&(far.clone(), near.clone()));
    let once = seen.iter().filter(|(near, far)| near <= far || !is_both(near, far));
    let links: Vec<Link> = once
        .map(|(near, far)| Link {
            ends: vec![near.clone(), far.clone()],
            line: None,
        })
        .collect();
    let management = management::find(&links);
    for (place, link) in links.into_iter().enumerate() {
        if management.links.contains(&place) {
            topology.management.push(link);
            continue;
        }
        if let [near, far] = &link.ends[..]
            && !is_both(near, far)
            && reporting.contains(&*far.node)
        {
            topology.notes.push(Contradiction::new(
                None,
                "one_side",
                format!("{near} sees {far}, but {far} does not see {near}: read both reports again"),
            ));
        }
        topology.links.push(link);
    }
    let mut hinted: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (near, far) in &seen {
        let alike = reporting.iter().filter(|name| label(name) == label(&far.node));
        for name in alike.filter(|_| !reporting.contains(&*far.node)) {
            if hinted.insert((name, &far.node)) {
                topology.notes.push(Contradiction::new(
                    None,
                    "names_alike",
                    format!(
                        "{near} sees {}, and {name}.json is the report of {name}: if they are one node, name the file {}.json",
                        far.node, far.node
                    ),
                ));
            }
        }
    }
    topology.add_named_nodes();
    for name in reporting {
        if topology.node(name).is_none() && !management.nodes.contains(name) {
            topology.nodes.push(Node {
                name: name.into(),
                ..Node::default()
            });
        }
    }
    for node in &mut topology.nodes {
        if let Some(detail) = details.get(&*node.name) {
            node.management.clone_from(&detail.management);
            node.kind = detail.is_host.then_some(NodeKind::Host);
        }
    }
    topology
}

/// The name of a host without its domain.
fn label(name: &str) -> &str {
    name.split_once('.').map_or(name, |(label, _)| label)
}
