//! A host with a busy CPU: everything in its namespace shares a tenth of a core with a busy loop.
//!
//! A program that uses a whole core would slow every host of the fabric, because they share the machine. So the host is
//! a control group with a bandwidth limit, and the busy loop is in it: when both have used their share of a period,
//! they wait for the next.

use super::background::start;
use crate::fabric::namespace::{command, output};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const GROUPS: &str = "/sys/fs/cgroup/cpu";
/// The host's share of one core, in percent.
const SHARE: u32 = 10;

fn group(namespace: &str) -> PathBuf {
    Path::new(GROUPS).join(namespace)
}

/// Adds a busy loop to a namespace, which uses up each `period`; returns its process ID.
pub(super) fn slow(namespace: &str, period: Duration) -> Result<u32> {
    let group = group(namespace);
    let quota = Path::new(GROUPS).join("cpu.shares");
    ensure!(quota.exists(), "a slow host requires the cpu controller at {GROUPS}");
    fs::create_dir_all(&group).with_context(|| group.display().to_string())?;
    let set = |file: &str, value: u128| fs::write(group.join(file), value.to_string());
    // The kernel accepts periods from a millisecond to a second, and shares of a millisecond or more.
    let period = period.clamp(Duration::from_millis(10), Duration::from_secs(1));
    set("cpu.cfs_period_us", period.as_micros())?;
    set("cpu.cfs_quota_us", (period / SHARE).as_micros())?;
    let mut hog = command(namespace, "sh");
    // One on each core: the rest of a period belongs to its core.
    let cores = std::thread::available_parallelism()?.get();
    let lives = format!("while [ -e /run/netns/{namespace} ]; do :; done");
    let hogs: Vec<String> = (0..cores)
        .map(|core| format!("taskset -c {core} sh -c '{lives}' &"))
        .collect();
    let hog = start(hog.args(["-c", &(hogs.join(" ") + " wait")]))?;
    // `ip` enters the namespace a moment later, and its child stays in the group.
    fs::write(group.join("cgroup.procs"), hog.to_string())?;
    move_all(namespace, &group)?;
    Ok(hog)
}

/// Takes a program that starts later under the limit of its namespace, if that has one.
pub(super) fn join(namespace: &str, process: u32) -> Result<()> {
    let group = group(namespace);
    if group.exists() {
        fs::write(group.join("cgroup.procs"), process.to_string())?;
    }
    Ok(())
}

/// Removes the limit from the programs of a namespace.
pub(super) fn quick(namespace: &str) -> Result<()> {
    let group = group(namespace);
    for process in fs::read_to_string(group.join("cgroup.procs"))?.lines() {
        // It may have ended meanwhile.
        let _ = fs::write(Path::new(GROUPS).join("cgroup.procs"), process);
    }
    // A killed process may take a moment to leave.
    for _ in 0..200 {
        if fs::remove_dir(&group).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    fs::remove_dir(&group).with_context(|| group.display().to_string())
}

fn move_all(namespace: &str, group: &Path) -> Result<()> {
    let processes = output(Command::new("ip").args(["netns", "pids", namespace]))?;
    for process in processes.lines() {
        let _ = fs::write(group.join("cgroup.procs"), process);
    }
    Ok(())
}
