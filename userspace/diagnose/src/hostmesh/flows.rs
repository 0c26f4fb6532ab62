//! Which captured flows cross a suspicious place.
//!
//! A captured packet shows its two NICs and its 5-tuple, but not its path. Addresses alone decide about NICs and pairs.
//! Links and switches need a path of exactly this 5-tuple: ECMP may send another source port over another path. It is one
//! that switches stated (`rocescope paths discover`), or one that a probe traced.

use super::analyzer::Analyzer;
use super::diagnosis::Where;
use super::names::{End, Link};
use super::place::{Crossing, FaultLocation};
use super::tuples::Key;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::UdpPath;

impl Analyzer {
    /// Whether a flow is between NICs of one host. Those are probes: the processes of a host do not use the fabric among each
    /// other.
    #[must_use]
    pub fn is_within_a_host(&self, flow: UdpPath) -> bool {
        let nic = |address| self.names.nics.get(self.names.find_nic(address)? as usize);
        let host = |address| nic(address).filter(|nic| !nic.name.is_empty()).map(|nic| nic.host);
        host(flow.src).is_some_and(|of_src| host(flow.dst) == Some(of_src))
    }

    /// Whether a flow crossed a place at a time; `None` if its path is unknown.
    #[must_use]
    pub fn crosses(&self, place: Where, flow: UdpPath, udp_dst_port: u16, at_ns: i64) -> Option<bool> {
        let nic = |address| self.names.find_nic(address);
        let (src, dst) = (nic(flow.src), nic(flow.dst));
        match place.0 {
            FaultLocation::Nic(at) => return Some(src == Some(at) || dst == Some(at)),
            FaultLocation::ToNic(at) => return Some(dst == Some(at)),
            FaultLocation::FromNic(at) => return Some(src == Some(at)),
            FaultLocation::Host(host) => {
                let here = |nic: Option<u32>| nic.is_some_and(|nic| self.names.nics[nic as usize].host == host);
                return Some(here(src) || here(dst));
            }
            FaultLocation::Pair { src: from, dst: to } => {
                return Some((src, dst) == (Some(from), Some(to)));
            }
            FaultLocation::Collector | FaultLocation::Mesh => return Some(false),
            _ => {}
        }
        let key = Key {
            src: src?,
            dst: dst?,
            udp_src_port: flow.port,
            udp_dst_port,
        };
        let number = self.tuples.find(key)?;
        let path = self.tuples.path_at(number, at_ns)?;
        let crossing = Crossing {
            key,
            links: self.tuples.links(path),
            cut_at: path.cut_at,
            is_short: path.is_short,
        };
        Some(crossing.meets(place.0, &self.names))
    }

    /// Whether a flow over these nodes crosses a link or switch; `None` if the place is another one, or the switches of
    /// the paths have other names than those of the probes, or if several links join two nodes of the path, so that it may
    /// cross another one. `is_known` decides whether a path has a name.
    #[must_use]
    pub fn crosses_nodes(
        &self,
        place: Where,
        flow: UdpPath,
        nodes: &[String],
        is_known: impl Fn(&str) -> bool,
    ) -> Option<bool> {
        let link = |number: u32| {
            let link = self.names.links.get(number as usize)?;
            let (End::Switch(from), End::Switch(to)) = (link.from, link.to) else {
                return None;
            };
            let joins = |other: &&Link| (other.from, other.to) == (link.from, link.to);
            let is_alone = self.names.links.iter().filter(joins).count() == 1;
            let [from, to] = [from, to].map(|switch| self.names.switch_name(switch));
            let is_crossed = nodes.windows(2).any(|pair| pair == [&*from, &*to]);
            (is_known(&from) && is_known(&to) && (is_alone || !is_crossed)).then_some(is_crossed)
        };
        let switch = |number: u32| {
            let name = self.names.switch_name(number);
            is_known(&name).then(|| nodes.contains(&name))
        };
        match place.0 {
            FaultLocation::Link(number) => link(number),
            FaultLocation::Cable(one, other) => Some(link(one)? || link(other)?),
            FaultLocation::Ports(set) => {
                let links = self.names.port_sets.links.get(set as usize)?;
                let crossed: Vec<Option<bool>> = links.iter().map(|number| link(*number)).collect();
                match crossed.contains(&Some(true)) {
                    true => Some(true),
                    false => (!crossed.contains(&None)).then_some(false),
                }
            }
            FaultLocation::Switch(number) => switch(number),
            FaultLocation::Route { switch: number, nic } => {
                Some(switch(number)? && self.names.find_nic(flow.dst) == Some(nic))
            }
            FaultLocation::PairAt {
                switch: number,
                src,
                dst,
            } => {
                let pair = (self.names.find_nic(flow.src), self.names.find_nic(flow.dst));
                Some(switch(number)? && pair == (Some(src), Some(dst)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Analyzer, End, FaultLocation, UdpPath, Where};
    use crate::hostmesh::settings::Settings;
    use alloc::string::String;
    use core::net::IpAddr;

    #[test]
    fn of_several_links_between_two_switches_a_path_of_switches_names_none() {
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        let mut analyzer = Analyzer::new(Settings::default(), "test").unwrap();
        let names = &mut analyzer.names;
        names.know(address(1), "leaf1");
        for last in [2, 3] {
            names.know(address(last), "spine1");
        }
        names.know(address(4), "spine2");
        let first = names.link(End::Unknown, address(1));
        let leaf = names.links[first as usize].to;
        let [one, other, alone] = [2, 3, 4].map(|last| names.link(leaf, address(last)));
        assert_ne!(one, other);
        let flow = UdpPath {
            src: address(100),
            dst: address(101),
            port: 50_000,
        };
        let crosses = |link: u32, nodes: [&str; 2]| {
            let nodes = nodes.map(String::from);
            analyzer.crosses_nodes(Where(FaultLocation::Link(link)), flow, &nodes, |_| true)
        };
        assert_eq!(crosses(one, ["leaf1", "spine1"]), None);
        assert_eq!(crosses(other, ["leaf1", "spine1"]), None);
        assert_eq!(crosses(one, ["leaf1", "spine2"]), Some(false));
        assert_eq!(crosses(alone, ["leaf1", "spine2"]), Some(true));
    }
}
