//! `cargo xtask fabric queue [--binary FILE]`: one queue of one port drops what it cannot hold, and whether `diagnose` names it.
//!
//! The switches are namespaces and their queues are those of Linux. Agents probe, a capture box has a mirror of the port of a
//! host, two connections send through the queue, and Prometheus scrapes an exporter of the switches' counters. All of it goes
//! into one dataset, of which one incident is expected: switch, port, queue and both connections, seen by all three.
//!
//! | module | what it does |
//! |---|---|
//! | `connection` | reliable connections over raw sockets |
//! | `exporter` | the counters of the switches |

mod connection;
mod exporter;

use super::live::{Fabric, Kept};
use super::namespace::{command, inside, output};
use anyhow::{Context, Result, bail, ensure};
use connection::{Connection, Sent, request, respond};
use rocescope_fabric::Rails;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};
use xtask::product::{build, text};

/// Windows of 20 s: one without the fault, and two with it.
const QUIET: Duration = Duration::from_secs(40);
const BUSY: Duration = Duration::from_secs(45);
const SCRAPED_S: u64 = 2;
/// After this the last scrape is stored.
const SETTLE: Duration = Duration::from_secs(6);
/// The place of the fault.
const SWITCH: &str = "r0";
const PORT: &str = "s0";
const NAMED: &str = "switch r0, port s0, queue 3";
/// What the queue lets through, and how many packets it holds.
const RATE: &str = "8mbit";
const PACKETS: &str = "20";

pub(super) fn run(options: &[&str]) -> Result<()> {
    let rocescope = match options {
        [] => build()?,
        ["--binary", file] => Path::new(file).canonicalize().with_context(|| (*file).to_owned())?,
        _ => bail!("cargo xtask fabric queue [--binary FILE]"),
    };
    let fabric = Kept::up(Rails::two_tiers(3, 2, 1))?;
    let directory = fabric.directory()?.join("queue");
    fs::create_dir_all(&directory)?;
    let topology = directory.join("topology.toml");
    fs::write(&topology, cabled(&fabric)?)?;
    limit(&namespace(&fabric, SWITCH)?)?;
    let dataset = directory.join("dataset");
    let server = Server::start(&fabric, &directory)?;
    let mut running = Running(Vec::new());
    for host in ["h0", "h1", "h2"] {
        let arguments = [
            "probe",
            "--all",
            "--dscp",
            "26",
            "--interval",
            "50ms",
            "--observer",
            host,
        ];
        running.start(&fabric, host, &rocescope, &arguments, &dataset)?;
    }
    // What arrives on both: requests from the host, and their answers.
    let capture = [
        "capture",
        "-i",
        "h0",
        "-i",
        PORT,
        "--mode",
        "af-packet",
        "--observer",
        "box",
    ];
    running.start(&fabric, SWITCH, &rocescope, &capture, &dataset)?;
    sleep(QUIET);
    let sent = traffic(&fabric)?;
    sleep(SETTLE);
    running.end()?;
    let mut poll = Command::new(&rocescope);
    poll.args([
        "paths",
        "prometheus",
        &format!("http://{}", server.address),
        "--preset",
        "gnmic",
    ]);
    poll.args(["--last", "10m", "--out", &text(&dataset), "--observer", "prometheus"]);
    output(&mut poll)?;
    let diagnose = |format: &str| {
        let mut diagnose = Command::new(&rocescope);
        diagnose.args([
            "diagnose",
            &text(&dataset),
            "--topology",
            &text(&topology),
            "-o",
            format,
        ]);
        // It ends with 1, as there are incidents.
        let output = diagnose.output()?;
        anyhow::Ok(String::from_utf8(output.stdout)?)
    };
    println!("{}", diagnose("table")?);
    for (connection, sent) in sent {
        println!(
            "queue pair {}: {} packets sent, {} of them again",
            connection.dst_qpn, sent.packets, sent.repeated
        );
    }
    judge(&serde_json::from_str(&diagnose("json")?)?)
}

/// One incident has the queue, who saw it and who suffers; and nothing is said of another place.
fn judge(found: &Value) -> Result<()> {
    let incidents = found["incidents"].as_array().context("incidents")?;
    let is_named = |incident: &&Value| incident["place"]["name"] == NAMED;
    let Some(named) = incidents.iter().find(is_named) else {
        bail!("no incident at {NAMED}");
    };
    let sources: BTreeSet<&str> = named["sources"]
        .as_array()
        .context("sources")?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    ensure!(
        ["capture", "mesh", "switches"]
            .iter()
            .all(|source| sources.contains(source)),
        "seen by {sources:?} alone"
    );
    let victims = named["victims"]["worst"].as_array().context("victims")?;
    ensure!(victims.len() == 2, "{} victims", victims.len());
    let others: Vec<String> = incidents
        .iter()
        .filter(|incident| !is_named(incident))
        .map(|incident| format!("{} at {}", incident["class"], incident["place"]["name"]))
        .collect();
    ensure!(others.is_empty(), "and further incidents: {}", others.join(", "));
    println!(
        "named: {NAMED}, by {}",
        sources.into_iter().collect::<Vec<_>>().join(", ")
    );
    Ok(())
}

