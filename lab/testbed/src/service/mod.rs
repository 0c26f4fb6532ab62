//! `cargo xtask service`: the package on a machine of its own, from `dpkg -i` to `dpkg --purge`.
//!
//! systemd boots over this system ([`machine`]), with a veth pair; the service captures on one end the frames that the
//! product's generator sends on the other. Each step prints a line; the first failure ends the run.
//!
//! | module | what it holds |
//! |---|---|
//! | [`machine`] | a machine for one use |
//! | [`mod@unit`] | the service, as systemd and the kernel report it |
//! | [`metrics`] | the endpoint, the journal and the dataset, compared with the sent frames |
//! | [`collector`] | a collector and an agent, with new certificates |
//! | [`ansible`] | the role of Ansible, run twice |
//! | [`prometheus`] | Debian's Prometheus, which scrapes the endpoint |
//! | [`debian`] | a clean Debian, and the commands of the README |

mod ansible;
mod collector;
mod debian;
mod machine;
mod metrics;
mod prometheus;
mod unit;

use anyhow::{Context, Result, bail, ensure};
use machine::Machine;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use unit::CAPTURE;
use xtask::package;
use xtask::process::{command, root};

/// The end that sends frames, and the end that captures them.
const SENDER: &str = "eth3";
const RECEIVER: &str = "eth2";
const SCENARIO: &str = "userspace/generate/scenarios/demo.toml";
const CONFIGURATION: &str = "/etc/rocescope/rocescope.toml";
/// The unit's watchdog waits 30 s; only these settings change.
const SHORT_WATCHDOG: &str = "[Service]\nWatchdogSec=3s\nRestartSec=100ms\n";

pub(crate) fn run(options: &[&str]) -> Result<()> {
    let mut package = PathBuf::new();
    step("package", || {
        package = package::make()?;
        let bytes = fs::metadata(&package)?.len();
        Ok(format!("{:.1} MB", bytes as f64 / 1e6))
    })?;
    match options {
        [] => on_this_system(&package),
        ["--debian"] => debian::run(&package),
        _ => bail!("cargo xtask service [--debian]"),
    }
}

fn on_this_system(package: &Path) -> Result<()> {
    step("lintian", || lintian(package))?;
    let mut machine = None;
    step("boot", || {
        let booted = machine.insert(Machine::boot(Path::new("/"))?);
        Ok(booted
            .run("systemctl --version")?
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned())
    })?;
    let machine = machine.context("no machine")?;
    let result = life(&machine, package);
    if result.is_err() {
        // The journal usually has the cause.
        eprintln!("{}", machine.run("journalctl --quiet --boot --no-pager --lines 50")?);
    }
    result?;
    ansible::life(package)
}

/// Checks the package with Debian's own checker.
fn lintian(package: &Path) -> Result<String> {
    // Every call as root prints a warning.
    let mut lintian = command("lintian", &["--allow-root", "--fail-on", "error,warning"]);
    machine::output(lintian.arg(package)).context("lintian (a Debian package)")?;
    Ok("content".into())
}

/// The life of a package on a machine.
fn life(machine: &Machine, package: &Path) -> Result<()> {
    let names = || machine.run("find /etc /opt /usr /var -xdev -name '*rocescope*' | sort");
    let before = names()?;
    step("install", || install(machine, package))?;
    step("verify", || CAPTURE.verify(machine))?;
    step("without an interface", || unconfigured(machine))?;
    plug(machine)?;
    step("start", || start(machine))?;
    step("confinement", || unit::confined(machine))?;
    let prometheus = prometheus::Prometheus::start(machine)?;
    step("watchdog", || watchdog(machine))?;
    step("Prometheus", || prometheus.scrapes())?;
    let mut sent = 0;
    step("traffic", || {
        sent = send(machine, &[])?;
        let counted = metrics::wait(machine, "rocescope_frames_total", sent)?;
        Ok(format!("{sent} frames sent, {counted} counted"))
    })?;
    step("Prometheus reads", || prometheus.reads(sent))?;
    step("reload", || reload(machine, &mut sent))?;
    step("stop", || stop(machine, sent))?;
    collector::life(machine)?;
    step("remove", || remove(machine, &before))
}

