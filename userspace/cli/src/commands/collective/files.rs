//! A file, or those of a folder, as text. A pickle is read as JSON.

use anyhow::{Context, Error, Result};
use rocescope_collective::natural;
use rocescope_collective::read::{File, pickle};
use std::fs;
use std::path::{Path, PathBuf};

/// Reads a file, or all files of a folder in the order of their names, uncompressed. Files are named without the path that was given.
pub(super) fn read(path: &Path) -> Result<Vec<File>> {
    let (files, errors) = read_all(path);
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(files),
    }
}

/// The same; what cannot be read leaves the others.
pub(in crate::commands) fn read_all(path: &Path) -> (Vec<File>, Vec<Error>) {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    let mut add = |read: Result<File>| match read {
        Ok(file) => files.push(file),
        Err(error) => errors.push(error),
    };
    if path.is_dir() {
        match list(path) {
            Ok(found) => found.iter().for_each(|(name, path)| add(file(path, name.clone()))),
            Err(error) => add(Err(error)),
        }
    } else {
        let name = path.file_name().unwrap_or(path.as_os_str());
        add(file(path, name.to_string_lossy().into_owned()));
    }
    (files, errors)
}

/// The files of a folder, with their names, in the order of these.
fn list(path: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))? {
        let entry = entry.with_context(|| format!("cannot list {}", path.display()))?;
        if entry.path().is_file() {
            found.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    found.sort_by(|(a, _), (b, _)| natural::compare(a, b));
    Ok(found)
}

fn file(path: &Path, name: String) -> Result<File> {
    let failed = || format!("cannot read {}", path.display());
    let bytes = rocescope_input::bytes(path).with_context(failed)?;
    let text = match pickle::is_pickle(&bytes) {
        true => pickle::json(&bytes).with_context(failed)?,
        false => rocescope_input::to_text(bytes),
    };
    Ok(File { name, text })
}
