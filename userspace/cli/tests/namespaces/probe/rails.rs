//! A host with three NICs and the routers between them, removed with the test.
//!
//! Without spines, one router has a port for each NIC. With two, each NIC has its own router, and each router reaches
//! the others over both spines, by a hash of the 5-tuple.

use rocescope_testkit::Namespaces;
use std::net::Ipv6Addr;
use std::process::Command;

pub(crate) const NICS: usize = 3;
/// The network of the attached host.
const ATTACHED: usize = 200;

/// What makes a namespace a router that answers traces.
pub(crate) const ROUTES: [&str; 9] = [
    "net.ipv4.ip_forward=1",
    "net.ipv6.conf.all.forwarding=1",
    "net.ipv4.fib_multipath_hash_policy=1",
    "net.ipv6.fib_multipath_hash_policy=1",
    "net.ipv4.icmp_errors_use_inbound_ifaddr=1",
    "net.ipv4.icmp_ratelimit=0",
    "net.ipv4.icmp_msgs_per_sec=100000",
    "net.ipv4.icmp_msgs_burst=10000",
    "net.ipv6.icmp.ratelimit=0",
];

pub(crate) struct Rails {
    nodes: Namespaces,
    spines: usize,
    is_v6: bool,
}

impl Rails {
    /// Creates the namespaces; prints a line and returns `None` if this user may not create them.
    pub(crate) fn new(spines: usize, is_v6: bool) -> Option<Self> {
        let mut rails = Self::host(spines, is_v6)?;
        let routers = if spines == 0 { 1 } else { NICS };
        for router in 0..routers {
            rails.add(&format!("r{router}"));
        }
        for spine in 0..spines {
            rails.add(&format!("s{spine}"));
        }
        rails.wire();
        Some(rails)
    }

    /// The same NICs in one subnet, on the bridge `r0`, whose ports `p0`, `p1` and so on are down.
    pub(crate) fn bridged() -> Option<Self> {
        let mut rails = Self::host(0, false)?;
        rails.add("r0");
        rails.ip("r0", "link add bridge0 type bridge");
        rails.ip("r0", "link set bridge0 up");
        for nic in 0..NICS {
            let cable = format!("h:rail{nic} {}/24 r0:p{nic} -", rails.of(0, nic as u8 + 1));
            rails.nodes.wire(&cable);
            rails.ip("r0", &format!("link set p{nic} down"));
            rails.ip("r0", &format!("link set p{nic} master bridge0"));
        }
        Some(rails)
    }

    /// Creates the namespace of the host.
    fn host(spines: usize, is_v6: bool) -> Option<Self> {
        let rails = Self {
            nodes: Namespaces::new(["h"])?,
            spines,
            is_v6,
        };
        rails.prepare("h");
        Some(rails)
    }

    fn add(&mut self, node: &str) {
        self.nodes.add(node);
        self.prepare(node);
        if node != "h" {
            self.nodes.sysctl(node, &ROUTES);
        }
    }

    fn prepare(&self, node: &str) {
        self.ip(node, "link set lo up");
        // Addresses are usable immediately.
        self.sysctl(node, "net.ipv6.conf.default.accept_dad=0");
    }

    /// The router of a NIC, and its port there.
    pub(crate) fn router(&self, nic: usize) -> (String, String) {
        let router = if self.spines == 0 { 0 } else { nic };
        (format!("r{router}"), format!("p{nic}"))
    }

    /// The address of a NIC.
    pub(crate) fn address(&self, nic: usize) -> String {
        self.of(nic, 1)
    }

    /// The address of the router's port to a NIC.
    pub(crate) fn gateway(&self, nic: usize) -> String {
        self.of(nic, 254)
    }

    pub(crate) fn of(&self, net: usize, last: u8) -> String {
        if self.is_v6 {
            // Parsed to get the canonical form: the first network is 0, which is omitted.
            let address: Ipv6Addr = format!("fd00:{net}::{last:x}").parse().unwrap();
            address.to_string()
        } else {
            format!("10.0.{net}.{last}")
        }
    }

    fn bits(&self) -> &'static str {
        if self.is_v6 { "/64" } else { "/24" }
    }

    /// Creates a NIC, its port on the router, and its default route.
    pub(crate) fn plug(&self, nic: usize, last: u8) {
        let (router, port) = self.router(nic);
        self.cable(("h", &format!("rail{nic}"), last), (&router, &port, 254), nic);
        let via = self.gateway(nic);
        let metric = nic + 10;
        let route = format!("route add default via {via} dev rail{nic} metric {metric}");
        self.ip("h", &route);
    }

    /// Attaches another host to the router of the first NIC; returns its address.
    pub(crate) fn attach(&mut self, node: &str) -> String {
        self.add(node);
        let (router, _) = self.router(0);
        self.cable((node, "eth0", 1), (&router, node, 254), ATTACHED);
        let via = self.gateway(ATTACHED);
        self.ip(node, &format!("route add default via {via}"));
        self.address(ATTACHED)
    }

    fn wire(&self) {
        for nic in 0..NICS {
            self.plug(nic, 1);
        }
        for spine in 0..self.spines {
            let node = format!("s{spine}");
            for nic in 0..NICS {
                let router = format!("r{nic}");
                let net = 100 + spine * 10 + nic;
                self.cable((&router, &node, 1), (&node, &router, 254), net);
                let to = format!("{}{}", self.of(nic, 0), self.bits());
                self.ip(&node, &format!("route add {to} via {}", self.of(net, 1)));
            }
        }
        for (nic, other) in pairs().filter(|_| self.spines > 0) {
            let via = |spine| format!(" nexthop via {}", self.of(100 + spine * 10 + nic, 254));
            let hops: String = (0..self.spines).map(via).collect();
            let to = format!("{}{}", self.of(other, 0), self.bits());
            self.ip(&format!("r{nic}"), &format!("route add {to}{hops}"));
        }
    }

    /// Connects two ports: node, name, last byte of the address.
    fn cable(&self, near: (&str, &str, u8), far: (&str, &str, u8), net: usize) {
        let end = |(node, port, last): (&str, &str, u8)| format!("{node}:{port} {}{}", self.of(net, last), self.bits());
        self.nodes.wire(&format!("{} {}", end(near), end(far)));
    }

    /// Runs `ip` on a node, which must succeed; returns its output.
    pub(crate) fn ip(&self, node: &str, arguments: &str) -> String {
        let is_v6 = self.is_v6 && !arguments.starts_with("link");
        let family = if is_v6 { "-6" } else { "-4" };
        self.nodes.ip(node, &format!("{family} {arguments}"))
    }

    pub(crate) fn sysctl(&self, node: &str, setting: &str) {
        self.nodes.sysctl(node, &[setting]);
    }

    /// Returns the command for a program on a node; `ip` executes it.
    pub(crate) fn command(&self, node: &str, program: &str) -> Command {
        self.nodes.command(node, program)
    }
}

/// All pairs of different NICs.
pub(crate) fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..NICS).flat_map(|src| (0..NICS).filter(move |dst| *dst != src).map(move |dst| (src, dst)))
}
