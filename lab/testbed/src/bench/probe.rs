//! `cargo xtask bench probe [SECONDS]`: the agent's cost on a host with eight NICs.
//!
//! The host is a namespace, its NICs are veth pairs to a router in another. Each NIC probes ten times per second and
//! traces paths with the default settings. The kernel reports the agent's CPU time, its resident memory and the bytes
//! of each NIC.

use super::cost::{ran, status};
use crate::certificates;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use xtask::process::{command, run as run_command};
use xtask::product::{build, directory, text};

const NICS: usize = 8;
/// The project's limits: Hostmesh's values, which are means over half a month.
const CPU_MAX: f64 = 0.008;
const RESIDENT_MAX: u64 = 7_700;
const BITS_MAX: f64 = 20_000.0;
/// Segments are sealed once a minute: every measurement includes that at least once.
const SECONDS: u64 = 62;
const ROUNDS: usize = 3;
/// The router's end of the first rail.
pub(super) const COLLECTOR: &str = "https://10.0.0.254:4792";
/// Wait before the measurement: all paths are unknown at the start.
const SETTLE: Duration = Duration::from_secs(5);

pub(super) struct Host {
    pub(super) host: String,
    router: String,
}

pub(super) struct Cost {
    pub(super) cpu: f64,
    pub(super) resident: u64,
    resident_max: u64,
    peak: u64,
    pub(super) sent_bits: f64,
    received_bits: f64,
}

pub(super) fn run(options: &[&str]) -> Result<()> {
    let seconds = match options {
        [] => SECONDS,
        [seconds] => seconds.parse().context("seconds")?,
        _ => bail!("cargo xtask bench probe [SECONDS]"),
    };
    let time = Duration::from_secs(seconds);
    let rocescope = text(&build()?);
    let directory = directory()?.join("probe");
    fs::create_dir_all(&directory)?;
    let host = Host::new()?;
    let out = ["--out".to_owned(), text(&directory.join("dataset"))];
    let cases: [(&str, &[String]); 2] = [("probes and paths", &[]), ("... into a dataset", &out)];
    println!("| the prober | CPU | resident, mean | max | peak since its start | sent per NIC | received per NIC |");
    println!("|---|---|---|---|---|---|---|");
    for (name, arguments) in &cases {
        // The agent would read the rows of an earlier run.
        let _ = fs::remove_dir_all(directory.join("dataset"));
        let mut costs = Vec::new();
        for _ in 0..ROUNDS {
            costs.push(host.measure(&rocescope, arguments, time)?);
        }
        println!("| {name} | {}", row(&costs));
        for cost in &costs {
            cost.holds()?;
        }
    }
    Ok(())
}

/// Minimum, median and maximum of all rounds.
pub(super) fn row(costs: &[Cost]) -> String {
    let spread = |figure: fn(&Cost) -> f64, digits: usize| {
        let mut all: Vec<f64> = costs.iter().map(figure).collect();
        all.sort_by(f64::total_cmp);
        let at = |place: usize| format!("{:.digits$}", all.get(place).copied().unwrap_or(0.0));
        format!("{} / {} / {}", at(0), at(all.len() / 2), at(all.len() - 1))
    };
    format!(
        "{} % | {} KiB | {} KiB | {} KiB | {} kbit/s | {} kbit/s |",
        spread(|cost| cost.cpu * 100.0, 2),
        spread(|cost| cost.resident as f64, 0),
        spread(|cost| cost.resident_max as f64, 0),
        spread(|cost| cost.peak as f64, 0),
        spread(|cost| cost.sent_bits / 1e3, 1),
        spread(|cost| cost.received_bits / 1e3, 1),
    )
}

impl Cost {
    /// Compares the costs with the limits.
    fn holds(&self) -> Result<()> {
        ensure!(self.cpu <= CPU_MAX, "CPU above the limit");
        ensure!(self.resident <= RESIDENT_MAX, "memory above the limit");
        ensure!(
            self.sent_bits < BITS_MAX && self.received_bits < BITS_MAX,
            "traffic above the limit"
        );
        Ok(())
    }
}

/// A collector behind the router, with new certificates.
pub(super) struct Collector(pub(super) Child);

impl Collector {
    pub(super) fn start(host: &Host, rocescope: &str, directory: &Path) -> Result<Self> {
        let script = certificates::script(&[("collector", "IP:10.0.0.254"), ("h0", "DNS:h0")])?;
        let mut shell = command("sh", &["-euc", &script]);
        let made = shell.current_dir(directory).output()?;
        ensure!(made.status.success(), "certificates: {made:?}");
        let mut collect = within(&host.router, rocescope);
        collect.args(["collector", "run", "--quiet", "--listen", "10.0.0.254:4792"]);
        for (option, file) in [
            ("--out", "collected"),
            ("--cert", "collector.pem"),
            ("--key", "collector.key"),
            ("--client-ca", "ca.pem"),
        ] {
            collect.arg(option).arg(directory.join(file));
        }
        fs::write(directory.join("fleet.toml"), "operators = [\"ops\"]\n")?;
        for (option, file) in [("--control-dir", "control"), ("--control", "fleet.toml")] {
            collect.arg(option).arg(directory.join(file));
        }
        Ok(Self(collect.stdout(Stdio::null()).spawn()?))
    }

