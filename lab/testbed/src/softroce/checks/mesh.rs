//! Agents of the guests, which a controller in the second one introduces: they probe over UD queue pairs between the
//! NICs of their guest, and over frames to those of the other one, as the controller hands out; they trace the paths of both,
//! and measure RDMA operations to the other guest. Every probe is counted in one outcome, memory does not grow, and the
//! processor time is stated.

use crate::softroce::fabric::{Fabric, LIMIT, json, number};
use crate::softroce::guest::Guest;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};
use xtask::process::{command, root, run as run_command};

/// The agents, by the names of their certificates.
pub(super) const NAMES: [&str; 3] = ["guest1", "guest2", "guest3"];
/// The port of the collector.
const PORT: u16 = 4792;
/// By how much longer the agents of the other guests run than that of the first one.
const LONGER: u64 = 7;
/// When the memory of a long run has reached its size, and how much more it may become.
const WARM: Duration = Duration::from_secs(60);
const MORE_KIB: u64 = 1024;

/// Runs the agents for as long as the options say; returns what they print.
pub(super) fn run(fabric: &mut Fabric) -> Result<Vec<Value>> {
    begin(fabric, fabric.mesh.as_secs())?;
    let begun = Instant::now();
    let is_long = fabric.mesh > WARM * 2;
    let mut early = Vec::new();
    if is_long {
        sleep(WARM);
        early = vec![sample(&mut fabric.first)?, sample(&mut fabric.second)?];
    }
    sleep(fabric.mesh.saturating_sub(begun.elapsed() + Duration::from_secs(3)));
    let late = [sample(&mut fabric.first)?, sample(&mut fabric.second)?];
    let found = [ended(fabric, 0)?, ended(fabric, 1)?];
    end_collector(fabric)?;
    for (at, name) in NAMES.iter().take(found.len()).enumerate() {
        let outcomes = identity(&found[at]).with_context(|| (*name).to_owned())?;
        let others = others(&found[at], at == 0).with_context(|| (*name).to_owned())?;
        let now = &late[at];
        println!(
            "{name}: {outcomes}; {others}; {:.1} % of a core of the guest, {} KiB of memory",
            100.0 * now.cpu_s / now.age_s,
            now.rss_kib
        );
        if let Some(before) = early.get(at) {
            println!("{name}: {} KiB after a minute", before.rss_kib);
            ensure!(
                now.rss_kib <= before.rss_kib + MORE_KIB,
                "{name} grew from {} to {} KiB",
                before.rss_kib,
                now.rss_kib
            );
        }
    }
    Ok(found.into())
}

/// Starts the collector, and all agents for this number of seconds.
pub(super) fn begin(fabric: &mut Fabric, seconds: u64) -> Result<()> {
    begin_with(fabric, seconds, probes)
}

/// The same with agents that have these tables in their configuration, by the names of their peers.
pub(super) fn begin_with(fabric: &mut Fabric, seconds: u64, tables: impl Fn(&[&str]) -> String) -> Result<()> {
    certificates(fabric)?;
    configure(fabric, tables)?;
    for (guest, longer) in fabric.guests().zip([0, LONGER, LONGER]) {
        start(guest, seconds + longer)?;
    }
    Ok(())
}

/// Waits for the end of an agent; its summary.
pub(super) fn ended(fabric: &mut Fabric, at: usize) -> Result<Value> {
    let guest = fabric.guests().nth(at).context("there are fewer guests")?;
    let ended = "for try in $(seq 600); do [ -e agent.status ] && break; sleep 0.1; done; cat agent.out; \
                 [ \"$(cat agent.status)\" = 0 ] && exit 0; cat agent.err; exit 1";
    let printed = guest.run(ended, LIMIT)?;
    fabric.keep(&format!("{}.txt", NAMES[at]), &printed)?;
    json(&printed)
}

/// Ends the collector, which seals its dataset.
pub(super) fn end_collector(fabric: &mut Fabric) -> Result<()> {
    let collected = fabric.second.run(
        "kill -INT $(cat collect.pid); for try in $(seq 100); do kill -0 $(cat collect.pid) 2>/dev/null || break; \
         sleep 0.1; done; cat collect.txt",
        LIMIT,
    )?;
    fabric.keep("collect.txt", &collected)
}

/// Every probe has one outcome.
fn identity(summary: &Value) -> Result<String> {
    let count = |key: &str| number(summary, key);
    let (probes, received, timeouts) = (count("probes")?, count("received")?, count("timeouts")?);
    let others = [count("corrupt")?, count("in_flight")?, count("unsent")?];
    ensure!(
        probes > 0 && probes == received + timeouts + others.iter().sum::<u64>(),
        "probes have other outcomes than one each: {summary}"
    );
    let [corrupt, in_flight, unsent] = others;
    Ok(format!(
        "{probes} probes = {received} received + {timeouts} timed out + {corrupt} corrupt + {in_flight} in flight + \
         {unsent} unsent"
    ))
}

