//! The route of a 5-tuple.

use crate::random::mix;
use crate::topology::{LinkDirection, LinkId, Nic, NodeId, Role, Topology};

/// The fields that ECMP hashes; the protocol is UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FiveTuple {
    /// Sending NIC.
    pub src: Nic,
    /// Receiving NIC.
    pub dst: Nic,
    /// UDP source port.
    pub udp_src_port: u16,
    /// UDP destination port.
    pub udp_dst_port: u16,
}

impl FiveTuple {
    pub(crate) fn hash(&self, seed: u64) -> u64 {
        mix(&[
            seed,
            u64::from(self.src.0) << 32 | u64::from(self.dst.0),
            u64::from(self.udp_src_port) << 16 | u64::from(self.udp_dst_port),
        ])
    }
}

/// The maximum number of links from NIC to NIC: up two tiers to a spine and down again.
const MAX_LINKS: usize = 6;

/// The link directions from one NIC to another, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    ways: [LinkDirection; MAX_LINKS],
    length: usize,
}

impl Route {
    const EMPTY: Self = Self {
        ways: [LinkDirection {
            link: LinkId(0),
            up: true,
        }; MAX_LINKS],
        length: 0,
    };

    /// The link directions, the first from the sending NIC, the last to the receiving one unless the route ends
    /// earlier.
    #[must_use]
    pub fn ways(&self) -> &[LinkDirection] {
        &self.ways[..self.length]
    }

    fn push(&mut self, way: LinkDirection) {
        if let Some(next) = self.ways.get_mut(self.length) {
            *next = way;
            self.length += 1;
        }
    }
}

/// Equal-cost links out of a node; their numbers have equal distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextHops {
    first: LinkId,
    stride: u32,
    count: u32,
    up: bool,
}

impl NextHops {
    const fn one(link: LinkId, up: bool) -> Self {
        Self {
            first: link,
            stride: 0,
            count: 1,
            up,
        }
    }

    /// The link directions, in the order of the neighbours.
    pub fn ways(&self) -> impl Iterator<Item = LinkDirection> + use<> {
        let Self { first, stride, up, .. } = *self;
        (0..self.count).map(move |i| LinkDirection {
            link: LinkId(first.0 + i * stride),
            up,
        })
    }
}

impl Topology {
    /// Returns the next hops of a switch towards a NIC, as in its routing table.
    ///
    /// For a host, returns the link out of the NIC of the same rail, where a probe from there starts.
    #[must_use]
    pub fn next_hops(&self, at: NodeId, to: Nic) -> NextHops {
        let rails = self.rails();
        let (rail, leaf) = (self.rail_of(to), self.leaf_of(to));
        match self.role(at) {
            Role::Host(host) => NextHops::one(LinkId(self.nic(host, rail).0), true),
            Role::Rail { group, rail } => {
                let here = group * rails.nics + rail;
                if here == leaf {
                    return NextHops::one(LinkId(to.0), false);
                }
                NextHops {
                    first: self.leaf_link(here, 0),
                    stride: 1,
                    count: self.uplinks(),
                    up: true,
                }
            }
            Role::Upper { rail: here, index } if here == rail => NextHops::one(self.leaf_link(leaf, index), false),
            Role::Upper { rail: here, index } => NextHops {
                first: self.upper_link(here * rails.uppers + index, 0),
                stride: 1,
                count: rails.spines,
                up: true,
            },
            Role::Spine(spine) if rails.uppers == 0 => NextHops::one(self.leaf_link(leaf, spine), false),
            Role::Spine(spine) => NextHops {
                first: self.upper_link(rail * rails.uppers, spine),
                stride: rails.spines,
                count: rails.uppers,
                up: false,
            },
        }
    }

