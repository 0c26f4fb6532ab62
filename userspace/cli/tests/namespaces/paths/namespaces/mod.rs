//! A leaf-spine fabric of network namespaces with a real OpenSSH server in the namespace of every switch.
//!
//! | module | what it shows |
//! |---|---|
//! | `packets` | every path is that of real packets; a link that goes down is reported |
//! | `advice` | advised ports make uneven layers even, by the counters of every port |
//! | `threads` | one question after the other, and many at once |
//! | `vxlan` | between tunnel ends, switches are asked about the outer header |
//! | `refusals` | host keys and logins: one reason a device |

mod advice;
mod packets;
mod refusals;
mod threads;
mod vxlan;

use rocescope_testkit::{Namespaces, fails_in_ci};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const LEAVES: usize = 4;
const SPINES: usize = 4;
const HOSTS: usize = 4;

/// A fabric of namespaces, removed after the test.
struct Fabric {
    nodes: Namespaces,
    names: Vec<String>,
    /// Links between a leaf and a spine.
    links: usize,
}

/// A flow: its host, its addresses and its source port.
#[derive(Debug, Clone)]
struct Sent {
    from: String,
    src: String,
    dst: String,
    port: u16,
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn shell(script: &str) {
    let output = Command::new("sh").args(["-ec", script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The address of a host.
fn address(leaf: usize, host: usize, is_v6: bool) -> String {
    match is_v6 {
        false => format!("10.{leaf}.{host}.2"),
        true => format!("fd00:{leaf}:{host}::2"),
    }
}

/// Flow `number` between the racks of leaves 0 and 1 and those of leaves 2 and 3.
fn bipartite(number: usize, port: u16, is_v6: bool) -> Sent {
    let (leaf, host) = (number % LEAVES, number / LEAVES % HOSTS);
    let (to, other) = ((leaf + 2) % LEAVES, number / (LEAVES * HOSTS) % HOSTS);
    Sent {
        from: format!("h{leaf}-{host}"),
        src: address(leaf, host, is_v6),
        dst: address(to, other, is_v6),
        port,
    }
}

/// Writes a list for `--flows`.
fn write_list(file: &Path, flows: &[Sent]) {
    let list = flows
        .iter()
        .map(|flow| json!({"src": flow.src, "dst": flow.dst, "src_port": flow.port}));
    fs::write(file, Value::from_iter(list).to_string()).unwrap();
}

impl Fabric {
    /// `None`, after one line, where this machine cannot.
    fn up(links: usize) -> Option<Self> {
        if !Path::new("/usr/sbin/sshd").exists() || !run("tcpdump", &["--version"]) {
            fails_in_ci("it takes tcpdump and /usr/sbin/sshd");
            return None;
        }
        let mut names = Vec::new();
        names.extend((0..LEAVES).map(|leaf| format!("leaf{leaf}")));
        names.extend((0..SPINES).map(|spine| format!("spine{spine}")));
        names.extend((0..LEAVES * HOSTS).map(|host| format!("h{}-{}", host / HOSTS, host % HOSTS)));
        let fabric = Self {
            nodes: Namespaces::new(&names)?,
            names,
            links,
        };
        shell(&[fabric.nodes(), fabric.cables(), fabric.routes()].concat());
        Some(fabric)
    }

    fn nodes(&self) -> String {
        let mut script = String::new();
        // Without flow labels: for a label the sender computes a hash, which a veth pair passes on to the next namespace, and
        // its kernel then uses that one. No cable does.
        for (number, name) in self.names.iter().enumerate() {
            let ns = self.ns(name);
            let seed = 1_000 + number * 7_919;
            let settings = "net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.fib_multipath_hash_policy=1 \
                 net.ipv6.fib_multipath_hash_policy=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
                 net.ipv6.conf.default.accept_dad=0 net.ipv6.auto_flowlabels=0";
            writeln!(script, "ip -n {ns} link set lo up").unwrap();
            writeln!(script, "ip netns exec {ns} sysctl -qw {settings}").unwrap();
            // Each switch hashes in its own way; kernels before 6.11 cannot.
            writeln!(
                script,
                "ip netns exec {ns} sysctl -qw net.ipv4.fib_multipath_hash_seed={seed} || true"
            )
            .unwrap();
        }
        script
    }

    /// Leaf, spine and number of each link between switches.
    fn uplinks(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let links = self.links;
        let pairs = (0..LEAVES).flat_map(|leaf| (0..SPINES).map(move |spine| (leaf, spine)));
        pairs.flat_map(move |(leaf, spine)| (0..links).map(move |link| (leaf, spine, link)))
    }

    /// Addresses of both ends of a link between switches: the leaf's, then the spine's.
    fn transfer((leaf, spine, link): (usize, usize, usize)) -> [[String; 2]; 2] {
        [0, 1].map(|end| {
            [
                format!("10.{}.{spine}.{}", 100 + leaf, 2 * link + end),
                format!("fd00:{}:{spine}:{link}::{end}", 100 + leaf),
            ]
        })
    }

    fn cables(&self) -> String {
        let mut script = String::new();
        let mut link = |a: (&str, &str, [String; 2]), b: (&str, &str, [String; 2])| {
            let [from, to] = [a.0, b.0].map(|name| self.ns(name));
            writeln!(
                script,
                "ip link add {} netns {from} type veth peer name {} netns {to}",
                a.1, b.1
            )
            .unwrap();
            for (ns, port, addresses) in [(from, a.1, a.2), (to, b.1, b.2)] {
                for address in addresses {
                    let nodad = if address.contains(':') { "nodad" } else { "" };
                    writeln!(script, "ip -n {ns} address add {address} dev {port} {nodad}").unwrap();
                }
                writeln!(script, "ip -n {ns} link set {port} up").unwrap();
            }
        };
        for place @ (leaf, spine, number) in self.uplinks() {
            let ends = Self::transfer(place).map(|[v4, v6]| [format!("{v4}/31"), format!("{v6}/127")]);
            let [near, far] = ends;
            link(
                (&format!("leaf{leaf}"), &format!("up{spine}-{number}"), near),
                (&format!("spine{spine}"), &format!("down{leaf}-{number}"), far),
            );
        }
        for (leaf, host) in (0..LEAVES).flat_map(|leaf| (0..HOSTS).map(move |host| (leaf, host))) {
            let ends = [1, 2].map(|end| {
                [
                    format!("10.{leaf}.{host}.{end}/24"),
                    format!("fd00:{leaf}:{host}::{end}/64"),
                ]
            });
            let [near, far] = ends;
            link(
                (&format!("leaf{leaf}"), &format!("host{host}"), near),
                (&format!("h{leaf}-{host}"), "eth0", far),
            );
        }
        script
    }

    fn routes(&self) -> String {
        let mut script = String::new();
        let hops = |addresses: &mut dyn Iterator<Item = String>| {
            let hops: Vec<String> = addresses.map(|address| format!("nexthop via {address}")).collect();
            hops.join(" ")
        };
        for leaf in 0..LEAVES {
            for (family, at) in [("-4", 0), ("-6", 1)] {
                let of_leaf = self.uplinks().filter(|place| place.0 == leaf);
                let spines = hops(&mut of_leaf.map(|place| Self::transfer(place)[1][at].clone()));
                let ns = self.ns(&format!("leaf{leaf}"));
                writeln!(script, "ip {family} -n {ns} route add default {spines}").unwrap();
                let net = if at == 0 {
                    format!("10.{leaf}.0.0/16")
                } else {
                    format!("fd00:{leaf}::/32")
                };
                for spine in 0..SPINES {
                    let of_pair = self.uplinks().filter(|place| (place.0, place.1) == (leaf, spine));
                    let leaves = hops(&mut of_pair.map(|place| Self::transfer(place)[0][at].clone()));
                    let ns = self.ns(&format!("spine{spine}"));
                    writeln!(script, "ip {family} -n {ns} route add {net} {leaves}").unwrap();
                }
                for host in 0..HOSTS {
                    let ns = self.ns(&format!("h{leaf}-{host}"));
                    let gateway = if at == 0 {
                        format!("10.{leaf}.{host}.1")
                    } else {
                        format!("fd00:{leaf}:{host}::1")
                    };
                    writeln!(script, "ip {family} -n {ns} route add default via {gateway}").unwrap();
                }
            }
        }
        script
    }

    fn ns(&self, name: &str) -> String {
        self.nodes.name(name)
    }

    fn switches(&self) -> impl Iterator<Item = &str> {
        let names = self.names.iter().map(|name| &**name);
        names.filter(|name| !name.starts_with('h'))
    }

    /// Writes the topology, keys, and a server for each switch, which the client starts when it connects.
    fn prepare(&self, folder: &Path) {
        fs::write(folder.join("fabric.toml"), self.topology("linux", |_| String::new())).unwrap();
        self.ssh(folder);
    }

    /// The topology, with a driver of the switches, and more about some of them.
    fn topology(&self, driver: &str, more: impl Fn(&str) -> String) -> String {
        let mut toml = String::new();
        for name in &self.names {
            let (kind, rest) = match name.strip_prefix('h') {
                Some(place) => {
                    let (leaf, host) = place.split_once('-').unwrap();
                    let (leaf, host) = (leaf.parse().unwrap(), host.parse().unwrap());
                    let [v4, v6] = [false, true].map(|is_v6| address(leaf, host, is_v6));
                    ("host", format!("addresses = [\"{v4}\", \"{v6}\"]"))
                }
                None => (
                    "switch",
                    format!("management = \"{name}\"\ndriver = \"{driver}\"\n{}", more(name)),
                ),
            };
            writeln!(toml, "[[node]]\nname = \"{name}\"\nkind = \"{kind}\"\n{rest}").unwrap();
        }
        for (leaf, spine, link) in self.uplinks() {
            writeln!(
                toml,
                "[[link]]\nends = [\"leaf{leaf}:up{spine}-{link}\", \"spine{spine}:down{leaf}-{link}\"]"
            )
            .unwrap();
        }
        for (leaf, host) in (0..LEAVES).flat_map(|leaf| (0..HOSTS).map(move |host| (leaf, host))) {
            writeln!(
                toml,
                "[[link]]\nends = [\"leaf{leaf}:host{host}\", \"h{leaf}-{host}:eth0\"]"
            )
            .unwrap();
        }
        toml
    }

    fn ssh(&self, folder: &Path) {
        fs::create_dir_all("/run/sshd").unwrap();
        for key in ["host", "user"] {
            let file = folder.join(key);
            assert!(run(
                "ssh-keygen",
                &["-q", "-t", "ed25519", "-N", "", "-f", file.to_str().unwrap()]
            ));
        }
        let place = folder.display();
        let server = format!(
            "HostKey {place}/host\nAuthorizedKeysFile {place}/user.pub\nPermitRootLogin yes\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nPidFile none\nMaxSessions 64\nLogLevel QUIET\nSetEnv HOME={place}\n"
        );
        fs::write(folder.join("sshd"), server).unwrap();
        let client = format!(
            "Host *\n  User root\n  IdentityFile {place}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile {place}/known\n  \
             ProxyCommand ip netns exec {}-%h /usr/sbin/sshd -i -f {place}/sshd\n",
            self.nodes.prefix()
        );
        fs::write(folder.join("ssh"), client).unwrap();
        let key = fs::read_to_string(folder.join("host.pub")).unwrap();
        let switches: Vec<&str> = self.switches().collect();
        fs::write(folder.join("known"), format!("{} {key}", switches.join(","))).unwrap();
    }

    /// Sends packets of each flow.
    fn send(&self, flows: &[Sent], packets: usize) {
        for host in self.names.iter().filter(|name| name.starts_with('h')) {
            // SEND_ONLY to queue pair 17 with eight bytes, and an ICRC.
            let packet = "0440ffff0000001100000001010203040506070800000000";
            let mut script = format!("import socket\npacket=bytes.fromhex('{packet}')\n");
            for Sent { src, dst, port, .. } in flows.iter().filter(|flow| flow.from == *host) {
                let family = if src.contains(':') { "AF_INET6" } else { "AF_INET" };
                writeln!(
                    script,
                    "s=socket.socket(socket.{family},socket.SOCK_DGRAM);s.bind(('{src}',{port}))\n\
                     for _ in range({packets}): s.sendto(packet,('{dst}',4791))\ns.close()"
                )
                .unwrap();
            }
            assert!(run("ip", &["netns", "exec", &self.ns(host), "python3", "-c", &script]));
        }
    }
}
