//! The nodes of a topology and the two ends of each link, by number and by name.

use rocescope_fabric::{LinkId, Nic, NodeId, Role, Topology};
use std::collections::VecDeque;
use std::net::IpAddr;

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) is_host: bool,
}

/// One end of a link.
#[derive(Debug)]
pub(crate) struct End {
    /// Index of its node.
    pub(crate) node: usize,
    /// Name of the interface in the namespace of the node.
    pub(crate) interface: String,
    pub(crate) address: IpAddr,
}

/// A link; `lower` is the end nearer to the hosts.
#[derive(Debug)]
pub(crate) struct Link {
    /// `h0n1` for the link of that NIC, `r0-s1` between switches.
    pub(crate) name: String,
    pub(crate) lower: End,
    pub(crate) upper: End,
}

#[derive(Debug)]
pub(crate) struct Wiring {
    pub(crate) nodes: Vec<Node>,
    /// Those of NICs come first.
    pub(crate) links: Vec<Link>,
    nics: usize,
}

impl Wiring {
    pub(crate) fn of(topology: &Topology) -> Self {
        let nodes = (0..topology.nodes()).map(NodeId).map(|node| Node {
            name: topology.name(node),
            is_host: matches!(topology.role(node), Role::Host(_)),
        });
        let links = (0..topology.links()).map(LinkId).map(|link| {
            let (lower, upper) = topology.ends(link);
            let end = |node: NodeId, is_upper| End {
                node: node.0 as usize,
                interface: topology.interface(link, is_upper),
                address: topology.address(link, is_upper),
            };
            let name = if link.0 < topology.nics() {
                topology.nic_name(Nic(link.0))
            } else {
                format!("{}-{}", topology.name(lower), topology.name(upper))
            };
            Link {
                name,
                lower: end(lower, false),
                upper: end(upper, true),
            }
        });
        Self {
            nodes: nodes.collect(),
            links: links.collect(),
            nics: topology.nics() as usize,
        }
    }

    /// Links of NICs.
    pub(crate) fn nics(&self) -> impl Iterator<Item = &Link> {
        self.links.iter().take(self.nics)
    }

    /// Links between switches.
    pub(crate) fn uplinks(&self) -> impl Iterator<Item = &Link> {
        self.links.iter().skip(self.nics)
    }

    /// The ends of links at a node, each with the opposite end.
    pub(crate) fn ends(&self, node: usize) -> impl Iterator<Item = (&End, &End)> {
        self.links.iter().filter_map(move |link| match node {
            _ if link.lower.node == node => Some((&link.lower, &link.upper)),
            _ if link.upper.node == node => Some((&link.upper, &link.lower)),
            _ => None,
        })
    }

    /// The number of links from each switch to the switch of a NIC; hosts forward nothing.
    pub(crate) fn distances(&self, nic: &Link) -> Vec<Option<usize>> {
        let mut distances = vec![None; self.nodes.len()];
        distances[nic.upper.node] = Some(0);
        let mut reached = VecDeque::from([(nic.upper.node, 0)]);
        while let Some((node, distance)) = reached.pop_front() {
            for (_, far) in self.ends(node) {
                if !self.nodes[far.node].is_host && distances[far.node].is_none() {
                    distances[far.node] = Some(distance + 1);
                    reached.push_back((far.node, distance + 1));
                }
            }
        }
        distances
    }
}

/// Prefix bits of a link, and of a single address.
pub(crate) const fn prefix(of: IpAddr) -> (u8, u8) {
    match of {
        IpAddr::V4(_) => (31, 32),
        IpAddr::V6(_) => (127, 128),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_fabric::Rails;

    #[test]
    fn other_rails_are_two_links_away() {
        let wiring = Wiring::of(&Rails::two_tiers(4, 4, 2).build().unwrap());
        let nic = wiring.nics().find(|nic| nic.name == "h2n1").unwrap();
        let distances = wiring.distances(nic);
        let to = |name| {
            let node = wiring.nodes.iter().position(|node| node.name == name);
            distances[node.unwrap()]
        };
        assert_eq!(
            [to("r1"), to("s0"), to("s1"), to("r0"), to("h2")],
            [Some(0), Some(1), Some(1), Some(2), None]
        );
        assert_eq!(wiring.uplinks().count(), 8);
    }
}
