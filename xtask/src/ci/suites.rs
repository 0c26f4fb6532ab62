//! The tests, and the summaries of their runners.

use crate::process::{command, run as run_command, show};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Tests that `cargo test` and the gate leave out, as their `#[ignore]` states: seconds on two processors, and the name.
const SLOW: [(u32, &str); 8] = [
    (75, "live::full_disk::a_disk_full_for_65_seconds_costs_named_windows"),
    (43, "live::counters::generic"),
    (36, "live::reordered::generic"),
    (
        38,
        "paths::namespaces::advice::advice_makes_the_links_of_real_packets_even",
    ),
    (
        49,
        "paths::namespaces::packets::every_path_is_that_of_real_packets_and_a_dead_link_is_reported",
    ),
    (
        55,
        "product::beside::readers_beside_a_writer_and_after_its_kill_never_contradict_themselves",
    ),
    (26, "product::killed_tools::a_killed_merge_leaves_whole_windows_once"),
    (
        98,
        "quiet_traffic::a_nearly_empty_window_costs_bytes_and_no_segment_of_its_own",
    ),
];

/// Runs all tests, with cargo-nextest if it is installed; appends the summaries to `lines`.
pub(super) fn run(lines: &mut Vec<String>) -> Result<()> {
    let suites: &[&str] = if has_nextest() {
        &[
            "cargo nextest run --workspace --no-fail-fast",
            "cargo test --workspace --doc --no-fail-fast",
        ]
    } else {
        &["cargo test --workspace --no-fail-fast"]
    };
    let mut failed = Vec::new();
    for run in suites {
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

/// Runs the tests that the gate leaves out.
pub(super) fn slow() -> Result<()> {
    let names: Vec<&str> = SLOW.iter().map(|(_, name)| *name).collect();
    println!(
        "{} tests, {} s",
        SLOW.len(),
        SLOW.iter().map(|(seconds, _)| seconds).sum::<u32>()
    );
    if has_nextest() {
        let filter = format!("test(/{}/)", names.join("|"));
        let options = ["nextest", "run", "--workspace", "--run-ignored", "only", "-E", &filter];
        return run_command(&mut command("cargo", &options));
    }
    let test = ["test", "--workspace", "--", "--ignored", "--exact"];
    run_command(command("cargo", &test).args(names))
}

fn has_nextest() -> bool {
    let nextest = command("cargo", &["nextest", "--version"]).output();
    nextest.is_ok_and(|output| output.status.success())
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
