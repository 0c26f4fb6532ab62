//! Links at management ports, which LLDP shows beside those of the fabric.
//!
//! A port is one of management by its name (`Management1`, `mgmt0`, `fxp0`), or if it is `eth0` on a switch, whose
//! other ports have names such as `swp1` or `Ethernet4`. A node is a management switch if most of its links to switches
//! are at such ports: then all of its links are those of management.

use super::Link;
use std::collections::{BTreeMap, BTreeSet};

/// What is no part of the fabric.
#[derive(Debug, Default)]
pub(super) struct Management {
    /// Places in the list of links.
    pub(super) links: BTreeSet<usize>,
    /// Nodes with no other links.
    pub(super) nodes: BTreeSet<String>,
}

pub(super) fn find(links: &[Link]) -> Management {
    let mut ports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for end in links.iter().flat_map(|link| &link.ends) {
        ports.entry(&end.node).or_default().insert(&end.port);
    }
    let switches: BTreeSet<&str> = ports
        .iter()
        .filter(|(_, ports)| ports.iter().any(|port| is_of_switch(port)))
        .map(|(node, _)| *node)
        .collect();
    let is_named =
        |node: &str, port: &str| is_management(port) || port.eq_ignore_ascii_case("eth0") && switches.contains(node);
    // By node: links to management ports of switches, and to their other ports.
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for link in links {
        let [a, b] = &link.ends[..] else { continue };
        for (near, far) in [(a, b), (b, a)] {
            let is_management = is_named(&far.node, &far.port);
            if is_management || switches.contains(&*far.node) {
                counts.entry(&near.node).or_default()[usize::from(!is_management)] += 1;
            }
        }
    }
    let is_switch_of_management = |node: &str| counts.get(node).is_some_and(|[of, others]| of > others);
    let is_apart = |link: &Link| {
        let mut ends = link.ends.iter();
        ends.any(|end| is_named(&end.node, &end.port) || is_switch_of_management(&end.node))
    };
    let apart = links.iter().enumerate().filter(|(_, link)| is_apart(link));
    let places: BTreeSet<usize> = apart.map(|(place, _)| place).collect();
    let nodes = counts.keys().filter(|node| is_switch_of_management(node));
    Management {
        nodes: nodes.map(|node| (*node).to_owned()).collect(),
        links: places,
    }
}

/// Names that operating systems of switches give to management ports.
fn is_management(port: &str) -> bool {
    let port = port.to_ascii_lowercase();
    let numbered = |name: &str| {
        port.strip_prefix(name)
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '/' | ' ' | '.')))
    };
    port.contains("mgmt")
        || ["management", "ma", "oob"].into_iter().any(numbered)
        || ["fxp0", "me0", "vme"].contains(&&*port)
}

/// Names of ports at the front of switches.
fn is_of_switch(port: &str) -> bool {
    let port = port.to_ascii_lowercase();
    let begins = [
        "swp",
        "ethernet",
        "et-",
        "xe-",
        "ge-",
        "gigabitethernet",
        "hundredgige",
        "fourhundredgige",
    ];
    begins.iter().any(|name| port.starts_with(name)) || port.starts_with("eth") && port.contains('/')
}

#[cfg(test)]
mod tests {
    use super::{find, is_management, is_of_switch};
    use crate::topology::{Link, Port};

    #[test]
    fn names_of_management_ports_are_known() {
        for port in [
            "Management1",
            "Management1/1",
            "mgmt0",
            "MgmtEth0/RP0/CPU0/0",
            "fxp0",
            "Ma1",
            "re0:mgmt-0",
        ] {
            assert!(is_management(port), "{port}");
        }
        for port in ["eth0", "Ethernet1", "ma-x", "eno1", "swp1", "management-port-a"] {
            assert!(!is_management(port), "{port}");
        }
        assert!(is_of_switch("Eth1/2") && is_of_switch("Ethernet0") && !is_of_switch("eth0"));
    }

    #[test]
    fn a_leaf_beside_a_management_port_stays_in_the_fabric() {
        let link = |a: &str, b: &str| Link {
            ends: [a, b].map(|end| Port::parse(end).unwrap()).to_vec(),
            line: None,
        };
        // The management port of leaf1 is plugged into leaf2.
        let links = [
            link("leaf1:Ethernet1", "spine1:Ethernet1"),
            link("leaf2:Ethernet1", "spine1:Ethernet2"),
            link("leaf1:Management1", "leaf2:Ethernet48"),
            link("h0:eth0", "leaf1:Ethernet9"),
        ];
        let found = find(&links);
        assert_eq!(
            (found.links.into_iter().collect::<Vec<_>>(), found.nodes.len()),
            (vec![2], 0)
        );
    }
}
