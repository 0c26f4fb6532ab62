//! A host with three NICs and the routers between them, removed with the test.
//!
//! Without spines, one router has a port for each NIC. With two, each NIC has its own router, and each router reaches
//! the others over both spines, by a hash of the 5-tuple.

use std::net::Ipv6Addr;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) const NICS: usize = 3;
/// The network of the attached host.
const ATTACHED: usize = 200;

static COUNT: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Rails {
    prefix: String,
    spines: usize,
    is_v6: bool,
    names: Vec<String>,
}

impl Rails {
    /// Creates the namespaces; prints a line and returns `None` if this user may not create them.
    pub(crate) fn new(spines: usize, is_v6: bool) -> Option<Self> {
        let mut rails = Self::host(spines, is_v6)?;
        let routers = if spines == 0 { 1 } else { NICS };
        for router in 0..routers {
            assert!(rails.add(&format!("r{router}")));
        }
        for spine in 0..spines {
            assert!(rails.add(&format!("s{spine}")));
        }
        rails.wire();
        Some(rails)
    }

    /// The same NICs in one subnet, on the bridge `r0`, whose ports `p0`, `p1` and so on are down.
    pub(crate) fn bridged() -> Option<Self> {
        let mut rails = Self::host(0, false)?;
        assert!(rails.add("r0"));
        rails.ip("r0", "link add bridge0 type bridge");
        rails.ip("r0", "link set bridge0 up");
        for nic in 0..NICS {
            rails.pair(("h", &format!("rail{nic}")), ("r0", &format!("p{nic}")));
            rails.number("h", &format!("rail{nic}"), 0, nic as u8 + 1);
            rails.ip("r0", &format!("link set p{nic} master bridge0"));
        }
        Some(rails)
    }

    /// Creates the namespace of the host.
    fn host(spines: usize, is_v6: bool) -> Option<Self> {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("rp{}-{count}", std::process::id());
        let mut rails = Self {
            prefix,
            spines,
            is_v6,
            names: Vec::new(),
        };
        if !rails.add("h") {
            assert!(std::env::var_os("CI").is_none(), "no namespace");
            eprintln!("skipped: network namespaces need root and iproute2");
            return None;
        }
        Some(rails)
    }

    fn add(&mut self, node: &str) -> bool {
        let name = self.namespace(node);
        if !makes(&name) {
            return false;
        }
        self.names.push(name);
        self.ip(node, "link set lo up");
        // Addresses are usable immediately.
        self.sysctl(node, "net.ipv6.conf.default.accept_dad=0");
        if node != "h" {
            for setting in [
                "net.ipv4.ip_forward=1",
                "net.ipv6.conf.all.forwarding=1",
                "net.ipv4.fib_multipath_hash_policy=1",
                "net.ipv6.fib_multipath_hash_policy=1",
                "net.ipv4.icmp_errors_use_inbound_ifaddr=1",
                "net.ipv4.icmp_ratelimit=0",
                "net.ipv6.icmp.ratelimit=0",
            ] {
                self.sysctl(node, setting);
            }
        }
        true
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

    /// Assigns an address to a port and brings it up.
    fn number(&self, node: &str, port: &str, net: usize, last: u8) {
        let nodad = if self.is_v6 { " nodad" } else { "" };
        let address = format!("{}{}{nodad}", self.of(net, last), self.bits());
        self.ip(node, &format!("address add {address} dev {port}"));
        self.ip(node, &format!("link set {port} up"));
    }

    /// Creates a NIC, its port on the router, and its default route.
    pub(crate) fn plug(&self, nic: usize, last: u8) {
        let (router, port) = self.router(nic);
        self.pair(("h", &format!("rail{nic}")), (&router, &port));
        self.number("h", &format!("rail{nic}"), nic, last);
        self.number(&router, &port, nic, 254);
        let via = self.gateway(nic);
        let metric = nic + 10;
        let route = format!("route add default via {via} dev rail{nic} metric {metric}");
        self.ip("h", &route);
    }

    /// Attaches another host to the router of the first NIC; returns its address.
    pub(crate) fn attach(&mut self, node: &str) -> String {
        assert!(self.add(node));
        let (router, _) = self.router(0);
        self.pair((node, "eth0"), (&router, node));
        self.number(node, "eth0", ATTACHED, 1);
        self.number(&router, node, ATTACHED, 254);
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
                self.pair((&router, &node), (&node, &router));
                self.number(&router, &node, net, 1);
                self.number(&node, &router, net, 254);
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

    fn pair(&self, (node, port): (&str, &str), (peer, peer_port): (&str, &str)) {
        let peer = self.namespace(peer);
        let link = format!("link add {port} type veth peer name {peer_port} netns {peer}");
        self.ip(node, &link);
    }

    /// Name of the namespace of a node.
    pub(crate) fn namespace(&self, node: &str) -> String {
        format!("{}-{node}", self.prefix)
    }

    /// Runs `ip` on a node, which must succeed; returns its output.
    pub(crate) fn ip(&self, node: &str, arguments: &str) -> String {
        let family = if self.is_v6 && !arguments.starts_with("link") {
            "-6"
        } else {
            "-4"
        };
        let mut ip = Command::new("ip");
        ip.args(["-n", &self.namespace(node), family]);
        let output = ip.args(arguments.split(' ')).output().unwrap();
        succeed(&output);
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn sysctl(&self, node: &str, setting: &str) {
        let set = self.command(node, "sysctl").args(["-qw", setting]).output();
        succeed(&set.unwrap());
    }

    /// Returns the command for a program on a node; `ip` executes it.
    pub(crate) fn command(&self, node: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(node), program]);
        command
    }
}

/// All pairs of different NICs.
pub(crate) fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..NICS).flat_map(|src| (0..NICS).filter(move |dst| *dst != src).map(move |dst| (src, dst)))
}

impl Drop for Rails {
    fn drop(&mut self) {
        for name in &self.names {
            // The result does not matter for the tests.
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

/// Whether a namespace could be made: that needs root and iproute2.
pub(crate) fn makes(namespace: &str) -> bool {
    let made = Command::new("ip").args(["netns", "add", namespace]).output();
    made.is_ok_and(|made| made.status.success())
}

pub(crate) fn succeed(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}