/// Runs a step; prints its result and its duration.
fn step(name: &str, work: impl FnOnce() -> Result<String>) -> Result<()> {
    let begun = Instant::now();
    let shown = work().with_context(|| format!("service: {name}"))?;
    println!("{:>5.1} s  {name}: {shown}", begun.elapsed().as_secs_f64());
    Ok(())
}

fn install(machine: &Machine, package: &Path) -> Result<String> {
    fs::copy(package, machine.path("/root/rocescope.deb"))?;
    // The index of all manual pages is not part of the test, and takes seconds.
    machine.run("rm -f /var/lib/man-db/auto-update")?;
    machine.run("dpkg --install /root/rocescope.deb")?;
    let user = machine.run("id rocescope")?;
    // No interface is configured yet.
    for unit in ["rocescope", "rocescope-agent", "rocescope-collector"] {
        let ask = format!("systemctl is-enabled {unit} || systemctl is-active {unit} || true");
        let state = machine.run(&ask)?;
        ensure!(state == "disabled\ninactive\n", "{unit} is {state}");
    }
    Ok(format!("{}, not enabled", user.trim()))
}

/// A wrong configuration is reported once, not every five seconds.
fn unconfigured(machine: &Machine) -> Result<String> {
    let started = machine.run("systemctl start rocescope");
    ensure!(started.is_err(), "it starts");
    let (state, restarts) = (
        CAPTURE.property(machine, "SubState")?,
        CAPTURE.property(machine, "NRestarts")?,
    );
    ensure!(
        state == "failed" && restarts == "0",
        "{state} after {restarts} restarts"
    );
    let journal = CAPTURE.journal(machine)?;
    let reason = journal.lines().find(|line| line.contains("no input: set --interface"));
    Ok(reason.context("the journal does not name the cause")?.to_owned())
}

fn plug(machine: &Machine) -> Result<()> {
    let run = |arguments: &[&str]| machine::output(machine.network("ip").args(arguments));
    run(&["link", "add", SENDER, "type", "veth", "peer", "name", RECEIVER])?;
    run(&["link", "set", "dev", "lo", "up"])?;
    for interface in [SENDER, RECEIVER] {
        // Otherwise the kernel itself would send on it.
        let quiet = format!("net.ipv6.conf.{interface}.disable_ipv6=1");
        machine::output(machine.network("sysctl").args(["-qw", &quiet]))?;
        run(&["link", "set", "dev", interface, "mtu", "9000", "up"])?;
    }
    fs::copy(root().join(SCENARIO), machine.path("/root/scenario.toml"))?;
    Ok(())
}

/// Writes the settings of the service.
fn configure(machine: &Machine, more: &str) -> Result<()> {
    let settings = format!(
        "[capture]\ninterface = [\"{RECEIVER}\"]\nmode = \"native\"\nvlan-offload = \"off\"\n\
         metrics = \"{}\"\nout = \"/var/lib/rocescope\"\nconnections = true\nkeep-age = \"7days\"\n{more}",
        metrics::ADDRESS
    );
    fs::write(machine.path(CONFIGURATION), settings)?;
    machine.run("rocescope config check")?;
    Ok(())
}

fn start(machine: &Machine) -> Result<String> {
    configure(machine, "")?;
    let drop_in = "/run/systemd/system/rocescope.service.d";
    machine.run(&format!("mkdir -p {drop_in}"))?;
    fs::write(machine.path(&format!("{drop_in}/impatient.conf")), SHORT_WATCHDOG)?;
    // Returns when the service reports that it is ready, or fails.
    machine.run("systemctl daemon-reload && systemctl enable --quiet --now rocescope")?;
    machine.run("systemctl --quiet is-enabled rocescope && systemctl --quiet is-active rocescope")?;
    ensure!(
        unit::port(machine, RECEIVER)? == (true, true, false),
        "the port is not taken as configured: {:?}",
        unit::port(machine, RECEIVER)?
    );
    let journal = CAPTURE.journal(machine)?;
    let line = journal.lines().rfind(|line| line.starts_with("capturing on"));
    Ok(format!("ready: {}", line.context("the journal does not report it")?))
}

