//! Ports of a switch that fail together: those of a line card, or of one transceiver that is split.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// Some ports of a node.
#[derive(Debug)]
pub(crate) struct PortSet {
    /// The node and the ports, in words: `3/* of r1`.
    pub(crate) name: String,
    /// The node.
    pub(crate) node: String,
    /// The nodes that these ports, and no others of the node, lead to.
    neighbors: BTreeSet<String>,
}

/// All sets of ports, and the links at them.
#[derive(Debug, Default)]
pub(crate) struct PortSets {
    pub(crate) all: Vec<PortSet>,
    of_node: HashMap<String, Vec<u32>>,
    /// By link; shorter than the links where the last ones are of no set.
    of_link: Vec<Vec<u32>>,
    /// The links of each set, in both directions.
    pub(crate) links: Vec<Vec<u32>>,
}

impl PortSets {
    /// Adds a set.
    pub(crate) fn add(&mut self, node: &str, name: String, neighbors: BTreeSet<String>) {
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.of_node.entry(node.into()).or_default().push(number);
        self.links.push(Vec::new());
        self.all.push(PortSet {
            name,
            node: node.into(),
            neighbors,
        });
    }

    /// Notes a link between two nodes.
    pub(crate) fn join(&mut self, link: u32, ends: [&str; 2]) {
        let [one, other] = ends;
        for (node, neighbor) in [(one, other), (other, one)] {
            for set in self.of_node.get(node).into_iter().flatten() {
                let of = &self.all[*set as usize];
                if of.neighbors.contains(neighbor) {
                    let at = link as usize;
                    if self.of_link.len() <= at {
                        self.of_link.resize_with(at + 1, Vec::new);
                    }
                    self.of_link[at].push(*set);
                    self.links[*set as usize].push(link);
                }
            }
        }
    }

    /// The sets of a link.
    pub(crate) fn of(&self, link: u32) -> &[u32] {
        self.of_link.get(link as usize).map_or(&[], Vec::as_slice)
    }

    /// The sets that a path crosses, each once: it enters a switch over one port and leaves it over another.
    pub(crate) fn crossed<'a>(&'a self, links: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        // Most fabrics have none.
        let links = if self.all.is_empty() { &[] } else { links };
        links.iter().enumerate().flat_map(move |(at, link)| {
            let is_new = move |set: &&u32| !links[..at].iter().any(|before| self.of(*before).contains(set));
            self.of(*link).iter().filter(is_new).copied()
        })
    }
}
