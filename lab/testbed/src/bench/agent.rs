//! `cargo xtask bench agent [SECONDS]`: the cost of `rocescope agent` in all on a host with eight NICs.
//!
//! The host is that of `bench probe`: probes and paths at their defaults. The counters are those of `bench counters`:
//! eight NICs with 120 files each, every second. All rows go to a collector, which is the controller too.

use super::counters::Tree;
use super::probe::{COLLECTOR, Collector, Host, within};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use xtask::process::{command, run as run_command};
use xtask::product::{build, directory, text};

/// The limit of the Fudan paper: 2 % of a core.
const CPU_MAX: f64 = 0.02;
const ROUNDS: usize = 4;
const SECONDS: u64 = 45;

pub(super) fn run(options: &[&str]) -> Result<()> {
    let seconds = match options {
        [] => SECONDS,
        [seconds] => seconds.parse().context("seconds")?,
        _ => bail!("cargo xtask bench agent [SECONDS]"),
    };
    let rocescope = text(&build()?);
    let directory = directory()?.join("agent");
    // The agent would send rows of an earlier run.
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory)?;
    let tree = Tree::new()?;
    let host = Host::new()?;
    let collector = Collector::start(&host, &rocescope, &directory)?;
    let at = |name: &str| text(&directory.join(name));
    let file = format!(
        "observer = \"h0\"\n[agent]\ncollector = \"{COLLECTOR}\"\ncert = \"{}\"\nkey = \"{}\"\nca = \"{}\"\n\
         spool = \"{}\"\n[probe]\nall = true\n[counters]\nsysfs-root = \"{}\"\n",
        at("h0.pem"),
        at("h0.key"),
        at("ca.pem"),
        at("spool"),
        text(&tree.0),
    );
    fs::write(directory.join("h0.toml"), file)?;
    let mut agent = within(&host.host, &rocescope);
    agent.args(["agent", "--config", &at("h0.toml")]);
    let mut agent = agent.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let stop = AtomicBool::new(false);
    let costs = std::thread::scope(|scope| {
        scope.spawn(|| {
            for step in (2..).step_by(2) {
                if stop.load(Ordering::Relaxed) || tree.advance(step).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_secs(1));
            }
        });
        let costs: Result<Vec<_>> = (0..ROUNDS)
            .map(|_| host.watch(agent.id(), Duration::from_secs(seconds)))
            .collect();
        stop.store(true, Ordering::Relaxed);
        costs
    });
    run_command(&mut command("kill", &["-INT", &agent.id().to_string()]))?;
    ensure!(agent.wait()?.success(), "the agent failed");
    collector.stop()?;
    let costs = costs?;
    println!("| the agent | CPU | resident, mean | max | peak since its start | sent per NIC | received per NIC |");
    println!("|---|---|---|---|---|---|---|");
    println!(
        "| probes, paths and counters, to a controller | {}",
        super::probe::row(&costs)
    );
    ensure!(costs.iter().all(|cost| cost.cpu <= CPU_MAX), "CPU above the limit");
    Ok(())
}
