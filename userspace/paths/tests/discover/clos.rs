//! A fabric of leaves and spines, its flows, and what each switch should answer.

use rocescope_paths::Flow;
use rocescope_paths::discover::Plan;
use rocescope_paths::driver::Driver;
use rocescope_paths::topology::{Link, Node, NodeKind, Port, Topology};
use rocescope_paths::transport::Device;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// Leaves and spines; `hosts` at each leaf, with a link each. `Ethernet1` and on are uplinks, `Ethernet101` and on hosts.
#[derive(Clone)]
pub(crate) struct Clos {
    pub(crate) leaves: usize,
    pub(crate) spines: usize,
    pub(crate) hosts: usize,
    pub(crate) ipv6: bool,
    pub(crate) driver: &'static str,
}

impl Clos {
    pub(crate) fn address(&self, leaf: usize, host: usize) -> IpAddr {
        let [high, leaf, host] = [leaf / 256, leaf % 256, host].map(|number| u8::try_from(number).unwrap());
        match self.ipv6 {
            false => Ipv4Addr::new(10, high, leaf, host + 1).into(),
            true => Ipv6Addr::new(0xfd00, 0, 0, high.into(), leaf.into(), 0, 0, u16::from(host) + 1).into(),
        }
    }

    pub(crate) fn topology(&self) -> Topology {
        let mut topology = Topology::default();
        let switch = |name: String| Node {
            management: Some(name.clone()),
            driver: Some(self.driver.into()),
            kind: Some(NodeKind::Switch),
            name,
            ..Node::default()
        };
        let link = |a: (String, String), b: (String, String)| Link {
            ends: [a, b].map(|(node, port)| Port { node, port }).to_vec(),
            line: None,
        };
        for spine in 0..self.spines {
            topology.nodes.push(switch(format!("spine{spine}")));
        }
        for leaf in 0..self.leaves {
            topology.nodes.push(switch(format!("leaf{leaf}")));
            for spine in 0..self.spines {
                let ends = (format!("leaf{leaf}"), format!("Ethernet{}", spine + 1));
                topology
                    .links
                    .push(link(ends, (format!("spine{spine}"), format!("Ethernet{}", leaf + 1))));
            }
            for host in 0..self.hosts {
                let name = format!("h{leaf}-{host}");
                topology.nodes.push(Node {
                    name: name.clone(),
                    kind: Some(NodeKind::Host),
                    addresses: vec![self.address(leaf, host)],
                    ..Node::default()
                });
                let ends = (format!("leaf{leaf}"), format!("Ethernet{}", host + 101));
                topology.links.push(link(ends, (name, "eth0".into())));
            }
        }
        topology
    }

    pub(crate) fn plan(&self) -> Plan {
        let topology = self.topology();
        let driver = Driver::find(self.driver, Path::new(".")).unwrap();
        let devices = topology.nodes.iter().map(|node| {
            let management = node.management.clone()?;
            let device = Device {
                name: node.name.clone(),
                management,
                session: driver.session,
            };
            Some((device, driver.clone()))
        });
        Plan {
            devices: devices.collect(),
            fabric: topology.fabric(),
            vteps: Vec::new(),
        }
    }

    /// The same with the names that Cumulus gives to ports.
    pub(crate) fn plan_of_cumulus(&self) -> Plan {
        let mut topology = self.topology();
        for end in topology.links.iter_mut().flat_map(|link| &mut link.ends) {
            end.port = end.port.replace("Ethernet", "swp");
        }
        Plan {
            fabric: topology.fabric(),
            ..self.plan()
        }
    }

    /// Every host to the host of the same number at the next leaves.
    pub(crate) fn flows(&self, count: usize) -> Vec<Flow> {
        let flows = (0..count).map(|number| {
            let (leaf, host) = (number % self.leaves, number / self.leaves % self.hosts);
            let other = (leaf + 1 + number / (self.leaves * self.hosts) % (self.leaves - 1)) % self.leaves;
            let port = 49_152 + u16::try_from(number % 16_384).unwrap();
            Flow::roce(self.address(leaf, host), self.address(other, host), port)
        });
        flows.collect()
    }

    /// The egress port of a switch: what its answer should say.
    pub(crate) fn egress(&self, switch: &str, dst: IpAddr, port: u16) -> String {
        let [high, leaf, host] = match dst {
            IpAddr::V4(v4) => [v4.octets()[1], v4.octets()[2], v4.octets()[3]].map(usize::from),
            IpAddr::V6(v6) => [v6.segments()[3], v6.segments()[4], v6.segments()[7]].map(usize::from),
        };
        let (leaf, host) = (high * 256 + leaf, host - 1);
        match switch.strip_prefix("leaf") {
            Some(number) if number.parse() == Ok(leaf) => format!("Ethernet{}", host + 101),
            Some(number) => {
                let hash = usize::try_from(u32::from(port).wrapping_mul(2_654_435_761) >> 20).unwrap();
                let mixed = (hash + number.parse::<usize>().unwrap() * 7) % self.spines;
                format!("Ethernet{}", mixed + 1)
            }
            None => format!("Ethernet{}", leaf + 1),
        }
    }
}
