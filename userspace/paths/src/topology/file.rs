//! rocescope's own format: TOML.

use super::line::{LineError, Lines};
use super::{Link, Node, NodeKind, Port, Topology};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::IpAddr;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    tiers: Vec<String>,
    #[serde(default)]
    node: Vec<Spanned<NodeEntry>>,
    #[serde(default)]
    link: Vec<Spanned<LinkEntry>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeEntry {
    name: String,
    kind: Option<NodeKind>,
    tier: Option<TierName>,
    #[serde(default)]
    addresses: Vec<IpAddr>,
    ports: Option<Vec<String>>,
    #[serde(default)]
    channels: BTreeMap<String, Vec<String>>,
    management: Option<String>,
    driver: Option<String>,
    vtep: Option<IpAddr>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "toml::Value")]
struct TierName(String);

impl TryFrom<toml::Value> for TierName {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        match value {
            toml::Value::String(name) => Ok(Self(name)),
            toml::Value::Integer(number @ 0..=255) => Ok(Self(number.to_string())),
            other => {
                let found = match other {
                    toml::Value::Integer(number) => number.to_string(),
                    other => format!("this {}", other.type_str()),
                };
                Err(format!(
                    "{found} is no tier: write its name, or a number from 0 (hosts) to 255"
                ))
            }
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkEntry {
    ends: Vec<String>,
}

pub(super) fn parse(text: &str) -> Result<Topology, LineError> {
    let lines = Lines::of(text);
    let file: File = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| lines.line(span.start));
        (line, error.message().to_owned())
    })?;
    let mut topology = Topology {
        tiers: file.tiers,
        declares_nodes: true,
        ..Topology::default()
    };
    for entry in file.node {
        let line = Some(lines.line(entry.span().start));
        let entry = entry.into_inner();
        topology.nodes.push(Node {
            name: entry.name,
            kind: entry.kind,
            tier: entry.tier.map(|TierName(name)| name),
            addresses: entry.addresses,
            ports: entry.ports,
            channels: entry.channels,
            management: entry.management,
            driver: entry.driver,
            vtep: entry.vtep,
            line,
        });
    }
    for entry in file.link {
        let line = Some(lines.line(entry.span().start));
        let ends = entry
            .into_inner()
            .ends
            .into_iter()
            .map(|end| Port::parse(&end).ok_or_else(|| (line, format!("`{end}` is no port: write `NODE:PORT`"))));
        let ends: Result<Vec<Port>, LineError> = ends.collect();
        topology.links.push(Link { ends: ends?, line });
    }
    Ok(topology)
}
