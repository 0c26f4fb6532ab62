//! Every step of the checks, and what it guards.

use super::{fleet, hygiene, readme, suites};
use crate::process::{command, root, run};
use crate::product::{target, text};
use crate::{ebpf, fuzz, graph, release, testbed, words};
use anyhow::{Context, Result};
use std::fs;

/// Seconds of fuzzing, all targets together.
const FUZZING: &str = "60";

/// Damaged files of each format.
const MUTATED: &str = "2000";

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

/// A step of the checks.
pub(super) struct Step {
    pub(super) name: &'static str,
    /// What would be wrong if it failed.
    pub(super) guards: &'static str,
    pub(super) run: fn() -> Result<()>,
}

const fn step(name: &'static str, guards: &'static str, run: fn() -> Result<()>) -> Step {
    Step { name, guards, run }
}

/// The last step: the summary of the test runners ends the log.
pub(super) const TESTS: &str = "tests";

/// The steps that every change must pass, before the tests.
pub(super) const GATE: &[Step] = &[
    step("format", "diffs show what changed", format),
    step("words", "the words of docs/style.md", words::run),
    step("spelling", "typing errors", hygiene::spelling),
    step(
        "graph",
        "which crate imports which, and who may own a dependency",
        graph::run,
    ),
    step(
        "dependencies",
        "licences, sources and duplicates of dependencies",
        hygiene::dependencies,
    ),
    step("lints", "clippy over all targets", lints),
    step("oldest Rust", "the compiler that Cargo.toml promises", oldest_rust),
    step(
        "documentation",
        "links within the documentation of the code",
        documentation,
    ),
    step("XDP object", "the committed object is what its sources give", || {
        ebpf::run(&["--check"])
    }),
    step("build", "one debug build for all that follows", build),
    step("README commands", "every command of the README works", || {
        readme::run(readme::Profile::Debug)
    }),
    step("examples", "the examples of the libraries work", hygiene::examples),
    step("queries", "DuckDB, polars and pandas read a dataset", queries),
    step("picture", "docs/top.svg shows what `top` draws", || {
        testbed::run(&["picture", "--check"])
    }),
    step("instructions", "no hot path takes 5 % more instructions", || {
        testbed::run(&["bench", "all", "--quick"])
    }),
];

/// The steps that `--full` adds. Minutes on two processors in parentheses, estimated.
pub(super) const SLOW: &[Step] = &[
    // (8)
    step(
        "README release",
        "the commands of the README as they are written",
        || readme::run(readme::Profile::Release),
    ),
    // (2 after the release build)
    step(
        "service",
        "the Debian package, its unit and its life under systemd",
        || testbed::run(&["service"]),
    ),
    // (40, as it compiles three programs)
    step(
        "release",
        "each file of a release, unpacked and run, and the same bytes twice",
        || release::run(&[]),
    ),
    // (6)
    step(
        "lints outside",
        "packages that no other step compiles",
        hygiene::lint_outside,
    ),
    // (5)
    step(
        "slow tests",
        "tests that take half a minute and rarely break",
        suites::slow,
    ),
    // (50)
    step(
        "faults named",
        "faults of a fabric of namespaces get their names",
        || testbed::run(&FAULTS),
    ),
    // (3)
    step("Spark", "Spark and the product read each other's sketches", spark),
    // (15)
    step(
        "fleet",
        "the Python package, and its answers against those of the product",
        fleet::run,
    ),
    // (12)
    step(
        "fleet programs",
        "`rocescope dataset sql` and `rocescope dataset ship`",
        hygiene::fleet,
    ),
    // (1)
    step(
        "deploy",
        "the Ansible role and the manifests of Kubernetes",
        hygiene::deploy,
    ),
    // (3)
    step("fuzzing", "decoders and readers take any bytes", || {
        fuzz::run(&["--seconds", FUZZING])
    }),
    // (4)
    step(
        "damaged files",
        "files of every format in many ways damaged: no panic, 256 MiB, 10 s",
        || fuzz::run(&["--mutated", MUTATED]),
    ),
    // (4)
    step(
        "exhaustive",
        "journals cut at every byte, several times as many flipped bits",
        exhaustive,
    ),
    // (10)
    step(
        "soft-RoCE",
        "two guests with soft-RoCE see what the product sees",
        || testbed::run(&["softroce"]),
    ),
    // (15)
    step(
        "kernels",
        "what captures can do with each kernel that the README promises",
        || testbed::run(&KERNELS),
    ),
];

fn format() -> Result<()> {
    run(&mut command("cargo", &["fmt", "--all", "--check"]))?;
    hygiene::format_outside()
}

fn lints() -> Result<()> {
    run(&mut command(
        "cargo",
        &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
    ))
}

fn documentation() -> Result<()> {
    let mut doc = command("cargo", &["doc", "--workspace", "--no-deps", "--quiet"]);
    run(doc.env("RUSTDOCFLAGS", "-D warnings"))
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
    run(&mut command("cargo", &check))
}

/// Spark reads our sketches, and we read Spark's.
fn spark() -> Result<()> {
    run(&mut command("python3", &[".ci/spark.py"]))
}

/// Journals cut and changed at every byte, and several times as many flipped bits as in every run.
fn exhaustive() -> Result<()> {
    let package = "package(rocescope-store) & binary(dataset) & test(/kill::|flips::/)";
    let test = ["nextest", "run", "--workspace", "-E", package];
    run(command("cargo", &test).env("EXHAUSTIVE", "1"))
}

/// Everything that the steps behind it and the tests run. Its features are those of the whole workspace.
fn build() -> Result<()> {
    run(&mut command(
        "cargo",
        &["build", "--quiet", "--workspace", "--all-targets"],
    ))
}

fn queries() -> Result<()> {
    let binary = text(&target()?.join("debug/rocescope"));
    run(command("python3", &[".ci/queries.py"]).env("ROCESCOPE_BINARY", binary))
}
