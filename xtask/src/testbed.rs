//! Forwards tasks to `rocescope-testbed`, the only developer tool that links the product's crates.

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
