//! `cargo xtask fuzz`: arbitrary bytes against the decoder, the readers and the run cache.
//!
//! Any toolchain works: without a sanitizer cargo-fuzz needs only stable features, and the targets are safe Rust, in
//! which a wrong index panics.

mod mirrored;
mod seeds;
mod traces;
mod transports;

use crate::process::{command, root, run as run_command};
use crate::product::target;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;

/// The targets of `fuzz/`.
const TARGETS: [&str; 8] = [
    "decode",
    "reader",
    "observe",
    "connections",
    "collective",
    "hostping",
    "texts",
    "trace",
];

/// The targets whose inputs are files, in the format of the file.
const OF_FILES: [&str; 4] = ["collective", "hostping", "texts", "trace"];

/// The inputs with the highest coverage, in a folder for each target. To add some, unpack it, and pack it with
/// `tar --sort=name --owner=0 --group=0 --mtime=@0 --create --gzip --file=../seeds.tar.gz *`.
const SEEDS: &str = "fuzz/seeds.tar.gz";

/// The longest input in bytes: a few frames for targets that accept several.
const LONGEST: u32 = 8_192;

/// Fuzzes each of `targets`, or all by default; they share the time equally. With `--mutated` it damages this number of files of
/// each format instead.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    if let ["--mutated", count, first @ ..] = arguments {
        return mutated(count, first);
    }
    let ["--seconds", seconds, targets @ ..] = arguments else {
        bail!("usage: cargo xtask fuzz --seconds N [TARGET...], or cargo xtask fuzz --mutated COUNT [FIRST]");
    };
    let seconds: u32 = seconds.parse().context("seconds")?;
    let targets = if targets.is_empty() { &TARGETS } else { targets };
    for target in targets {
        ensure!(TARGETS.contains(target), "no such target: {target}");
        fuzz(target, (seconds / targets.len() as u32).max(1))?;
    }
    Ok(())
}

/// Damages `count` files of each format, those from number `first` on, and runs the targets over them.
fn mutated(count: &str, first: &[&str]) -> Result<()> {
    let folder = target()?.join("mutated");
    for target in OF_FILES {
        fill(target, &folder)?;
    }
    let mut program = command("cargo", &["run", "--quiet", "--release", "--bin", "mutate"]);
    program.args(["--manifest-path", "fuzz/Cargo.toml", "--", count]);
    run_command(program.arg(folder).args(first))
}

/// Writes the first inputs of a target to a folder of its name.
fn fill(target: &str, folder: &Path) -> Result<()> {
    let inputs = folder.join(target);
    fs::create_dir_all(&inputs)?;
    for (name, input) in seeds::of(target)? {
        fs::write(inputs.join(name), input)?;
    }
    unpack(target, folder)
}

fn fuzz(target: &str, seconds: u32) -> Result<()> {
    let root = root();
    let folder = root.join("fuzz/corpus");
    fill(target, &folder)?;
    let corpus = folder.join(target);
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

/// Adds the inputs of the archive to a folder. Targets that share their inputs with another have none there.
fn unpack(target: &str, into: &Path) -> Result<()> {
    let list = command("tar", &["--list", "--file", SEEDS]).output().context("tar")?;
    let folder = format!("{target}/");
    if String::from_utf8(list.stdout)?.contains(&folder) {
        let mut unpack = command("tar", &["--extract", "--file", SEEDS, "--directory"]);
        run_command(unpack.arg(into).arg(folder))?;
    }
    Ok(())
}
