//! Which port is the other end of which.

use crate::incidents::place::Place;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

/// An end of a cable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The switch or host.
    pub node: String,
    /// Its port.
    pub port: String,
    /// Whether the node is a host.
    pub is_host: bool,
    /// The addresses of the port, as far as they are known.
    pub addresses: BTreeSet<IpAddr>,
}

/// A cable between two ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cable {
    /// One end.
    pub a: End,
    /// The other.
    pub b: End,
}

/// All cables of a fabric.
#[derive(Clone, Debug, Default)]
pub struct Cables {
    pub(super) cables: Vec<Cable>,
    pub(super) by_port: BTreeMap<(String, String), usize>,
    /// By the names of their ends as places have them.
    by_ends: BTreeMap<(String, String), Vec<usize>>,
    /// The hosts of addresses.
    pub(super) hosts: BTreeMap<IpAddr, String>,
    /// The hosts and ports of addresses.
    pub(super) nics: BTreeMap<IpAddr, (String, String)>,
}

impl End {
    /// Its name in places: a NIC is `host/port`, and of a switch the switch alone.
    pub(super) fn place_name(&self) -> String {
        match self.is_host {
            true => format!("{}/{}", self.node, self.port),
            false => self.node.clone(),
        }
    }
}

impl Cable {
    /// The place of the cable. All traffic of a NIC passes it.
    pub(super) fn place(&self) -> Place {
        let ends = [&self.a, &self.b];
        let nic = ends.iter().find(|end| end.is_host);
        Place {
            host: nic.map(|nic| nic.node.clone()),
            link: Some(format!("{}>{}", self.a.place_name(), self.b.place_name())),
            addresses: ends.iter().flat_map(|end| end.addresses.iter().copied()).collect(),
            ..Place::named(
                "link",
                format!("{} {} – {} {}", self.a.node, self.a.port, self.b.node, self.b.port),
            )
        }
    }

    /// The end that is not this one.
    pub(super) fn other(&self, node: &str, port: &str) -> &End {
        match self.a.node == node && self.a.port == port {
            true => &self.b,
            false => &self.a,
        }
    }
}

impl Cables {
    /// Cables.
    #[must_use]
    pub fn new(cables: Vec<Cable>) -> Self {
        let mut all = Self::default();
        for (at, cable) in cables.iter().enumerate() {
            let (a, b) = (cable.a.place_name(), cable.b.place_name());
            for end in [&cable.a, &cable.b] {
                all.by_port.insert((end.node.clone(), end.port.clone()), at);
            }
            all.by_ends.entry((b.clone(), a.clone())).or_default().push(at);
            all.by_ends.entry((a, b)).or_default().push(at);
        }
        all.cables = cables;
        all
    }

    /// Names the hosts of addresses: a host with several NICs may have any of its addresses at any of them.
    #[must_use]
    pub fn with_hosts(mut self, hosts: BTreeMap<IpAddr, String>) -> Self {
        self.hosts = hosts;
        self
    }

    /// Names the hosts and ports of addresses, as agents know them.
    #[must_use]
    pub fn with_nics(mut self, nics: BTreeMap<IpAddr, (String, String)>) -> Self {
        self.nics = nics;
        self
    }

    /// Whether no cable is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cables.is_empty()
    }

    /// The cable at a port.
    pub(super) fn at(&self, node: &str, port: &str) -> Option<&Cable> {
        let at = self.by_port.get(&(node.into(), port.into()))?;
        self.cables.get(*at)
    }

    /// The cables of a place: those of its links, and that of its NIC.
    pub(super) fn of<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = &'a Cable> {
        let links = place.link.iter().flat_map(|links| links.split(' '));
        let of_links = links.filter_map(|link| {
            let (from, to) = link.split_once('>')?;
            self.by_ends.get(&(from.into(), to.into()))
        });
        let of_nic = place.nic.iter().filter_map(|nic| {
            self.by_port
                .get(&nic.rsplit_once('/').map(|(host, port)| (host.into(), port.into()))?)
        });
        let numbers: BTreeSet<usize> = of_links.flatten().chain(of_nic).copied().collect();
        numbers.into_iter().filter_map(|at| self.cables.get(at))
    }
}
