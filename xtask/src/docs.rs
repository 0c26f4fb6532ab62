//! `cargo xtask docs [--check]`: the pages that are generated from the code.
//!
//! An example of the product writes them, and a test of the product compares them.

use crate::process::{command, root, run as run_command};
use crate::product::text;
use anyhow::Result;

/// Writes every page.
pub(crate) fn write() -> Result<()> {
    let cargo = ["run", "--quiet", "--package", "rocescope"];
    let mut reference = command("cargo", &cargo);
    reference.args(["--example", "reference", "--", &text(&root())]);
    run_command(&mut reference)
}

/// Fails if a page differs from the generated one.
pub(crate) fn check() -> Result<()> {
    let test = [
        "test",
        "--quiet",
        "--package",
        "rocescope",
        "--test",
        "process",
        "reference::",
    ];
    run_command(&mut command("cargo", &test))
}
