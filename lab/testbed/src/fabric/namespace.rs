//! Programs in the namespaces of a fabric. One process runs many commands, so a fabric starts in a second or two.

use anyhow::{Context, Result, ensure};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use xtask::process::show;

/// Runs a command to completion with `input`; returns its output. An error names the command and its standard error.
pub(super) fn fed(command: &mut Command, input: &str) -> Result<String> {
    let shown = show(command);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| shown.clone())?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends before it has read everything prints the reason itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{shown}: {}\n{input}", stderr.trim_end());
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command to completion; returns its output.
pub(super) fn output(command: &mut Command) -> Result<String> {
    fed(command, "")
}

/// Runs a batch of `ip` commands in a namespace, or in the caller's.
pub(super) fn ip(namespace: Option<&str>, lines: &[String]) -> Result<String> {
    if lines.is_empty() {
        return Ok(String::new());
    }
    let mut command = Command::new("ip");
    if let Some(namespace) = namespace {
        command.args(["-n", namespace]);
    }
    // The address family of a rule comes from this option, not from its address.
    if lines.iter().any(|line| line.starts_with("rule ") && line.contains(':')) {
        command.arg("-6");
    }
    fed(command.args(["-batch", "-"]), &(lines.join("\n") + "\n"))
}

/// A program in a namespace; `ip` becomes that program, so it has the same process ID.
pub(crate) fn command(namespace: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, program]);
    command
}

/// Runs a closure in a namespace, on a thread that ends with it; its sockets stay in the namespace.
pub(super) fn inside<T: Send + 'static>(namespace: &str, then: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let namespace = File::open(format!("/run/netns/{namespace}"))?;
    let thread = std::thread::spawn(move || {
        let network = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(namespace.as_fd(), network)?;
        anyhow::Ok(then())
    });
    let ended = thread.join();
    ended.map_err(|_| anyhow::anyhow!("a thread in a namespace panicked"))?
}
