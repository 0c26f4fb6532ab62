//! The product as its users build it, and where tasks keep what they make.

use crate::process::{command, root, run};
use anyhow::Result;
use cargo_metadata::MetadataCommand;
use std::fs;
use std::path::{Path, PathBuf};

/// Builds `rocescope` in release mode; where it lies.
pub(crate) fn build() -> Result<PathBuf> {
    run(&mut command(
        "cargo",
        &["build", "--quiet", "--release", "--package", "rocescope"],
    ))?;
    Ok(target()?.join("release/rocescope"))
}

/// A directory for files that a benchmark makes; what is in it stays.
pub(crate) fn directory() -> Result<PathBuf> {
    let directory = target()?.join("bench");
    fs::create_dir_all(&directory)?;
    Ok(directory)
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> Result<PathBuf> {
    let mut metadata = MetadataCommand::new();
    metadata.manifest_path(root().join("Cargo.toml")).no_deps();
    Ok(metadata.exec()?.target_directory.into())
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}
