//! The part of a file system that a dataset leaves free.

use rocescope_store::Error;
use rustix::fs::{StatVfs, statvfs};
use std::path::{Path, PathBuf};

/// Default: this share of the file system, in percent, and at most this many bytes.
const PERCENT: u64 = 5;
const MAX_BYTES: u64 = 1 << 30;

/// The bytes to keep free on the file system of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserve {
    root: PathBuf,
    bytes: Option<u64>,
}

impl Reserve {
    /// Creates a reserve of this size; without one, of 5 % of the file system, at most 1 GiB.
    #[must_use]
    pub fn new(root: &Path, bytes: Option<u64>) -> Self {
        let root = root.to_owned();
        Self { root, bytes }
    }

    /// Returns the bytes that are missing; 0 if the file system cannot be queried: then writing shows what is wrong.
    #[must_use]
    pub fn missing_bytes(&self) -> u64 {
        statvfs(&self.root).map_or(0, |found| missing(&found, self.bytes))
    }

    /// The error of a file system without this reserve.
    pub(crate) fn error(&self) -> Error {
        Error::NoSpace {
            action: "keep the free-space reserve of the file system of",
            path: self.root.clone(),
        }
    }
}

fn missing(found: &StatVfs, bytes: Option<u64>) -> u64 {
    let total = found.f_blocks.saturating_mul(found.f_frsize);
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let reserve = bytes.unwrap_or_else(|| (total / 100 * PERCENT).min(MAX_BYTES));
    reserve.saturating_sub(free)
}

#[cfg(test)]
mod tests {
    use super::Reserve;

    #[test]
    fn a_reserve_larger_than_the_file_system_is_missing_and_none_is_not() {
        let root = std::env::temp_dir();
        assert!(Reserve::new(&root, Some(u64::MAX)).missing_bytes() > 0);
        assert_eq!(Reserve::new(&root, Some(0)).missing_bytes(), 0);
        let error = Reserve::new(&root, None).error();
        assert!(error.is_no_space() && error.to_string().starts_with("the disk is full: cannot keep"));
    }
}
