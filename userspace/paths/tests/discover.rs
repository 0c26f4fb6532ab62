//! Paths hop by hop over simulated switches: every driver in the format of its documentation, faults, modes and speed.
#![expect(clippy::unwrap_used, reason = "it is a test")]

use rocescope_paths::Flow;
use rocescope_paths::discover::{Mode, Plan, Run, Settings, discover, hops};
use rocescope_paths::driver::Driver;
use rocescope_paths::topology::{Link, Node, NodeKind, Port, Topology};
use rocescope_paths::transport::{Device, Failure, Session, Transport};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Leaves and spines; `hosts` at each leaf, with a link each. `Ethernet1` and on are uplinks, `Ethernet101` and on hosts.
#[derive(Clone)]
struct Clos {
    leaves: usize,
    spines: usize,
    hosts: usize,
    ipv6: bool,
    driver: &'static str,
}

impl Clos {
    fn address(&self, leaf: usize, host: usize) -> IpAddr {
        let [high, leaf, host] = [leaf / 256, leaf % 256, host].map(|number| u8::try_from(number).unwrap());
        match self.ipv6 {
            false => Ipv4Addr::new(10, high, leaf, host + 1).into(),
            true => Ipv6Addr::new(0xfd00, 0, 0, high.into(), leaf.into(), 0, 0, u16::from(host) + 1).into(),
        }
    }

    fn topology(&self) -> Topology {
        let mut topology = Topology::default();
        let switch = |name: String| Node {
            management: Some(name.clone()),
            driver: Some(self.driver.into()),
            kind: Some(NodeKind::Switch),
            name,
            ..Node::default()
        };
        let link = |a: (String, String), b: (String, String)| Link {
            ends: [a, b].map(|(node, port)| Port { node, port }).to_vec(),
            line: None,
        };
        for spine in 0..self.spines {
            topology.nodes.push(switch(format!("spine{spine}")));
        }
        for leaf in 0..self.leaves {
            topology.nodes.push(switch(format!("leaf{leaf}")));
            for spine in 0..self.spines {
                let ends = (format!("leaf{leaf}"), format!("Ethernet{}", spine + 1));
                topology
                    .links
                    .push(link(ends, (format!("spine{spine}"), format!("Ethernet{}", leaf + 1))));
            }
            for host in 0..self.hosts {
                let name = format!("h{leaf}-{host}");
                topology.nodes.push(Node {
                    name: name.clone(),
                    kind: Some(NodeKind::Host),
                    addresses: vec![self.address(leaf, host)],
                    ..Node::default()
                });
                let ends = (format!("leaf{leaf}"), format!("Ethernet{}", host + 101));
                topology.links.push(link(ends, (name, "eth0".into())));
            }
        }
        topology
    }

    fn plan(&self) -> Plan {
        let topology = self.topology();
        let driver = Driver::find(self.driver, Path::new(".")).unwrap();
        let devices = topology.nodes.iter().map(|node| {
            let management = node.management.clone()?;
            let device = Device {
                name: node.name.clone(),
                management,
                session: driver.session,
            };
            Some((device, driver.clone()))
        });
        Plan {
            devices: devices.collect(),
            fabric: topology.fabric(),
        }
    }

    /// Every host to the host of the same number at the next leaves.
    fn flows(&self, count: usize) -> Vec<Flow> {
        let flows = (0..count).map(|number| {
            let (leaf, host) = (number % self.leaves, number / self.leaves % self.hosts);
            let other = (leaf + 1 + number / (self.leaves * self.hosts) % (self.leaves - 1)) % self.leaves;
            let port = 49_152 + u16::try_from(number % 16_384).unwrap();
            Flow::roce(self.address(leaf, host), self.address(other, host), port)
        });
        flows.collect()
    }

    /// The egress port of a switch: what its answer should say.
    fn egress(&self, switch: &str, dst: IpAddr, port: u16) -> String {
        let [high, leaf, host] = match dst {
            IpAddr::V4(v4) => [v4.octets()[1], v4.octets()[2], v4.octets()[3]].map(usize::from),
            IpAddr::V6(v6) => [v6.segments()[3], v6.segments()[4], v6.segments()[7]].map(usize::from),
        };
        let (leaf, host) = (high * 256 + leaf, host - 1);
        match switch.strip_prefix("leaf") {
            Some(number) if number.parse() == Ok(leaf) => format!("Ethernet{}", host + 101),
            Some(number) => {
                let hash = usize::try_from(u32::from(port).wrapping_mul(2_654_435_761) >> 20).unwrap();
                let mixed = (hash + number.parse::<usize>().unwrap() * 7) % self.spines;
                format!("Ethernet{}", mixed + 1)
            }
            None => format!("Ethernet{}", leaf + 1),
        }
    }
}