/// The watchdog ends and restarts a service that hangs; in between the port is restored.
fn watchdog(machine: &Machine) -> Result<String> {
    let hung = CAPTURE.property(machine, "MainPID")?;
    machine.run(&format!("kill -STOP {hung}"))?;
    unit::until("a restart", || {
        let back =
            CAPTURE.property(machine, "NRestarts")? == "1" && CAPTURE.property(machine, "SubState")? == "running";
        Ok(back.then_some(()))
    })?;
    ensure!(
        unit::port(machine, RECEIVER)? == (true, true, false),
        "the port was not taken again"
    );
    let now = CAPTURE.property(machine, "MainPID")?;
    ensure!(now != hung, "it is the same process");
    Ok(format!("process {hung} hung, {now} took over"))
}

/// Sends the scenario; returns the number of frames that the kernel accepted.
fn send(machine: &Machine, options: &[&str]) -> Result<u64> {
    let mut generate = machine.command("rocescope");
    generate.args(["generate", "/root/scenario.toml", "--iface", SENDER, "-o", "json"]);
    let sent = machine::output(generate.args(options)).context("the generator")?;
    let sent: serde_json::Value = serde_json::from_str(&sent)?;
    ensure!(sent["accepted"] == sent["offered"], "{sent}");
    sent["accepted"].as_u64().context("frames accepted")
}

/// Applies another filter to the running service.
fn reload(machine: &Machine, sent: &mut u64) -> Result<String> {
    configure(machine, "filter = \"host 192.0.2.1\"\n")?;
    let pid = CAPTURE.property(machine, "MainPID")?;
    machine.run("systemctl reload rocescope")?;
    unit::until("the new configuration", || {
        let journal = CAPTURE.journal(machine)?;
        Ok(journal.contains("configuration reloaded").then_some(()))
    })?;
    let more = send(machine, &["--count", "1000"])?;
    *sent += more;
    metrics::wait(machine, "rocescope_frames_total", *sent)?;
    let filtered = metrics::value(machine, "rocescope_filtered_frames_total")?;
    ensure!(
        filtered > 0 && filtered <= more,
        "{filtered} of {more} frames are filtered"
    );
    ensure!(CAPTURE.property(machine, "MainPID")? == pid, "it was started again");
    Ok(format!("{filtered} of {more} more frames filtered"))
}

fn stop(machine: &Machine, sent: u64) -> Result<String> {
    machine.run("systemctl stop rocescope")?;
    let result = CAPTURE.property(machine, "Result")?;
    ensure!(result == "success", "{result}");
    ensure!(
        unit::port(machine, RECEIVER)? == (false, false, true),
        "something is left on the port: {:?}",
        unit::port(machine, RECEIVER)?
    );
    let identity = metrics::identity(&CAPTURE.journal(machine)?, sent)?;
    let windows = metrics::dataset(machine, sent)?;
    Ok(format!("{identity}; {windows} windows sealed, nothing attached"))
}

fn remove(machine: &Machine, before: &str) -> Result<String> {
    machine.run("systemctl start rocescope")?;
    machine.run("dpkg --remove rocescope")?;
    ensure!(
        unit::port(machine, RECEIVER)? == (false, false, true),
        "it still captures"
    );
    machine.run("test ! -e /usr/bin/rocescope && test -e /etc/rocescope/rocescope.toml")?;
    machine.run("dpkg --purge rocescope && rm -r /run/systemd/system/rocescope.service.d")?;
    machine.run("systemctl daemon-reload")?;
    let names = "find /etc /opt /usr /var -xdev -name '*rocescope*' | sort";
    let after = machine.run(names)?;
    let left: Vec<&str> = after
        .lines()
        .filter(|name| !before.lines().any(|known| known == *name))
        .filter(|name| !name.starts_with("/var/lib/rocescope"))
        .filter(|name| !name.starts_with("/var/lib/private/rocescope"))
        // Files that `man` caches for its own use.
        .filter(|name| !name.starts_with("/var/cache/man/"))
        .collect();
    ensure!(left.is_empty(), "left: {left:?}");
    let kept = machine.run("find /var/lib/rocescope -name '*.parquet' | wc -l")?;
    ensure!(kept.trim() != "0", "the data is gone");
    Ok(format!("stopped, nothing left but {} files of data", kept.trim()))
}
