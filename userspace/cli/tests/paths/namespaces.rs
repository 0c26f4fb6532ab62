//! `paths discover` against a real OpenSSH server in the namespace of every switch: each path equals what tcpdump sees of
//! real packets of that flow on the switches.

use super::{json, rocescope};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LEAVES: usize = 4;
const SPINES: usize = 4;
const HOSTS: usize = 4;
const FLOWS: u16 = 256;

/// A fabric of namespaces, removed after the test.
struct Fabric {
    prefix: String,
    names: Vec<String>,
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

impl Fabric {
    /// `None`, after one line, where this machine cannot.
    fn up() -> Option<Self> {
        let prefix = format!("rp{}", std::process::id());
        let has_server = Path::new("/usr/sbin/sshd").exists() && run("tcpdump", &["--version"]);
        if !has_server || !run("ip", &["netns", "add", &format!("{prefix}-try")]) {
            assert!(std::env::var_os("CI").is_none(), "no namespace, tcpdump or sshd");
            eprintln!("skipped: it takes root, iproute2, tcpdump and /usr/sbin/sshd");
            return None;
        }
        run("ip", &["netns", "del", &format!("{prefix}-try")]);
        let mut names = Vec::new();
        names.extend((0..LEAVES).map(|leaf| format!("leaf{leaf}")));
        names.extend((0..SPINES).map(|spine| format!("spine{spine}")));
        names.extend((0..LEAVES * HOSTS).map(|host| format!("h{}-{}", host / HOSTS, host % HOSTS)));
        let fabric = Self { prefix, names };
        let mut script = String::new();
        // Without flow labels: for a label the sender computes a hash, which a veth pair passes on to the next namespace, and
        // its kernel then uses that one. No cable does.
        for (number, name) in fabric.names.iter().enumerate() {
            let ns = fabric.ns(name);
            let seed = 1_000 + number * 7_919;
            let settings = "net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.fib_multipath_hash_policy=1 \
                 net.ipv6.fib_multipath_hash_policy=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
                 net.ipv6.conf.default.accept_dad=0 net.ipv6.auto_flowlabels=0";
            writeln!(script, "ip netns add {ns}\nip -n {ns} link set lo up").unwrap();
            writeln!(script, "ip netns exec {ns} sysctl -qw {settings}").unwrap();
            // Each switch hashes in its own way; kernels before 6.11 cannot.
            writeln!(
                script,
                "ip netns exec {ns} sysctl -qw net.ipv4.fib_multipath_hash_seed={seed} || true"
            )
            .unwrap();
        }
        let mut link = |a: (&str, &str, [String; 2]), b: (&str, &str, [String; 2])| {
            let [from, to] = [a.0, b.0].map(|name| fabric.ns(name));
            writeln!(
                script,
                "ip link add {} netns {from} type veth peer name {} netns {to}",
                a.1, b.1
            )
            .unwrap();
            for (ns, port, addresses) in [(from, a.1, a.2), (to, b.1, b.2)] {
                for address in addresses {
                    writeln!(
                        script,
                        "ip -n {ns} address add {address} dev {port} $(case {address} in *:*) echo nodad;; esac)"
                    )
                    .unwrap();
                }
                writeln!(script, "ip -n {ns} link set {port} up").unwrap();
            }
        };
        for leaf in 0..LEAVES {
            for spine in 0..SPINES {
                let (v4, v6) = (
                    format!("10.{}.{spine}", 100 + leaf),
                    format!("fd00:{}:{spine}:", 100 + leaf),
                );
                link(
                    (
                        &format!("leaf{leaf}"),
                        &format!("up{spine}"),
                        [format!("{v4}.0/31"), format!("{v6}:0/127")],
                    ),
                    (
                        &format!("spine{spine}"),
                        &format!("down{leaf}"),
                        [format!("{v4}.1/31"), format!("{v6}:1/127")],
                    ),
                );
            }
            for host in 0..HOSTS {
                let (v4, v6) = (format!("10.{leaf}.{host}"), format!("fd00:{leaf}:{host}:"));
                link(
                    (
                        &format!("leaf{leaf}"),
                        &format!("host{host}"),
                        [format!("{v4}.1/24"), format!("{v6}:1/64")],
                    ),
                    (
                        &format!("h{leaf}-{host}"),
                        "eth0",
                        [format!("{v4}.2/24"), format!("{v6}:2/64")],
                    ),
                );
            }
        }
        for leaf in 0..LEAVES {
            let ns = fabric.ns(&format!("leaf{leaf}"));
            let hops = |family: &str, spines: std::ops::Range<usize>| {
                let hops = spines.map(|spine| match family {
                    "-4" => format!("nexthop via 10.{}.{spine}.1", 100 + leaf),
                    _ => format!("nexthop via fd00:{}:{spine}::1", 100 + leaf),
                });
                hops.collect::<Vec<String>>().join(" ")
            };
            for family in ["-4", "-6"] {
                writeln!(
                    script,
                    "ip {family} -n {ns} route add default {}",
                    hops(family, 0..SPINES)
                )
                .unwrap();
            }
            for spine in 0..SPINES {
                let ns = fabric.ns(&format!("spine{spine}"));
                writeln!(
                    script,
                    "ip -n {ns} route add 10.{leaf}.0.0/16 via 10.{}.{spine}.0",
                    100 + leaf
                )
                .unwrap();
                writeln!(
                    script,
                    "ip -6 -n {ns} route add fd00:{leaf}::/32 via fd00:{}:{spine}::",
                    100 + leaf
                )
                .unwrap();
            }
            for host in 0..HOSTS {
                let ns = fabric.ns(&format!("h{leaf}-{host}"));
                writeln!(script, "ip -n {ns} route add default via 10.{leaf}.{host}.1").unwrap();
                writeln!(script, "ip -6 -n {ns} route add default via fd00:{leaf}:{host}::1").unwrap();
            }
        }
        shell(&script);
        Some(fabric)
    }

