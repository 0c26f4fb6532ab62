//! Nodes, tiers, ports and links of a fabric.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashMap;
use serde::Serialize;

/// A host or a switch.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its tier, an index into [`Fabric::tiers`]; hosts have 0. `None` if unknown.
    pub tier: Option<usize>,
    /// Addresses of its interfaces.
    pub addresses: Vec<IpAddr>,
    ports: HashMap<String, Direction>,
    /// Members of its port channels.
    channels: HashMap<String, Vec<String>>,
}

/// An end of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Number of the node.
    pub node: usize,
    /// Name of the port.
    pub port: String,
}

/// One direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Direction {
    link: usize,
    /// Whether it leads from the second end to the first.
    back: bool,
}

impl Direction {
    /// The other direction of the link.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            back: !self.back,
            ..self
        }
    }

    /// The place of this direction among all: every link has two.
    #[must_use]
    pub const fn index(self) -> usize {
        self.link * 2 + self.back as usize
    }

    const fn at(index: usize) -> Self {
        Self {
            link: index / 2,
            back: index % 2 == 1,
        }
    }
}

/// A layer: one direction between two tiers, or within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layer {
    /// Tier where it starts.
    pub from: Option<usize>,
    /// Tier where it ends.
    pub to: Option<usize>,
    /// Of links within a tier: which of their directions.
    pub within: Option<Within>,
}

/// A direction of the links within a tier, which has no up and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Within {
    /// From the node whose name sorts first.
    Forth,
    /// To it.
    Back,
}

impl Within {
    /// The word for output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forth => "forth",
            Self::Back => "back",
        }
    }
}

/// A fabric.
#[derive(Debug, Clone, Default)]
pub struct Fabric {
    /// Names of the tiers, from the hosts up.
    pub tiers: Vec<String>,
    nodes: Vec<Node>,
    numbers: HashMap<String, usize>,
    links: Vec<[End; 2]>,
    owners: HashMap<IpAddr, usize>,
    /// Addresses of several nodes.
    shared: BTreeSet<IpAddr>,
}

impl Fabric {
    /// A fabric without nodes.
    #[must_use]
    pub fn new(tiers: Vec<String>) -> Self {
        Self {
            tiers,
            ..Self::default()
        }
    }

    /// Adds a node and returns its number; a known name returns the known number.
    pub fn add_node(&mut self, name: &str, tier: Option<usize>, addresses: &[IpAddr]) -> usize {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let number = self.nodes.len();
        self.nodes.push(Node {
            name: name.to_owned(),
            tier,
            addresses: addresses.to_vec(),
            ..Node::default()
        });
        self.numbers.insert(name.to_owned(), number);
        for address in addresses {
            if *self.owners.entry(*address).or_insert(number) != number {
                self.shared.insert(*address);
            }
        }
        number
    }

    /// Adds a link. The first link of a port counts.
    pub fn add_link(&mut self, ends: [End; 2]) {
        let link = self.links.len();
        for (end, back) in ends.iter().zip([false, true]) {
            if let Some(node) = self.nodes.get_mut(end.node) {
                let way = Direction { link, back };
                node.ports.entry(end.port.clone()).or_insert(way);
            }
        }
        self.links.push(ends);
    }