    pub(super) fn stop(mut self) -> Result<()> {
        run_command(&mut command("kill", &["-INT", &self.0.id().to_string()]))?;
        ensure!(self.0.wait()?.success(), "the collector failed");
        Ok(())
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // Does nothing if it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Host {
    pub(super) fn new() -> Result<Self> {
        let name = format!("rocescope-bench-{}", std::process::id());
        let host = Self {
            host: format!("{name}-h"),
            router: format!("{name}-r"),
        };
        for name in [&host.host, &host.router] {
            run_command(&mut command("ip", &["netns", "add", name])).context("this requires root")?;
            ip(name, "link set lo up")?;
        }
        let forward = ["net.ipv4.ip_forward=1", "net.ipv4.icmp_errors_use_inbound_ifaddr=1"];
        run_command(within(&host.router, "sysctl").arg("-qw").args(forward))?;
        for nic in 0..NICS {
            let (rail, port) = (format!("rail{nic}"), format!("p{nic}"));
            let pair = format!("link add {rail} type veth peer name {port} netns {}", host.router);
            ip(&host.host, &pair)?;
            ip(&host.host, &format!("address add 10.0.{nic}.1/24 dev {rail}"))?;
            ip(&host.router, &format!("address add 10.0.{nic}.254/24 dev {port}"))?;
            ip(&host.host, &format!("link set {rail} up"))?;
            ip(&host.router, &format!("link set {port} up"))?;
            let metric = nic + 10;
            let route = format!("route add default via 10.0.{nic}.254 dev {rail} metric {metric}");
            ip(&host.host, &route)?;
        }
        Ok(host)
    }

    fn measure(&self, rocescope: &str, arguments: &[String], time: Duration) -> Result<Cost> {
        let mut probe = within(&self.host, rocescope);
        probe.args(["probe", "--all", "--quiet", "-o", "json"]).args(arguments);
        let agent = probe.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let pid = agent.id();
        let measured = self.watch(pid, time);
        run_command(&mut command("kill", &["-INT", &pid.to_string()]))?;
        finish(agent)?;
        measured
    }

    pub(super) fn watch(&self, pid: u32, time: Duration) -> Result<Cost> {
        sleep(SETTLE);
        let begun = Instant::now();
        let (ran, bytes) = (ran(pid)?, self.bytes()?);
        let (mut sum, mut count, mut max) = (0, 0, 0);
        while begun.elapsed() < time {
            sleep(Duration::from_millis(500));
            let resident = status(pid, "VmRSS:")?;
            (sum, count, max) = (sum + resident, count + 1, max.max(resident));
        }
        let seconds = begun.elapsed().as_secs_f64();
        let (ran_then, bytes_then) = (self::ran(pid)?, self.bytes()?);
        let bits = |then: u64, before: u64| (then - before) as f64 * 8.0 / seconds / NICS as f64;
        Ok(Cost {
            cpu: (ran_then - ran) as f64 / 1e9 / seconds,
            resident: sum / count.max(1),
            resident_max: max,
            peak: status(pid, "VmHWM:")?,
            sent_bits: bits(bytes_then.0, bytes.0),
            received_bits: bits(bytes_then.1, bytes.1),
        })
    }

    /// Bytes that all NICs of the host sent and received.
    fn bytes(&self) -> Result<(u64, u64)> {
        let mut ip = command("ip", &["-n", &self.host, "-json", "-stats", "link", "show"]);
        let links: Vec<Value> = serde_json::from_slice(&ip.output()?.stdout).context("ip link")?;
        let sum = |way: &str| {
            let rails = links.iter().filter(|link| link["ifname"] != "lo");
            rails.filter_map(|link| link["stats64"][way]["bytes"].as_u64()).sum()
        };
        Ok((sum("tx"), sum("rx")))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        for name in [&self.host, &self.router] {
            // No measurement depends on the removal.
            let _ = command("ip", &["netns", "del", name]).status();
        }
    }
}

/// Checks that the agent lost no probe.
fn finish(agent: Child) -> Result<()> {
    let output = agent.wait_with_output()?;
    ensure!(output.status.success(), "the agent failed");
    let summary: Value = serde_json::from_slice(&output.stdout).context("the agent")?;
    ensure!(summary["received"] == summary["probes"], "probes were lost: {summary}");
    ensure!(summary["times_slowed_down"] == 0, "it slowed down: {summary}");
    Ok(())
}

fn ip(namespace: &str, arguments: &str) -> Result<()> {
    run_command(command("ip", &["-n", namespace]).args(arguments.split(' ')))
}

/// A program in a namespace; `ip` becomes that program.
pub(super) fn within(namespace: &str, program: &str) -> Command {
    command("ip", &["netns", "exec", namespace, program])
}
