//! Replaces a file so that a kill or a power failure leaves the old one or the new one, whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Suffix of a file that is being written.
pub(crate) const UNFINISHED: &str = "tmp";

/// Writes the file beside the old one, syncs it, and renames it.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".");
    unfinished.push(UNFINISHED);
    let mut file = File::create(&unfinished)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    File::open(directory.unwrap_or_else(|| Path::new(".")))?.sync_all()
}
