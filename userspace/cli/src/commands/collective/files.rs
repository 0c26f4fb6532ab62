//! A file, or those of a folder, as text.

use anyhow::{Context, Result};
use rocescope_collective::natural;
use rocescope_collective::read::File;
use std::fs;
use std::path::Path;

/// Reads a file, or all files of a folder in the order of their names, uncompressed. Files are named without the path that was given.
pub(super) fn read(path: &Path) -> Result<Vec<File>> {
    if !path.is_dir() {
        let name = path.file_name().unwrap_or(path.as_os_str());
        return Ok(vec![file(path, name.to_string_lossy().into_owned())?]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))? {
        let entry = entry.with_context(|| format!("cannot list {}", path.display()))?;
        if entry.path().is_file() {
            files.push(file(&entry.path(), entry.file_name().to_string_lossy().into_owned())?);
        }
    }
    files.sort_by(|a, b| natural::compare(&a.name, &b.name));
    Ok(files)
}

fn file(path: &Path, name: String) -> Result<File> {
    let text = rocescope_input::text(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(File { name, text })
}
