//! A unit, as systemd and the kernel report it.

use super::machine::Machine;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Every step is faster than this, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

const NET_ADMIN: u64 = 1 << 12;
/// `CAP_NET_ADMIN`, `CAP_NET_RAW`, `CAP_PERFMON` and `CAP_BPF`.
const CAPABILITIES: u64 = NET_ADMIN | 1 << 13 | 1 << 38 | 1 << 39;

/// The service that captures.
pub(super) const CAPTURE: Unit = Unit("rocescope");

/// The highest result of `systemd-analyze security`, in tenths.
const EXPOSURE: u32 = 20;

/// A service, by name.
#[derive(Clone, Copy)]
pub(super) struct Unit(pub(super) &'static str);

impl Unit {
    /// A property of the unit.
    pub(super) fn property(self, machine: &Machine, name: &str) -> Result<String> {
        let line = format!("systemctl show --value --property {name} {}", self.0);
        Ok(machine.run(&line)?.trim().to_owned())
    }

    /// Its journal since the boot of the machine.
    pub(super) fn journal(self, machine: &Machine) -> Result<String> {
        let unit = self.0;
        machine.run(&format!("journalctl --quiet --boot --unit {unit} --output cat"))
    }

    /// Checks the unit file and its exposure; returns the exposure.
    pub(super) fn verify(self, machine: &Machine) -> Result<String> {
        let unit = self.0;
        let verified = machine.run(&format!("systemd-analyze verify {unit}.service 2>&1"))?;
        ensure!(verified.is_empty(), "{verified}");
        let judged = machine.run(&format!(
            "systemd-analyze security --no-pager --threshold={EXPOSURE} {unit}.service"
        ))?;
        let overall = judged.lines().find(|line| line.contains("Overall exposure"));
        Ok(overall.context("no overall exposure")?.trim().to_owned())
    }

    /// The status of every thread, from the kernel.
    fn threads(self, machine: &Machine) -> Result<Vec<String>> {
        let group = self.property(machine, "ControlGroup")?;
        let statuses = machine.run(&format!(
            "for process in $(cat /sys/fs/cgroup{group}/cgroup.procs); do \
             cat /proc/$process/task/*/status; done"
        ))?;
        let threads = statuses.split("Name:").skip(1).map(str::to_owned);
        let threads: Vec<String> = threads.collect();
        ensure!(!threads.is_empty(), "no threads");
        Ok(threads)
    }

    /// Checks that the unit runs, is not root, and that no thread has a privilege.
    pub(super) fn is_powerless(self, machine: &Machine) -> Result<String> {
        let state = self.property(machine, "SubState")?;
        ensure!(state == "running", "the unit is {state}");
        let threads = self.threads(machine)?;
        for thread in &threads {
            let user = field(thread, "Uid:")?.split_whitespace().next();
            ensure!(user != Some("0"), "{thread}");
            for set in ["CapInh:", "CapAmb:", "CapPrm:", "CapEff:"] {
                let held = u64::from_str_radix(field(thread, set)?, 16)?;
                ensure!(held == 0, "{set} {held:#x} in {thread}");
            }
            is_filtered(thread)?;
        }
        let exposure = self.verify(machine)?;
        Ok(format!(
            "ready, {} threads without a capability; {exposure}",
            threads.len()
        ))
    }
}

/// A field of a thread's status.
fn field<'a>(thread: &'a str, name: &str) -> Result<&'a str> {
    let line = thread.lines().find_map(|line| line.strip_prefix(name));
    let value = line.map(str::trim);
    value.with_context(|| format!("{name} {thread}"))
}

/// Checks that the thread gains no privileges, and that its system calls are filtered.
fn is_filtered(thread: &str) -> Result<()> {
    ensure!(
        field(thread, "NoNewPrivs:")? == "1" && field(thread, "Seccomp:")? == "2",
        "{thread}"
    );
    Ok(())
}

/// Asks until there is an answer.
pub(super) fn until<T>(what: &str, mut ask: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        ensure!(begun.elapsed() < TIMEOUT, "{what}: not within {TIMEOUT:?}");
        sleep(Duration::from_millis(50));
    }
}

/// Checks that the service is active and ready, and that no thread has more privileges than required: none for the
/// capture, and only the required ones for the process that restores the VLAN offload, if it exists.
pub(super) fn confined(machine: &Machine) -> Result<String> {
    let state = CAPTURE.property(machine, "SubState")?;
    ensure!(state == "running", "the unit is {state}");
    // systemd records the time of the last watchdog notification: the first follows READY.
    until("a watchdog notification", || {
        let notified = CAPTURE.property(machine, "WatchdogTimestampMonotonic")?;
        Ok((notified != "0").then_some(()))
    })?;
    let pid = CAPTURE.property(machine, "MainPID")?;
    let user = machine.run("id -u rocescope")?.trim().to_owned();
    let threads = CAPTURE.threads(machine)?;
    for thread in &threads {
        let field = |name: &str| field(thread, name);
        let users: BTreeSet<&str> = field("Uid:")?.split_whitespace().collect();
        ensure!(
            users == BTreeSet::from([user.as_str()]),
            "runs as {users:?}, not as {user}"
        );
        let bounding = u64::from_str_radix(field("CapBnd:")?, 16)?;
        ensure!(bounding == CAPABILITIES, "CapBnd {bounding:#x}");
        // The other process holds the port's previous settings.
        let kept = if field("Tgid:")? == pid { 0 } else { NET_ADMIN };
        for (set, allowed) in [("CapInh:", 0), ("CapAmb:", 0), ("CapPrm:", kept), ("CapEff:", kept)] {
            let held = u64::from_str_radix(field(set)?, 16)?;
            ensure!(held == allowed, "{set} {held:#x} in {thread}");
        }
        is_filtered(thread)?;
    }
    Ok(format!(
        "process {pid} of user {user} has no capability left; {} threads with those of its helper",
        threads.len()
    ))
}

/// Whether the interface has an XDP program, is promiscuous, and leaves VLAN tags to its driver.
pub(super) fn port(machine: &Machine, interface: &str) -> Result<(bool, bool, bool)> {
    let mut ip = machine.network("ip");
    let links = super::machine::output(ip.args(["-json", "-details", "link", "show", interface]))?;
    let links: serde_json::Value = serde_json::from_str(&links).context("ip link")?;
    let promiscuity = links[0]["promiscuity"].as_u64().context("promiscuity")?;
    let mut ethtool = machine.network("ethtool");
    let features = super::machine::output(ethtool.args(["-k", interface]))?;
    let offloads = features.contains("rx-vlan-offload: on");
    Ok((!links[0]["xdp"].is_null(), promiscuity > 0, offloads))
}
