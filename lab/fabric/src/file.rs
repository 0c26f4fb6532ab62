//! The topology file, which maps the addresses in traceroutes to nodes.

use crate::topology::{LinkId, NodeId, Role, Topology};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;

impl Topology {
    /// Returns the topology file (TOML): nodes and their addresses.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut addresses = vec![Vec::new(); self.nodes() as usize];
        for link in (0..self.links()).map(LinkId) {
            let (lower, upper) = self.ends(link);
            addresses[lower.0 as usize].push(self.address(link, false));
            addresses[upper.0 as usize].push(self.address(link, true));
        }
        let mut toml = String::new();
        for (node, addresses) in (0..).map(NodeId).zip(addresses) {
            let kind = match self.role(node) {
                Role::Host(_) => "host",
                _ => "switch",
            };
            // Writing to a string cannot fail.
            let _ = write!(
                toml,
                "[[node]]\nname = \"{}\"\nkind = \"{kind}\"\naddresses = [",
                self.name(node)
            );
            for (i, address) in addresses.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                let _ = write!(toml, "{comma}\"{address}\"");
            }
            toml.push_str("]\n\n");
        }
        toml
    }
}

#[cfg(test)]
mod tests {
    use crate::Rails;

    #[test]
    fn the_file_lists_every_node_and_every_address_once() {
        let topology = Rails::two_tiers(4, 4, 2).build().unwrap();
        let toml = topology.to_toml();
        assert!(toml.starts_with("[[node]]\nname = \"h0\"\nkind = \"host\"\naddresses = [\"10.0.0.0\", \"10.0.0.2\""));
        assert_eq!(toml.matches("[[node]]").count(), 4 + 4 + 2);
        assert_eq!(toml.matches("10.0.0.").count(), 2 * topology.links() as usize);
    }
}
