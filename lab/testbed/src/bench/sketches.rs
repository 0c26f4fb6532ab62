//! `cargo xtask bench sketches [--json FILE] [--packets N] [--rounds N] [--seeds N]`.
//!
//! The bench is a package outside the workspace, so that its rivals are built only here.

use anyhow::Result;
use xtask::process::{command, run as run_command};

/// Passes the options on; the tables go to standard output.
pub(super) fn run(options: &[&str]) -> Result<()> {
    let manifest = "lab/sketches/Cargo.toml";
    let cargo = ["run", "--quiet", "--locked", "--release", "--manifest-path"];
    let mut bench = command("cargo", &cargo);
    bench.args([manifest, "--"]).args(options);
    run_command(&mut bench)
}
