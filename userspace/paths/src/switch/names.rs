//! Names of switches and ports, by address and index.

use crate::Topology;
use rocescope_model::Text;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

/// Ports whose names are kept, at most.
const MAX_PORTS: usize = 262_144;

/// Names.
#[derive(Debug, Default)]
pub struct Names {
    switches: HashMap<IpAddr, Text>,
    ports: HashMap<(IpAddr, u32), Text>,
}

impl Names {
    /// The names of nodes of a topology, by the address at which they are managed and those of their interfaces.
    #[must_use]
    pub fn of(topology: &Topology) -> Self {
        let mut names = Self::default();
        for node in &topology.nodes {
            let managed = node.management.as_deref().and_then(|text| {
                let with_port = || text.parse::<SocketAddr>().ok().map(|socket| socket.ip());
                text.parse().ok().or_else(with_port)
            });
            for address in node.addresses.iter().copied().chain(managed) {
                names.switches.insert(address.to_canonical(), node.name.clone().into());
            }
        }
        names
    }

    /// Keeps the name that a switch sends for a port.
    pub fn learn(&mut self, switch: IpAddr, port: u32, name: &str) {
        let key = (switch, port);
        if self.ports.len() >= MAX_PORTS && !self.ports.contains_key(&key) {
            return;
        }
        if self.ports.get(&key).is_none_or(|known| **known != *name) {
            self.ports.insert(key, name.to_owned().into());
        }
    }

    /// The name of a switch, otherwise its address.
    #[must_use]
    pub fn switch(&self, address: IpAddr) -> Text {
        let named = self.switches.get(&address.to_canonical());
        named.cloned().unwrap_or_else(|| address.to_string().into())
    }

    /// The name of a port, otherwise `if` and its index.
    #[must_use]
    pub fn port(&self, switch: IpAddr, index: u32) -> Text {
        let named = self.ports.get(&(switch, index));
        named.cloned().unwrap_or_else(|| format!("if{index}").into())
    }
}
