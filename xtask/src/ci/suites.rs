//! The tests, and the summaries of their runners.

use crate::process::{command, show};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// The tests of the feature, against a test double of libibverbs.
const VERBS: &str = "cargo test -p rocescope-probe --features verbs --no-fail-fast --lib --test verbs";

/// Runs all tests, with cargo-nextest if it is installed; appends the summaries to `lines`.
pub(super) fn run(lines: &mut Vec<String>) -> Result<()> {
    let nextest = command("cargo", &["nextest", "--version"]).output();
    let suites: &[&str] = if nextest.is_ok_and(|output| output.status.success()) {
        &[
            "cargo nextest run --workspace --no-fail-fast",
            "cargo test --workspace --doc --no-fail-fast",
        ]
    } else {
        &["cargo test --workspace --no-fail-fast"]
    };
    let mut failed = Vec::new();
    for run in suites.iter().chain(&[VERBS]) {
        // Runners print summaries on either stream.
        let line = format!("{run} 2>&1");
        if !follow(&mut command("bash", &["-c", &line]), lines)? {
            failed.push(*run);
        }
    }
    if !failed.is_empty() {
        bail!("{}", failed.join(", "));
    }
    Ok(())
}

/// Runs a command, prints its output, and keeps its summary lines. Returns whether it succeeded.
fn follow(command: &mut Command, lines: &mut Vec<String>) -> Result<bool> {
    let shown = show(command);
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| shown.clone())?;
    let stdout = child.stdout.take().context("its output")?;
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        println!("{line}");
        if is_summary(&line) {
            lines.push(line);
        }
    }
    Ok(child.wait()?.success())
}

fn is_summary(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("test result:") || line.starts_with("Summary [")
}

#[cfg(test)]
mod tests {
    use super::is_summary;

    #[test]
    fn summaries_of_both_runners_are_recognised() {
        assert!(is_summary("test result: ok. 7 passed; 0 failed"));
        assert!(is_summary("     Summary [   0.1s] 7 tests run: 7 passed"));
        assert!(!is_summary("test a ... ok"));
    }
}
