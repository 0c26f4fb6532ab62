//! Hosts in racks: all NICs of a host on one switch, and two spines above the racks. Probes within a host cross no spine.

use crate::rails::{makes, succeed};
use std::fmt::Write;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) const HOSTS: usize = 3;
pub(crate) const NICS: usize = 2;
const SPINES: usize = 2;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Host `h0` has `rail0` and `rail1` on the switch `r0`, which has the ports `s0` and `s1` to the spines; they have a port
/// named after each rack.
pub(crate) struct Racks {
    prefix: String,
    names: Vec<String>,
}

/// The address of a NIC.
pub(crate) fn address(host: usize, nic: usize) -> String {
    format!("10.{host}.{nic}.1")
}

/// The addresses of both ends of a link of a rack, the rack's first.
fn ends(rack: usize, spine: usize) -> [String; 2] {
    [0, 1].map(|end| format!("10.200.{spine}.{}", 2 * rack + end))
}

impl Racks {
    /// Creates the namespaces; prints a line and returns `None` if this user may not create them.
    pub(crate) fn new() -> Option<Self> {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut racks = Self {
            prefix: format!("rq{}-{count}", std::process::id()),
            names: Vec::new(),
        };
        if !racks.add("h0") {
            assert!(std::env::var_os("CI").is_none(), "no namespace");
            eprintln!("skipped: network namespaces need root and iproute2");
            return None;
        }
        let hosts = (1..HOSTS).map(|host| format!("h{host}"));
        let racks_and_spines = (0..HOSTS).map(|rack| format!("r{rack}"));
        let spines = (0..SPINES).map(|spine| format!("s{spine}"));
        for node in hosts.chain(racks_and_spines).chain(spines) {
            assert!(racks.add(&node));
        }
        racks.wire();
        Some(racks)
    }

    fn add(&mut self, node: &str) -> bool {
        let name = self.namespace(node);
        if !makes(&name) {
            return false;
        }
        self.names.push(name);
        self.ip(node, "link set lo up");
        if !node.starts_with('h') {
            let settings = [
                "net.ipv4.ip_forward=1",
                "net.ipv4.fib_multipath_hash_policy=1",
                "net.ipv4.icmp_errors_use_inbound_ifaddr=1",
                "net.ipv4.icmp_ratelimit=0",
                "net.ipv4.icmp_msgs_per_sec=100000",
                "net.ipv4.icmp_msgs_burst=10000",
            ];
            succeed(&self.command(node, "sysctl").arg("-qw").args(settings).output().unwrap());
        }
        true
    }

    fn wire(&self) {
        for rack in 0..HOSTS {
            let (host, switch) = (format!("h{rack}"), format!("r{rack}"));
            for nic in 0..NICS {
                self.pair((&host, &format!("rail{nic}")), (&switch, &format!("p{nic}")));
                let gateway = format!("10.{rack}.{nic}.254");
                self.up(&host, &format!("rail{nic}"), &format!("{}/24", address(rack, nic)));
                self.up(&switch, &format!("p{nic}"), &format!("{gateway}/24"));
                let metric = nic + 10;
                self.ip(
                    &host,
                    &format!("route add default via {gateway} dev rail{nic} metric {metric}"),
                );
            }
            for spine in 0..SPINES {
                let (above, [lower, upper]) = (format!("s{spine}"), ends(rack, spine));
                self.pair((&switch, &above), (&above, &switch));
                self.up(&switch, &above, &format!("{lower}/31"));
                self.up(&above, &switch, &format!("{upper}/31"));
                self.ip(&above, &format!("route add 10.{rack}.0.0/16 via {lower}"));
            }
            let hops: String = (0..SPINES)
                .map(|spine| format!(" nexthop via {}", ends(rack, spine)[1]))
                .collect();
            for other in (0..HOSTS).filter(|other| *other != rack) {
                self.ip(&switch, &format!("route add 10.{other}.0.0/16{hops}"));
            }
        }
    }

    fn pair(&self, (node, port): (&str, &str), (peer, peer_port): (&str, &str)) {
        let peer = self.namespace(peer);
        self.ip(
            node,
            &format!("link add {port} type veth peer name {peer_port} netns {peer}"),
        );
    }

    fn up(&self, node: &str, port: &str, address: &str) {
        self.ip(node, &format!("address add {address} dev {port}"));
        self.ip(node, &format!("link set {port} up"));
    }

    /// Drops everything that comes to a spine from a rack.
    pub(crate) fn cut(&self, rack: usize, spine: usize) {
        self.ip(&format!("s{spine}"), &format!("rule add iif r{rack} blackhole"));
    }

    /// Ends that.
    pub(crate) fn heal(&self, rack: usize, spine: usize) {
        self.ip(&format!("s{spine}"), &format!("rule del iif r{rack} blackhole"));
    }

    /// The list of hosts and their NICs.
    pub(crate) fn peers() -> String {
        let mut list = String::from("# host rail0 rail1\n");
        for host in 0..HOSTS {
            let _ = writeln!(list, "h{host} {} {}", address(host, 0), address(host, 1));
        }
        list
    }

    /// The topology file.
    pub(crate) fn topology() -> String {
        let mut text = String::new();
        let mut node = |name: String, addresses: Vec<String>| {
            let _ = writeln!(
                text,
                "[[node]]\nname = \"{name}\"\nkind = \"switch\"\naddresses = {addresses:?}"
            );
        };
        for rack in 0..HOSTS {
            let ports = (0..NICS).map(|nic| format!("10.{rack}.{nic}.254"));
            let up = (0..SPINES).map(|spine| ends(rack, spine)[0].clone());
            node(format!("r{rack}"), ports.chain(up).collect());
        }
        for spine in 0..SPINES {
            node(
                format!("s{spine}"),
                (0..HOSTS).map(|rack| ends(rack, spine)[1].clone()).collect(),
            );
        }
        text
    }

    /// Name of the namespace of a node.
    fn namespace(&self, node: &str) -> String {
        format!("{}-{node}", self.prefix)
    }

    fn ip(&self, node: &str, arguments: &str) -> Output {
        let mut ip = Command::new("ip");
        ip.args(["-n", &self.namespace(node), "-4"]);
        let output = ip.args(arguments.split(' ')).output().unwrap();
        succeed(&output);
        output
    }

    /// Returns the command for a program on a node; `ip` executes it.
    pub(crate) fn command(&self, node: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(node), program]);
        command
    }
}

impl Drop for Racks {
    fn drop(&mut self) {
        for name in &self.names {
            // The result does not matter for the tests.
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}
