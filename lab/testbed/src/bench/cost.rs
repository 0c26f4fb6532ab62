//! What a process costs, as the kernel reports it.

use anyhow::{Context, Result};
use std::fs;

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
