//! The product as its users build it, and where tasks keep what they make.

use crate::process::{command, metadata, run};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Builds `rocescope` in release mode, as `cargo run --release` does; where it lies.
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

/// A directory for files that a benchmark makes; what is in it stays.
pub fn directory() -> Result<PathBuf> {
    let directory = target()?.join("bench");
    fs::create_dir_all(&directory)?;
    Ok(directory)
}

/// Where cargo puts what it builds.
pub fn target() -> Result<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    let target = metadata["target_directory"].as_str();
    Ok(target.context("no target directory")?.into())
}

/// A path as an argument.
pub fn text(path: &Path) -> String {
    path.display().to_string()
}
