//! `cargo xtask bench memory`: the peak memory of a capture of many flows.

use anyhow::{Context, Result, ensure};
use std::fs;
use xtask::process::{command, run as run_command, show};
use xtask::product::{build, directory, text};

const SCENARIO: &str = "userspace/generate/scenarios/many-flows.toml";
/// The project's limit.
const MAX_KIB: u64 = 64 * 1024;

/// Generates ten million frames of 100,000 flows, captures them, prints the peak.
pub(super) fn run() -> Result<()> {
    let (rocescope, directory) = (text(&build()?), directory()?);
    let (file, out) = (directory.join("many-flows.pcap"), directory.join("many-flows"));
    let unfinished = directory.join("unfinished.pcap");
    if !file.exists() {
        let write = ["generate", SCENARIO, "--write", &text(&unfinished)];
        run_command(&mut command(&rocescope, &write))?;
        fs::rename(unfinished, &file)?;
    }
    let mut measured = command(
        "/usr/bin/time",
        &["-f", "%M", &rocescope, "capture", "--no-connections", "-q"],
    );
    measured.args(["-o", "json", "-r", &text(&file), "--out", &text(&out)]);
    let shown = show(&measured);
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let output = measured.output().context(shown.clone())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{shown}: {stderr}");
    let peak_kib: u64 = stderr.trim().parse().context("the peak")?;
    let json = String::from_utf8_lossy(&output.stdout);
    // Keys of the object itself: nested keys are indented further.
    let counts = ["  \"frames\"", "  \"flows\"", "  \"exact\""];
    let counted = |line: &&str| counts.iter().any(|key| line.starts_with(key));
    json.lines().filter(counted).for_each(|line| println!("{line}"));
    println!("{shown}\npeak resident memory: {peak_kib} KiB of {MAX_KIB} KiB");
    fs::remove_dir_all(&out)?;
    ensure!(peak_kib < MAX_KIB, "above the limit");
    Ok(())
}
