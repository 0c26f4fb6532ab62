//! Builds a topology as namespaces, veth pairs and kernel routes.

use super::namespace::{command, ip, output};
use super::wiring::{End, Link, Wiring, prefix};
use anyhow::{Context, Result};

/// Settings of routers and hosts. ICMP answers are not rate-limited, and come from the address of the interface that
/// received the packet, which identifies the link.
const SETTINGS: [&str; 13] = [
    "net.ipv4.ip_forward=1",
    "net.ipv4.conf.all.rp_filter=0",
    "net.ipv4.conf.default.rp_filter=0",
    "net.ipv4.fib_multipath_hash_policy=1",
    "net.ipv4.icmp_ratelimit=0",
    "net.ipv4.icmp_msgs_per_sec=100000",
    "net.ipv4.icmp_msgs_burst=10000",
    "net.ipv4.icmp_errors_use_inbound_ifaddr=1",
    "net.ipv6.conf.all.forwarding=1",
    "net.ipv6.conf.default.accept_dad=0",
    "net.ipv6.fib_multipath_hash_policy=1",
    // A flow label leaves the sender's hash on the packet, and routers of the same kernel would use it.
    "net.ipv6.auto_flowlabels=0",
    "net.ipv6.icmp.ratelimit=0",
];

/// A switch avoids links without carrier if it has another path.
const SWITCHES: [&str; 4] = [
    "net.ipv4.conf.all.ignore_routes_with_linkdown=1",
    "net.ipv4.conf.default.ignore_routes_with_linkdown=1",
    "net.ipv6.conf.all.ignore_routes_with_linkdown=1",
    "net.ipv6.conf.default.ignore_routes_with_linkdown=1",
];

/// The namespace of a node.
pub(super) fn namespace(fabric: &str, wiring: &Wiring, node: usize) -> String {
    format!("{fabric}-{}", wiring.nodes[node].name)
}

/// Builds everything. After a failure, `remove` deletes the rest.
pub(super) fn build(fabric: &str, wiring: &Wiring, seed: u32) -> Result<()> {
    let nodes = 0..wiring.nodes.len();
    let named = |node| namespace(fabric, wiring, node);
    let add: Vec<String> = nodes.clone().map(|n| format!("netns add {}", named(n))).collect();
    ip(None, &add).context("namespaces require root")?;
    for node in nodes.clone() {
        let mut set = command(&named(node), "sysctl");
        set.arg("-qw").args(SETTINGS);
        // Otherwise all routers hash alike, and links in three tiers stay unused. 0 would mean a random seed.
        let seed = seed.wrapping_add(node as u32).wrapping_mul(0x9e37_79b1) | 1;
        set.arg(format!("net.ipv4.fib_multipath_hash_seed={seed}"));
        if !wiring.nodes[node].is_host {
            set.args(SWITCHES);
        }
        output(&mut set)?;
    }
    let pairs = wiring.links.iter().map(|link| {
        let (lower, upper) = (&link.lower, &link.upper);
        format!(
            "link add {} netns {} type veth peer name {} netns {}",
            lower.interface,
            named(lower.node),
            upper.interface,
            named(upper.node)
        )
    });
    ip(None, &pairs.collect::<Vec<_>>())?;
    for node in nodes {
        let namespace = named(node);
        ip(Some(&namespace), &interfaces(wiring, node))?;
        ip(Some(&namespace), &routes(wiring, node, &[]))?;
    }
    Ok(())
}

/// Deletes the existing namespaces; their veth pairs vanish with them.
pub(super) fn remove(fabric: &str) -> Result<()> {
    let listed = output(std::process::Command::new("ip").args(["netns", "list"]))?;
    let ours = listed.lines().filter_map(|line| line.split(' ').next());
    let ours = ours.filter(|name| name.strip_prefix(fabric).is_some_and(|rest| rest.starts_with('-')));
    let delete: Vec<String> = ours.map(|name| format!("netns del {name}")).collect();
    ip(None, &delete).map(drop)
}

