//! The sealed segments of a dataset, and which of them the store has.
//!
//! A segment that the store has, byte for byte, has a marker: an empty file with the same path below `.shipped`. Retention
//! deletes no segment without one (`rocescope_store::retain`). Before a segment is sent, an empty file with the suffix
//! `.begun` is there: compaction leaves such a segment alone, because the store may have its rows (`rocescope_store::compact`).

use rocescope_model::{Row, SHIPPED, SHIPPING_SUFFIX, TABLES, Time, WindowRow};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const HOUR: Duration = Duration::from_secs(3_600);

/// The directory of the locks of a dataset, and a lock itself (`rocescope_store::lock`).
const OPEN: &str = ".open";

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

impl Segment {
    /// The end of its hour; `None` if its directories have other names.
    pub(crate) fn end_of_hour(&self) -> Option<SystemTime> {
        let mut names = self.name.iter().rev().skip(1).map(|name| name.to_str());
        let hour: u64 = names.next()??.strip_prefix("hour=")?.parse().ok()?;
        let mut date = names.next()??.strip_prefix("date=")?.split('-').map(str::parse::<i64>);
        let mut part = || date.next()?.ok();
        let day = Time::from_date(part()?, part()?, part()?)?;
        let day = Duration::from_nanos(u64::try_from(day.0).ok()?);
        UNIX_EPOCH.checked_add(day + HOUR * u32::try_from(hour + 1).ok()?)
    }
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

fn begun(root: &Path, segment: &Segment) -> PathBuf {
    let mut path = marker(root, segment).into_os_string();
    path.push(SHIPPING_SUFFIX);
    path.into()
}

/// Records that the segment is about to be sent, and reads it; `None` if it is gone: retention deleted it, or compaction
/// replaced it.
///
/// # Errors
/// It cannot be recorded or read.
pub(crate) fn begin(root: &Path, segment: &Segment) -> io::Result<Option<Vec<u8>>> {
    // Compaction looks for the record while it holds this lock alone.
    let lock = File::open(root.join(OPEN)).ok();
    if let Some(lock) = &lock {
        flock(lock, FlockOperation::LockShared)?;
    }
    match fs::read(root.join(&segment.name)) {
        Ok(bytes) => make(&begun(root, segment)).map(|()| Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Records that the store has the segment; durable when it returns.
///
/// # Errors
/// The marker cannot be written.
pub(crate) fn mark(root: &Path, segment: &Segment) -> io::Result<()> {
    make(&marker(root, segment))?;
    remove(&begun(root, segment))
}

/// Makes an empty file, durably.
fn make(file: &Path) -> io::Result<()> {
    let Some(directory) = file.parent() else {
        return Ok(());
    };
    fs::create_dir_all(directory)?;
    File::create(file)?.sync_all()?;
    File::open(directory)?.sync_all()
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Deletes a segment that the store has, and its marker.
///
/// # Errors
/// It cannot be deleted.
pub(crate) fn delete(root: &Path, segment: &Segment) -> io::Result<()> {
    let marker = marker(root, segment);
    // In this order: a segment without a marker would be shipped again, a marker without a segment is of no harm.
    for file in [root.join(&segment.name), marker] {
        // It may be gone: retention was faster.
        remove(&file)?;
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
    use super::{all, begin, begun, delete, is_shipped, mark};
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
        assert_eq!(
            begin(root, &segment).unwrap(),
            Some(segment.name.to_str().unwrap().into())
        );
        assert!(begun(root, &segment).exists() && !is_shipped(root, &segment));
        mark(root, &segment).unwrap();
        assert!(!begun(root, &segment).exists());
        mark(root, &segment).unwrap();
        assert!(is_shipped(root, &segment));
        delete(root, &segment).unwrap();
        assert!(all(root).unwrap().is_empty() && !is_shipped(root, &segment));
        assert!(all(&root.join("nowhere")).unwrap().is_empty());
        assert_eq!(begin(root, &segment).unwrap(), None);
        assert!(!begun(root, &segment).exists());
    }

    #[test]
    fn an_hour_ends_where_the_next_begins() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), "flows/date=2026-11-21/hour=23/a.parquet");
        let segment = all(folder.path()).unwrap().remove(0);
        let midnight = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_795_305_600);
        assert_eq!(segment.end_of_hour(), Some(midnight));
    }
}
