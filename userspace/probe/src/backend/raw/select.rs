//! Which NICs are probed if none are named.
//!
//! A host has other interfaces too: a management port, bridges, tunnels. Probes to them would all be lost, and the healthy host
//! be accused. So RDMA devices are taken where the host has any. Otherwise it is the NICs that reach each other by routes that
//! are more than the default route of the host, or for which a routing rule was made: one of these may lack its route, which is a
//! fault to be found.

use super::super::Error;
use super::link::{self, Link};
use super::next_hop::has_own_route;
use rocescope_host::netlink::Socket;
use rocescope_host::rules::Rules;
use std::fs;
use std::path::Path;

/// The NICs to probe, and the others with the reason.
#[derive(Debug, Default)]
pub struct Selection {
    /// In the order of the kernel.
    pub links: Vec<Link>,
    /// Names of interfaces, and why they are not probed.
    pub left_out: Vec<(String, &'static str)>,
}

/// What decides about an interface.
#[derive(Debug, Clone, Copy, Default)]
struct Facts {
    is_rdma: bool,
    /// Why it is no NIC.
    is_no_nic: Option<&'static str>,
    has_rule: bool,
}

/// Returns the NICs of this host that belong to a mesh.
///
/// # Errors
/// Interfaces, rules or routes cannot be read.
pub fn all() -> Result<Selection, Error> {
    let links = link::up()?;
    let rules = Rules::read().map_err(Error::at("the routing rules"))?;
    let facts = links.iter().map(|link| Facts {
        is_rdma: link.is_rdma(),
        is_no_nic: no_nic(Path::new("/sys/class/net"), link.name()),
        has_rule: rules.name(link.name(), link.address()),
    });
    let facts: Vec<Facts> = facts.collect();
    let mut netlink = Socket::open(libc::NETLINK_ROUTE).map_err(Error::at("netlink"))?;
    let mut reaches = Vec::new();
    for from in &links {
        let mut of_one = Vec::new();
        for to in &links {
            let is_other = from.index() != to.index() && from.address().is_ipv4() == to.address().is_ipv4();
            let reached = is_other && has_own_route(&mut netlink, from, to.address()).map_err(Error::at("netlink"))?;
            of_one.push(reached);
        }
        reaches.push(of_one);
    }
    let why = left_out(&facts, |from, to| {
        reaches.get(from).and_then(|of_one| of_one.get(to)) == Some(&true)
    });
    let mut selection = Selection::default();
    for (link, why) in links.into_iter().zip(why) {
        match why {
            None => selection.links.push(link),
            Some(why) => selection.left_out.push((link.name().to_owned(), why)),
        }
    }
    Ok(selection)
}

/// By interface, why it is left out. `reaches` is whether one has a route of its own to another.
fn left_out(facts: &[Facts], reaches: impl Fn(usize, usize) -> bool) -> Vec<Option<&'static str>> {
    if facts.iter().any(|one| one.is_rdma) {
        let why = |one: &Facts| (!one.is_rdma).then_some("it is no RDMA device, and others are");
        return facts.iter().map(why).collect();
    }
    let is_nic = |at: usize| facts.get(at).is_some_and(|one| one.is_no_nic.is_none());
    let has_rule = |at: usize| facts.get(at).is_some_and(|one| one.has_rule);
    let belongs = |at: usize| {
        let mut others = (0..facts.len()).filter(|other| *other != at && is_nic(*other));
        has_rule(at) || others.any(|other| reaches(at, other) && (reaches(other, at) || has_rule(other)))
    };
    let is_mesh = (0..facts.len()).filter(|at| is_nic(*at) && belongs(*at)).count() >= 2;
    let why = |(at, one): (usize, &Facts)| match one.is_no_nic {
        Some(why) => Some(why),
        // Where no two NICs have routes to each other, these are missing: all are probed, and that is found.
        None => (is_mesh && !belongs(at)).then_some("it has no route of its own to another NIC, as a management port"),
    };
    facts.iter().enumerate().map(why).collect()
}

/// Why an interface is no NIC; `net` is `/sys/class/net`.
fn no_nic(net: &Path, name: &str) -> Option<&'static str> {
    let own = net.join(name);
    if own.join("bridge").exists() {
        return Some("it is a bridge");
    }
    if own.join("brport").exists() {
        return Some("it is a port of a bridge");
    }
    let uevent = fs::read_to_string(own.join("uevent")).unwrap_or_default();
    let kind = uevent.lines().find_map(|line| line.strip_prefix("DEVTYPE="));
    match kind {
        Some("vxlan" | "geneve" | "wireguard" | "ppp" | "gtp") => Some("it is a tunnel"),
        Some("wlan" | "wwan" | "bluetooth") => Some("it is a radio"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Facts, left_out, no_nic};
    use std::fs;

    const NIC: Facts = Facts {
        is_rdma: false,
        is_no_nic: None,
        has_rule: false,
    };

    fn chosen(facts: &[Facts], reaches: &[(usize, usize)]) -> Vec<usize> {
        let why = left_out(facts, |from, to| reaches.contains(&(from, to)));
        (0..facts.len()).filter(|at| why[*at].is_none()).collect()
    }

    #[test]
    fn rdma_devices_are_taken_where_there_are_any() {
        let rdma = Facts { is_rdma: true, ..NIC };
        assert_eq!(chosen(&[NIC, rdma, rdma, NIC], &[(0, 3), (3, 0)]), [1, 2]);
    }

    #[test]
    fn nics_that_reach_each_other_are_a_mesh_and_a_management_port_is_none() {
        // The rails reach the management port, which reaches them by the default route only.
        let rails = [(1, 2), (2, 1), (1, 0), (2, 0)];
        assert_eq!(chosen(&[NIC; 3], &rails), [1, 2]);
        // A rail that lacks its route is of the mesh all the same.
        let ruled = Facts { has_rule: true, ..NIC };
        assert_eq!(
            chosen(&[NIC, ruled, ruled, ruled], &[(1, 2), (2, 1), (1, 0), (2, 3)]),
            [1, 2, 3]
        );
        // Without any route they are all alike.
        assert_eq!(chosen(&[NIC; 3], &[]), [0, 1, 2]);
        let bridge = Facts {
            is_no_nic: Some("it is a bridge"),
            ..NIC
        };
        assert_eq!(chosen(&[bridge, NIC, NIC], &[]), [1, 2]);
    }

    #[test]
    fn bridges_their_ports_and_tunnels_are_no_nics() {
        let net = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("docker0/bridge/x", ""),
            ("docker0/uevent", "DEVTYPE=bridge\n"),
            ("veth1/brport/x", ""),
            ("flannel.1/uevent", "DEVTYPE=vxlan\nINTERFACE=flannel.1\n"),
            ("eth2.100/uevent", "DEVTYPE=vlan\n"),
            ("bond0/uevent", "DEVTYPE=bond\n"),
            ("rail0/uevent", "INTERFACE=rail0\n"),
        ] {
            let path = net.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let all = ["docker0", "veth1", "flannel.1", "eth2.100", "bond0", "rail0"];
        let no_nics: Vec<&str> = all
            .into_iter()
            .filter(|name| no_nic(net.path(), name).is_some())
            .collect();
        assert_eq!(no_nics, ["docker0", "veth1", "flannel.1"]);
    }
}