fn namespace(fabric: &Fabric, node: &str) -> Result<String> {
    Ok(fabric.namespace(fabric.node(node)?))
}

/// The topology file, with the cables.
fn cabled(fabric: &Fabric) -> Result<String> {
    let mut topology = fabric.size.build()?.to_toml();
    for link in &fabric.wiring.links {
        let ends = [&link.lower, &link.upper]
            .map(|end| format!("\"{}:{}\"", fabric.wiring.nodes[end.node].name, end.interface));
        // Writing to a string does not fail.
        let _ = write!(topology, "[[link]]\nends = [{}]\n\n", ends.join(", "));
    }
    Ok(topology)
}

/// Gives the port a small queue for DSCP 26 beside one for all else.
fn limit(namespace: &str) -> Result<()> {
    for words in [
        "qdisc replace dev s0 root handle 1: htb default 1",
        "class add dev s0 parent 1: classid 1:1 htb rate 1gbit quantum 20000",
        &format!("class add dev s0 parent 1: classid 1:3 htb rate {RATE} burst 4k"),
        "qdisc add dev s0 parent 1:1 handle 10: pfifo limit 1000",
        &format!("qdisc add dev s0 parent 1:3 handle 30: pfifo limit {PACKETS}"),
        "filter add dev s0 parent 1: protocol ip prio 1 u32 match ip dsfield 0x68 0xfc flowid 1:3",
    ] {
        let mut tc = Command::new("tc");
        output(tc.args(["-n", namespace]).args(words.split(' ')))?;
    }
    Ok(())
}

/// Two connections between the rails of two hosts, through the queue.
fn traffic(fabric: &Fabric) -> Result<Vec<(Connection, Sent)>> {
    let address = |nic: &str| -> Result<Ipv4Addr> {
        match fabric.link(nic)?.lower.address {
            IpAddr::V4(address) => Ok(address),
            IpAddr::V6(address) => bail!("{address}"),
        }
    };
    let (src, dst) = (address("h0n0")?, address("h1n1")?);
    let until = Instant::now() + BUSY;
    let (sender, receiver) = (namespace(fabric, "h0")?, namespace(fabric, "h1")?);
    let answering = std::thread::spawn(move || inside(&receiver, move || respond(dst, until))?);
    let senders: Vec<JoinHandle<_>> = [(49_152, 17), (49_153, 18)]
        .map(|(src_port, dst_qpn)| {
            let connection = Connection {
                src,
                dst,
                src_port,
                dst_qpn,
            };
            let sender = sender.clone();
            std::thread::spawn(move || {
                inside(&sender, move || request(&connection, until))?.map(|sent| (connection, sent))
            })
        })
        .into();
    let ended = |thread: JoinHandle<_>| thread.join().map_err(|_| anyhow::anyhow!("a connection panicked"));
    let sent = senders.into_iter().map(|sender| ended(sender)?).collect();
    let answered = answering.join();
    answered.map_err(|_| anyhow::anyhow!("the receiver panicked"))??;
    sent
}

/// Programs of the product; dropping this ends them.
struct Running(Vec<Child>);

impl Running {
    fn start(&mut self, fabric: &Fabric, node: &str, program: &Path, words: &[&str], dataset: &Path) -> Result<()> {
        let mut started = command(&namespace(fabric, node)?, &text(program));
        started.args(words).arg("--out").arg(dataset).arg("--quiet");
        self.0.push(started.stdout(Stdio::null()).spawn()?);
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        for child in &self.0 {
            output(Command::new("kill").args(["-INT", &child.id().to_string()]))?;
        }
        for mut child in std::mem::take(&mut self.0) {
            let status = child.wait()?;
            // A capture that found something ends with 1.
            ensure!(matches!(status.code(), Some(0 | 1)), "a program ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Prometheus, which scrapes the exporter.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(fabric: &Fabric, directory: &Path) -> Result<Self> {
        let switches = fabric.wiring.nodes.iter().enumerate().filter(|(_, node)| !node.is_host);
        let switches = switches.map(|(at, node)| (node.name.clone(), fabric.namespace(at)));
        let exporter = exporter::start(switches.collect())?;
        // Its own port: the listener that found it is closed.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let file = directory.join("prometheus.yml");
        let configuration = format!(
            "global: {{scrape_interval: {SCRAPED_S}s}}\nscrape_configs:\n  - job_name: gnmic\n    honor_labels: true\n    \
             static_configs: [{{targets: ['{exporter}']}}]\n"
        );
        fs::write(&file, configuration)?;
        let mut server = Command::new("prometheus");
        server.arg(format!("--config.file={}", file.display()));
        server.arg(format!(
            "--storage.tsdb.path={}",
            directory.join("prometheus").display()
        ));
        server.arg(format!("--web.listen-address={address}"));
        let child = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Self {
            child: child.context("prometheus (apt install prometheus)")?,
            address,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has no state that anyone reads.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
