//! `cargo xtask service`: the package on a machine of its own, from `dpkg -i` to `dpkg --purge`.
//!
//! systemd is booted over this system ([`machine`]), with a veth pair; the service captures on one end
//! what the product's generator sends on the other. A line a step; the first that goes wrong is an error.
//!
//! | module | what it holds |
//! |---|---|
//! | [`machine`] | a machine for one use |
//! | [`mod@unit`] | the service, as systemd and the kernel see it |
//! | [`figures`] | the endpoint, and what the journal and the dataset say of the same frames |
//! | [`mesh`] | a collector and an agent, with certificates made on the spot |
//! | [`prometheus`] | a Prometheus of Debian that reads the endpoint |
//! | [`debian`] | a clean Debian, and the commands of the README |

mod debian;
mod figures;
mod machine;
mod mesh;
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

/// The end that frames are put onto, and the end that is captured on.
const SENDER: &str = "eth3";
const RECEIVER: &str = "eth2";
const SCENARIO: &str = "userspace/generate/scenarios/demo.toml";
const CONFIGURATION: &str = "/etc/rocescope/rocescope.toml";
/// The watchdog of the unit waits half a minute; nothing else is changed.
const IMPATIENT: &str = "[Service]\nWatchdogSec=3s\nRestartSec=100ms\n";

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
        // What went wrong is mostly there.
        eprintln!(
            "{}",
            machine.run("journalctl --quiet --boot --no-pager --lines 50")?
        );
    }
    result
}

/// What Debian's own checker says of the package.
fn lintian(package: &Path) -> Result<String> {
    // It would rather not run as root, and says so on every call.
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
        let counted = figures::wait(machine, "rocescope_frames_total", sent)?;
        Ok(format!("{sent} frames sent, {counted} counted"))
    })?;
    step("Prometheus reads", || prometheus.reads(sent))?;
    step("reload", || reload(machine, &mut sent))?;
    step("stop", || stop(machine, sent))?;
    mesh::life(machine)?;
    step("remove", || remove(machine, &before))
}

/// Does a step, and says what it showed and how long it took.
fn step(name: &str, work: impl FnOnce() -> Result<String>) -> Result<()> {
    let begun = Instant::now();
    let shown = work().with_context(|| format!("service: {name}"))?;
    println!("{:>5.1} s  {name}: {shown}", begun.elapsed().as_secs_f64());
    Ok(())
}

fn install(machine: &Machine, package: &Path) -> Result<String> {
    fs::copy(package, machine.path("/root/rocescope.deb"))?;
    // The index of all man pages of this system is no part of the test, and takes seconds.
    machine.run("rm -f /var/lib/man-db/auto-update")?;
    machine.run("dpkg --install /root/rocescope.deb")?;
    let user = machine.run("id rocescope")?;
    // Nobody has said yet where to capture.
    for unit in ["rocescope", "rocescope-collect", "rocescope-probe"] {
        let ask = format!("systemctl is-enabled {unit} || systemctl is-active {unit} || true");
        let state = machine.run(&ask)?;
        ensure!(state == "disabled\ninactive\n", "{unit} is {state}");
    }
    Ok(format!("{}, not enabled", user.trim()))
}

/// Misuse is said once, not every five seconds.
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
    let said = CAPTURE.journal(machine)?;
    let said = said
        .lines()
        .find(|line| line.contains("nothing to capture from"));
    Ok(said.context("the journal does not say why")?.to_owned())
}

fn plug(machine: &Machine) -> Result<()> {
    let run = |arguments: &[&str]| machine::output(machine.network("ip").args(arguments));
    run(&[
        "link", "add", SENDER, "type", "veth", "peer", "name", RECEIVER,
    ])?;
    run(&["link", "set", "dev", "lo", "up"])?;
    for interface in [SENDER, RECEIVER] {
        // The kernel itself would send over it else.
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
         metrics = \"{}\"\nout = \"/var/lib/rocescope\"\nkeep-age = \"7days\"\n{more}",
        figures::ADDRESS
    );
    fs::write(machine.path(CONFIGURATION), settings)?;
    machine.run("rocescope config check")?;
    Ok(())
}