    fn ns(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    fn topology(&self) -> String {
        let mut toml = String::new();
        for name in &self.names {
            let (kind, rest) = match name.strip_prefix('h') {
                Some(place) => {
                    let (leaf, host) = place.split_once('-').unwrap();
                    (
                        "host",
                        format!("addresses = [\"10.{leaf}.{host}.2\", \"fd00:{leaf}:{host}::2\"]"),
                    )
                }
                None => ("switch", format!("management = \"{name}\"\ndriver = \"linux\"")),
            };
            writeln!(toml, "[[node]]\nname = \"{name}\"\nkind = \"{kind}\"\n{rest}").unwrap();
        }
        for leaf in 0..LEAVES {
            for spine in 0..SPINES {
                writeln!(
                    toml,
                    "[[link]]\nends = [\"leaf{leaf}:up{spine}\", \"spine{spine}:down{leaf}\"]"
                )
                .unwrap();
            }
            for host in 0..HOSTS {
                writeln!(
                    toml,
                    "[[link]]\nends = [\"leaf{leaf}:host{host}\", \"h{leaf}-{host}:eth0\"]"
                )
                .unwrap();
            }
        }
        toml
    }

    /// Keys, and a server in each namespace, which the client starts when it connects.
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
            self.prefix
        );
        fs::write(folder.join("ssh"), client).unwrap();
        let key = fs::read_to_string(folder.join("host.pub")).unwrap();
        let switches: Vec<&str> = self
            .names
            .iter()
            .filter(|name| !name.starts_with('h'))
            .map(|name| &**name)
            .collect();
        fs::write(folder.join("known"), format!("{} {key}", switches.join(","))).unwrap();
    }

