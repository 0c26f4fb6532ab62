//! Nodes, links, names and addresses.
//!
//! Only the [`Rails`] are stored: numbers of nodes, links and addresses are computed from one another, so a fabric of
//! 10,000 hosts costs nothing to build.

use crate::rails::{Rails, rail_switch};
use alloc::format;
use alloc::string::String;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host or a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A NIC: `host * NICs per host + rail`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nic(pub u32);

/// A cable between two nodes. The links of NICs come first and have the number of their NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// One direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkDirection {
    /// The link.
    pub link: LinkId,
    /// Whether it leads away from the hosts.
    pub up: bool,
}

/// The role of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A host, by number.
    Host(u32),
    /// A rail switch, to which NICs are connected.
    Rail {
        /// Its group of hosts.
        group: u32,
        /// Its rail.
        rail: u32,
    },
    /// The second tier of three.
    Upper {
        /// Its rail.
        rail: u32,
        /// Its number within the rail.
        index: u32,
    },
    /// The top tier, by number.
    Spine(u32),
}

/// A built fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topology {
    rails: Rails,
}

impl Topology {
    pub(crate) const fn new(rails: Rails) -> Self {
        Self { rails }
    }

    /// The size that it was built from.
    #[must_use]
    pub const fn rails(&self) -> &Rails {
        &self.rails
    }

    /// The number of NICs of all hosts.
    #[must_use]
    pub const fn nics(&self) -> u32 {
        self.rails.hosts * self.rails.nics
    }

    /// The NIC of a host on a rail.
    #[must_use]
    pub const fn nic(&self, host: u32, rail: u32) -> Nic {
        Nic(host * self.rails.nics + rail)
    }

    /// Host of a NIC.
    #[must_use]
    pub const fn host_of(&self, nic: Nic) -> u32 {
        nic.0 / self.rails.nics
    }

    /// Rail of a NIC.
    #[must_use]
    pub const fn rail_of(&self, nic: Nic) -> u32 {
        nic.0 % self.rails.nics
    }

    /// The number of a NIC's rail switch, among the rail switches.
    pub(crate) const fn leaf_of(&self, nic: Nic) -> u32 {
        self.host_of(nic) / self.rails.hosts_a_group * self.rails.nics + self.rail_of(nic)
    }

    const fn leaves(&self) -> u32 {
        self.rails.groups() * self.rails.nics
    }

    const fn all_uppers(&self) -> u32 {
        self.rails.nics * self.rails.uppers
    }

    /// The number of links from a rail switch towards the spines.
    pub(crate) const fn uplinks(&self) -> u32 {
        if self.rails.uppers == 0 {
            self.rails.spines
        } else {
            self.rails.uppers
        }
    }

    /// The link from a rail switch to the `index`th switch above it.
    pub(crate) const fn leaf_link(&self, leaf: u32, index: u32) -> LinkId {
        LinkId(self.nics() + leaf * self.uplinks() + index)
    }

    /// The link from an upper rail switch to a spine.
    pub(crate) const fn upper_link(&self, upper: u32, spine: u32) -> LinkId {
        LinkId(self.nics() + self.leaves() * self.uplinks() + upper * self.rails.spines + spine)
    }

    /// The number of hosts and switches.
    #[must_use]
    pub const fn nodes(&self) -> u32 {
        self.rails.hosts + self.leaves() + self.all_uppers() + self.rails.spines
    }

    /// Links.
    #[must_use]
    pub const fn links(&self) -> u32 {
        self.upper_link(self.all_uppers(), 0).0
    }

    /// The role of a node.
    #[must_use]
    pub const fn role(&self, node: NodeId) -> Role {
        let Rails {
            hosts, nics, uppers, ..
        } = self.rails;
        if node.0 < hosts {
            return Role::Host(node.0);
        }
        let switch = node.0 - hosts;
        if switch < self.leaves() {
            return Role::Rail {
                group: switch / nics,
                rail: switch % nics,
            };
        }
        let switch = switch - self.leaves();
        if switch < self.all_uppers() {
            return Role::Upper {
                rail: switch / uppers,
                index: switch % uppers,
            };
        }
        Role::Spine(switch - self.all_uppers())
    }

