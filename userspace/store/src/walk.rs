//! Walks the directories of a dataset.

use crate::Error;
use crate::name::FileKind;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file of a dataset, by its place and name.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Name of the table's directory.
    pub(crate) table: String,
    /// `date=…/hour=…`: sorts by time.
    pub(crate) partition: String,
    pub(crate) kind: FileKind,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

/// Every sealed segment, unfinished segment and journal under `root`, by table, hour and name.
///
/// Files that vanish meanwhile, because a writer seals or somebody retains, are passed over.
pub(crate) fn walk(root: &Path) -> Result<Vec<Found>, Error> {
    let mut found = Vec::new();
    for table in directories(root, |name| !name.starts_with(['.', '_']))? {
        for date in directories(&table.path, |name| name.starts_with("date="))? {
            for hour in directories(&date.path, |name| name.starts_with("hour="))? {
                let partition = format!("{}/{}", date.name, hour.name);
                files(&hour.path, &table.name, &partition, &mut found)?;
            }
        }
    }
    Ok(found)
}

struct Entry {
    name: String,
    path: PathBuf,
    bytes: u64,
    directory: bool,
}

fn directories(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<Entry>, Error> {
    let mut entries = entries(path)?;
    entries.retain(|entry| entry.directory && wanted(&entry.name));
    Ok(entries)
}

fn files(path: &Path, table: &str, partition: &str, found: &mut Vec<Found>) -> Result<(), Error> {
    let entries = entries(path)?.into_iter().filter(|entry| !entry.directory);
    found.extend(entries.filter_map(|entry| {
        Some(Found {
            table: table.into(),
            partition: partition.into(),
            kind: FileKind::of(&entry.name)?,
            path: entry.path,
            bytes: entry.bytes,
        })
    }));
    Ok(())
}

/// The entries of a directory by name; names that are not UTF-8 are none of ours.
fn entries(path: &Path) -> Result<Vec<Entry>, Error> {
    let failed = |source| Error::io("read directory", path, source);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let metadata = match entry.metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::io("read", &entry.path(), error)),
        };
        if let Ok(name) = entry.file_name().into_string() {
            entries.push(Entry {
                name,
                path: entry.path(),
                bytes: metadata.len(),
                directory: metadata.is_dir(),
            });
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}
