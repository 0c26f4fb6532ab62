//! `cargo xtask bench paper [SECONDS]`: the evaluation of the Fudan system's paper, repeated.

use anyhow::Result;
use xtask::process::{command, run as run_command};

/// Passes the options on; the tables go to standard output.
pub(super) fn run(options: &[&str]) -> Result<()> {
    let cargo = ["run", "--quiet", "--release", "--package"];
    let mut bench = command("cargo", &cargo);
    bench.args(["rocescope-generate", "--example", "paper", "--"]);
    run_command(bench.args(options))
}
