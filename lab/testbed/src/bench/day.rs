//! `cargo xtask bench day [--rounds N] [--json FILE]`: a day at 4 frames a second, in 86,400 windows.

use super::file;
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use xtask::process::{command, run as run_command};
use xtask::product::{build, directory, text};

const SCENARIO: &str = "userspace/generate/scenarios/day.toml";
const WINDOWS: u64 = 86_400;
/// The project's limit for the dataset.
const MAX_BYTES: u64 = 60_000_000;

/// Measures the capture next to tcpdump and tshark, and the dataset.
pub(super) fn run(arguments: &[&str]) -> Result<()> {
    let options = file::options(arguments)?;
    let (rocescope, file) = (text(&build()?), frames()?);
    let dataset = directory()?.join("day-dataset");
    file::measure(&options, &rocescope, &file, &dataset)?;
    let (files, bytes) = below(&dataset)?;
    println!(
        "Dataset: {bytes} bytes in {files} files, {} bytes a window.",
        bytes / WINDOWS
    );
    ensure!(bytes <= MAX_BYTES, "above the limit of {MAX_BYTES} bytes");
    Ok(())
}

/// The file, which is generated once.
fn frames() -> Result<PathBuf> {
    let directory = directory()?;
    let (file, unfinished) = (directory.join("day.pcap"), directory.join("unfinished.pcap"));
    if !file.exists() {
        let write = ["generate", SCENARIO, "--write", &text(&unfinished)];
        run_command(&mut command(&text(&build()?), &write))?;
        fs::rename(unfinished, &file)?;
    }
    Ok(file)
}

/// A dataset of that file, as `capture` writes it by default.
pub(super) fn dataset() -> Result<PathBuf> {
    let (file, dataset) = (frames()?, directory()?.join("day-with-connections"));
    if dataset.exists() {
        fs::remove_dir_all(&dataset)?;
    }
    let mut capture = command(&text(&build()?), &["capture", "-q", "-r", &text(&file), "--out"]);
    run_command(capture.arg(&dataset).stdout(Stdio::null()))?;
    Ok(dataset)
}

/// Files and bytes below a directory.
fn below(directory: &Path) -> Result<(u64, u64)> {
    let mut sum = (0, 0);
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let (files, bytes) = if metadata.is_dir() {
            below(&entry.path())?
        } else {
            (1, metadata.len())
        };
        sum = (sum.0 + files, sum.1 + bytes);
    }
    Ok(sum)
}
