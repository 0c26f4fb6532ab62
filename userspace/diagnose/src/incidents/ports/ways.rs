//! Which ports a shortest way between two hosts passes.

use super::Cable;
use super::cables::Cables;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use core::net::IpAddr;

/// The cable between a host and the fabric.
struct FirstCable<'a> {
    host: &'a str,
    cable: &'a Cable,
    switch: &'a str,
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

    /// Whether a shortest way from the first address to the second passes a port, away from the node or towards it. `false` if
    /// the port is unknown, or at which cable one of the addresses is.
    pub(in crate::incidents) fn is_passed(
        &self,
        (src, dst): (IpAddr, IpAddr),
        node: &str,
        port: &str,
        is_away: bool,
    ) -> bool {
        let (Some(from), Some(to), Some(cable)) = (self.of_address(src), self.of_address(dst), self.at(node, port))
        else {
            return false;
        };
        let other = cable.other(node, port).node.as_str();
        let (first, second) = match is_away {
            true => (node, other),
            false => (other, node),
        };
        let (after, before) = (self.ways(&from), self.ways(&to));
        let is_end = |way: &FirstCable<'_>, node: &str| way.host == node && way.cable != cable;
        if is_end(&from, first) || is_end(&to, second) {
            return false;
        }
        let length = |ways: &BTreeMap<&str, u32>, node: &str| ways.get(node).copied();
        let lengths = (
            length(&after, first),
            length(&before, second),
            length(&after, to.switch),
        );
        matches!(lengths, (Some(a), Some(b), Some(all)) if a + 1 + b == all + 1)
    }

    /// The cable of an address: that of its NIC, or the only one of its host.
    fn of_address(&self, address: IpAddr) -> Option<FirstCable<'_>> {
        let (host, port) = match self.nics.get(&address) {
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
