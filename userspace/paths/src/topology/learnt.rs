//! A topology from traceroutes: the rows of `paths`.
//!
//! A hop shows the address of the port where the packet arrived. Two hops in a row are a link. Both addresses of a
//! link are in one /31 or /30 (/127 or /126), so the other address of that subnet, if some path shows it, belongs to
//! the router before it: this joins the addresses of a router.

use super::{Link, Node, NodeKind, Port, Topology};
use rocescope_diagnose::pinglist::Attachments;
use rocescope_model::PathRow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Collects rows of `paths`.
#[derive(Debug, Default)]
pub struct Learnt {
    /// Names of nodes by address, if they are known.
    names: BTreeMap<IpAddr, String>,
    hosts: BTreeMap<IpAddr, (String, String)>,
    /// Addresses that follow one another; the first may be a NIC.
    steps: BTreeSet<(IpAddr, IpAddr)>,
    /// The path being read: its identity, its last address, and the number of that hop.
    last: Option<(Key, IpAddr, u16)>,
}

type Key = (i64, IpAddr, IpAddr, u16, u16);

impl Learnt {
    /// Names the node of an address.
    pub fn know(&mut self, address: IpAddr, node: &str) {
        self.names.insert(address, node.into());
    }

    /// Adds a row; the rows of a path follow one another in the order of their hops.
    pub fn add(&mut self, row: &PathRow) {
        let host = row.observer.as_str().to_owned();
        let hosts = &mut self.hosts;
        hosts
            .entry(row.src)
            .or_insert_with(|| (host.clone(), row.src_nic.as_str().to_owned()));
        hosts
            .entry(row.dst)
            .or_insert_with(|| (host, row.dst_nic.as_str().to_owned()));
        let key = (row.time_ns, row.src, row.dst, row.udp_src_port, row.udp_dst_port);
        let before = match self.last.take() {
            Some((last, address, hop)) if last == key && hop + 1 == row.hop => Some(address),
            _ if row.hop == 1 => Some(row.src),
            _ => None,
        };
        let Some(address) = row.address else { return };
        if let Some(before) = before {
            self.steps.insert((before, address));
        }
        self.last = Some((key, address, row.hop));
    }

    fn seen(&self) -> BTreeSet<IpAddr> {
        self.steps.iter().flat_map(|(a, b)| [*a, *b]).collect()
    }

    /// The addresses of each router.
    fn routers(&self, seen: &BTreeSet<IpAddr>) -> Groups {
        let mut groups = Groups(seen.iter().map(|address| (*address, *address)).collect());
        for (from, to) in &self.steps {
            if let Some(own) = peer(*to, seen)
                && !self.hosts.contains_key(from)
                && !self.hosts.contains_key(&own)
            {
                groups.join(*from, own);
            }
        }
        groups
    }

    /// The first router of each NIC, and the addresses of the routers that follow it. Routers have the names that they have in
    /// [`topology`](Self::topology) without names.
    #[must_use]
    pub fn attachments(&self) -> Attachments {
        let mut groups = self.routers(&self.seen());
        let mut attachments = Attachments::default();
        for (from, to) in self.steps.iter().filter(|(_, to)| !self.hosts.contains_key(to)) {
            match self.hosts.contains_key(from) {
                true => attachments.connect(*from, &groups.root(*to).to_string()),
                false => attachments.lead(&groups.root(*from).to_string(), &to.to_string()),
            }
        }
        attachments
    }

    /// The topology. Routers without a name are named by their smallest address.
    #[must_use]
    pub fn topology(&self) -> Topology {
        let seen = self.seen();
        let mut groups = self.routers(&seen);
        let name = |groups: &mut Groups, address: IpAddr| match (self.hosts.get(&address), self.names.get(&address)) {
            (Some((host, _)), _) => host.clone(),
            (None, Some(name)) => name.clone(),
            (None, None) => {
                let root = groups.root(address);
                self.names.get(&root).cloned().unwrap_or_else(|| root.to_string())
            }
        };
        let mut topology = Topology::default();
        let mut linked: BTreeSet<[Port; 2]> = BTreeSet::new();
        for (from, to) in &self.steps {
            let own = match self.hosts.get(from) {
                Some((_, nic)) => nic.clone(),
                None => peer(*to, &seen).map_or_else(|| format!("to {to}"), |own| own.to_string()),
            };
            let far = match self.hosts.get(to) {
                Some((_, nic)) => nic.clone(),
                None => to.to_string(),
            };
            let near = Port {
                node: name(&mut groups, *from),
                port: own,
            };
            let far = Port {
                node: name(&mut groups, *to),
                port: far,
            };
            let mut ends = [near, far];
            ends.sort();
            linked.insert(ends);
        }
        let mut members: BTreeMap<String, (BTreeSet<IpAddr>, bool)> = BTreeMap::new();
        for address in &seen {
            let entry = members.entry(name(&mut groups, *address)).or_default();
            entry.0.insert(*address);
            entry.1 |= self.hosts.contains_key(address);
        }
        topology
            .nodes
            .extend(members.into_iter().map(|(name, (addresses, is_host))| Node {
                name,
                kind: Some(if is_host { NodeKind::Host } else { NodeKind::Switch }),
                addresses: addresses.into_iter().collect(),
                ..Node::default()
            }));
        // A link from a router whose own address no path shows is the same as the one with it.
        let known: BTreeSet<Port> = linked
            .iter()
            .flatten()
            .filter(|end| !end.port.starts_with("to "))
            .cloned()
            .collect();
        let is_double = |ends: &[Port; 2]| {
            let unnamed = ends.iter().any(|end| end.port.starts_with("to "));
            let others = linked
                .iter()
                .filter(|other| *other != ends && other.iter().any(|end| ends.contains(end)));
            unnamed && others.count() > 0 && ends.iter().any(|end| known.contains(end))
        };
        let links = linked.iter().filter(|ends| !is_double(ends));
        topology.links = links
            .map(|ends| Link {
                ends: ends.to_vec(),
                line: None,
            })
            .collect();
        topology
    }
}

/// The other address of the subnet of a link, if some path shows it.
fn peer(address: IpAddr, seen: &BTreeSet<IpAddr>) -> Option<IpAddr> {
    let flipped = |mask: u8| match address {
        IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() ^ u32::from(mask)).into(),
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() ^ u128::from(mask)).into(),
    };
    [1, 3].into_iter().map(flipped).find(|peer| seen.contains(peer))
}

/// Addresses of the same router, as a forest.
struct Groups(BTreeMap<IpAddr, IpAddr>);

impl Groups {
    fn root(&mut self, address: IpAddr) -> IpAddr {
        let mut at = address;
        while let Some(next) = self.0.get(&at).copied().filter(|next| *next != at) {
            at = next;
        }
        at
    }

    fn join(&mut self, one: IpAddr, other: IpAddr) {
        let (one, other) = (self.root(one), self.root(other));
        let (low, high) = if one < other { (one, other) } else { (other, one) };
        self.0.insert(high, low);
    }
}
