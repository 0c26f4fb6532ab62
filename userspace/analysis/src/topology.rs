//! The topology file: which switch has which addresses, and which links there are.

use crate::Error;
use rocescope_diagnose::hostmesh::Analyzer;
use rocescope_diagnose::incidents::ports::{Cable, Cables, End};
use rocescope_model::{LinkRow, PathRow, Row};
use rocescope_paths::topology::{Learnt, Node, Port, Topology, check, tiers};
use rocescope_store::Query;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;

/// Reads a topology from a file, or from the table `paths` of a dataset.
///
/// # Errors
/// A file cannot be read or does not have its format.
pub fn load(path: &Path) -> Result<Topology, Error> {
    if path.join(PathRow::TABLE.name).is_dir() {
        let found = Query::default().tables(&[PathRow::TABLE]).open(path)?;
        let mut learnt = Learnt::default();
        found.select::<PathRow>().for_each(|row| learnt.add(&row))?;
        return Ok(learnt.topology());
    }
    let read = rocescope_paths::topology::read(path);
    Ok(read.map_err(|error| Error::Topology(error.to_string()))?.0)
}

/// Where files are that a topology names.
#[must_use]
pub fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// The links between switches, by their two nodes; one for each direction.
#[derive(Debug, Default)]
pub struct Wiring(BTreeMap<(String, String), usize>);

/// Sets the addresses of switches in the analyzer. Hosts are named by the rows of their probes; their addresses are
/// only checked.
///
/// # Errors
/// It cannot be read, or several nodes have the same address.
pub fn read(path: &Path, analyzer: &mut Analyzer) -> Result<Wiring, Error> {
    let topology = load(path)?;
    let repeated = check(&topology, folder(path))
        .into_iter()
        .find(|found| found.kind == "address_repeated");
    if let Some(repeated) = repeated {
        let message = format!("{}: {}", path.display(), repeated.message);
        return Err(Error::Topology(message));
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
    for switch in &switches {
        for (ports, neighbors) in port_sets(&topology, switch) {
            analyzer.join_ports(switch, &ports, neighbors);
        }
    }
    Ok(Wiring::of(&topology, &switches))
}

/// The cables of a topology, with the addresses of hosts that have one.
///
/// # Errors
/// It cannot be read.
pub fn cables(path: &Path) -> Result<Cables, Error> {
    let topology = load(path)?;
    let of_node = topology.links.iter().flat_map(|link| &link.ends);
    let mut links: BTreeMap<&str, usize> = BTreeMap::new();
    of_node.for_each(|end| *links.entry(end.node.as_str()).or_default() += 1);
    let nodes: BTreeMap<&str, (&Node, bool)> = topology
        .nodes
        .iter()
        .zip(tiers(&topology))
        .map(|(node, tiered)| (node.name.as_str(), (node, tiered.tier == Some(0))))
        .collect();
    let end = |port: &Port| {
        let node = nodes.get(port.node.as_str());
        let is_host = node.is_some_and(|node| node.1);
        // Which address is at which of several ports, a topology does not state.
        let is_only = links.get(port.node.as_str()) == Some(&1);
        let addresses = node
            .filter(|_| is_host && is_only)
            .map(|node| node.0.addresses.iter().copied().collect());
        End {
            node: port.node.clone(),
            port: port.port.clone(),
            is_host,
            addresses: addresses.unwrap_or_default(),
        }
    };
    let links = topology.links.iter().filter_map(|link| match &link.ends[..] {
        [a, b] => Some(Cable { a: end(a), b: end(b) }),
        _ => None,
    });
    let hosts = nodes.values().filter(|(_, is_host)| *is_host);
    let addresses = hosts.flat_map(|(node, _)| node.addresses.iter().map(|address| (*address, node.name.clone())));
    Ok(Cables::new(links.collect()).with_hosts(addresses.collect()))
}

/// The ports of a switch that share a part of their numbers, such as `3/*` of `Ethernet3/1` and `Ethernet3/2`: those
/// of a line card, or of one transceiver that is split. Each with the nodes that they lead to and other ports do not.
/// A set has two nodes at least, and not all of the switch.
fn port_sets(topology: &Topology, switch: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut links: Vec<(&str, &str)> = Vec::new();
    for link in &topology.links {
        if let [a, b] = &link.ends[..] {
            links.extend((a.node == switch).then_some((a.port.as_str(), b.node.as_str())));
            links.extend((b.node == switch).then_some((b.port.as_str(), a.node.as_str())));
        }
    }
    let all: BTreeSet<&str> = links.iter().map(|(_, neighbor)| *neighbor).collect();
    let names: BTreeSet<&str> = links.iter().flat_map(|(port, _)| shared_numbers(port)).collect();
    let mut sets = BTreeMap::new();
    for name in names {
        let is_in = |port: &str| shared_numbers(port).contains(&name);
        let outside: BTreeSet<&str> = links
            .iter()
            .filter(|(port, _)| !is_in(port))
            .map(|(_, to)| *to)
            .collect();
        let inside: BTreeSet<String> = all.difference(&outside).map(|to| (*to).to_owned()).collect();
        if inside.len() > 1 && inside.len() < all.len() {
            sets.insert(format!("{name}*"), inside);
        }
    }
    sets
}

/// The leading parts of a port's numbers: `3/` and `3/1:` of `Ethernet3/1:2`, `1s` of `swp1s0`.
fn shared_numbers(port: &str) -> Vec<&str> {
    let numbers = port.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let ends = numbers
        .char_indices()
        .filter(|(_, letter)| matches!(letter, '/' | ':' | 's'));
    ends.map(|(at, letter)| &numbers[..at + letter.len_utf8()]).collect()
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
    #[must_use]
    pub fn unprobed(&self, rows: &[LinkRow]) -> Vec<String> {
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
    use super::{Wiring, port_sets, shared_numbers};
    use rocescope_model::LinkRow;
    use rocescope_paths::topology::{Format, parse};

    #[test]
    fn ports_of_a_line_card_or_of_a_split_transceiver_are_a_set() {
        assert_eq!(shared_numbers("Ethernet3/1:2"), ["3/", "3/1:"]);
        assert_eq!(shared_numbers("et-0/0/1:0"), ["0/", "0/0/", "0/0/1:"]);
        assert_eq!(shared_numbers("swp1s0"), ["1s"]);
        assert_eq!(shared_numbers("Ethernet48"), [""; 0]);
        let text = r#"
            link = [
                { ends = ["leaf1:Ethernet3/1", "spine1:1"] },
                { ends = ["leaf1:Ethernet3/2", "spine2:1"] },
                { ends = ["leaf1:Ethernet4/1", "spine3:1"] },
                { ends = ["leaf1:Ethernet3/3", "spine3:2"] },
                { ends = ["leaf1:Ethernet4/2", "spine4:1"] },
                { ends = ["leaf1:Ethernet4/3", "h1:eth0"] },
            ]
        "#;
        let topology = parse(text, Format::Toml, "").unwrap();
        let sets = port_sets(&topology, "leaf1");
        let of = |ports: &str| sets[ports].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(sets.len(), 2);
        // Over which of its two links packets to spine3 leave is unknown.
        assert_eq!(of("3/*"), ["spine1", "spine2"]);
        assert_eq!(of("4/*"), ["h1", "spine4"]);
        // All ports of a switch are the switch.
        assert!(port_sets(&topology, "spine3").is_empty());
    }

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
