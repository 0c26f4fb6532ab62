//! `cargo xtask fuzz`: arbitrary bytes against the decoder, the readers and the run cache.
//!
//! Any toolchain works: without a sanitizer cargo-fuzz needs only stable features, and the targets are safe Rust, in
//! which a wrong index panics.

mod mirrored;
mod seeds;
mod transports;

use crate::process::{command, root, run as run_command};
use anyhow::{Context, Result, bail, ensure};
use std::fs;

/// The targets of `fuzz/`.
const TARGETS: [&str; 7] = [
    "decode",
    "reader",
    "observe",
    "connections",
    "collective",
    "hostping",
    "texts",
];

/// The inputs with the highest coverage, in a folder for each target. To add some, unpack it, and pack it with
/// `tar --sort=name --owner=0 --group=0 --mtime=@0 --create --gzip --file=../seeds.tar.gz *`.
const SEEDS: &str = "fuzz/seeds.tar.gz";

/// The longest input in bytes: a few frames for targets that accept several.
const LONGEST: u32 = 8_192;

/// Fuzzes each of `targets`, or all by default; they share the time equally.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let ["--seconds", seconds, targets @ ..] = arguments else {
        bail!("usage: cargo xtask fuzz --seconds N [TARGET...]");
    };
    let seconds: u32 = seconds.parse().context("seconds")?;
    let targets = if targets.is_empty() { &TARGETS } else { targets };
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
    unpack(target)?;
    let regressions = format!("fuzz/regressions/{target}");
    let mut fuzzer = command("cargo", &["fuzz", "run", "--sanitizer", "none", target]);
    fuzzer.arg(corpus);
    if root.join(&regressions).is_dir() {
        fuzzer.arg(regressions);
    }
    fuzzer.args([
        "--",
        "-print_final_stats=1",
        // More than a few seconds for a few kilobytes is a hang.
        "-timeout=5",
        "-rss_limit_mb=1024",
        &format!("-max_len={LONGEST}"),
        &format!("-max_total_time={seconds}"),
    ]);
    run_command(&mut fuzzer)
}

/// Adds the inputs of the archive to the corpus. Targets that share their inputs with another have none there.
fn unpack(target: &str) -> Result<()> {
    let list = command("tar", &["--list", "--file", SEEDS]).output().context("tar")?;
    let folder = format!("{target}/");
    if String::from_utf8(list.stdout)?.contains(&folder) {
        let corpus = ["--extract", "--directory", "fuzz/corpus", "--file", SEEDS, &folder];
        run_command(&mut command("tar", &corpus))?;
    }
    Ok(())
}
