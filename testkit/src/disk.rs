//! A small file system, and a file that fills it.

use crate::shared::fails_in_ci;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system of a few megabytes, unmounted on drop.
#[derive(Debug)]
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts it; `None`, after one line, where this user may not.
    pub fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        fails_in_ci("only root can mount a small disk");
        None
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// A file that fills a file system, until it is dropped.
#[derive(Debug)]
pub struct Ballast(PathBuf);

impl Ballast {
    /// Fills the file system of `path` to its last byte.
    pub fn fill(path: PathBuf) -> Self {
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
