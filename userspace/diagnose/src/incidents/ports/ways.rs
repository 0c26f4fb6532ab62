//! Which ports a shortest way between two hosts passes.

use super::cables::Cables;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use core::net::IpAddr;

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
    /// one of the hosts or the port is unknown.
    pub(in crate::incidents) fn is_passed(
        &self,
        (src, dst): (IpAddr, IpAddr),
        node: &str,
        port: &str,
        is_away: bool,
    ) -> bool {
        let (Some(from), Some(to)) = (self.host_of(src), self.host_of(dst)) else {
            return false;
        };
        let Some(cable) = self.at(node, port) else {
            return false;
        };
        let other = cable.other(node, port).node.as_str();
        let (first, second) = match is_away {
            true => (node, other),
            false => (other, node),
        };
        let (after, before) = (self.distances(from), self.distances(to));
        let length = |distances: &BTreeMap<&str, u32>, node: &str| distances.get(node).copied();
        let lengths = (length(&after, first), length(&before, second), length(&after, to));
        matches!(lengths, (Some(a), Some(b), Some(all)) if a + 1 + b == all)
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

    fn ports_of<'a>(&'a self, node: &'a str) -> impl Iterator<Item = (&'a (String, String), &'a super::Cable)> {
        let from = (node.to_string(), String::new());
        let ports = self.by_port.range(from..).take_while(move |(port, _)| port.0 == node);
        ports.filter_map(|(port, at)| Some((port, self.cables.get(*at)?)))
    }
}
