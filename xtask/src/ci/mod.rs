//! `cargo xtask ci [--full | STEP…]`: the checks of a change. `.ci/run` installs their tools.
//!
//! Every change must pass `GATE`. `--full` adds `SLOW`: steps that take minutes and rarely break. Run them by hand
//! before a release, and after changes to the code that they check. Names of steps run these alone, `tests` included.
//!
//! Compiling takes most of the time, so every dependency is built only three times. Lints and documentation check the
//! workspace with all features. Tests and testbed tasks use one debug build of `--workspace`: fewer packages would give
//! dependencies other features and compile them again. README commands, package and service use the release build.
//!
//! A failed step does not stop the others: the end of the log lists all failures. The tests run last, so that their
//! summary ends the log.

mod fleet;
mod hygiene;
mod readme;
mod suites;

use crate::process::{command, root, run as run_command};
use crate::{ebpf, fuzz, graph, testbed, words};
use anyhow::{Context, Result, bail};
use std::fs;
use std::time::{Duration, Instant};

/// Seconds of fuzzing, all targets together.
const FUZZING: &str = "60";

/// Each kind of faults of the fabric once, five minutes. With times divided by 20, a shared machine would stop agents for
/// longer than congestion delays probes.
const FAULTS: [&str; 4] = ["fabric", "accuracy", "--scale", "10"];

/// What captures can do with each kernel that the README promises: that of this Debian, and newer ones.
const KERNELS: [&str; 8] = [
    "softroce",
    "--kernel",
    "linux-image-amd64",
    "--kernel",
    "linux-image-amd64/bookworm-backports",
    "--kernel",
    "linux-image-amd64/trixie-backports",
    "doctor",
];

/// The features of the benchmarks, and the one that requires cmake and libclang.
const FEATURES: [&str; 3] = ["--workspace", "--features", "rocescope/per-packet,rocescope/verbs"];

/// A step by name.
type Step = (&'static str, fn() -> Result<()>);

/// The last step: the summary of the test runners ends the log.
const TESTS: &str = "tests";

/// The steps that every change must pass, before the tests.
const GATE: &[Step] = &[
    ("format", format),
    ("words", words::run),
    ("lints", lints),
    ("oldest Rust", oldest_rust),
    ("spelling", hygiene::spelling),
    ("dependencies", hygiene::dependencies),
    ("documentation", documentation),
    ("graph", graph::run),
    ("XDP object", || ebpf::run(&["--check"])),
    ("picture", || testbed::run(&["picture", "--check"])),
    ("README commands", readme::run),
    ("examples", hygiene::examples),
    ("service", || testbed::run(&["service"])),
    ("queries", queries),
];

/// The steps that `--full` adds.
const SLOW: &[Step] = &[
    ("faults named", || testbed::run(&FAULTS)),
    ("Spark", spark),
    ("fleet", fleet::run),
    ("fleet programs", hygiene::fleet),
    ("fuzzing", || fuzz::run(&["--seconds", FUZZING])),
    ("full disk", full_disk),
    ("exhaustive", exhaustive),
    ("soft-RoCE", || testbed::run(&["softroce"])),
    ("kernels", || testbed::run(&KERNELS)),
];

/// Which steps to run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice<'a> {
    /// Every change must pass these.
    Gate,
    /// The slow ones too.
    Full,
    /// These alone, by name.
    Named(&'a [&'a str]),
}

impl Choice<'_> {
    fn includes(self, name: &str, is_slow: bool) -> bool {
        match self {
            Self::Gate => !is_slow,
            Self::Full => true,
            Self::Named(names) => names.contains(&name),
        }
    }
}

