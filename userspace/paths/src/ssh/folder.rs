//! A private folder that is removed at the end.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A folder of this user alone.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Creates it. The path is short, because the name of a socket has a hundred bytes.
    pub(super) fn create() -> std::io::Result<Self> {
        let mut number = 0;
        loop {
            let path = std::env::temp_dir().join(format!("rocescope-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // Another run's, or another user's: never used.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 1_000 => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
