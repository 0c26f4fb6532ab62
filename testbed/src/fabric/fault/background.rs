//! Processes that keep a fault going: each ends with the fabric, whatever becomes of who started it.

use anyhow::{Context, Result};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Starts a process, as the head of a group of its own; its number.
pub(super) fn start(command: &mut Command) -> Result<u32> {
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let shown = xtask::process::show(command);
    Ok(command.spawn().context(shown)?.id())
}

/// Ends a process with its group; it may have ended before.
pub(super) fn end(process: u32) {
    let group = format!("-{process}");
    let mut kill = Command::new("kill");
    // Whether there was anything to end is no matter.
    let _ = kill
        .args(["-KILL", "--", &group])
        .stderr(Stdio::null())
        .status();
}
