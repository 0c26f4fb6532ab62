//! containerlab's topology: nodes with kinds, and links with two endpoints.

use super::line::LineError;
use super::tiers::by_name;
use super::yaml::{self, Yaml};
use super::{Link, Node, NodeKind, Port, TIERS, Topology};

/// Nodes that containerlab reserves: a link to one of them leaves the fabric.
const OUTSIDE: [&str; 5] = ["host", "mgmt-net", "macvlan", "bridge", "dummy"];

/// Kinds that run any software, hosts' as well. All others are the operating systems of switches and routers.
const ANYTHING: [&str; 13] = [
    "linux",
    "host",
    "bridge",
    "ovs-bridge",
    "ext-container",
    "generic_vm",
    "k8s-kind",
    "sshbase",
    "border0",
    "keysight_ixia-c-one",
    "ixia-c-one",
    "spirent_stc",
    "vr-ubuntu",
];

pub(super) fn parse(text: &str) -> Result<Topology, LineError> {
    let document = yaml::parse(text)?;
    let Some(root) = document.get("topology") else {
        return Err((Some(1), "no `topology`: this is no containerlab file".into()));
    };
    let mut topology = Topology {
        declares_nodes: true,
        ..Topology::default()
    };
    for (name, entry) in root.get("nodes").map_or(&[][..], Yaml::map) {
        topology.nodes.push(node(root, name, entry));
    }
    for link in root.get("links").map_or(&[][..], Yaml::list) {
        let ends = link.get("endpoints").map_or(&[][..], Yaml::list);
        let single = link.get("endpoint").into_iter();
        let ends: Result<Vec<Port>, LineError> = ends.iter().chain(single).map(end).collect();
        let ends = ends?;
        let leaves = |end: &Port| OUTSIDE.contains(&&*end.node) && topology.node(&end.node).is_none();
        if !ends.iter().any(leaves) && link.get("endpoint").is_none() {
            let line = Some(link.line);
            topology.links.push(Link { ends, line });
        }
    }
    for end in topology.links.iter_mut().flat_map(|link| &mut link.ends) {
        let of_node = topology.nodes.iter().find(|node| node.name == end.node);
        if of_node.is_some_and(|node| node.driver.as_deref() == Some("eos")) {
            end.port = eos_port(&end.port);
        }
    }
    Ok(topology)
}

/// The name of an interface of a container on EOS, which is that of Linux in the file: `eth1` is `Ethernet1`, `eth1_2` is
/// `Ethernet1/2`, and `eth0` is the management port.
fn eos_port(name: &str) -> String {
    match name.strip_prefix("eth") {
        Some("0") => "Management0".into(),
        Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("Ethernet{}", number.replace('_', "/"))
        }
        _ => name.into(),
    }
}

/// An end: `node:interface`, or a map of both.
fn end(yaml: &Yaml) -> Result<Port, LineError> {
    let parsed = match yaml.text() {
        Some(text) => Port::parse(text),
        None => {
            let part = |key| yaml.get(key).and_then(Yaml::text).map(str::to_owned);
            part("node")
                .zip(part("interface"))
                .map(|(node, port)| Port { node, port })
        }
    };
    parsed.ok_or_else(|| (Some(yaml.line), "an endpoint must be `NODE:INTERFACE`".into()))
}

fn node(root: &Yaml, name: &str, entry: &Yaml) -> Node {
    let group = entry.get("group").and_then(Yaml::text);
    let of = |place: &str, key: Option<&str>| {
        let place = root.get(place)?;
        key.map_or(Some(place), |key| place.get(key)).cloned()
    };
    let groups = of("groups", group.or(Some("")));
    let text = |key: &str| {
        let own = entry.get(key).and_then(Yaml::text).map(str::to_owned);
        let of_group = || {
            groups
                .as_ref()
                .and_then(|group| Some(group.get(key)?.text()?.to_owned()))
        };
        let default = || Some(of("defaults", None)?.get(key)?.text()?.to_owned());
        own.or_else(of_group).or_else(default)
    };
    let label = |key: &str| {
        entry
            .get("labels")
            .and_then(|labels| labels.get(key))
            .and_then(Yaml::text)
    };
    let icon = label("graph-icon").unwrap_or_default();
    let tier = group.and_then(by_name);
    let is_host = tier == Some(0) || ["host", "server", "client", "pc"].contains(&icon);
    let kind = text("kind");
    let is_switch = kind.as_deref().is_some_and(|kind| !ANYTHING.contains(&kind));
    Node {
        name: name.into(),
        kind: match (is_host, is_switch) {
            (true, _) => Some(NodeKind::Host),
            (false, true) => Some(NodeKind::Switch),
            (false, false) => None,
        },
        tier: tier
            .filter(|_| !is_host)
            .and_then(|tier| TIERS.get(tier))
            .map(|name| (*name).to_owned()),
        management: text("mgmt-ipv4")
            .or_else(|| text("mgmt_ipv4"))
            .or_else(|| text("mgmt-ipv6")),
        driver: kind.as_deref().and_then(driver).map(str::to_owned),
        line: Some(entry.line),
        ..Node::default()
    }
}

/// The driver for a kind of node.
fn driver(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "ceos" | "arista_ceos" | "veos" | "vr-veos" | "arista_veos" => "eos",
        "cvx" | "cumulus_cvx" => "cumulus",
        "sonic-vs" | "sonic-vm" => "sonic",
        "linux" => "linux",
        "cisco_n9kv" | "vr-n9kv" => "nxos",
        kind if kind == "crpd" || kind.starts_with("juniper_") || kind.starts_with("vr-vmx") => "junos",
        _ => return None,
    })
}
