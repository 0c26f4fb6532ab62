//! `cargo xtask docs [--check]`: the pages that are generated from the code.

use crate::process::root;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::process::Command;

/// A page below the root of the workspace, and what writes it.
type Page = (&'static str, fn() -> String);

const PAGES: [Page; 1] = [("docs/formats.md", rocescope_model::markdown::page)];

/// Writes every page.
pub(crate) fn write() -> Result<()> {
    for (path, page) in PAGES {
        fs::write(root().join(path), page()).context(path)?;
        println!("wrote {path}");
    }
    // The command line is in a crate that this one would take long to build with.
    let root = root();
    let arguments = [
        "run",
        "-q",
        "-p",
        "rocescope",
        "--example",
        "reference",
        "--",
    ];
    let status = Command::new(env!("CARGO"))
        .args(arguments)
        .arg(&root)
        .current_dir(&root)
        .status()
        .context("cargo")?;
    ensure!(status.success(), "the reference was not written");
    Ok(())
}

/// Fails when a page is not what the code says. The reference is held against the program by a
/// test of its crate.
pub(crate) fn check() -> Result<()> {
    for (path, page) in PAGES {
        let written = fs::read_to_string(root().join(path)).context(path)?;
        if written != page() {
            bail!("{path} is stale: run `cargo xtask docs` and commit what it writes");
        }
    }
    println!("the pages are what the code says");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_pages_are_what_the_code_says() {
        super::check().unwrap();
    }
}
