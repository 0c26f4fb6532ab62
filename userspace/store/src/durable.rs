//! Makes names survive a power failure: a rename is on disk only after its directory is synced.

use crate::Error;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Renames a synced file to its final name, durably; removes it if that fails.
pub(crate) fn publish(from: &Path, to: &Path, root: &Path) -> Result<(), Error> {
    move_to(from, to, root).inspect_err(|_| {
        // Report the first error.
        let _ = remove(from);
    })
}

/// Renames a file and syncs every directory from it up to and including `root`: any of them may be new.
pub(crate) fn move_to(from: &Path, to: &Path, root: &Path) -> Result<(), Error> {
    rename(from, to)
        // A concurrent `retain` removed the empty directory.
        .or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => rename(from, to),
            _ => Err(error),
        })
        .map_err(|source| Error::io("rename to", to, source))?;
    sync_names(to, root)
}

/// Syncs every directory from a file up to and including `root`.
pub(crate) fn sync_names(path: &Path, root: &Path) -> Result<(), Error> {
    for directory in path.ancestors().skip(1) {
        sync_directory(directory)?;
        if directory == root {
            break;
        }
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::rename(from, to)
}

/// Syncs the names in a directory.
pub(crate) fn sync_directory(path: &Path) -> Result<(), Error> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(|source| Error::io("sync directory", path, source))
}

/// Removes a file if it exists.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, error)),
        _ => Ok(()),
    }
}