    /// Starts tcpdump on each switch.
    fn watch(&self) -> Vec<(String, Child)> {
        let switches = self.names.iter().filter(|name| !name.starts_with('h'));
        let mut children = Vec::new();
        for name in switches {
            let mut command = Command::new("ip");
            command.args([
                "netns",
                "exec",
                &self.ns(name),
                "tcpdump",
                "-nlq",
                "-i",
                "any",
                "-Q",
                "out",
                "-B",
                "8192",
            ]);
            command.args(["udp and dst port 4791"]);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut ready = [0; 1];
            let mut text = Vec::new();
            // It captures once it has printed `listening on`.
            let errors = child.stderr.as_mut().unwrap();
            while !String::from_utf8_lossy(&text).contains("listening on") && errors.read(&mut ready).unwrap() > 0 {
                text.push(ready[0]);
            }
            children.push((name.clone(), child));
        }
        children
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        for name in &self.names {
            run("ip", &["netns", "del", &self.ns(name)]);
        }
    }
}

/// 256 flows between the racks of leaves 0 and 1 and those of leaves 2 and 3: source, destination, port.
fn flows(is_v6: bool) -> Vec<(String, String, String, u16)> {
    let address = |leaf: usize, host: usize| match is_v6 {
        false => format!("10.{leaf}.{host}.2"),
        true => format!("fd00:{leaf}:{host}::2"),
    };
    let flows = (0..FLOWS).map(|number| {
        let n = usize::from(number);
        let (leaf, host) = (n % LEAVES, n / LEAVES % HOSTS);
        let (to, other) = ((leaf + 2) % LEAVES, n / (LEAVES * HOSTS) % HOSTS);
        (
            format!("h{leaf}-{host}"),
            address(leaf, host),
            address(to, other),
            49_152 + number * 37,
        )
    });
    flows.collect()
}

/// Egress ports by flow, as tcpdump saw them: `up1  Out IP 10.0.0.2.49152 > 10.2.0.2.4791: UDP, length 8`.
type Seen = BTreeMap<(String, u16), BTreeSet<(String, String)>>;

fn seen(fabric: &Fabric, is_v6: bool, flows: &[(String, String, String, u16)]) -> Seen {
    let watching = fabric.watch();
    for host in fabric.names.iter().filter(|name| name.starts_with('h')) {
        let mut script = String::from("import socket\n");
        let family = if is_v6 { "AF_INET6" } else { "AF_INET" };
        for (_, src, dst, port) in flows.iter().filter(|(from, ..)| from == host) {
            writeln!(
                script,
                "s=socket.socket(socket.{family},socket.SOCK_DGRAM);s.bind(('{src}',{port}));s.sendto(b'12345678',('{dst}',4791));s.close()"
            )
            .unwrap();
        }
        assert!(run(
            "ip",
            &["netns", "exec", &fabric.ns(host), "python3", "-c", &script]
        ));
    }
    std::thread::sleep(Duration::from_millis(500));
    let mut seen = Seen::new();
    for (switch, mut child) in watching {
        // SIGTERM lets tcpdump write what it has.
        run("kill", &["-TERM", &child.id().to_string()]);
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        child.wait().unwrap();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(arrow) = words.iter().position(|word| *word == ">") else {
                continue;
            };
            let (address, port) = words[arrow - 1].rsplit_once('.').unwrap();
            let interface = words
                .iter()
                .position(|word| *word == "Out")
                .map(|place| words[place - 1])
                .unwrap();
            let flow = (address.to_owned(), port.parse().unwrap());
            seen.entry(flow)
                .or_default()
                .insert((switch.clone(), interface.to_owned()));
        }
    }
    seen
}

fn discovered(folder: &Path, list: &str, more: &[&str]) -> Value {
    let call = [
        "paths",
        "discover",
        "--topology",
        "fabric.toml",
        "--ssh-config",
        "ssh",
        "--flows",
        list,
        "-o",
        "json",
    ];
    json(&[&call, more].concat(), folder)
}

