//! Forwards tasks to `rocescope-testbed`, the one developer tool that links the product's crates.

use crate::process::{command, run as run_command};
use crate::product::{target, text};
use anyhow::Result;

const NAME: &str = "rocescope-testbed";

/// Builds the testbed and runs a task of it.
///
/// # Errors
///
/// It does not build, or the task failed.
pub fn run(arguments: &[&str]) -> Result<()> {
    // The whole workspace decides the features of its packages, as in `cargo test --workspace`: what one has
    // built, the other uses.
    let cargo = ["build", "--quiet", "--workspace", "--bin", NAME];
    run_command(&mut command("cargo", &cargo))?;
    let program = target()?.join("debug").join(NAME);
    run_command(&mut command(&text(&program), arguments))
}
