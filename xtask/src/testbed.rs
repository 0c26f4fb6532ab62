//! Forwards tasks to `rocescope-testbed` and `rocescope-lab`, the developer tools that link the product's crates.

use crate::process::{command, run as run_command};
use crate::product::{target, text};
use anyhow::Result;

const NAME: &str = "rocescope-testbed";

/// Builds the testbed and runs one of its tasks.
///
/// # Errors
///
/// It does not build, or the task failed.
pub fn run(arguments: &[&str]) -> Result<()> {
    // Features are those of the whole workspace, as in `cargo test --workspace`, so that both share one build.
    let cargo = ["build", "--quiet", "--workspace", "--bin", NAME];
    run_command(&mut command("cargo", &cargo))?;
    let program = target()?.join("debug").join(NAME);
    run_command(&mut command(&text(&program), arguments))
}

/// Builds the evaluations, optimized, and runs them.
pub(crate) fn lab(options: &[&str]) -> Result<()> {
    let cargo = ["run", "--quiet", "--release", "--package", "rocescope-lab", "--"];
    run_command(command("cargo", &cargo).args(options))
}