#[test]
fn every_path_is_that_of_real_packets_and_a_dead_link_is_reported() {
    let Some(fabric) = Fabric::up() else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("fabric.toml"), fabric.topology()).unwrap();
    fabric.ssh(folder.path());
    for is_v6 in [false, true] {
        let list: Vec<Value> = flows(is_v6)
            .iter()
            .map(|(_, src, dst, port)| json!({"src": src, "dst": dst, "src_port": port}))
            .collect();
        let name = format!("flows{}.json", u8::from(is_v6));
        fs::write(folder.path().join(&name), Value::Array(list).to_string()).unwrap();
        let started = Instant::now();
        let found = discovered(folder.path(), &name, &["--out", "dataset", "--observer", &name]);
        println!(
            "256 flows over SSH: {} s, {:?} in all",
            found["seconds"],
            started.elapsed()
        );
        assert_eq!(found["outcomes"], json!({"complete": FLOWS}), "{:#}", found["devices"]);
        let seen = seen(&fabric, is_v6, &flows(is_v6));
        for path in found["paths"].as_array().unwrap() {
            let flow = (
                path["flow"]["src"].as_str().unwrap().to_owned(),
                u16::try_from(path["flow"]["src_port"].as_u64().unwrap()).unwrap(),
            );
            let hops = path["hops"].as_array().unwrap().iter().skip(1);
            let hops: BTreeSet<(String, String)> = hops
                .map(|hop| (hop[0].as_str().unwrap().to_owned(), hop[1].as_str().unwrap().to_owned()))
                .collect();
            assert_eq!(seen.get(&flow), Some(&hops), "{flow:?}");
        }
    }
    advised(&fabric, folder.path());
    // The link from leaf 0 to spine 1 goes down: its flows move, and the comparison names them.
    let before = discovered(folder.path(), "flows0.json", &[]);
    fs::write(folder.path().join("before.json"), before.to_string()).unwrap();
    shell(&format!(
        "ip -n {0} route replace default nexthop via 10.100.0.1 nexthop via 10.100.2.1 nexthop via 10.100.3.1; ip -n {0} link set up1 down",
        fabric.ns("leaf0")
    ));
    let after = discovered(folder.path(), "flows0.json", &[]);
    fs::write(folder.path().join("after.json"), after.to_string()).unwrap();
    let call = [
        "paths",
        "compare",
        "before.json",
        "after.json",
        "--topology",
        "fabric.toml",
        "-o",
        "json",
    ];
    let compared = json(&call, folder.path());
    let moved = compared["moved"].as_array().unwrap();
    let over = |path: &Value| path.as_array().unwrap().contains(&json!(["leaf0", "up1"]));
    assert!(moved.iter().any(|moved| over(&moved["a"])) && !moved.iter().any(|moved| over(&moved["b"])));
    let links = compared["links"].as_array().unwrap();
    let dead = links.iter().find(|link| link["from"] == "leaf0:up1").unwrap();
    assert_eq!(dead["flows_b"], 0);
    // Each mode finds the same.
    for mode in ["baseline", "persistent"] {
        let few: Vec<Value> =
            serde_json::from_str::<Vec<Value>>(&fs::read_to_string(folder.path().join("flows0.json")).unwrap())
                .unwrap();
        fs::write(
            folder.path().join("few.json"),
            Value::from(few[..8].to_vec()).to_string(),
        )
        .unwrap();
        let found = discovered(folder.path(), "few.json", &["--mode", mode]);
        println!("8 flows, {mode}: {} s", found["seconds"]);
        let same = after["paths"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|path| found["paths"].as_array().unwrap().contains(path));
        assert_eq!(same.count(), 8);
    }
    refusals(folder.path());
}

