//! Runs other programs in the root of the workspace.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// A program that runs in the root of the workspace.
pub fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Runs to completion; a failure is an error that names the command.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status = command.status().with_context(|| shown.clone())?;
    ensure!(status.success(), "{shown}: {status}");
    Ok(())
}

/// The command as typed in a shell.
pub fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// The output of `cargo metadata` for the workspace.
///
/// # Errors
///
/// It fails, for example because the lock file is out of date.
pub fn metadata(options: &[&str]) -> Result<Value> {
    let mut cargo = command("cargo", &["metadata", "--quiet", "--format-version", "1"]);
    let output = cargo.args(options).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{}: {}", show(&cargo), output.status);
    Ok(serde_json::from_slice(&output.stdout)?)
}
