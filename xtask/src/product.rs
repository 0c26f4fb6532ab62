//! The release build of the product, and the directory for the files of tasks.

use crate::process::{command, metadata, run};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Builds `rocescope` in release mode, as `cargo run --release` does; returns its path.
///
/// # Errors
///
/// It does not build.
pub fn build() -> Result<PathBuf> {
    run(&mut command(
        "cargo",
        &["build", "--quiet", "--release", "--bin", "rocescope"],
    ))?;
    Ok(target()?.join("release/rocescope"))
}

/// Builds `rocescope-sql` and `rocescope-ship` in release mode beside `rocescope`. Their dependencies take some ten minutes.
///
/// # Errors
///
/// They do not build.
pub fn build_fleet() -> Result<()> {
    let build = [
        "build",
        "--quiet",
        "--release",
        "--manifest-path",
        FLEET,
        "--target-dir",
    ];
    run(command("cargo", &build).arg(target()?))
}

/// The manifest of the programs of a fleet, which are outside the workspace.
pub const FLEET: &str = "userspace/fleet/Cargo.toml";

/// A directory for the files of benchmarks, which are kept.
pub fn directory() -> Result<PathBuf> {
    let directory = target()?.join("bench");
    fs::create_dir_all(&directory)?;
    Ok(directory)
}

/// Cargo's target directory.
pub fn target() -> Result<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    let target = metadata["target_directory"].as_str();
    Ok(target.context("no target directory")?.into())
}

/// A path as an argument.
pub fn text(path: &Path) -> String {
    path.display().to_string()
}