    /// Returns the node with a role.
    #[must_use]
    pub const fn node(&self, role: Role) -> NodeId {
        let Rails {
            hosts, nics, uppers, ..
        } = self.rails;
        NodeId(match role {
            Role::Host(host) => host,
            Role::Rail { group, rail } => hosts + group * nics + rail,
            Role::Upper { rail, index } => hosts + self.leaves() + rail * uppers + index,
            Role::Spine(spine) => hosts + self.leaves() + self.all_uppers() + spine,
        })
    }

    /// Name of a node: `h0`, `r0` or `g1r0`, `r0u1` (second tier), `s0`.
    #[must_use]
    pub fn name(&self, node: NodeId) -> String {
        match self.role(node) {
            Role::Host(host) => format!("h{host}"),
            Role::Rail { group, rail } => rail_switch(self.rails.groups(), group, rail),
            Role::Upper { rail, index } => format!("r{rail}u{index}"),
            Role::Spine(spine) => format!("s{spine}"),
        }
    }

    /// Name of a NIC in the whole fabric: `h0n0`.
    #[must_use]
    pub fn nic_name(&self, nic: Nic) -> String {
        format!("h{}n{}", self.host_of(nic), self.rail_of(nic))
    }

    /// The nodes of a link: the one nearer to hosts, the one nearer to spines.
    #[must_use]
    pub const fn ends(&self, link: LinkId) -> (NodeId, NodeId) {
        let Rails {
            hosts,
            nics,
            uppers,
            spines,
            ..
        } = self.rails;
        let first_switch = hosts + self.leaves();
        if link.0 < self.nics() {
            let nic = Nic(link.0);
            return (NodeId(self.host_of(nic)), NodeId(hosts + self.leaf_of(nic)));
        }
        let number = link.0 - self.nics();
        if number < self.leaves() * self.uplinks() {
            let (leaf, index) = (number / self.uplinks(), number % self.uplinks());
            // Without upper rail switches this is the first spine.
            let above = first_switch + leaf % nics * uppers + index;
            return (NodeId(hosts + leaf), NodeId(above));
        }
        let number = number - self.leaves() * self.uplinks();
        (
            NodeId(first_switch + number / spines),
            NodeId(first_switch + self.all_uppers() + number % spines),
        )
    }

    /// The start and the end of a link direction.
    #[must_use]
    pub const fn from_to(&self, way: LinkDirection) -> (NodeId, NodeId) {
        let (lower, upper) = self.ends(way.link);
        if way.up { (lower, upper) } else { (upper, lower) }
    }

    /// The link between two nodes, if there is one. A host has one link per NIC to its rail switches.
    #[must_use]
    pub fn between(&self, a: NodeId, b: NodeId) -> Option<LinkId> {
        let (lower, upper) = if a.0 < b.0 { (a, b) } else { (b, a) };
        let found = match (self.role(lower), self.role(upper)) {
            (Role::Host(host), Role::Rail { rail, .. }) => LinkId(self.nic(host, rail).0),
            (Role::Rail { group, rail }, Role::Upper { index, .. } | Role::Spine(index)) => {
                self.leaf_link(group * self.rails.nics + rail, index)
            }
            (Role::Upper { rail, index }, Role::Spine(spine)) => {
                self.upper_link(rail * self.rails.uppers + index, spine)
            }
            _ => return None,
        };
        (found.0 < self.links() && self.ends(found) == (lower, upper)).then_some(found)
    }

    /// Address of an end of a link; every end has its own, in a subnet of two addresses.
    #[must_use]
    pub fn address(&self, link: LinkId, upper: bool) -> IpAddr {
        let number = link.0 * 2 + u32::from(upper);
        if self.rails.ipv6 {
            Ipv6Addr::from_bits(V6_BASE | u128::from(number)).into()
        } else {
            Ipv4Addr::from_bits(V4_BASE + number).into()
        }
    }

    /// Address of a NIC.
    #[must_use]
    pub fn nic_address(&self, nic: Nic) -> IpAddr {
        self.address(LinkId(nic.0), false)
    }

    /// The address that a traceroute sees at the end of this link direction.
    #[must_use]
    pub fn ingress(&self, way: LinkDirection) -> IpAddr {
        self.address(way.link, way.up)
    }

