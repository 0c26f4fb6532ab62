//! Processes that keep a fault active: each ends with the fabric, even if its parent has ended.

use anyhow::{Context, Result};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Starts a process as the leader of its own group; returns its ID.
pub(super) fn start(command: &mut Command) -> Result<u32> {
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let shown = xtask::process::show(command);
    Ok(command.spawn().context(shown)?.id())
}

/// Ends a process and its group; it may have ended before.
pub(super) fn end(process: u32) {
    let group = format!("-{process}");
    let mut kill = Command::new("kill");
    // Ignore the result: the group may be gone.
    let _ = kill.args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
}