/// The advice lowers FIM, and real packets from the advised ports cross the links that it states.
fn advised(fabric: &Fabric, folder: &Path) {
    let call = [
        "paths",
        "advise",
        "--topology",
        "fabric.toml",
        "--ssh-config",
        "ssh",
        "--flows",
        "flows0.json",
        "-o",
        "json",
    ];
    let started = Instant::now();
    let advice = json(&call, folder);
    let figure = |name: &str| advice[name].as_f64().unwrap();
    let (before, after) = (figure("fim_before_percent"), figure("fim_after_percent"));
    println!("FIM {before:.1} % before, {after:.1} % after, {:?}", started.elapsed());
    assert!(after < 7.0 && before > after, "{before} {after}");
    let mut moved = flows(false);
    for change in advice["changes"].as_array().unwrap() {
        let of = |flow: &(String, String, String, u16)| {
            change["flow"]["src"] == flow.1 && change["flow"]["src_port"] == flow.3
        };
        let flow = moved.iter_mut().find(|flow| of(flow)).unwrap();
        flow.3 = u16::try_from(change["src_port"].as_u64().unwrap()).unwrap();
    }
    let paths = seen(fabric, false, &moved).into_iter().map(|((src, port), hops)| {
        let hops: Vec<Value> = hops.into_iter().map(|(node, port)| json!([node, port])).collect();
        json!({"flow": format!("{src} {port}"), "hops": hops})
    });
    fs::write(folder.join("real.json"), Value::from_iter(paths).to_string()).unwrap();
    let real = json(
        &[
            "paths",
            "fim",
            "--topology",
            "fabric.toml",
            "--paths",
            "real.json",
            "-o",
            "json",
        ],
        folder,
    );
    assert_eq!(real["flows"], json!(FLOWS));
    let of = |document: &Value, from: &str, to: &str| {
        let layers = document["layers"].as_array().unwrap().clone();
        let layer = layers
            .into_iter()
            .find(|layer| layer["from"] == from && layer["to"] == to)
            .unwrap();
        layer["fim_percent"].as_f64().unwrap()
    };
    for (from, to) in [("leaf", "spine"), ("spine", "leaf"), ("leaf", "host")] {
        assert_eq!(of(&real, from, to), of(&advice["after"], from, to), "{from} {to}");
    }
}

/// A host key that changed, one that is unknown, a key that is not accepted: one reason a device, and no hanging.
fn refusals(folder: &Path) {
    let known = fs::read_to_string(folder.join("known")).unwrap();
    let outcome = |more: &[&str]| {
        let call = [
            "paths",
            "discover",
            "--topology",
            "fabric.toml",
            "--ssh-config",
            "ssh",
            "--flows",
            "few.json",
            "-o",
            "json",
        ];
        let output = rocescope(&[&call, more].concat(), folder);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{found:#}");
        let outcomes = found["outcomes"].as_object().unwrap().clone();
        outcomes.keys().cloned().collect::<Vec<String>>().join(" ")
    };
    assert!(run(
        "ssh-keygen",
        &[
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-f",
            folder.join("other").to_str().unwrap()
        ]
    ));
    let other = fs::read_to_string(folder.join("other.pub")).unwrap();
    let hosts = known.split(' ').next().unwrap();
    fs::write(folder.join("known"), format!("{hosts} {other}")).unwrap();
    assert_eq!(outcome(&[]), "host_key_changed");
    fs::write(folder.join("known"), "").unwrap();
    assert_eq!(outcome(&[]), "host_key_unknown");
    fs::write(folder.join("known"), known).unwrap();
    let client = fs::read_to_string(folder.join("ssh")).unwrap();
    let client = client.replace("/user\n", "/other\n");
    fs::write(folder.join("ssh"), &client).unwrap();
    assert_eq!(outcome(&[]), "login_refused");
    fs::write(folder.join("password"), "wrong\n").unwrap();
    assert_eq!(outcome(&["--password-file", "password"]), "login_refused");
    let silent: Vec<&str> = client.lines().filter(|line| !line.contains("ProxyCommand")).collect();
    fs::write(
        folder.join("ssh"),
        format!("{}\n  ProxyCommand sleep 60\n", silent.join("\n")),
    )
    .unwrap();
    let started = Instant::now();
    assert_eq!(outcome(&["--connect-limit", "1s"]), "unreachable");
    // Flows that wait for the same device wait once.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
