//! Numbers for hosts, NICs, nodes and links: rows carry names and addresses, the analysis uses numbers.

use super::ports::PortSets;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use hashbrown::{HashMap, HashSet};
use rocescope_model::Text;

/// A NIC.
#[derive(Debug, Clone)]
pub(crate) struct Nic {
    pub(crate) address: IpAddr,
    pub(crate) host: u32,
    pub(crate) name: Text,
}

/// One direction of a link, which ends at an interface.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) from: End,
    pub(crate) to: End,
    pub(crate) address: IpAddr,
}

/// An end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum End {
    Nic(u32),
    Switch(u32),
    /// A hop that did not answer.
    Unknown,
}

/// Everything that has a number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) hosts: Vec<Text>,
    host_numbers: HashMap<String, u32>,
    pub(crate) nics: Vec<Nic>,
    pub(super) nic_numbers: HashMap<IpAddr, u32>,
    pub(crate) switches: Vec<String>,
    switch_numbers: HashMap<String, u32>,
    /// Addresses of nodes, from the topology file.
    pub(super) nodes: HashMap<IpAddr, String>,
    /// The same by node.
    pub(super) addresses: HashMap<String, Vec<IpAddr>>,
    /// The switches next to each NIC, as paths show.
    pub(super) leaves: HashMap<u32, Vec<u32>>,
    /// The switches next to any NIC.
    pub(super) leaf_switches: HashSet<u32>,
    pub(crate) links: Vec<Link>,
    pub(super) link_numbers: HashMap<(End, IpAddr), u32>,
    /// Links by their nodes, for addresses that do not identify a port.
    node_links: HashMap<(End, End), u32>,
    /// All links to an address.
    links_to: HashMap<IpAddr, Vec<u32>>,
    /// The link between two nodes; `None` if there are several.
    pub(super) links_between: HashMap<(End, End), Option<u32>>,
    pub(crate) port_sets: PortSets,
}

