//! Folders in memory, and archives whose bytes follow from their content alone: sorted, owned by root, of one time.

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use tar::{Builder, EntryType, Header};

/// Paths without a leading slash, each with its mode, and its content if it is a file.
#[derive(Clone, Default)]
pub(super) struct Tree(BTreeMap<String, (u32, Option<Vec<u8>>)>);

impl Tree {
    pub(super) fn file(&mut self, path: &str, mode: u32, content: impl Into<Vec<u8>>) {
        self.parents(path);
        self.0.insert(path.to_owned(), (mode, Some(content.into())));
    }

    pub(super) fn folder(&mut self, path: &str, mode: u32) {
        self.parents(path);
        self.0.insert(format!("{path}/"), (mode, None));
    }

    /// Copies a file of this machine.
    pub(super) fn copy(&mut self, from: &Path, path: &str, mode: u32) -> Result<()> {
        let content = fs::read(from).with_context(|| from.display().to_string())?;
        self.file(path, mode, content);
        Ok(())
    }

    /// Copies the files of a folder of this machine whose names end so.
    pub(super) fn copy_all(&mut self, from: &Path, ending: &str, path: &str) -> Result<()> {
        for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(ending) {
                self.copy(&entry.path(), &format!("{path}/{name}"), 0o644)?;
            }
        }
        Ok(())
    }

    fn parents(&mut self, path: &str) {
        for (end, _) in path.match_indices('/') {
            self.0.entry(path[..=end].to_owned()).or_insert((0o755, None));
        }
    }

    pub(super) fn tar(&self, epoch: u64) -> Result<Vec<u8>> {
        let mut builder = Builder::new(Vec::new());
        for (path, (mode, content)) in &self.0 {
            let content = content.as_deref();
            let mut header = Header::new_ustar();
            header.set_path(path).with_context(|| path.clone())?;
            header.set_entry_type(content.map_or(EntryType::Directory, |_| EntryType::Regular));
            header.set_mode(*mode);
            header.set_mtime(epoch);
            header.set_uid(0);
            header.set_gid(0);
            header.set_username("root")?;
            header.set_groupname("root")?;
            let content = content.unwrap_or_default();
            header.set_size(content.len() as u64);
            header.set_cksum();
            builder.append(&header, content)?;
        }
        Ok(builder.into_inner()?)
    }
}

/// Compressed without a name and a time.
pub(super) fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::{Tree, gzip};
    use flate2::read::GzDecoder;
    use std::io::Read;

    fn tree(names: &[&str]) -> Tree {
        let mut tree = Tree::default();
        for name in names {
            tree.file(name, 0o644, name.as_bytes());
        }
        tree.folder("tmp", 0o1777);
        tree
    }

    #[test]
    fn the_bytes_follow_from_the_content() {
        let one = tree(&["b/x", "a", "b/c/y"]).tar(1_700_000_000).unwrap();
        let other = tree(&["b/c/y", "b/x", "a"]).tar(1_700_000_000).unwrap();
        assert_eq!(one, other);
        assert_ne!(one, tree(&["a"]).tar(1_700_000_000).unwrap());
        assert_ne!(one, tree(&["b/x", "a", "b/c/y"]).tar(1_700_000_001).unwrap());
    }

    #[test]
    fn every_entry_is_of_root_and_has_its_folders_before_it() {
        let packed = gzip(&tree(&["b/c/y", "a"]).tar(1_700_000_000).unwrap()).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        let mut archive = tar::Archive::new(&bytes[..]);
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
            assert_eq!(header.mtime().unwrap(), 1_700_000_000);
            let path = entry.path().unwrap().display().to_string();
            (path, header.mode().unwrap(), content)
        });
        let expected = [
            ("a", 0o644, "a"),
            ("b/", 0o755, ""),
            ("b/c/", 0o755, ""),
            ("b/c/y", 0o644, "b/c/y"),
            ("tmp/", 0o1777, ""),
        ];
        let expected = expected.map(|(path, mode, content)| (path.to_owned(), mode, content.to_owned()));
        assert_eq!(entries.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn files_of_a_folder_are_chosen_by_their_ending() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.1", "b.1", "c.txt"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let mut read = Tree::default();
        read.copy_all(folder.path(), ".1", "man").unwrap();
        let names: Vec<&str> = read.0.keys().map(String::as_str).collect();
        assert_eq!(names, ["man/", "man/a.1", "man/b.1"]);
    }
}
