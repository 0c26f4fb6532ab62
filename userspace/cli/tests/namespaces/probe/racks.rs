//! Hosts in racks: all NICs of a host on one switch, and two spines above the racks. Probes within a host cross no spine.

use crate::probe::rails::ROUTES;
use rocescope_testkit::Namespaces;
use std::fmt::Write;
use std::process::Command;

pub(crate) const HOSTS: usize = 3;
pub(crate) const NICS: usize = 2;
const SPINES: usize = 2;

/// Host `h0` has `rail0` and `rail1` on the switch `r0`, which has the ports `s0` and `s1` to the spines; they have a port
/// named after each rack.
pub(crate) struct Racks(Namespaces);

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
        let hosts = (0..HOSTS).map(|host| format!("h{host}"));
        let switches = (0..HOSTS).map(|rack| format!("r{rack}"));
        let spines = (0..SPINES).map(|spine| format!("s{spine}"));
        let nodes: Vec<String> = hosts.chain(switches).chain(spines).collect();
        let racks = Self(Namespaces::new(&nodes)?);
        for node in &nodes {
            racks.ip(node, "link set lo up");
            if !node.starts_with('h') {
                racks.0.sysctl(node, &ROUTES);
            }
        }
        racks.wire();
        Some(racks)
    }

    fn wire(&self) {
        for rack in 0..HOSTS {
            let (host, switch) = (format!("h{rack}"), format!("r{rack}"));
            for nic in 0..NICS {
                let (nic_address, gateway) = (address(rack, nic), format!("10.{rack}.{nic}.254"));
                self.0.wire(&format!(
                    "{host}:rail{nic} {nic_address}/24 {switch}:p{nic} {gateway}/24"
                ));
                let metric = nic + 10;
                self.ip(
                    &host,
                    &format!("route add default via {gateway} dev rail{nic} metric {metric}"),
                );
            }
            for spine in 0..SPINES {
                let (above, [lower, upper]) = (format!("s{spine}"), ends(rack, spine));
                self.0
                    .wire(&format!("{switch}:{above} {lower}/31 {above}:{switch} {upper}/31"));
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

    fn ip(&self, node: &str, arguments: &str) -> String {
        self.0.ip(node, arguments)
    }

    /// Returns the command for a program on a node; `ip` executes it.
    pub(crate) fn command(&self, node: &str, program: &str) -> Command {
        self.0.command(node, program)
    }
}