/// Numbers are 32 bits wide; memory runs out long before.
fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Names {
    /// Assigns an address to a node.
    pub(crate) fn know(&mut self, address: IpAddr, node: &str) {
        self.nodes.insert(address, node.into());
        self.addresses.entry(node.into()).or_default().push(address);
    }

    pub(crate) fn host(&mut self, name: &Text) -> u32 {
        if let Some(known) = self.host_numbers.get(name.as_str()) {
            return *known;
        }
        let new = number(self.hosts.len());
        self.hosts.push(name.clone());
        self.host_numbers.insert(name.as_str().into(), new);
        new
    }

    pub(crate) fn nic(&mut self, address: IpAddr, host: &Text, name: &Text) -> u32 {
        if let Some(known) = self.nic_numbers.get(&address).copied() {
            self.give_name(known, host, name);
            return known;
        }
        let (new, host) = (number(self.nics.len()), self.host(host));
        self.nics.push(Nic {
            address,
            host,
            name: name.clone(),
        });
        self.nic_numbers.insert(address, new);
        new
    }

    /// Returns the NIC of a row that does not name it, because it is of another host: rows of that host do.
    pub(crate) fn nic_of_another(&mut self, address: IpAddr) -> u32 {
        match self.find_nic(address) {
            Some(known) => known,
            None => self.nic(address, &Text::default(), &Text::default()),
        }
    }

    /// Names a NIC that only rows of other hosts have had.
    fn give_name(&mut self, nic: u32, host: &Text, name: &Text) {
        let is_nameless = self.nics.get(nic as usize).is_some_and(|nic| nic.name.is_empty());
        if is_nameless && !name.is_empty() {
            let host = self.host(host);
            if let Some(nic) = self.nics.get_mut(nic as usize) {
                (nic.host, nic.name) = (host, name.clone());
                // No path begins at a NIC without a name: its own host traces that.
                let address = nic.address;
                for link in self.links_to.get(&address).cloned().unwrap_or_default() {
                    let Some(Link { from, to, .. }) = self.links.get(link as usize).cloned() else {
                        continue;
                    };
                    if from != End::Unknown {
                        let ends = [from, to].map(|end| self.node_of(end));
                        self.port_sets.join(link, [&ends[0], &ends[1]]);
                    }
                }
            }
        }
    }

    pub(crate) fn find_nic(&self, address: IpAddr) -> Option<u32> {
        self.nic_numbers.get(&address).copied()
    }

    /// Returns the switch with an address: a node of the topology file, else the address itself.
    pub(super) fn switch(&mut self, address: IpAddr) -> u32 {
        let name = self.nodes.get(&address).cloned();
        let name = name.unwrap_or_else(|| address.to_string());
        if let Some(known) = self.switch_numbers.get(&name) {
            return *known;
        }
        let new = number(self.switches.len());
        self.switches.push(name.clone());
        self.switch_numbers.insert(name, new);
        new
    }

    /// Returns the link from a hop to the address of the next one.
    ///
    /// Each interface of a switch has its own address, so the address at the end of a link identifies the link. The
    /// node before it counts too if the topology file contains it, since an interface may have several neighbours. A
    /// Linux router answers over IPv6 from the port towards the sender, whichever port the packet arrived on: there the
    /// two nodes identify the link, if the file contains both.
    ///
    /// Where the hop before did not answer, the link is the one that leads to this address, if there is only one.
    pub(crate) fn link(&mut self, from: End, address: IpAddr) -> u32 {
        let named = match from {
            End::Switch(_) if !self.nodes.is_empty() => from,
            _ => End::Unknown,
        };
        if let Some(known) = self.link_numbers.get(&(named, address)) {
            return *known;
        }
        if address.is_ipv4()
            && let Some(link) = self.without_its_start(named, from, address)
        {
            self.link_numbers.insert((named, address), link);
            return link;
        }
        let to = match self.nic_numbers.get(&address) {
            Some(nic) => End::Nic(*nic),
            None => End::Switch(self.switch(address)),
        };
        let next = number(self.links.len());
        let by_nodes = address.is_ipv6() && from != End::Unknown && self.nodes.contains_key(&address);
        let link = match by_nodes {
            true => *self.node_links.entry((from, to)).or_insert(next),
            false => next,
        };
        if link == next {
            self.links.push(Link { from, to, address });
            self.links_to.entry(address).or_default().push(link);
            self.joins(link, (from, to));
        }
        self.link_numbers.insert((named, address), link);
        link
    }

    /// Notes a link between two nodes.
    fn joins(&mut self, link: u32, (from, to): (End, End)) {
        if from != End::Unknown {
            self.links_between
                .entry((from, to))
                .and_modify(|known| *known = None)
                .or_insert(Some(link));
            let ends = [from, to].map(|end| self.node_of(end));
            self.port_sets.join(link, [&ends[0], &ends[1]]);
        }
    }

    /// The name of the switch or the host at an end.
    fn node_of(&self, end: End) -> String {
        match end {
            End::Nic(nic) => {
                let nic = self.nics.get(nic as usize);
                let host = nic.and_then(|nic| self.hosts.get(nic.host as usize));
                host.map_or_else(String::new, |host| host.as_str().into())
            }
            end => self.end_name(end),
        }
    }

    /// The link from a hop to the one after it that did not answer, if the address of the hop after that leaves one
    /// possibility: a single link leads there, and a single one from the first hop to its start.
    ///
    /// Without a topology file no two addresses are known to be of one switch, so nothing follows.
    pub(crate) fn link_before(&self, from: End, after: IpAddr) -> Option<u32> {
        // Over IPv6 several nodes lead to one address of a router.
        if self.nodes.is_empty() || !(after.is_ipv4() || self.nic_numbers.contains_key(&after)) {
            return None;
        }
        let hidden = match self.only_link_to(after)? {
            Link { from: End::Unknown, .. } => return None,
            link => link.from,
        };
        *self.links_between.get(&(from, hidden))?
    }

    fn only_link_to(&self, address: IpAddr) -> Option<&Link> {
        let [link] = self.links_to.get(&address)?.as_slice() else {
            return None;
        };
        self.links.get(*link as usize)
    }

    /// The link to an address whose start is unknown here, or was until now.
    fn without_its_start(&mut self, named: End, from: End, address: IpAddr) -> Option<u32> {
        if from == End::Unknown {
            let [link] = self.links_to.get(&address)?.as_slice() else {
                return None;
            };
            return Some(*link);
        }
        let link = self.link_numbers.get(&(End::Unknown, address)).copied();
        let link = link.filter(|_| named != End::Unknown)?;
        let Link { from: start, to, .. } = self.links.get_mut(link as usize)?;
        if *start != End::Unknown {
            return None;
        }
        *start = from;
        let to = *to;
        self.joins(link, (from, to));
        Some(link)
    }

    /// Returns the other direction of a link between switches: the link to the other address of its subnet, a /31 or
    /// /30 (/127 or /126).
    pub(crate) fn reverse(&self, link: u32) -> Option<u32> {
        let Link {
            from,
            to: End::Switch(to),
            address,
        } = self.links.get(link as usize)?
        else {
            return None;
        };
        if let Some(back) = self.node_links.get(&(End::Switch(*to), *from)) {
            return matches!(from, End::Switch(_)).then_some(*back);
        }
        let named = if self.nodes.is_empty() {
            End::Unknown
        } else {
            End::Switch(*to)
        };
        let leads_back = |mask: u8| {
            let peer = match address {
                IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() ^ u32::from(mask)).into(),
                IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() ^ u128::from(mask)).into(),
            };
            let found = *self.link_numbers.get(&(named, peer))?;
            let back = self.links.get(found as usize)?;
            let known = self.nodes.is_empty() || back.to == *from;
            (known && matches!(back.to, End::Switch(_))).then_some(found)
        };
        leads_back(1).or_else(|| leads_back(3))
    }

    /// `host/nic`.
    pub(crate) fn nic_name(&self, nic: u32) -> String {
        let Some(nic) = self.nics.get(nic as usize) else {
            return String::new();
        };
        if nic.name.is_empty() {
            return nic.address.to_string();
        }
        let host = self.hosts.get(nic.host as usize).map_or("", Text::as_str);
        format!("{host}/{}", nic.name)
    }

    pub(crate) fn end_name(&self, end: End) -> String {
        match end {
            End::Nic(nic) => self.nic_name(nic),
            End::Switch(switch) => self.switch_name(switch),
            End::Unknown => "?".into(),
        }
    }

    pub(crate) fn switch_name(&self, switch: u32) -> String {
        self.switches.get(switch as usize).cloned().unwrap_or_default()
    }

    /// `from>to`.
    pub(crate) fn link_name(&self, link: u32) -> String {
        self.links.get(link as usize).map_or_else(String::new, |link| {
            format!("{}>{}", self.end_name(link.from), self.end_name(link.to))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Names};
    use core::net::IpAddr;

    fn at(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn ports_identify_links_and_subnets_join_their_directions() {
        let mut names = Names::default();
        let (up, down) = (at("10.0.0.9"), at("10.0.0.8"));
        let [up, down, other] = [up, down, at("10.0.0.2")].map(|to| names.link(End::Unknown, to));
        assert_eq!((names.reverse(up), names.reverse(down)), (Some(down), Some(up)));
        assert_eq!(names.reverse(other), None);
        // The first and the last address of a /30 are unused.
        let [one, two] = ["10.1.0.5", "10.1.0.6"].map(|to| names.link(End::Unknown, at(to)));
        assert_eq!(names.reverse(one), Some(two));
    }

    #[test]
    fn a_nic_of_another_host_gets_its_name_from_that_host() {
        let mut names = Names::default();
        let nic = names.nic_of_another(at("10.0.0.9"));
        assert_eq!(
            (names.nic_name(nic).as_str(), names.nics[nic as usize].host),
            ("10.0.0.9", 0)
        );
        assert_eq!(names.nic(at("10.0.0.9"), &"h1".into(), &"rail0".into()), nic);
        assert_eq!(
            (names.nic_of_another(at("10.0.0.9")), names.nic_name(nic).as_str()),
            (nic, "h1/rail0")
        );
        // Its links are now at the host.
        let (mut late, leaf) = (Names::default(), End::Switch(0));
        late.switches.push("r0".into());
        late.port_sets.add("r0", "3/* of r0".into(), ["h1".into()].into());
        late.nic_of_another(at("10.0.0.9"));
        let link = late.link(leaf, at("10.0.0.9"));
        assert_eq!(late.port_sets.of(link), [0; 0]);
        late.nic(at("10.0.0.9"), &"h1".into(), &"rail0".into());
        assert_eq!(late.port_sets.of(link), [0]);
        // The first name stays.
        names.nic(at("10.0.0.9"), &"h2".into(), &"rail5".into());
        assert_eq!(names.nic_name(nic), "h1/rail0");
    }

    #[test]
    fn routers_that_answer_from_another_port_are_one_node_in_ipv6() {
        let mut names = Names::default();
        for (address, node) in [("fd00::1", "r0"), ("fd00::2", "s0"), ("fd00::3", "s0")] {
            names.know(at(address), node);
        }
        let leaf = names.link(End::Nic(0), at("fd00::1"));
        let leaf = names.links[leaf as usize].to;
        let [one, two] = ["fd00::2", "fd00::3"].map(|to| names.link(leaf, at(to)));
        assert_eq!(one, two);
        let spine = names.links[one as usize].to;
        let back = names.link(spine, at("fd00::1"));
        assert_eq!(names.reverse(one), Some(back));
        assert_eq!(names.link_name(back), "s0>r0");
    }

    fn known() -> (Names, [End; 2]) {
        let mut names = Names::default();
        for (address, node) in [
            ("10.0.0.1", "s0"),
            ("10.0.0.2", "s1"),
            ("10.0.0.3", "r0"),
            ("10.0.0.4", "r0"),
        ] {
            names.know(at(address), node);
        }
        let spines = ["10.0.0.1", "10.0.0.2"].map(|address| End::Switch(names.switch(at(address))));
        (names, spines)
    }

    #[test]
    fn a_hop_that_does_not_answer_hides_no_link_that_other_paths_show() {
        let (mut names, [s0, s1]) = known();
        let shown = names.link(s0, at("10.0.0.3"));
        assert_eq!(names.link(End::Unknown, at("10.0.0.3")), shown);
        // The other way round: the start becomes known.
        let hidden = names.link(End::Unknown, at("10.0.0.4"));
        assert_eq!(names.links[hidden as usize].from, End::Unknown);
        assert_eq!(names.link(s1, at("10.0.0.4")), hidden);
        assert_eq!(names.links[hidden as usize].from, s1);
        assert_ne!(shown, hidden);
    }

    #[test]
    fn a_hop_between_two_known_ones_is_known_if_one_link_leads_there() {
        let (mut names, [s0, s1]) = known();
        let r0 = End::Switch(names.switch(at("10.0.0.3")));
        let up = names.link(r0, at("10.0.0.1"));
        assert_eq!(names.link_before(r0, at("10.1.0.9")), None, "no link to it");
        let nic = End::Nic(names.nic(at("10.1.0.9"), &"h0".into(), &"rail0".into()));
        let down = names.link(s0, at("10.1.0.9"));
        assert_eq!(names.links[down as usize].to, nic);
        // r0, ?, h0/rail0: over s0.
        assert_eq!(names.link_before(r0, at("10.1.0.9")), Some(up));
        assert_eq!(names.link_before(s1, at("10.1.0.9")), None, "no link from there");
        // A second link between r0 and s0.
        names.know(at("10.0.0.7"), "s0");
        names.link(r0, at("10.0.0.7"));
        assert_eq!(names.link_before(r0, at("10.1.0.9")), None, "one of two");
    }

    #[test]
    fn without_a_topology_no_hop_is_inferred() {
        let mut names = Names::default();
        let r0 = names.link(End::Nic(0), at("10.0.0.1"));
        let r0 = names.links[r0 as usize].to;
        let s0 = names.link(r0, at("10.0.0.9"));
        let s0 = names.links[s0 as usize].to;
        names.link(s0, at("10.0.0.3"));
        assert_eq!(names.link_before(r0, at("10.0.0.3")), None);
    }

    #[test]
    fn of_several_links_to_an_address_none_is_guessed() {
        let (mut names, [s0, s1]) = known();
        let both = [s0, s1].map(|from| names.link(from, at("10.0.0.3")));
        assert_ne!(both[0], both[1]);
        assert!(!both.contains(&names.link(End::Unknown, at("10.0.0.3"))));
    }
}
