//! `cargo xtask bench mesh [accuracy|quiet|speed] [SEEDS]`: the analysis of a mesh of probes.

use anyhow::Result;
use xtask::process::{command, run as run_command};

/// Passes the options on; the tables go to standard output.
pub(super) fn run(options: &[&str]) -> Result<()> {
    let cargo = ["run", "--quiet", "--release", "--package"];
    let mut bench = command("cargo", &cargo);
    bench.args(["rocescope-diagnose", "--example", "mesh", "--"]);
    run_command(bench.args(options))
}
