//! `cargo xtask bench agent [SECONDS]`: the cost of `rocescope agent` in all on a host with eight NICs.
//!
//! The host is that of `bench probe`: probes and paths at their defaults. The counters are those of `bench counters`:
//! eight NICs with 120 files each, every second. All rows go to a collector, which is the controller too.

use super::counters::Tree;
use super::figure::{Figure, Goal};
use super::probe::{COLLECTOR, Collector, Cost, Host, within};
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
    let costs = measure(Duration::from_secs(seconds))?;
    println!("| the agent | CPU | resident, mean | max | peak since its start | sent per NIC | received per NIC |");
    println!("|---|---|---|---|---|---|---|");
    println!(
        "| probes, paths and counters, to a controller | {}",
        super::probe::row(&costs)
    );
    ensure!(costs.iter().all(|cost| cost.cpu <= CPU_MAX), "CPU above the limit");
    Ok(())
}

/// The same for the table of all benches.
pub(super) fn figures() -> Result<Vec<Figure>> {
    let costs = measure(Duration::from_secs(SECONDS))?;
    let median = |figure: fn(&Cost) -> f64| {
        let mut all: Vec<f64> = costs.iter().map(figure).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let work = "agent with all parts, eight NICs";
    Ok(vec![
        Figure::new(work, median(|cost| 100.0 * cost.cpu), "% of a core", Goal::AtMost(0.8)),
        Figure::new(
            format!("{work}: memory"),
            median(|cost| cost.resident as f64 / 1_024.0),
            "MiB",
            Goal::AtMost(10.0),
        ),
        Figure::new(
            format!("{work}: sent by a NIC"),
            median(|cost| cost.sent_bits / 1e3),
            "kbit/s",
            Goal::AtMost(20.0),
        ),
    ])
}

fn measure(time: Duration) -> Result<Vec<Cost>> {
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
        let costs: Result<Vec<_>> = (0..ROUNDS).map(|_| host.watch(agent.id(), time)).collect();
        stop.store(true, Ordering::Relaxed);
        costs
    });
    run_command(&mut command("kill", &["-INT", &agent.id().to_string()]))?;
    ensure!(agent.wait()?.success(), "the agent failed");
    collector.stop()?;
    costs
}
