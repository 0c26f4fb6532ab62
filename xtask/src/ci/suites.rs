//! The tests, and their runners' own summaries.

use crate::process::{command, show};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// What only the feature has, against a double of libibverbs.
const VERBS: &str =
    "cargo test -p rocescope-probe --features verbs --no-fail-fast --lib --test verbs";

/// Runs all tests, with cargo-nextest where it is installed; the lines that sum up go to `lines`.
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
        // Runners sum up on either stream.
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

/// Runs a command, prints what it prints, and keeps the lines that sum up; whether all went well.
fn follow(command: &mut Command, lines: &mut Vec<String>) -> Result<bool> {
    let shown = show(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| shown.clone())?;
    let stdout = child.stdout.take().context("its output")?;
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        println!("{line}");
        if sums_up(&line) {
            lines.push(line);
        }
    }
    Ok(child.wait()?.success())
}

fn sums_up(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("test result:") || line.starts_with("Summary [")
}

#[cfg(test)]
mod tests {
    use super::sums_up;

    #[test]
    fn the_lines_of_both_runners_are_known() {
        assert!(sums_up("test result: ok. 7 passed; 0 failed"));
        assert!(sums_up("     Summary [   0.1s] 7 tests run: 7 passed"));
        assert!(!sums_up("test a ... ok"));
    }
}
