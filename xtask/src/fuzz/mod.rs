//! `cargo xtask fuzz`: arbitrary bytes against the decoder, the readers and the run cache.
//!
//! Any toolchain will do: without a sanitizer cargo-fuzz needs nothing that is not stable, and
//! what it drives is safe Rust, in which a wrong index is a panic.

mod mirrored;
mod seeds;

use crate::process::{command, root, run as run_command};
use anyhow::{Context, Result, bail, ensure};
use std::fs;

/// The targets of `fuzz/`.
const TARGETS: [&str; 3] = ["decode", "reader", "observe"];

/// Longest input, bytes: a few frames for the targets that take several.
const LONGEST: u32 = 8_192;

/// Fuzzes each of `targets`, all where none is named, sharing the time equally.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let ["--seconds", seconds, targets @ ..] = arguments else {
        bail!("how long? cargo xtask fuzz --seconds N [TARGET...]");
    };
    let seconds: u32 = seconds.parse().context("seconds")?;
    let targets = if targets.is_empty() {
        &TARGETS
    } else {
        targets
    };
    for target in targets {
        ensure!(TARGETS.contains(target), "no such target: {target}");
        fuzz(target, (seconds / targets.len() as u32).max(1))?;
    }
    Ok(())
}

fn fuzz(target: &str, seconds: u32) -> Result<()> {
    let root = root();
    let corpus = root.join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus)?;
    for (name, input) in seeds::of(target)? {
        fs::write(corpus.join(name), input)?;
    }
    let kept = ["seeds", "regressions"].map(|kind| format!("fuzz/{kind}/{target}"));
    let mut fuzzer = command("cargo", &["fuzz", "run", "--sanitizer", "none", target]);
    fuzzer.arg(corpus);
    fuzzer.args(kept.iter().filter(|kept| root.join(kept).is_dir()));
    fuzzer.args([
        "--",
        "-print_final_stats=1",
        // Seconds for a few kilobytes are a hang.
        "-timeout=5",
        "-rss_limit_mb=1024",
        &format!("-max_len={LONGEST}"),
        &format!("-max_total_time={seconds}"),
    ]);
    run_command(&mut fuzzer)
}
