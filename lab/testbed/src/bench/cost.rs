//! What a process costs, as the kernel reports it.

use anyhow::{Context, Result, ensure};
use std::fs;
use xtask::process::command;

/// CPU nanoseconds of all threads of a process.
pub(super) fn ran(pid: u32) -> Result<u64> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).context("the agent")?;
    let ran = |task: fs::DirEntry| -> Result<u64> {
        let text = fs::read_to_string(task.path().join("schedstat")).context("the agent")?;
        let first = text.split_whitespace().next().context("schedstat")?;
        first.parse().context("schedstat")
    };
    tasks.map(|task| ran(task?)).sum()
}

/// A line of a process's status, in KiB.
pub(super) fn status(pid: u32, name: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).context("the agent")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.context("status")?.parse().context("status")
}

/// Memory of a process that is its own: changed pages, which the kernel shares with no other, in KiB.
pub(super) fn private_dirty(pid: u32) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).context("the agent")?;
    let line = text.lines().find_map(|line| line.strip_prefix("Private_Dirty:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.context("smaps_rollup")?.parse().context("smaps_rollup")
}

/// Seconds that a program ran, and its peak of resident memory in KiB. It may find faults: that is an exit status of 1.
pub(super) fn timed(program: &str, arguments: &[&str]) -> Result<(f64, f64)> {
    let mut time = command("/usr/bin/time", &["-f", "%e %M", program]);
    let output = time.args(arguments).output().context("/usr/bin/time")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let measured = stderr.lines().next_back().unwrap_or_default();
    let ended = matches!(output.status.code(), Some(0 | 1));
    ensure!(ended, "{program} {}: {stderr}", arguments.join(" "));
    let (seconds, kib) = measured.split_once(' ').with_context(|| stderr.to_string())?;
    Ok((seconds.parse()?, kib.parse()?))
}
