//! Recorded captures.

use crate::pcap::Pcap;
use crate::process::root;
use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The captures that are part of the project, gzipped.
const OURS: &str = "userspace/cli/tests/captures";
/// The whole collection, if it is next to the project.
const SHARED: &str = "../shared/captures";

/// The captures that are part of the project.
pub fn ours() -> Result<Vec<(String, Pcap)>> {
    load(&root().join(OURS))
}

/// The whole collection if it exists, otherwise the captures of the project.
pub fn all() -> Result<Vec<(String, Pcap)>> {
    let shared = root().join(SHARED);
    if shared.is_dir() { load(&shared) } else { ours() }
}

/// Every capture of a directory with its name, in the order of names.
fn load(directory: &Path) -> Result<Vec<(String, Pcap)>> {
    let listed = fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    let mut paths: Vec<PathBuf> = listed.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    paths.sort();
    let mut captures = Vec::new();
    for path in paths {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let Some((name, suffix)) = file.split_once(".pcap") else {
            continue;
        };
        let mut bytes = fs::read(&path)?;
        if suffix == ".gz" {
            let mut plain = Vec::new();
            GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain)?;
            bytes = plain;
        }
        let capture = Pcap::new(bytes).with_context(|| path.display().to_string())?;
        captures.push((name.to_owned(), capture));
    }
    ensure!(!captures.is_empty(), "no captures in {}", directory.display());
    Ok(captures)
}
