//! One hash over all sources of an object.

use super::Committed;
use crate::process::root;
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The hash over names and contents, ordered by name.
pub(super) fn hash(of: &Committed) -> Result<String> {
    let root = root();
    let mut files = vec![Path::new(of.package.directory).join("Cargo.lock")];
    for package in of.sources {
        files.push(Path::new(package).join("Cargo.toml"));
        collect(&root, &Path::new(package).join("src"), &mut files)?;
    }
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        let bytes = fs::read(root.join(&file)).with_context(|| file.display().to_string())?;
        hasher.update(file.to_string_lossy().as_bytes());
        hasher.update([0]);
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    Ok(hex(&hasher.finalize()))
}

/// The hash of `bytes`.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::from("sha256:"), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn collect(root: &Path, directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(root.join(directory));
    for entry in entries.with_context(|| directory.display().to_string())? {
        let entry = entry?;
        let path = directory.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(root, &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{QUEUE_PAIRS, XDP, lock::Lock};
    use super::{hash, hash_of};

    /// Guards against a change of kernel code that only user space gets.
    #[test]
    fn the_committed_objects_are_of_these_sources() {
        for committed in [XDP, QUEUE_PAIRS] {
            let lock = Lock::read(&committed).unwrap();
            let remedy = format!("run `cargo xtask ebpf` and commit {} and its lock", committed.file);
            assert_eq!(lock.sources, hash(&committed).unwrap(), "{remedy}");
            assert_eq!(lock.object, hash_of(&committed.read().unwrap()), "{remedy}");
        }
    }
}