/// Runs the chosen steps, then the tests.
pub(crate) fn run(choice: Choice<'_>) -> Result<()> {
    check_names(choice)?;
    let begun = Instant::now();
    let mut ended = Vec::new();
    let mut failed = Vec::new();
    let gate = GATE.iter().map(|step| (step, false));
    let steps = gate.chain(SLOW.iter().map(|step| (step, true)));
    for ((name, step), _) in steps.filter(|((name, _), is_slow)| choice.includes(name, *is_slow)) {
        let (took, result) = timed(name, step);
        ended.push((*name, took, result.is_ok()));
        if let Err(error) = result {
            eprintln!("{name}: {error:#}");
            failed.push(*name);
        }
    }
    let mut lines = Vec::new();
    if choice.includes(TESTS, false) {
        let (took, result) = timed(TESTS, || suites::run(&mut lines));
        ended.push((TESTS, took, result.is_ok()));
        if let Err(error) = result {
            eprintln!("{TESTS}: {error:#}");
            failed.push(TESTS);
        }
    }
    println!("\n== timings");
    for (name, took, passed) in ended {
        let verdict = if passed { "" } else { "FAILED" };
        println!("{:>7.1} s  {name:<16} {verdict}", took.as_secs_f64());
    }
    println!("{:>7.1} s  all", begun.elapsed().as_secs_f64());
    println!("\n== tests");
    for line in lines {
        println!("{line}");
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

fn check_names(choice: Choice<'_>) -> Result<()> {
    let Choice::Named(names) = choice else {
        return Ok(());
    };
    let steps: Vec<&str> = GATE.iter().chain(SLOW).map(|(name, _)| *name).chain([TESTS]).collect();
    match names.iter().find(|name| !steps.contains(name)) {
        Some(unknown) => bail!("no step is named {unknown:?}; the steps are: {}", steps.join(", ")),
        None => Ok(()),
    }
}

fn timed(name: &str, step: impl FnOnce() -> Result<()>) -> (Duration, Result<()>) {
    println!("\n== {name}");
    let begun = Instant::now();
    let result = step();
    (begun.elapsed(), result)
}

fn format() -> Result<()> {
    run_command(&mut command("cargo", &["fmt", "--all", "--check"]))?;
    hygiene::format_outside()
}

fn lints() -> Result<()> {
    let mut clippy = command("cargo", &["clippy", "--all-targets"]);
    run_command(clippy.args(FEATURES).args(["--", "-D", "warnings"]))?;
    hygiene::lint_outside()
}

fn documentation() -> Result<()> {
    let mut doc = command("cargo", &["doc", "--no-deps", "--quiet"]);
    run_command(doc.args(FEATURES).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Checks the product with the oldest Rust that `Cargo.toml` promises. If that is the active compiler, all other steps
/// are the check.
fn oldest_rust() -> Result<()> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let oldest = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let oldest = oldest.context("no rust-version")?.trim_matches('"');
    let active = command("rustc", &["--version"]).output().context("rustc")?;
    if String::from_utf8_lossy(&active.stdout).starts_with(&format!("rustc {oldest}.")) {
        println!("the active compiler is the oldest that is supported: {oldest}");
        return Ok(());
    }
    let toolchain = format!("+{oldest}");
    let check = [&*toolchain, "check", "--quiet", "--target-dir", "target/oldest"];
    run_command(&mut command("cargo", &check))
}

/// Spark reads our sketches, and we read Spark's.
fn spark() -> Result<()> {
    run_command(&mut command("python3", &[".ci/spark.py"]))
}

/// Journals cut and changed at every byte, and several times as many flipped bits as in every run.
fn exhaustive() -> Result<()> {
    let package = "package(rocescope-store) & binary(dataset) & test(/kill::|flips::/)";
    let test = ["nextest", "run", "--workspace", "-E", package];
    run_command(command("cargo", &test).env("EXHAUSTIVE", "1"))
}

/// The long form of the tests of a full disk.
fn full_disk() -> Result<()> {
    let test = [
        "test",
        "--workspace",
        "--test",
        "live",
        "--",
        "--ignored",
        "full_for_65",
    ];
    run_command(&mut command("cargo", &test))
}

/// DuckDB, polars and pandas query a dataset.
fn queries() -> Result<()> {
    run_command(&mut command("python3", &[".ci/queries.py"]))
}