    /// Names the members of a port channel.
    pub fn add_channel(&mut self, node: usize, channel: &str, members: &[String]) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.channels.insert(channel.to_owned(), members.to_vec());
        }
    }

    /// All nodes.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The number of links.
    #[must_use]
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// The number of a node.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// The node that has an address.
    #[must_use]
    pub fn owner(&self, address: IpAddr) -> Option<usize> {
        self.owners.get(&address).copied()
    }

    /// Whether several nodes have an address, so that its owner is unknown.
    #[must_use]
    pub fn is_shared(&self, address: IpAddr) -> bool {
        self.shared.contains(&address)
    }

    /// Both directions of every link.
    pub fn directions(&self) -> impl Iterator<Item = Direction> + use<> {
        (0..self.links.len() * 2).map(Direction::at)
    }

    /// The direction that leaves a node by a port. Switches abbreviate: `Et1` and `Eth1` are `Ethernet1` if no other
    /// port fits. `eth1` is not: a switch has its management port under such a name.
    #[must_use]
    pub fn egress(&self, node: usize, port: &str) -> Option<Direction> {
        let ports = &self.nodes.get(node)?.ports;
        if let Some(way) = ports.get(port) {
            return Some(*way);
        }
        let mut alike = ports.iter().filter(|(name, _)| is_same_port(name, port));
        let (_, found) = alike.next()?;
        alike.next().is_none().then_some(*found)
    }

    /// The directions that leave a node.
    pub fn leaving(&self, node: usize) -> impl Iterator<Item = Direction> {
        let ports = self.nodes.get(node).map(|node| node.ports.values().copied());
        ports.into_iter().flatten()
    }

    /// The members of a port channel.
    #[must_use]
    pub fn members(&self, node: usize, channel: &str) -> Option<&[String]> {
        let channels = &self.nodes.get(node)?.channels;
        let exact = channels.get(channel);
        let found = exact.or_else(|| {
            let mut alike = channels.iter().filter(|(name, _)| is_same_port(name, channel));
            alike.next().map(|(_, members)| members)
        });
        found.map(Vec::as_slice)
    }

    /// The node and port where a direction starts.
    #[must_use]
    pub fn from(&self, way: Direction) -> &End {
        &self.links[way.link][usize::from(way.back)]
    }

    /// The node and port where a direction ends.
    #[must_use]
    pub fn to(&self, way: Direction) -> &End {
        &self.links[way.link][usize::from(!way.back)]
    }

    /// `node:port`.
    #[must_use]
    pub fn end_name(&self, end: &End) -> String {
        format!("{}:{}", self.name(end.node), end.port)
    }

    /// Name of a node.
    #[must_use]
    pub fn name(&self, node: usize) -> &str {
        self.nodes.get(node).map_or("", |node| &node.name)
    }

    /// Whether a node is a host.
    #[must_use]
    pub fn is_host(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.tier == Some(0))
    }

    /// Name of a tier; `unknown` without one.
    #[must_use]
    pub fn tier_name(&self, tier: Option<usize>) -> String {
        match tier {
            None => "unknown".into(),
            Some(tier) => self.tiers.get(tier).cloned().unwrap_or_else(|| format!("tier {tier}")),
        }
    }

    /// The layer of a direction.
    #[must_use]
    pub fn layer(&self, way: Direction) -> Layer {
        let tier = |end: &End| self.nodes.get(end.node).and_then(|node| node.tier);
        let (start, end) = (self.from(way), self.to(way));
        let (from, to) = (tier(start), tier(end));
        let is_forth = || (self.name(start.node), &start.port) <= (self.name(end.node), &end.port);
        let within = (from.is_some() && from == to).then(|| if is_forth() { Within::Forth } else { Within::Back });
        Layer { from, to, within }
    }
}

/// Whether two names are the same port, one of them abbreviated as switches do it: the digits are equal, and the letters
/// of one, at least two and the first of them a capital, begin those of the other.
fn is_same_port(one: &str, other: &str) -> bool {
    let is_short = |name: &str| {
        let mut letters = name.bytes();
        letters.next().is_some_and(|first| first.is_ascii_uppercase())
            && letters.next().is_some_and(|second| second.is_ascii_alphabetic())
    };
    let (one_is_short, other_is_short) = (is_short(one), is_short(other));
    let split = |name: &str| {
        let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        (
            name[..digits].trim_end().to_ascii_lowercase(),
            name[digits..].to_owned(),
        )
    };
    let ((one, first), (other, second)) = (split(one), split(other));
    let letters = |text: &str| text.replace('-', "");
    let (one, other) = (letters(&one), letters(&other));
    let begins = (other_is_short && one.starts_with(&other)) || (one_is_short && other.starts_with(&one));
    first == second && !first.is_empty() && (one == other || begins)
}

#[cfg(test)]
mod tests {
    use super::{End, Fabric, Layer, is_same_port};
    use alloc::borrow::ToOwned;
    use alloc::vec;

    #[test]
    fn abbreviated_ports_are_found_if_they_are_unambiguous() {
        assert!(is_same_port("Ethernet1/2", "Eth1/2") && is_same_port("Port-Channel1", "port-channel1"));
        assert!(is_same_port("Po1", "port-channel1") && is_same_port("Ethernet1", "Et1"));
        assert!(!is_same_port("Ethernet1", "Ethernet11") && !is_same_port("eth", "ethernet"));
        // The management port of SONiC, and no port at all.
        for other in ["eth1", "e1", "E1"] {
            assert!(
                !is_same_port("Ethernet1", other) && !is_same_port(other, "Ethernet1"),
                "{other}"
            );
        }
        let mut fabric = Fabric::new(vec!["host".into(), "leaf".into()]);
        let (leaf, host) = (
            fabric.add_node("leaf1", Some(1), &[]),
            fabric.add_node("h", Some(0), &[]),
        );
        for (port, other) in [("Ethernet1", "eth0"), ("Ethernet2", "eth1")] {
            let end = |node, port: &str| End {
                node,
                port: port.to_owned(),
            };
            fabric.add_link([end(leaf, port), end(host, other)]);
        }
        let way = fabric.egress(leaf, "Et2").unwrap();
        assert_eq!(fabric.end_name(fabric.to(way)), "h:eth1");
        assert_eq!(fabric.end_name(fabric.to(way.reversed())), "leaf1:Ethernet2");
        assert_eq!(fabric.egress(leaf, "Et3"), None);
        let down = Layer {
            from: Some(1),
            to: Some(0),
            within: None,
        };
        assert_eq!(fabric.layer(way), down);
    }
}
