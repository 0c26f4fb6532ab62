//! `cargo xtask ci`: everything a change must pass. `.ci/run` installs what this needs.
//!
//! A step that fails does not keep the others from running: one look at the end of the log tells
//! all that is wrong. The tests come last, and their runners' own lines close the log.

mod hygiene;
mod readme;
mod suites;

use crate::process::{command, run as run_command};
use crate::{docs, ebpf, fabric, fuzz, graph, picture, service};
use anyhow::{Result, bail};
use std::time::{Duration, Instant};

/// Seconds of fuzzing, all targets together.
const FUZZING: &str = "60";

/// Every fault of the fabric three times, two and a half minutes. A shared machine stops agents for longer than a congested
/// link delays probes when times are divided by 20: by 12 they can be told apart.
const FAULTS: [&str; 5] = ["accuracy", "--scale", "12", "--rounds", "3"];

/// What is built otherwise with the feature that takes cmake and libclang.
const VERBS: [&str; 6] = [
    "-p",
    "rocescope",
    "-p",
    "rocescope-probe",
    "--features",
    "rocescope/verbs",
];

/// A step by name.
type Step = (&'static str, fn() -> Result<()>);

const STEPS: [Step; 16] = [
    ("format", format),
    ("lints", lints),
    ("spelling", hygiene::spelling),
    ("dependencies", hygiene::dependencies),
    ("documentation", documentation),
    ("XDP object", || ebpf::run(&["--check"])),
    ("crate graph", graph::run),
    ("generated pages", docs::check),
    ("picture", || picture::run(&["--check"])),
    ("README commands", readme::run),
    ("examples", hygiene::examples),
    ("service", || service::run(&[])),
    ("faults named", || fabric::run(&FAULTS)),
    ("queries", queries),
    ("Spark", spark),
    ("fuzzing", || fuzz::run(&["--seconds", FUZZING])),
];

/// Runs every step, then the tests.
pub(crate) fn run() -> Result<()> {
    let begun = Instant::now();
    let mut ended = Vec::new();
    let mut failed = Vec::new();
    for (name, step) in STEPS {
        let (took, result) = timed(name, step);
        ended.push((name, took, result.is_ok()));
        if let Err(error) = result {
            eprintln!("{name}: {error:#}");
            failed.push(name);
        }
    }
    let mut lines = Vec::new();
    let (took, result) = timed("tests", || suites::run(&mut lines));
    ended.push(("tests", took, result.is_ok()));
    if let Err(error) = result {
        eprintln!("tests: {error:#}");
        failed.push("tests");
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
    // What benchmarks alone build is looked at too.
    let workspace = ["--workspace", "--features", "rocescope/per-packet"];
    for what in [&workspace[..], &VERBS] {
        let mut clippy = command("cargo", &["clippy", "--all-targets"]);
        run_command(clippy.args(what).args(["--", "-D", "warnings"]))?;
    }
    hygiene::lint_outside()
}

fn documentation() -> Result<()> {
    for what in [&["--workspace"][..], &VERBS] {
        let mut doc = command("cargo", &["doc", "--no-deps", "--quiet"]);
        run_command(doc.args(what).env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(())
}

/// Spark over sketches of ours, and ours over Spark's.
fn spark() -> Result<()> {
    run_command(&mut command("python3", &[".ci/spark.py"]))
}

/// DuckDB, polars and pandas over a dataset of ours.
fn queries() -> Result<()> {
    run_command(&mut command("python3", &[".ci/queries.py"]))
}
