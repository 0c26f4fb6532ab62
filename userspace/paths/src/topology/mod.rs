//! The topology of a fabric: nodes, ports and links.
//!
//! | module | what it does |
//! |---|---|
//! | `read` | finds out the format of a file and reads it |
//! | `file` | rocescope's own format, TOML |
//! | `containerlab`, `yaml` | containerlab's YAML |
//! | `dot` | Graphviz DOT, as Cumulus' PTM uses it |
//! | `lldp` | neighbors as `lldpcli -f json` prints them |
//! | `management` | which of their links are no part of the fabric |
//! | `leave_out` | leaves out links, and nodes that have no others |
//! | `learnt` | hops that traceroutes found |
//! | [`mod@check`] | what contradicts itself |
//! | `tiers` | the tier of every node, stated or inferred |
//! | `write` | TOML and DOT |
//! | `lost` | what a text does not contain of a topology |

pub mod check;
mod containerlab;
mod dot;
mod file;
mod learnt;
mod leave_out;
mod line;
mod lldp;
mod lost;
mod management;
mod read;
mod tiers;
mod write;
mod yaml;

pub use check::{Contradiction, check};
pub use learnt::Learnt;
pub use line::LineError;
pub(crate) use line::Lines;
pub use lost::lost;
pub use read::{Format, ReadError, parse, read};
pub use tiers::{Origin, Tiered, tiers};
pub use write::{to_dot, to_toml};

use rocescope_diagnose::paths::{End, Fabric};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

/// A topology as a file states it: it may contradict itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// Names of the tiers from the hosts up; empty if the file does not name them.
    pub tiers: Vec<String>,
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Links.
    pub links: Vec<Link>,
    /// Whether a link may only name nodes that the file declares.
    pub declares_nodes: bool,
    /// Links at management ports, which are no part of the fabric.
    pub management: Vec<Link>,
    /// What the reader found contradictory.
    pub notes: Vec<Contradiction>,
}

/// A host or a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Whether it is a host or a switch, if the file states that.
    pub kind: Option<NodeKind>,
    /// Its tier, if the file states one: a name or a number.
    pub tier: Option<String>,
    /// Addresses of its interfaces.
    pub addresses: Vec<IpAddr>,
    /// Its ports, if the file lists them.
    pub ports: Option<Vec<String>>,
    /// Port channels and their members.
    pub channels: BTreeMap<String, Vec<String>>,
    /// Address or name at which it is managed, perhaps with a port.
    pub management: Option<String>,
    /// How it is asked.
    pub driver: Option<String>,
    /// Address of its VXLAN tunnel end point.
    pub vtep: Option<IpAddr>,
    /// Line in the file.
    pub line: Option<usize>,
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// Forwards packets.
    Switch,
    /// Sends and receives.
    Host,
}

/// A link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Its ends; two, unless the file is wrong.
    pub ends: Vec<Port>,
    /// Line in the file.
    pub line: Option<usize>,
}

/// A port of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Port {
    /// Name of the node.
    pub node: String,
    /// Name of the port.
    pub port: String,
}

impl Port {
    /// Parses `node:port`: the port may contain colons.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (node, port) = text.split_once(':')?;
        let [node, port] = [node, port].map(str::trim);
        (!node.is_empty() && !port.is_empty()).then(|| Self {
            node: node.into(),
            port: port.into(),
        })
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.node, self.port)
    }
}

/// Names of the tiers where the file does not name them.
pub(crate) const TIERS: [&str; 4] = ["host", "leaf", "spine", "super-spine"];

impl Topology {
    /// The node with this name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// Keeps the first declaration of each node, and notes the others.
    pub(crate) fn settle(&mut self) {
        let mut lines: BTreeMap<String, Option<usize>> = BTreeMap::new();
        for node in std::mem::take(&mut self.nodes) {
            let Some(first) = lines.get(&node.name) else {
                lines.insert(node.name.clone(), node.line);
                self.nodes.push(node);
                continue;
            };
            let at = first.map_or(String::new(), |line| format!(" in line {line}"));
            let message = format!(
                "{} is declared again: its declaration{at} counts, remove one",
                node.name
            );
            self.notes.push(Contradiction::new(node.line, "node_repeated", message));
        }
    }

    /// Takes the links at management ports for links of the fabric.
    pub fn keep_management(&mut self) {
        self.links.append(&mut self.management);
        self.add_named_nodes();
    }

    /// Adds the nodes that only links name.
    pub(crate) fn add_named_nodes(&mut self) {
        let mut known: std::collections::BTreeSet<String> = self.nodes.iter().map(|node| node.name.clone()).collect();
        for link in &self.links {
            for end in &link.ends {
                if known.insert(end.node.clone()) {
                    self.nodes.push(Node {
                        name: end.node.clone(),
                        line: link.line,
                        ..Node::default()
                    });
                }
            }
        }
    }

    /// The names of the tiers, from the hosts up.
    #[must_use]
    pub fn tier_names(&self) -> Vec<String> {
        match self.tiers.is_empty() {
            true => TIERS.map(String::from).to_vec(),
            false => self.tiers.clone(),
        }
    }

    /// The fabric: links that contradict the topology are left out.
    #[must_use]
    pub fn fabric(&self) -> Fabric {
        let mut fabric = Fabric::new(self.tier_names());
        let tiers = tiers(self);
        for (node, tiered) in self.nodes.iter().zip(&tiers) {
            let addresses: Vec<IpAddr> = node.addresses.iter().copied().chain(node.vtep).collect();
            let number = fabric.add_node(&node.name, tiered.tier, &addresses);
            for (channel, members) in &node.channels {
                fabric.add_channel(number, channel, members);
            }
        }
        let mut used = std::collections::BTreeSet::new();
        for link in &self.links {
            let [a, b] = &link.ends[..] else { continue };
            let (Some(from), Some(to)) = (fabric.find(&a.node), fabric.find(&b.node)) else {
                continue;
            };
            if a == b || used.contains(a) || used.contains(b) {
                continue;
            }
            used.extend([a, b]);
            let end = |node, port: &Port| End {
                node,
                port: port.port.clone(),
            };
            fabric.add_link([end(from, a), end(to, b)]);
        }
        fabric
    }
}