/// Simulated switches: they parse the commands of their drivers and answer in the documented format.
struct Switches {
    clos: Clos,
    delay: Duration,
    faults: HashMap<String, Fault>,
    opened: AtomicUsize,
    open: Arc<[AtomicUsize; 2]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Ends every third command's session.
    Cuts,
    Refuses,
    Sticks,
    Wrong(&'static str),
}

impl Switches {
    fn new(clos: &Clos) -> Self {
        Self {
            clos: clos.clone(),
            delay: Duration::ZERO,
            faults: HashMap::new(),
            opened: AtomicUsize::new(0),
            open: Arc::default(),
        }
    }
}

impl Transport for Switches {
    fn open(&self, device: &Device) -> Result<Box<dyn Session>, Failure> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        let fault = self.faults.get(&device.name).copied();
        if fault == Some(Fault::Refuses) {
            return Err(Failure::new("login_refused", "Permission denied (publickey)."));
        }
        let open = self.open[0].fetch_add(1, Ordering::Relaxed) + 1;
        self.open[1].fetch_max(open, Ordering::Relaxed);
        Ok(Box::new(Cli {
            open: self.open.clone(),
            clos: self.clos.clone(),
            name: device.name.clone(),
            delay: self.delay,
            fault,
            commands: 0,
        }))
    }
}

impl Drop for Cli {
    fn drop(&mut self) {
        self.open[0].fetch_sub(1, Ordering::Relaxed);
    }
}

struct Cli {
    clos: Clos,
    /// Sessions that are open, and the most that were.
    open: Arc<[AtomicUsize; 2]>,
    name: String,
    delay: Duration,
    fault: Option<Fault>,
    commands: usize,
}

impl Session for Cli {
    fn run(&mut self, command: &str, limit: Duration) -> Result<String, Failure> {
        self.commands += 1;
        thread::sleep(self.delay);
        match self.fault {
            Some(Fault::Cuts) if self.commands.is_multiple_of(3) => {
                return Err(Failure::new(
                    "session_over",
                    "the session ended: Connection reset by peer",
                ));
            }
            Some(Fault::Sticks) => {
                thread::sleep(limit);
                return Err(Failure::new("time_limit", "no answer within the limit"));
            }
            Some(Fault::Wrong(text)) => return Ok(text.to_owned()),
            _ => {}
        }
        if !command.contains("10.") && !command.contains("fd00:") {
            // What it hashes.
            return Ok("ecmp hash: src-ip dst-ip ip-proto src-port dst-port".into());
        }
        let words: Vec<&str> = command
            .split(|c: char| c.is_whitespace() || "\",".contains(c))
            .collect();
        let addresses = words.iter().filter_map(|word| word.parse::<IpAddr>().ok());
        let dst = match self.clos.driver {
            "linux" => addresses.clone().next().unwrap(),
            _ => addresses.clone().nth(1).unwrap(),
        };
        let port = words
            .iter()
            .filter_map(|word| word.parse().ok())
            .find(|port: &u16| *port >= 49_152)
            .unwrap();
        let egress = self.clos.egress(&self.name, dst, port);
        Ok(match self.clos.driver {
            "eos" => format!("Flow:\n  IPv4\nOutput Interface: {egress}\n"),
            "cumulus" => format!("ecmpcalc: will query hardware\nswp{}\n", &egress["Ethernet".len()..]),
            "sonic" => format!("Egress port: {egress}\n"),
            "nxos" => format!(
                "Load-share parameters used for software forwarding:\nload-share mode: address source-destination port \
                 source-destination\nHash for VRF \"default\"\nHashing to path *10.0.0.1 (Eth{})\n",
                &egress["Ethernet".len()..]
            ),
            "junos" => format!("Egress interface: {egress}\n"),
            _ => format!("{dst} from 10.0.0.1 via 10.0.0.9 dev {egress} \n    cache iif eth0\n"),
        })
    }
}

