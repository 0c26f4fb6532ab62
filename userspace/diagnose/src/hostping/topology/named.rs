//! A topology from the paths of rows, whose nodes are names.

use super::{Link, LinkKind, Node, NodeKind, Topology};
use alloc::string::ToString;
use alloc::vec::Vec;

impl NodeKind {
    /// The kind of the node of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        let numbered = |lead: &str| {
            let number = name.strip_prefix(lead);
            number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let kinds = [
            ("socket ", Self::Socket),
            ("CPU root port ", Self::RootPort),
            ("CPU ", Self::Cpu),
            ("mem", Self::Memory),
            ("PCIe switch ", Self::Switch),
            ("GPU", Self::Gpu),
        ];
        let found = kinds.into_iter().find(|(lead, _)| numbered(lead));
        found.map_or(Self::Nic, |(_, kind)| kind)
    }

    /// How near to the processor nodes of this kind are.
    const fn height(self) -> u8 {
        match self {
            Self::Memory | Self::Nic | Self::Gpu => 0,
            Self::Switch => 1,
            Self::RootPort => 2,
            Self::Cpu => 3,
            Self::Socket => 4,
        }
    }
}

impl Topology {
    /// The nodes and links of these paths, each the names of its nodes from a NIC to an endpoint.
    #[must_use]
    pub fn of_paths<'a>(paths: impl IntoIterator<Item = Vec<&'a str>>) -> Self {
        let mut topology = Self::default();
        for path in paths {
            let nodes: Vec<usize> = path.iter().map(|name| topology.named(name)).collect();
            for pair in nodes.windows(2) {
                topology.join(pair[0], pair[1]);
            }
        }
        topology
    }

    fn named(&mut self, name: &str) -> usize {
        let at = self.nodes.iter().position(|node| node.name == name);
        at.unwrap_or_else(|| {
            self.nodes.push(Node {
                kind: NodeKind::of_name(name),
                name: name.to_string(),
                aliases: Vec::new(),
                address: "".to_string(),
                parent: None,
                rate_gbps: None,
                acs: None,
                ats: None,
            });
            self.nodes.len() - 1
        })
    }

    /// Joins two neighbors of a path.
    fn join(&mut self, first: usize, second: usize) {
        // Of two switches, the one nearer to the processor has the lower number; two processors have no order.
        let height = |at: usize| (self.nodes[at].kind.height(), usize::MAX - number(&self.nodes[at].name));
        let (a, b) = if height(first) <= height(second) {
            (first, second)
        } else {
            (second, first)
        };
        let (lower, upper) = (self.nodes[a].kind, self.nodes[b].kind);
        if (lower, upper) == (NodeKind::RootPort, NodeKind::Cpu) {
            self.nodes[a].parent = Some(b);
        } else if self.link_between(a, b).is_none() {
            let (a, b) = if lower == upper && lower != NodeKind::Switch {
                (a.min(b), a.max(b))
            } else {
                (a, b)
            };
            if lower != upper || lower == NodeKind::Switch {
                self.nodes[a].parent = Some(b);
            }
            self.links.push(Link {
                a,
                b,
                kind: LinkKind::between(lower, upper),
                is_c2c: false,
                now: None,
                max: None,
            });
        }
    }
}

/// The number at the end of a name.
fn number(name: &str) -> usize {
    let digits = name.trim_start_matches(|character: char| !character.is_ascii_digit());
    digits.parse().unwrap_or_default()
}
