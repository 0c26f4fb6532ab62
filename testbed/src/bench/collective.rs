//! `cargo xtask bench collective [SCALE [CASES [SET [CLASS]]]]`: the paper's evaluation of the diagnosis of collectives.

use anyhow::Result;
use xtask::process::{command, run as run_command};

/// Passes the options on; the tables go to standard output.
pub(super) fn run(options: &[&str]) -> Result<()> {
    let cargo = ["run", "--quiet", "--release", "--package"];
    let mut bench = command("cargo", &cargo);
    bench.args(["rocescope-collective", "--example", "evaluation", "--"]);
    run_command(bench.args(options))
}
