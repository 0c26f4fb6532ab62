//! The topology file: which node has which addresses.

use anyhow::{Context, Result, ensure};
use rocescope_diagnose::hostmesh::Analyzer;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    node: Vec<Node>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    name: String,
    kind: NodeKind,
    addresses: Vec<IpAddr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NodeKind {
    Switch,
    Host,
}

/// Sets the addresses of nodes in the analyzer. Hosts are named by the rows of their probes; their entries
/// are only checked.
pub(in crate::commands) fn read(path: &Path, analyzer: &mut Analyzer) -> Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
    let mut owners: BTreeMap<IpAddr, &str> = BTreeMap::new();
    for node in &file.node {
        for address in &node.addresses {
            let before = owners.insert(*address, &node.name);
            let before = before.unwrap_or(&node.name);
            ensure!(
                before == node.name,
                "{}: {address} belongs to both {before} and {}",
                path.display(),
                node.name
            );
            if node.kind == NodeKind::Switch {
                analyzer.know(*address, &node.name);
            }
        }
    }
    Ok(())
}