    /// The link and the end with this address; true is the upper end.
    #[must_use]
    pub fn find(&self, address: IpAddr) -> Option<(LinkId, bool)> {
        let number = match address {
            IpAddr::V4(v4) if !self.rails.ipv6 => v4.to_bits().checked_sub(V4_BASE)?,
            IpAddr::V6(v6) if self.rails.ipv6 => u32::try_from(v6.to_bits().checked_sub(V6_BASE)?).ok()?,
            _ => return None,
        };
        let link = LinkId(number / 2);
        (link.0 < self.links()).then_some((link, number % 2 == 1))
    }

    /// Name of the interface at an end of a link: `rail0` in a host, elsewhere the name of the neighbour.
    #[must_use]
    pub fn interface(&self, link: LinkId, upper: bool) -> String {
        let (low, high) = self.ends(link);
        match (upper, self.role(low)) {
            (true, _) => self.name(low),
            (false, Role::Host(_)) => format!("rail{}", self.rail_of(Nic(link.0))),
            (false, _) => self.name(high),
        }
    }
}

const V4_BASE: u32 = 10 << 24;
const V6_BASE: u128 = 0xfd << 120;

#[cfg(test)]
mod tests {
    use super::{LinkDirection, LinkId, NodeId, Role};
    use crate::Rails;
    use std::collections::BTreeSet;
    use std::string::ToString;

    fn fabrics() -> [Rails; 3] {
        let mut v6 = Rails::two_tiers(4, 4, 2);
        v6.ipv6 = true;
        [Rails::two_tiers(4, 4, 2), v6, Rails::three_tiers(10, 8, 4, 3, 5)]
    }

    #[test]
    fn numbers_names_and_addresses_are_reversible() {
        for rails in fabrics() {
            let topology = rails.build().unwrap();
            let mut names = BTreeSet::new();
            for node in (0..topology.nodes()).map(NodeId) {
                assert_eq!(topology.node(topology.role(node)), node);
                assert!(names.insert(topology.name(node)));
            }
            let mut addresses = BTreeSet::new();
            let mut interfaces = BTreeSet::new();
            for link in (0..topology.links()).map(LinkId) {
                let (lower, upper) = topology.ends(link);
                assert!(lower < upper);
                assert_eq!(topology.between(upper, lower), Some(link));
                for end in [false, true] {
                    let address = topology.address(link, end);
                    assert!(addresses.insert(address));
                    assert_eq!(topology.find(address), Some((link, end)));
                    let node = if end { upper } else { lower };
                    assert!(interfaces.insert((node, topology.interface(link, end))));
                }
            }
        }
    }

    #[test]
    fn links_match_the_paper() {
        let topology = Rails::three_tiers(10, 8, 4, 3, 5).build().unwrap();
        // 80 NICs; 3 groups of 8 rail switches with 3 uplinks; 24 upper ones with 5.
        assert_eq!(topology.links(), 80 + 24 * 3 + 24 * 5);
        let nic = topology.nic(9, 2);
        let (host, switch) = topology.ends(LinkId(nic.0));
        assert_eq!(topology.role(host), Role::Host(9));
        assert_eq!(topology.role(switch), Role::Rail { group: 2, rail: 2 });
        let spines = (topology.node(Role::Spine(0)), topology.node(Role::Spine(1)));
        assert_eq!(topology.between(spines.0, spines.1), None);
        let leaf = topology.node(Role::Rail { group: 0, rail: 1 });
        let other = topology.node(Role::Upper { rail: 2, index: 0 });
        assert_eq!(topology.between(leaf, other), None);
    }

    #[test]
    fn names_follow_the_conventions() {
        let topology = Rails::two_tiers(4, 4, 2).build().unwrap();
        let nic = topology.nic(1, 2);
        assert_eq!(topology.nic_name(nic), "h1n2");
        assert_eq!(topology.interface(LinkId(nic.0), false), "rail2");
        assert_eq!(topology.interface(LinkId(nic.0), true), "h1");
        assert_eq!(topology.nic_address(nic).to_string(), "10.0.0.12");
        let up = LinkDirection {
            link: LinkId(nic.0),
            up: true,
        };
        assert_eq!(topology.ingress(up).to_string(), "10.0.0.13");
    }

    #[test]
    fn a_fabric_with_a_zero_is_refused() {
        assert!(Rails::two_tiers(0, 4, 2).build().is_err());
        assert!(Rails::two_tiers(4, 4, 0).build().is_err());
        let error = Rails::two_tiers(1 << 20, 8, 2).build().unwrap_err();
        assert!(error.to_string().contains("links"), "{error}");
    }
}