fn outcomes(run: &Run) -> HashMap<&'static str, usize> {
    let mut counts = HashMap::new();
    for trace in &run.traces {
        *counts.entry(trace.outcome.reason).or_default() += 1;
    }
    counts
}

/// Checks each path against what the switches compute.
fn assert_right(clos: &Clos, plan: &Plan, run: &Run) {
    for trace in &run.traces {
        assert_eq!(
            (trace.outcome.reason, &*trace.outcome.detail),
            ("complete", ""),
            "{}",
            trace.flow
        );
        let found = hops(&plan.fabric, &trace.ways);
        for hop in &found[1..] {
            let egress = clos.egress(&hop.0, trace.flow.dst, trace.flow.src_port);
            // Cumulus names its ports otherwise.
            assert_eq!(hop.1, egress, "{}", trace.flow);
        }
        assert_eq!(found.len(), 4);
    }
}

const SMALL: Clos = Clos {
    leaves: 4,
    spines: 4,
    hosts: 4,
    ipv6: false,
    driver: "eos",
};

#[test]
fn every_driver_finds_the_right_paths_over_both_protocols() {
    for driver in ["linux", "eos", "sonic", "nxos", "junos"] {
        for ipv6 in [false, true] {
            let clos = Clos { ipv6, driver, ..SMALL };
            let plan = clos.plan();
            for mode in [Mode::Baseline, Mode::Persistent, Mode::Parallel] {
                let settings = Settings {
                    mode,
                    ..Settings::default()
                };
                let run = discover(&plan, &clos.flows(64), &Switches::new(&clos), &settings);
                assert_right(&clos, &plan, &run);
            }
        }
    }
}

#[test]
fn cumulus_answers_with_its_own_names() {
    let clos = Clos {
        driver: "cumulus",
        ..SMALL
    };
    let mut topology = clos.topology();
    for end in topology.links.iter_mut().flat_map(|link| &mut link.ends) {
        end.port = end.port.replace("Ethernet", "swp");
    }
    let plan = Plan {
        fabric: topology.fabric(),
        ..clos.plan()
    };
    let run = discover(&plan, &clos.flows(64), &Switches::new(&clos), &Settings::default());
    assert_eq!(outcomes(&run), HashMap::from([("complete", 64)]));
}

