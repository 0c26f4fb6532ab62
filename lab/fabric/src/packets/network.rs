//! Nodes, links and routes of a network of packets.

use crate::random::mix;
use crate::route::FiveTuple;
use crate::topology::Nic;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};
use rocescope_model::Text;

/// A host or a switch: hosts come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub u32);

/// A port: the direction of its link that leads out of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Port(pub u32);

#[derive(Debug, Clone)]
struct PortEnd {
    node: Node,
    /// The port at the other end.
    peer: Port,
    /// Its number at its node, from 1.
    number: u16,
}

/// A network whose links have one rate and one delay.
#[derive(Debug, Clone)]
pub struct Network {
    hosts: u32,
    ports: Vec<PortEnd>,
    of_node: Vec<Vec<Port>>,
}

impl Network {
    /// Creates a network without links.
    #[must_use]
    pub fn new(hosts: u32, switches: u32) -> Self {
        Self {
            hosts,
            ports: Vec::new(),
            of_node: vec![Vec::new(); (hosts + switches) as usize],
        }
    }

    /// A fat tree of switches with `k` ports: k pods, k³/4 hosts (Al-Fares et al., SIGCOMM 2008). Of the switches, those
    /// next to the hosts come first, then those above them, then the core.
    #[must_use]
    pub fn fat_tree(k: u32) -> Self {
        let half = k / 2;
        let (hosts, edges) = (k * half * half, k * half);
        let mut network = Self::new(hosts, 2 * edges + half * half);
        for edge in 0..edges {
            for host in 0..half {
                network.link(network.host(edge * half + host), network.switch(edge));
            }
        }
        for pod in 0..k {
            for upper in 0..half {
                let above = network.switch(edges + pod * half + upper);
                for edge in 0..half {
                    network.link(network.switch(pod * half + edge), above);
                }
                for core in 0..half {
                    network.link(above, network.switch(2 * edges + upper * half + core));
                }
            }
        }
        network
    }

    /// Adds a link, and returns its port at `a`.
    pub fn link(&mut self, a: Node, b: Node) -> Port {
        let (here, there) = (Port(self.ports.len() as u32), Port(self.ports.len() as u32 + 1));
        for (node, port, peer) in [(a, here, there), (b, there, here)] {
            let of_node = &mut self.of_node[node.0 as usize];
            of_node.push(port);
            let number = of_node.len() as u16;
            self.ports.push(PortEnd { node, peer, number });
        }
        here
    }

    /// A host.
    #[must_use]
    pub fn host(&self, number: u32) -> Node {
        Node(number)
    }

    /// A switch.
    #[must_use]
    pub fn switch(&self, number: u32) -> Node {
        Node(self.hosts + number)
    }

    /// How many hosts there are.
    #[must_use]
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Whether a node is a host.
    #[must_use]
    pub fn is_host(&self, node: Node) -> bool {
        node.0 < self.hosts
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.of_node.len() as u32).map(Node)
    }

    /// The ports of a node.
    #[must_use]
    pub fn ports_of(&self, node: Node) -> &[Port] {
        &self.of_node[node.0 as usize]
    }

    /// How many ports all nodes have.
    #[must_use]
    pub fn ports(&self) -> usize {
        self.ports.len()
    }

    /// The node of a port.
    #[must_use]
    pub fn node(&self, port: Port) -> Node {
        self.ports[port.0 as usize].node
    }

    /// The port at the other end of the link.
    #[must_use]
    pub fn peer(&self, port: Port) -> Port {
        self.ports[port.0 as usize].peer
    }

    /// The number of a port at its node, from 1.
    #[must_use]
    pub fn number(&self, port: Port) -> u16 {
        self.ports[port.0 as usize].number
    }

    /// The name of a node: `h0`, `s0`.
    #[must_use]
    pub fn name(&self, node: Node) -> Text {
        match node.0.checked_sub(self.hosts) {
            None => format!("h{}", node.0).into(),
            Some(number) => format!("s{number}").into(),
        }
    }

    /// The address of a host.
    #[must_use]
    pub fn address(&self, host: Node) -> IpAddr {
        let [.., high, low] = host.0.to_be_bytes();
        IpAddr::V4(Ipv4Addr::new(10, 1, high, low))
    }

    /// Links from each node to a host; `None` if it cannot be reached.
    fn distances(&self, to: Node) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.of_node.len()];
        distances[to.0 as usize] = Some(0);
        let mut reached = vec![to];
        let mut next = 0;
        while let Some(node) = reached.get(next).copied() {
            next += 1;
            // Hosts forward nothing.
            if self.is_host(node) && node != to {
                continue;
            }
            let distance = distances[node.0 as usize].map(|distance| distance + 1);
            for port in self.ports_of(node) {
                let there = self.node(self.peer(*port));
                if distances[there.0 as usize].is_none() {
                    distances[there.0 as usize] = distance;
                    reached.push(there);
                }
            }
        }
        distances
    }

    /// The ports out of which a flow leaves each node on its way: of the shortest paths, a hash of the 5-tuple selects
    /// one at each switch (ECMP). Empty if the destination cannot be reached.
    #[must_use]
    pub fn route(&self, src: Node, dst: Node, src_port: u16, seed: u64) -> Vec<Port> {
        let tuple = FiveTuple {
            src: Nic(src.0),
            dst: Nic(dst.0),
            udp_src_port: src_port,
            udp_dst_port: rocescope_model::ROCE_UDP_PORT,
        };
        let distances = self.distances(dst);
        let mut path = Vec::new();
        let mut here = src;
        while here != dst {
            let distance = distances[here.0 as usize];
            let nearer = |port: &&Port| {
                let there = distances[self.node(self.peer(**port)).0 as usize];
                there.is_some_and(|there| Some(there + 1) == distance)
            };
            let choices: Vec<Port> = self.ports_of(here).iter().filter(nearer).copied().collect();
            if choices.is_empty() {
                return Vec::new();
            }
            let hash = tuple.hash(mix(&[seed, u64::from(here.0)]));
            let port = choices[(hash % choices.len() as u64) as usize];
            path.push(port);
            here = self.node(self.peer(port));
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::Network;

    #[test]
    fn a_fat_tree_has_its_hosts_switches_and_shortest_paths() {
        let network = Network::fat_tree(4);
        assert_eq!((network.hosts(), network.nodes().count()), (16, 36));
        assert!(
            network
                .nodes()
                .skip(16)
                .all(|switch| network.ports_of(switch).len() == 4)
        );
        for (dst, links) in [(1, 2), (2, 4), (4, 6), (15, 6)] {
            let path = network.route(network.host(0), network.host(dst), 49_152, 7);
            assert_eq!(path.len(), links, "to h{dst}");
            assert!(
                path.windows(2)
                    .all(|two| network.node(network.peer(two[0])) == network.node(two[1]))
            );
        }
    }

    #[test]
    fn source_ports_spread_over_all_paths() {
        let network = Network::fat_tree(4);
        let mut paths: std::vec::Vec<_> = (0..200)
            .map(|port| network.route(network.host(0), network.host(12), port, 1))
            .collect();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), 4);
    }
}
