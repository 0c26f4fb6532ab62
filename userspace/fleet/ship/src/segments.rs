//! The sealed segments of a dataset, and which of them the store has.
//!
//! A segment that the store has, byte for byte, has a marker: an empty file with the same path below `.shipped`. Retention
//! deletes no segment without one (`rocescope_store::retain`).

use rocescope_model::{Row, SHIPPED, TABLES, WindowRow};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A sealed segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Its path below the root, such as `windows/date=2026-11-21/hour=02/rail3-….parquet`.
    pub name: PathBuf,
    /// Bytes.
    pub bytes: u64,
    /// When it was sealed.
    pub sealed: SystemTime,
}

/// All sealed segments, the oldest hour first. Of an hour, `windows` comes last: a window that it has in the store is
/// complete in every table there.
///
/// # Errors
/// A directory cannot be read.
pub(crate) fn all(root: &Path) -> io::Result<Vec<Segment>> {
    let mut found = Vec::new();
    for table in TABLES {
        for date in directories(&root.join(table.name), "date=")? {
            for hour in directories(&date, "hour=")? {
                find(root, &hour, &mut found)?;
            }
        }
    }
    found.sort_by_cached_key(|segment| {
        let name = segment.name.to_string_lossy().into_owned();
        let (table, path) = name.split_once('/').unwrap_or_default();
        let hour = path.rsplit_once('/').unwrap_or_default().0.to_owned();
        (hour, table == WindowRow::TABLE.name, name)
    });
    Ok(found)
}

/// The directories in a directory whose name begins so; none if it does not exist, as after retention.
fn directories(parent: &Path, begins: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in entries(parent)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(begins) && entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn find(root: &Path, hour: &Path, found: &mut Vec<Segment>) -> io::Result<()> {
    for entry in entries(hour)? {
        let path = entry?.path();
        let Ok(name) = path.strip_prefix(root) else { continue };
        // Another name is not sealed yet, or not ours.
        if path.extension().is_none_or(|extension| extension != "parquet") {
            continue;
        }
        match fs::metadata(&path) {
            Ok(about) => found.push(Segment {
                name: name.to_owned(),
                bytes: about.len(),
                sealed: about.modified()?,
            }),
            // Retention deleted it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn entries(directory: &Path) -> io::Result<Vec<io::Result<fs::DirEntry>>> {
    match fs::read_dir(directory) {
        Ok(entries) => Ok(entries.collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!("{}: {error}", directory.display()),
        )),
    }
}

/// Whether the store has the segment.
pub(crate) fn is_shipped(root: &Path, segment: &Segment) -> bool {
    marker(root, segment).exists()
}

fn marker(root: &Path, segment: &Segment) -> PathBuf {
    root.join(SHIPPED).join(&segment.name)
}

/// Records that the store has the segment; durable when it returns.
///
/// # Errors
/// The marker cannot be written.
pub(crate) fn mark(root: &Path, segment: &Segment) -> io::Result<()> {
    let marker = marker(root, segment);
    let Some(directory) = marker.parent() else {
        return Ok(());
    };
    fs::create_dir_all(directory)?;
    File::create(&marker)?.sync_all()?;
    File::open(directory)?.sync_all()
}

/// Deletes a segment that the store has, and its marker.
///
/// # Errors
/// It cannot be deleted.
pub(crate) fn delete(root: &Path, segment: &Segment) -> io::Result<()> {
    let marker = marker(root, segment);
    // In this order: a segment without a marker would be shipped again, a marker without a segment is of no harm.
    for file in [root.join(&segment.name), marker] {
        match fs::remove_file(&file) {
            // Retention was faster.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Hour and day, if they are empty now.
        for directory in file.ancestors().skip(1).take(2) {
            if fs::remove_dir(directory).is_err() {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{all, delete, is_shipped, mark};
    use std::fs;
    use std::path::Path;

    fn make(root: &Path, name: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }

    #[test]
    fn the_oldest_hour_comes_first_and_windows_last_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let expected = [
            "flows/date=2026-11-20/hour=23/a.parquet",
            "flows/date=2026-11-21/hour=02/a.parquet",
            "opcodes/date=2026-11-21/hour=02/a.parquet",
            "windows/date=2026-11-21/hour=02/a.parquet",
            "flows/date=2026-11-21/hour=03/a.parquet",
        ];
        expected.iter().rev().for_each(|name| make(root, name));
        for other in [
            "flows/date=2026-11-21/hour=03/b.parquet.tmp",
            "flows/date=2026-11-21/c.parquet",
            "notes/date=2026-11-21/hour=03/d.parquet",
            ".open/flows/date=2026-11-21/hour=03/e.parquet",
        ] {
            make(root, other);
        }
        let found: Vec<String> = all(root)
            .unwrap()
            .iter()
            .map(|one| one.name.display().to_string())
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_marked_segment_is_shipped_and_may_be_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        make(root, "flows/date=2026-11-21/hour=02/a.parquet");
        let segment = all(root).unwrap().remove(0);
        assert!(!is_shipped(root, &segment));
        mark(root, &segment).unwrap();
        mark(root, &segment).unwrap();
        assert!(is_shipped(root, &segment));
        delete(root, &segment).unwrap();
        assert!(all(root).unwrap().is_empty() && !is_shipped(root, &segment));
        assert!(all(&root.join("nowhere")).unwrap().is_empty());
    }
}