#[test]
fn faults_are_outcomes_with_a_reason() {
    let plan = SMALL.plan();
    let flows = SMALL.flows(64);
    let run = |switch: &str, fault: Fault| {
        let mut switches = Switches::new(&SMALL);
        switches.faults.insert(switch.into(), fault);
        let settings = Settings {
            limit: Duration::from_millis(50),
            ..Settings::default()
        };
        let started = Instant::now();
        let run = discover(&plan, &flows, &switches, &settings);
        assert!(started.elapsed() < Duration::from_secs(5));
        run
    };
    // Sessions that are cut are opened again.
    let cut = run("leaf1", Fault::Cuts);
    assert_eq!(outcomes(&cut), HashMap::from([("complete", 64)]));
    let leaf = plan.fabric.find("leaf1").unwrap();
    assert!(cut.devices[&leaf].failures["session_over"].0 > 0);
    // A device that refuses is asked once, and every flow over it has that reason.
    let refused = run("leaf1", Fault::Refuses);
    let found = outcomes(&refused);
    assert_eq!(found["login_refused"] + found["complete"], 64);
    assert_eq!(
        refused.devices[&leaf].failures["login_refused"].1,
        "Permission denied (publickey)."
    );
    let one = Settings {
        mode: Mode::Persistent,
        ..Settings::default()
    };
    let mut switches = Switches::new(&SMALL);
    switches.faults.insert("leaf1".into(), Fault::Refuses);
    let sequential = discover(&plan, &flows, &switches, &one);
    assert_eq!(sequential.devices[&leaf].sessions, 1);
    // One that does not answer.
    assert_eq!(
        outcomes(&run("leaf1", Fault::Sticks))["time_limit"],
        found["login_refused"]
    );
    // Wrong answers.
    let loops = run("spine1", Fault::Wrong("Output Interface: Ethernet1"));
    assert!(
        outcomes(&loops)
            .keys()
            .all(|reason| ["complete", "loop"].contains(reason)),
        "{:?}",
        outcomes(&loops)
    );
    assert!(outcomes(&loops).contains_key("loop"));
    for (text, reason) in [
        ("Output Interface: Ethernet77", "contradiction"),
        ("Output Interface: Ethernet102", "wrong_host"),
        ("unable to determine", "dead_end"),
        ("% Invalid input at '^' marker.", "unreadable_answer"),
    ] {
        let run = run("leaf1", Fault::Wrong(text));
        let found = outcomes(&run);
        assert!(found.contains_key(reason), "{text}: {found:?}");
        assert!(
            found.keys().all(|found| ["complete", reason].contains(found)),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_switch_that_hashes_the_queue_pair_is_not_guessed() {
    let clos = Clos {
        driver: "sonic",
        ..SMALL
    };
    let plan = clos.plan();
    let mut switches = Switches::new(&clos);
    switches.faults.insert(
        "spine0".into(),
        Fault::Wrong("hash mode ipv4-rdma src-ip dst-ip bth-dest-qp"),
    );
    let run = discover(&plan, &clos.flows(64), &switches, &Settings::default());
    let found = outcomes(&run);
    assert!(found["hash_beyond_5_tuple"] > 0 && found["complete"] > 0, "{found:?}");
    let stuck = run
        .traces
        .iter()
        .find(|trace| trace.outcome.reason == "hash_beyond_5_tuple")
        .unwrap();
    assert!(
        stuck.outcome.detail.contains("spine0: ") && stuck.outcome.detail.contains("bth-dest-qp"),
        "{stuck:?}"
    );
}

#[test]
fn names_of_ports_cannot_run_commands() {
    let mut topology = SMALL.topology();
    for end in topology.links.iter_mut().flat_map(|link| &mut link.ends) {
        if end.node == "spine0" {
            end.port = format!("{};reboot", end.port);
        }
    }
    let plan = Plan {
        fabric: topology.fabric(),
        ..SMALL.plan()
    };
    let run = discover(&plan, &SMALL.flows(64), &Switches::new(&SMALL), &Settings::default());
    let found = outcomes(&run);
    assert!(found["port_name"] > 0, "{found:?}");
}

/// The paper: tens of seconds, and 8 threads 2.6 times as fast as 2.
#[test]
fn parallel_sessions_hide_the_delay_of_commands() {
    let clos = Clos { hosts: 8, ..SMALL };
    let (plan, flows) = (clos.plan(), clos.flows(128));
    let took = |mode, threads, flows: &[Flow]| {
        let switches = Switches {
            delay: Duration::from_millis(50),
            ..Switches::new(&clos)
        };
        let settings = Settings {
            mode,
            threads,
            ..Settings::default()
        };
        let run = discover(&plan, flows, &switches, &settings);
        assert_right(&clos, &plan, &run);
        run.took
    };
    let all = took(Mode::Parallel, 64, &flows);
    let (two, eight) = (
        took(Mode::Parallel, 2, &flows[..32]),
        took(Mode::Parallel, 8, &flows[..32]),
    );
    let one = took(Mode::Persistent, 1, &flows[..16]);
    println!(
        "128 flows, 64 threads: {all:?}; 32 flows: 2 threads {two:?}, 8 threads {eight:?}; 16 flows one by one {one:?}"
    );
    assert!(all < Duration::from_secs(1), "{all:?}");
    assert!(two.as_secs_f64() > 2.6 * eight.as_secs_f64(), "{two:?} {eight:?}");
    assert!(one > Duration::from_millis(16 * 3 * 50));
}

#[test]
fn a_hundred_thousand_flows_over_a_thousand_switches_take_linear_time() {
    let clos = Clos {
        leaves: 984,
        spines: 16,
        hosts: 4,
        ..SMALL
    };
    let (plan, flows) = (clos.plan(), clos.flows(100_000));
    let took = |count: usize| {
        let switches = Switches::new(&clos);
        let settings = Settings {
            threads: 4,
            open_sessions: 64,
            ..Settings::default()
        };
        let run = discover(&plan, &flows[..count], &switches, &settings);
        assert_eq!(outcomes(&run), HashMap::from([("complete", count)]));
        assert!(switches.open[1].load(Ordering::Relaxed) <= 64);
        run.took.as_secs_f64()
    };
    let (small, large) = (took(10_000), took(100_000));
    println!("10,000 flows {small:.2} s, 100,000 flows {large:.2} s");
    assert!(large < small * 20.0, "{small} {large}");
}
