//! A file that fills a file system.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

/// The file, until it is dropped.
pub(crate) struct Ballast(PathBuf);

impl Ballast {
    /// Fills the file system of `path` to its last byte.
    pub(crate) fn fill(path: PathBuf) -> Self {
        let mut file = File::create(&path).unwrap();
        for size in [1 << 20, 1 << 12, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        Self(path)
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