/// The initial state of interfaces, and the rules by which a host sends from each NIC the packets with its address and
/// those bound to it: for a route to an address of its own, IPv6 consults tables after the local one only for the
/// latter.
fn interfaces(wiring: &Wiring, node: usize) -> Vec<String> {
    let mut lines = vec!["link set lo up".to_owned()];
    for (near, _) in wiring.ends(node) {
        lines.push(address(wiring, near));
        lines.push(format!("link set {} up", near.interface));
    }
    if wiring.nodes[node].is_host {
        for (table, (near, _)) in (TABLES..).zip(wiring.ends(node)) {
            let (_, alone) = prefix(near.address);
            let from = near.address;
            let interface = &near.interface;
            for what in [format!("from {from}/{alone}"), format!("oif {interface}")] {
                lines.push(format!("rule add {what} table {table} priority {table}"));
            }
        }
    }
    lines
}

/// The first table of a host; each NIC has one.
const TABLES: usize = 100;

/// The address of an end. At a switch port to a NIC, only `route` makes routes.
fn address(wiring: &Wiring, end: &End) -> String {
    let (bits, _) = prefix(end.address);
    let nodad = if end.address.is_ipv6() { " nodad" } else { "" };
    let is_port = wiring.nics().any(|nic| nic.upper.address == end.address);
    let alone = if is_port { " noprefixroute" } else { "" };
    let (address, interface) = (end.address, &end.interface);
    format!("address replace {address}/{bits} dev {interface}{nodad}{alone}")
}

/// Commands that restore the addresses and routes of a node after an interface was down; `down` still are.
pub(super) fn restored(wiring: &Wiring, node: usize, down: &[&str]) -> Vec<String> {
    let addresses = wiring.ends(node).map(|(near, _)| address(wiring, near));
    addresses.chain(routes(wiring, node, down)).collect()
}

/// All routes of a node, without those over interfaces that are down: the kernel refuses them.
fn routes(wiring: &Wiring, node: usize, down: &[&str]) -> Vec<String> {
    if wiring.nodes[node].is_host {
        let ends = (TABLES..).zip(wiring.ends(node));
        let gateways = ends.map(|(table, (near, far))| {
            let (to, interface) = (far.address, &near.interface);
            // Otherwise IPv6 looks up the gateway by the rules, and finds the route to replace.
            format!("route replace default via {to} dev {interface} table {table} onlink")
        });
        return gateways.collect();
    }
    let lines = wiring.nics().map(|nic| route(wiring, node, nic, down));
    lines.flatten().collect()
}

/// The route of a switch to a NIC: over every neighbour that is nearer to it.
fn route(wiring: &Wiring, node: usize, nic: &Link, down: &[&str]) -> Option<String> {
    let distances = wiring.distances(nic);
    let here = distances[node]?;
    let destination = destination(nic);
    let is_up = |interface: &str| !down.contains(&interface);
    if here == 0 {
        let interface = Some(&nic.upper.interface).filter(|name| is_up(name))?;
        return Some(format!("route replace {destination} dev {interface}"));
    }
    let nearer = wiring
        .ends(node)
        .filter(|(near, far)| distances[far.node] == Some(here - 1) && is_up(&near.interface));
    let hops: Vec<String> = nearer
        .map(|(near, far)| format!("nexthop via {} dev {}", far.address, near.interface))
        .collect();
    let hops = hops.join(" ");
    (!hops.is_empty()).then(|| format!("route replace {destination} {hops}"))
}

/// The command that deletes the route from a node to a NIC; in the NIC's host, the route out of it.
pub(super) fn missing(wiring: &Wiring, node: usize, nic: &Link) -> Result<String> {
    if !wiring.nodes[node].is_host {
        return Ok(format!("route del {}", destination(nic)));
    }
    let mut ends = (TABLES..).zip(wiring.ends(node));
    let found = ends.find(|(_, (near, _))| near.address == nic.lower.address);
    let (table, _) = found.context("the NIC is in another host")?;
    let all = if nic.lower.address.is_ipv6() {
        "::/0"
    } else {
        "0.0.0.0/0"
    };
    Ok(format!("route del {all} table {table}"))
}

/// A NIC as routes name it.
fn destination(nic: &Link) -> String {
    let address = nic.lower.address;
    format!("{address}/{}", prefix(address).1)
}
