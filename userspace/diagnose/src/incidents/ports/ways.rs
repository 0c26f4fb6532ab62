//! Which ports a shortest way between two hosts passes.

use super::Cable;
use super::cables::Cables;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::{String, ToString};
use core::net::IpAddr;

/// The cable between a host and the fabric.
struct FirstCable<'a> {
    host: &'a str,
    cable: &'a Cable,
    switch: &'a str,
}

/// Shortest ways between pairs of addresses.
pub(in crate::incidents) struct Ways<'a> {
    cables: &'a Cables,
    /// The cables from each address to each node, and its first cable.
    by_address: BTreeMap<IpAddr, (BTreeMap<&'a str, u32>, FirstCable<'a>)>,
    pairs: BTreeSet<(IpAddr, IpAddr)>,
}

impl Ways<'_> {
    /// Whether the ways of most pairs may lead over a port, away from the node or towards it.
    pub(in crate::incidents) fn most_pass(&self, node: &str, port: &str, is_away: bool) -> bool {
        let passing = self
            .pairs
            .iter()
            .filter(|pair| self.is_passed(pair, node, port, is_away));
        passing.count() * 2 > self.pairs.len()
    }

    fn is_passed(&self, (src, dst): &(IpAddr, IpAddr), node: &str, port: &str, is_away: bool) -> bool {
        let known = (self.by_address.get(src), self.by_address.get(dst));
        let (Some((after, from)), Some((before, to))) = known else {
            return false;
        };
        let Some(cable) = self.cables.at(node, port) else {
            return false;
        };
        let other = cable.other(node, port).node.as_str();
        let (first, second) = match is_away {
            true => (node, other),
            false => (other, node),
        };
        let is_end = |way: &FirstCable<'_>, node: &str| way.host == node && way.cable != cable;
        if is_end(from, first) || is_end(to, second) {
            return false;
        }
        let length = |ways: &BTreeMap<&str, u32>, node: &str| ways.get(node).copied();
        let lengths = (length(after, first), length(before, second), length(after, to.switch));
        matches!(lengths, (Some(a), Some(b), Some(all)) if a + 1 + b == all + 1)
    }
}

impl Cables {
    /// The node at the other end of a port, as places name it.
    pub(in crate::incidents) fn leads_to(&self, node: &str, port: &str) -> Option<String> {
        Some(self.at(node, port)?.other(node, port).place_name())
    }

    /// The link of a port as places name it, away from the node or towards it.
    pub(in crate::incidents) fn link(&self, node: &str, port: &str, is_away: bool) -> Option<String> {
        let other = self.leads_to(node, port)?;
        Some(match is_away {
            true => [node, ">", &other].concat(),
            false => [&other, ">", node].concat(),
        })
    }

    /// The shortest ways between pairs of addresses, source first. Those of unknown addresses are left out.
    pub(in crate::incidents) fn ways_of(&self, pairs: &BTreeSet<(IpAddr, IpAddr)>) -> Ways<'_> {
        let ends: BTreeSet<IpAddr> = pairs.iter().flat_map(|(src, dst)| [*src, *dst]).collect();
        let known = ends.into_iter().filter_map(|address| {
            let first = self.of_address(address)?;
            Some((address, (self.ways(&first), first)))
        });
        Ways {
            cables: self,
            by_address: known.collect(),
            pairs: pairs.clone(),
        }
    }

    /// The cable of an address: that of its NIC, or the only one of its host.
    fn of_address(&self, address: IpAddr) -> Option<FirstCable<'_>> {
        let nic = self.nics.get(&address);
        // Agents and the topology may name a port differently.
        let nic = nic.filter(|(host, port)| self.at(host, port).is_some());
        let (host, port) = match nic {
            Some((host, port)) => (host.as_str(), port.as_str()),
            None => {
                let host = self.hosts.get(&address)?;
                let mut ports = self.ports_of(host);
                let ((_, port), _) = ports.next()?;
                if ports.next().is_some() {
                    return None;
                }
                (host.as_str(), port.as_str())
            }
        };
        let cable = self.at(host, port)?;
        Some(FirstCable {
            host,
            cable,
            switch: &cable.other(host, port).node,
        })
    }

    /// Cables between a host and each node, over this cable.
    fn ways<'a>(&'a self, first: &FirstCable<'a>) -> BTreeMap<&'a str, u32> {
        let mut ways = self.distances(first.switch);
        ways.values_mut().for_each(|distance| *distance += 1);
        ways.insert(first.host, 0);
        ways
    }

    /// Cables between a node and each other one. No way leads through a host.
    fn distances<'a>(&'a self, from: &'a str) -> BTreeMap<&'a str, u32> {
        let mut found = BTreeMap::from([(from, 0)]);
        let mut next = VecDeque::from([from]);
        while let Some(node) = next.pop_front() {
            let distance = found.get(node).copied().unwrap_or(0) + 1;
            for ((_, port), cable) in self.ports_of(node) {
                let other = cable.other(node, port);
                if !found.contains_key(other.node.as_str()) {
                    found.insert(&other.node, distance);
                    if !other.is_host {
                        next.push_back(&other.node);
                    }
                }
            }
        }
        found
    }

    fn ports_of<'a>(&'a self, node: &'a str) -> impl Iterator<Item = (&'a (String, String), &'a Cable)> {
        let from = (node.to_string(), String::new());
        let ports = self.by_port.range(from..).take_while(move |(port, _)| port.0 == node);
        ports.filter_map(|(port, at)| Some((port, self.cables.get(*at)?)))
    }
}
