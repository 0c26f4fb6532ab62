//! The unit, as systemd and the kernel see it.

use super::machine::Machine;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Nothing here takes longer, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(30);

const NET_ADMIN: u64 = 1 << 12;
/// `CAP_NET_ADMIN`, `CAP_NET_RAW` and `CAP_BPF`.
const CAPABILITIES: u64 = NET_ADMIN | 1 << 13 | 1 << 39;

/// A property of the unit.
pub(super) fn property(machine: &Machine, name: &str) -> Result<String> {
    let value = machine.run(&format!(
        "systemctl show --value --property {name} rocescope"
    ))?;
    Ok(value.trim().to_owned())
}

/// What the unit has said since the machine came up.
pub(super) fn journal(machine: &Machine) -> Result<String> {
    machine.run("journalctl --quiet --boot --unit rocescope --output cat")
}

/// Asks until there is an answer.
pub(super) fn until<T>(what: &str, mut ask: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        ensure!(
            begun.elapsed() < PATIENCE,
            "{what}: not within {PATIENCE:?}"
        );
        sleep(Duration::from_millis(50));
    }
}

/// The service is active, has said that it is ready, and no thread of it can do more than it should: the
/// capture nothing, the process that restores the VLAN offload, where there is one, just that.
pub(super) fn confined(machine: &Machine) -> Result<String> {
    let state = property(machine, "SubState")?;
    ensure!(state == "running", "the unit is {state}");
    // systemd notes when it heard of life for the last time: the first time is right behind READY.
    until("a sign of life", || {
        let told = property(machine, "WatchdogTimestampMonotonic")?;
        Ok((told != "0").then_some(()))
    })?;
    let pid = property(machine, "MainPID")?;
    let user = machine.run("id -u rocescope")?.trim().to_owned();
    let group = property(machine, "ControlGroup")?;
    let statuses = machine.run(&format!(
        "for process in $(cat /sys/fs/cgroup{group}/cgroup.procs); do \
         cat /proc/$process/task/*/status; done"
    ))?;
    let threads: Vec<&str> = statuses.split("Name:").skip(1).collect();
    ensure!(!threads.is_empty(), "no threads");
    for thread in &threads {
        let field = |name: &str| {
            let line = thread.lines().find_map(|line| line.strip_prefix(name));
            line.map(str::trim)
                .with_context(|| format!("{name} {thread}"))
        };
        let users: BTreeSet<&str> = field("Uid:")?.split_whitespace().collect();
        ensure!(
            users == BTreeSet::from([user.as_str()]),
            "runs as {users:?}, not as {user}"
        );
        let bounding = u64::from_str_radix(field("CapBnd:")?, 16)?;
        ensure!(bounding == CAPABILITIES, "CapBnd {bounding:#x}");
        // The other process has the port as it was before in its hands.
        let kept = if field("Tgid:")? == pid { 0 } else { NET_ADMIN };
        for (set, most) in [
            ("CapInh:", 0),
            ("CapAmb:", 0),
            ("CapPrm:", kept),
            ("CapEff:", kept),
        ] {
            let held = u64::from_str_radix(field(set)?, 16)?;
            ensure!(held == most, "{set} {held:#x} in {thread}");
        }
        ensure!(
            field("NoNewPrivs:")? == "1" && field("Seccomp:")? == "2",
            "{thread}"
        );
    }
    Ok(format!(
        "process {pid} of user {user} has no capability left; {} threads with those of its helper",
        threads.len()
    ))
}

/// Whether the interface has an XDP program, takes frames for anybody, and leaves VLAN tags to its driver.
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