    /// Returns the route of a 5-tuple. Every switch hashes with its own seed, made of `seed` and its number.
    ///
    /// `usable` decides which of several links a switch may choose; the route ends at a switch without a usable one. A
    /// switch with a single link uses it even if it is not usable, and the route ends after it: the sender learns that.
    #[must_use]
    pub fn route(&self, tuple: FiveTuple, seed: u64, usable: impl Fn(LinkDirection) -> bool) -> Route {
        let mut route = Route::EMPTY;
        let mut way = LinkDirection {
            link: LinkId(tuple.src.0),
            up: true,
        };
        loop {
            route.push(way);
            let (_, at) = self.from_to(way);
            if way
                == (LinkDirection {
                    link: LinkId(tuple.dst.0),
                    up: false,
                })
                || route.length == MAX_LINKS
            {
                return route;
            }
            let hops = self.next_hops(at, tuple.dst);
            let count = match hops.count {
                1 => 1,
                _ => hops.ways().filter(|way| usable(*way)).count(),
            };
            if count == 0 {
                return route;
            }
            let chosen = match count {
                1 => 0,
                _ => tuple.hash(mix(&[seed, u64::from(at.0)])) % count as u64,
            };
            let chosen = usize::try_from(chosen).unwrap_or(0);
            let next = match hops.count {
                1 => hops.ways().next(),
                _ => hops.ways().filter(|way| usable(*way)).nth(chosen),
            };
            let Some(next) = next else { return route };
            way = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FiveTuple;
    use crate::{LinkDirection, LinkId, Rails, Role, Topology};
    use rocescope_model::ROCE_UDP_PORT;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    fn tuple(topology: &Topology, host: u32, from: u32, to: u32, port: u16) -> FiveTuple {
        FiveTuple {
            src: topology.nic(host, from),
            dst: topology.nic(host, to),
            udp_src_port: port,
            udp_dst_port: ROCE_UDP_PORT,
        }
    }

    #[test]
    fn routes_are_contiguous_and_cover_every_switch_link() {
        for (rails, length) in [(Rails::two_tiers(4, 4, 2), 4), (Rails::three_tiers(6, 4, 2, 2, 3), 6)] {
            let topology = rails.build().unwrap();
            let mut crossed: BTreeMap<LinkDirection, u32> = BTreeMap::new();
            for host in 0..rails.hosts {
                for (from, to, port) in (0..4)
                    .flat_map(|from| (0..4).map(move |to| (from, to)))
                    .filter(|(from, to)| from != to)
                    .flat_map(|(from, to)| (0..64).map(move |port| (from, to, port)))
                {
                    let tuple = tuple(&topology, host, from, to, 0xC000 + port);
                    let route = topology.route(tuple, 1, |_| true);
                    let ways = route.ways();
                    assert_eq!(ways.len(), length);
                    assert_eq!(
                        ways[0],
                        LinkDirection {
                            link: LinkId(tuple.src.0),
                            up: true
                        }
                    );
                    let last = ways[length - 1];
                    assert_eq!(
                        last,
                        LinkDirection {
                            link: LinkId(tuple.dst.0),
                            up: false
                        }
                    );
                    for pair in ways.windows(2) {
                        assert_eq!(topology.from_to(pair[0]).1, topology.from_to(pair[1]).0);
                    }
                    let top = topology.from_to(ways[length / 2]).0;
                    assert!(matches!(topology.role(top), Role::Spine(_)));
                    for way in ways {
                        *crossed.entry(*way).or_default() += 1;
                    }
                }
            }
            // Both directions of every link.
            assert_eq!(crossed.len(), 2 * topology.links() as usize);
        }
    }

    #[test]
    fn switches_hash_independently() {
        let topology = Rails::three_tiers(2, 2, 2, 2, 2).build().unwrap();
        let mut seen: BTreeMap<Vec<bool>, u32> = BTreeMap::new();
        for port in 0..4_000 {
            let route = topology.route(tuple(&topology, 0, 0, 1, port), 5, |_| true);
            let odd = |way: &LinkDirection| topology.from_to(*way).1.0 % 2 == 1;
            let choices = [0, 1, 2].map(|hop| odd(&route.ways()[hop + 1]));
            *seen.entry(choices.to_vec()).or_default() += 1;
        }
        assert_eq!(seen.len(), 8, "{seen:?}");
        assert!(seen.values().all(|n| (400..600).contains(n)), "{seen:?}");
    }

    #[test]
    fn an_unusable_link_is_avoided_if_there_is_another() {
        let topology = Rails::two_tiers(2, 2, 2).build().unwrap();
        let leaf = topology.node(Role::Rail { group: 0, rail: 0 });
        let spine = topology.node(Role::Spine(0));
        let dead = topology.between(leaf, spine).unwrap();
        for port in 0..100 {
            let out = topology.route(tuple(&topology, 0, 0, 1, port), 9, |way| way.link != dead);
            assert_ne!(out.ways()[1].link, dead);
            assert_eq!(out.ways().len(), 4);
        }
        let stuck = topology.route(tuple(&topology, 0, 0, 1, 1), 9, |way| way.link == LinkId(0) || !way.up);
        assert_eq!(stuck.ways().len(), 1);
    }
}