fn start(machine: &Machine) -> Result<String> {
    configure(machine, "")?;
    let drop_in = "/run/systemd/system/rocescope.service.d";
    machine.run(&format!("mkdir -p {drop_in}"))?;
    fs::write(
        machine.path(&format!("{drop_in}/impatient.conf")),
        IMPATIENT,
    )?;
    // It returns when the service has said that it is ready, or fails.
    machine.run("systemctl daemon-reload && systemctl enable --quiet --now rocescope")?;
    machine
        .run("systemctl --quiet is-enabled rocescope && systemctl --quiet is-active rocescope")?;
    ensure!(
        unit::port(machine, RECEIVER)? == (true, true, false),
        "the port is not taken as configured: {:?}",
        unit::port(machine, RECEIVER)?
    );
    let journal = CAPTURE.journal(machine)?;
    let line = journal
        .lines()
        .rfind(|line| line.starts_with("capturing on"));
    Ok(format!(
        "ready: {}",
        line.context("the journal does not say so")?
    ))
}

/// A service that hangs is ended and comes back; what it held goes back in between.
fn watchdog(machine: &Machine) -> Result<String> {
    let hung = CAPTURE.property(machine, "MainPID")?;
    machine.run(&format!("kill -STOP {hung}"))?;
    unit::until("a restart", || {
        let back = CAPTURE.property(machine, "NRestarts")? == "1"
            && CAPTURE.property(machine, "SubState")? == "running";
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

/// Sends what the scenario says; how many frames the kernel took.
fn send(machine: &Machine, options: &[&str]) -> Result<u64> {
    let mut generate = machine.command("rocescope");
    generate.args([
        "generate",
        "/root/scenario.toml",
        "--iface",
        SENDER,
        "-o",
        "json",
    ]);
    let sent = machine::output(generate.args(options)).context("the generator")?;
    let sent: serde_json::Value = serde_json::from_str(&sent)?;
    ensure!(sent["accepted"] == sent["offered"], "{sent}");
    sent["accepted"].as_u64().context("frames accepted")
}

/// Another filter, while it runs.
fn reload(machine: &Machine, sent: &mut u64) -> Result<String> {
    configure(machine, "filter = \"host 192.0.2.1\"\n")?;
    let pid = CAPTURE.property(machine, "MainPID")?;
    machine.run("systemctl reload rocescope")?;
    unit::until("the new configuration", || {
        let journal = CAPTURE.journal(machine)?;
        Ok(journal
            .contains("configuration reloaded")
            .then_some(()))
    })?;
    let more = send(machine, &["--count", "1000"])?;
    *sent += more;
    figures::wait(machine, "rocescope_frames_total", *sent)?;
    let filtered = figures::value(machine, "rocescope_filtered_frames_total")?;
    ensure!(
        filtered > 0 && filtered <= more,
        "{filtered} of {more} frames are filtered"
    );
    ensure!(
        CAPTURE.property(machine, "MainPID")? == pid,
        "it was started again"
    );
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
    let identity = figures::identity(&CAPTURE.journal(machine)?, sent)?;
    let windows = figures::dataset(machine, sent)?;
    Ok(format!(
        "{identity}; {windows} windows sealed, nothing attached"
    ))
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
        // What `man` has shown once it keeps for itself.
        .filter(|name| !name.starts_with("/var/cache/man/"))
        .collect();
    ensure!(left.is_empty(), "left: {left:?}");
    let kept = machine.run("find /var/lib/rocescope -name '*.parquet' | wc -l")?;
    ensure!(kept.trim() != "0", "the data is gone");
    Ok(format!(
        "stopped, nothing left but {} files of data",
        kept.trim()
    ))
}
