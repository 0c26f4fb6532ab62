//! The topology file: which switch has which addresses, and which links there are.

use crate::commands::topology;
use anyhow::{Result, bail};
use rocescope_diagnose::hostmesh::Analyzer;
use rocescope_model::LinkRow;
use rocescope_paths::topology::{Topology, check, tiers};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;

/// The links between switches, by their two nodes; one for each direction.
#[derive(Debug, Default)]
pub(in crate::commands) struct Wiring(BTreeMap<(String, String), usize>);

/// Sets the addresses of switches in the analyzer. Hosts are named by the rows of their probes; their addresses are only
/// checked.
pub(in crate::commands) fn read(path: &Path, analyzer: &mut Analyzer) -> Result<Wiring> {
    let topology = topology::read(path)?;
    let repeated = check(&topology, topology::folder(path))
        .into_iter()
        .find(|found| found.kind == "address_repeated");
    if let Some(repeated) = repeated {
        bail!("{}: {}", path.display(), repeated.message);
    }
    let mut switches = BTreeSet::new();
    for (node, tiered) in topology.nodes.iter().zip(tiers(&topology)) {
        if tiered.tier != Some(0) {
            switches.insert(node.name.as_str());
            for address in &node.addresses {
                analyzer.know(*address, &node.name);
            }
        }
    }
    Ok(Wiring::of(&topology, &switches))
}

impl Wiring {
    fn of(topology: &Topology, switches: &BTreeSet<&str>) -> Self {
        let mut links: BTreeMap<(String, String), usize> = BTreeMap::new();
        for link in &topology.links {
            let [a, b] = &link.ends[..] else { continue };
            if switches.contains(a.node.as_str()) && switches.contains(b.node.as_str()) {
                *links.entry((a.node.clone(), b.node.clone())).or_default() += 1;
                *links.entry((b.node.clone(), a.node.clone())).or_default() += 1;
            }
        }
        Self(links)
    }

    /// The links that no probe of a window crossed, `from>to`; of several between two switches, how many.
    pub(super) fn unprobed(&self, rows: &[LinkRow]) -> Vec<String> {
        let mut crossed: BTreeMap<(&str, &str), BTreeSet<IpAddr>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.probes > 0) {
            // The address at its far end identifies a link.
            crossed.entry((&row.from, &row.to)).or_default().insert(row.address);
        }
        let links = self.0.iter().filter_map(|((from, to), count)| {
            let crossed = crossed.get(&(from.as_str(), to.as_str())).map_or(0, BTreeSet::len);
            match count.saturating_sub(crossed) {
                0 => None,
                _ if *count == 1 => Some(format!("{from}>{to}")),
                missing => Some(format!("{from}>{to} ({missing} of {count} links)")),
            }
        });
        links.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Wiring;
    use rocescope_model::LinkRow;
    use rocescope_paths::topology::{Format, parse};

    #[test]
    fn links_of_the_topology_that_no_path_crosses_are_listed() {
        let text = r#"
            link = [
                { ends = ["h1:eth0", "leaf1:1"] },
                { ends = ["leaf1:2", "spine1:1"] },
                { ends = ["leaf1:3", "spine1:2"] },
                { ends = ["leaf1:4", "spine2:1"] },
            ]
            [[node]]
            name = "h1"
            kind = "host"
            [[node]]
            name = "leaf1"
            kind = "switch"
            [[node]]
            name = "spine1"
            kind = "switch"
            [[node]]
            name = "spine2"
            kind = "switch"
        "#;
        let topology = parse(text, Format::Toml, "").unwrap();
        let wiring = Wiring::of(&topology, &["leaf1", "spine1", "spine2"].into());
        let row = |from: &'static str, to: &'static str, last: u8, probes| LinkRow {
            from: from.into(),
            to: to.into(),
            address: [10, 0, 0, last].into(),
            probes,
            ..LinkRow::default()
        };
        let rows = [
            row("h1/rail0", "leaf1", 1, 9),
            row("leaf1", "spine1", 2, 9),
            row("leaf1", "spine1", 3, 0),
            row("spine1", "leaf1", 4, 9),
            row("spine1", "leaf1", 5, 9),
            row("spine2", "leaf1", 6, 9),
        ];
        assert_eq!(wiring.unprobed(&rows), ["leaf1>spine1 (1 of 2 links)", "leaf1>spine2"]);
    }
}