/// Probes to the other guest were answered. Every trace reached its end, unless the agent there ends first: the paths of 5-tuples are
/// traced one after the other.
fn others(summary: &Value, ends_first: bool) -> Result<String> {
    let others = &summary["other_hosts"];
    let count = |key: &str| number(others, key);
    let (probes, answered) = (count("probes")?, count("answered")?);
    let lost = count("lost_there")? + count("lost_back")?;
    ensure!(answered > 0 && lost == 0, "probes to the other guest: {summary}");
    let known = [number(summary, "paths_known")?, count("paths_known")?];
    let incomplete = number(summary, "traces_incomplete")?;
    ensure!(
        known[0] > 0 && known[1] > 0 && (incomplete == 0 || !ends_first),
        "{known:?} paths within and between the guests are known, {incomplete} traces did not reach their end: {summary}"
    );
    Ok(format!(
        "{answered} of {probes} probes to the other guest answered, none lost; {known:?} paths within and between guests traced"
    ))
}

/// What an agent has used.
#[derive(Debug)]
struct Sample {
    rss_kib: u64,
    cpu_s: f64,
    age_s: f64,
}

fn sample(guest: &mut Guest) -> Result<Sample> {
    // Ticks are hundredths of a second.
    let read = "pid=$(cat agent.pid); awk '/VmRSS/ {print $2}' /proc/$pid/status; \
                awk '{print $14 + $15, $22}' /proc/$pid/stat; awk '{print $1}' /proc/uptime";
    let said = guest.run(read, LIMIT)?;
    let numbers: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [rss, ticks, started, uptime] = numbers[..] else {
        anyhow::bail!("no agent runs: {said}");
    };
    Ok(Sample {
        rss_kib: rss as u64,
        cpu_s: ticks / 100.0,
        age_s: uptime - started / 100.0,
    })
}

fn start(guest: &mut Guest, seconds: u64) -> Result<()> {
    let agent = format!(
        "rm -rf spool agent.status; ( rocescope agent --config agent.toml --duration {seconds}s -q -o json > agent.out \
         2> agent.err & echo $! > agent.pid; wait $!; echo $? > agent.status ) &\n\
         for try in $(seq 100); do [ -s agent.pid ] && exit 0; sleep 0.1; done; exit 1"
    );
    guest.run(&agent, LIMIT)?;
    Ok(())
}

/// Copies certificates and configurations into the guests, and starts the collector with its controller.
fn configure(fabric: &mut Fabric, tables: impl Fn(&[&str]) -> String) -> Result<()> {
    let results = fabric.results.clone();
    let names = &NAMES[..fabric.shape.guests().into()];
    for (guest, name) in fabric.guests().zip(names) {
        for file in ["ca.pem", &format!("{name}.pem"), &format!("{name}.key")] {
            guest.put(file, &fs::read_to_string(results.join(file))?)?;
        }
        let peers: Vec<&str> = names.iter().copied().filter(|other| other != name).collect();
        guest.put("agent.toml", &(configuration(name) + &tables(&peers)))?;
    }
    for file in ["collector.pem", "collector.key"] {
        let content = fs::read_to_string(fabric.results.join(file))?;
        fabric.second.put(file, &content)?;
    }
    fabric.second.put("control.toml", "operators = [\"ops\"]\n[peers]\n")?;
    let collect = "rm -rf mesh control; rocescope collector run --listen 10.77.0.2:4792 --out mesh --cert collector.pem \
                   --key collector.key --client-ca ca.pem --control-dir control --control control.toml \
                   > collect.txt 2>&1 & echo $! > collect.pid; \
                   for try in $(seq 300); do grep -q ':12B8 0*:0000 0A' /proc/net/tcp && exit 0; sleep 0.1; done; \
                   cat collect.txt; exit 1";
    fabric.second.run(collect, LIMIT)?;
    Ok(())
}

fn configuration(name: &str) -> String {
    format!(
        "observer = \"{name}\"\n[agent]\ncollector = \"https://10.77.0.2:{PORT}\"\ncert = \"{name}.pem\"\n\
         key = \"{name}.key\"\nca = \"ca.pem\"\nspool = \"spool\"\n"
    )
}

fn probes(peers: &[&str]) -> String {
    format!(
        "[probe]\nbackend = \"verbs\"\nall = true\nmax-cpu = 1.0\ntimeout = \"2s\"\n\
         operations = \"1s\"\noperations-peers = {peers:?}\n"
    )
}

/// Makes the certificates with the commands of `docs/hostmesh.md`.
fn certificates(fabric: &Fabric) -> Result<()> {
    let page = fs::read_to_string(root().join("docs/hostmesh.md"))?;
    let block = page.split("```sh\n").nth(1).and_then(|block| block.split("```").next());
    let block = block.context("docs/hostmesh.md has no commands for certificates")?;
    let make: Vec<&str> = block.lines().filter(|line| !line.starts_with("sign ")).collect();
    let guests = (1..=fabric.shape.guests()).zip(NAMES);
    let sign = guests.map(|(at, name)| format!("sign {name} DNS:{name},IP:10.77.0.{at},IP:10.77.1.{at}\n"));
    let script = format!(
        "{}\nsign collector DNS:collector,IP:10.77.0.2\n{}",
        make.join("\n"),
        sign.collect::<String>()
    );
    let mut shell = command("sh", &["-ec", &script]);
    let log = fs::File::create(fabric.results.join("openssl.txt"))?;
    run_command(shell.current_dir(&fabric.results).stderr(log))
}
