//! The sealed segments of a dataset, and which of them the store has.
//!
//! A segment that the store has, byte for byte, has a marker: an empty file with the same path below `.shipped`. Retention
//! deletes no segment without one (`rocescope_store::retain`). Before a segment is sent, an empty file with the suffix
//! `.begun` is there: compaction leaves such a segment alone, because the store may have its rows (`rocescope_store::compact`).

use rocescope_model::time::HOUR_NS;
use rocescope_model::{ROLLUPS, Resolution, Row, SHIPPED, SHIPPING_SUFFIX, TABLES, Time, WindowRow};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The directory of the locks of a dataset, and a lock itself (`rocescope_store::lock`).
const OPEN: &str = ".open";

/// A file in it: from which partitions segments were deleted (`rocescope_store::retain`).
const RETAINED: &str = "retained";

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
    /// The end of its partition, an hour or that of a rollup; `None` if its directories have other names.
    pub(crate) fn end(&self, resolution: Resolution) -> Option<SystemTime> {
        let mut names = self.name.iter().rev().skip(1).map(|name| name.to_str());
        let hour: i64 = names.next()??.strip_prefix("hour=")?.parse().ok()?;
        let mut date = names.next()??.strip_prefix("date=")?.split('-').map(str::parse::<i64>);
        let mut part = || date.next()?.ok();
        let day = Time::from_date(part()?, part()?, part()?)?;
        let (_, end) = resolution.partition(Time(day.0.checked_add(hour.checked_mul(HOUR_NS)?)?));
        UNIX_EPOCH.checked_add(Duration::from_nanos(u64::try_from(end.0).ok()?))
    }

    /// Its directories, and the observer that wrote it: `rail3` of `rail3-20261121T020000Z-0000.parquet`.
    fn writer(&self) -> Option<(String, &str)> {
        let partition: Vec<&str> = self
            .name
            .iter()
            .skip(1)
            .take(2)
            .filter_map(|name| name.to_str())
            .collect();
        let observer = self.name.file_name()?.to_str()?.rsplitn(3, '-').nth(2)?;
        Some((partition.join("/"), observer))
    }
}

/// The resolution of the rows in this directory: that of a rollup if its path ends so.
pub(crate) fn resolution(root: &Path) -> Resolution {
    let is_of = |resolution: &Resolution| root.ends_with(Path::new(ROLLUPS).join(resolution.name()));
    let found = Resolution::ROLLED_UP.into_iter().find(is_of);
    found.unwrap_or(Resolution::Captured)
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

/// A segment that is being sent.
#[derive(Debug)]
pub(crate) struct Begun {
    /// What is sent.
    pub(crate) bytes: Vec<u8>,
    /// The file that has it: a rollup may get another one of the same name meanwhile. It stays open, so that no other file gets
    /// its number.
    file: File,
}

/// Records that the segment is about to be sent, and reads it; `None` if it is gone: retention deleted it, or compaction
/// replaced it.
///
/// # Errors
/// It cannot be recorded or read.
pub(crate) fn begin(root: &Path, segment: &Segment) -> io::Result<Option<Begun>> {
    // Compaction looks for the record while it holds this lock alone.
    let _lock = lock(root, FlockOperation::LockShared)?;
    let mut file = match File::open(root.join(&segment.name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    make(&begun(root, segment))?;
    Ok(Some(Begun { bytes, file }))
}

/// Locks the dataset; `None` if it has no directory for it.
fn lock(root: &Path, operation: FlockOperation) -> io::Result<Option<File>> {
    let lock = File::open(root.join(OPEN)).ok();
    if let Some(lock) = &lock {
        flock(lock, operation)?;
    }
    Ok(lock)
}

/// Records that the store has the segment, durably; not if another file has its name by now.
///
/// # Errors
/// The marker cannot be written.
pub(crate) fn mark(root: &Path, segment: &Segment, sent: &Begun) -> io::Result<()> {
    // A rollup removes the marker and then moves the new file, with the lock shared: it does neither meanwhile.
    let _lock = lock(root, FlockOperation::LockExclusive)?;
    let sent = sent.file.metadata()?;
    let is_it = |about: fs::Metadata| (about.dev(), about.ino()) == (sent.dev(), sent.ino());
    if fs::metadata(root.join(&segment.name)).is_ok_and(is_it) {
        make(&marker(root, segment))?;
    }
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
    match note(root, segment) {
        // Deletion is what makes room.
        Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {}
        noted => noted?,
    }
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

/// Notes that segments of this partition and observer are deleted, as retention does: rollups are not made again of what is
/// left.
fn note(root: &Path, segment: &Segment) -> io::Result<()> {
    let Some((partition, observer)) = segment.writer() else {
        return Ok(());
    };
    fs::create_dir_all(root.join(OPEN))?;
    let _lock = lock(root, FlockOperation::LockExclusive)?;
    let path = root.join(OPEN).join(RETAINED);
    let known = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        known => known?,
    };
    // Names of partitions sort by time.
    let is_noted = |line: &str| {
        let noted = line.split_once(' ').filter(|(_, of)| *of == observer);
        noted.is_some_and(|(noted, _)| noted >= partition.as_str())
    };
    if known.lines().any(is_noted) {
        return Ok(());
    }
    let mut file = File::options().append(true).create(true).open(&path)?;
    file.write_all(format!("{partition} {observer}\n").as_bytes())?;
    file.sync_all()?;
    File::open(root.join(OPEN))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::{all, begin, begun, delete, is_shipped, mark, resolution};
    use rocescope_model::Resolution;
    use std::fs;
    use std::path::Path;
    use std::time::UNIX_EPOCH;

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
        let sent = begin(root, &segment).unwrap().unwrap();
        assert_eq!(sent.bytes, segment.name.to_str().unwrap().as_bytes());
        assert!(begun(root, &segment).exists() && !is_shipped(root, &segment));
        mark(root, &segment, &sent).unwrap();
        assert!(!begun(root, &segment).exists());
        mark(root, &segment, &sent).unwrap();
        assert!(is_shipped(root, &segment));
        delete(root, &segment).unwrap();
        assert!(all(root).unwrap().is_empty() && !is_shipped(root, &segment));
        assert!(all(&root.join("nowhere")).unwrap().is_empty());
        assert!(begin(root, &segment).unwrap().is_none());
        assert!(!begun(root, &segment).exists());
    }

    /// A rollup that was replaced while it was sent is another one.
    #[test]
    fn what_replaced_a_segment_is_not_marked() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        make(root, "flows/date=2026-11-21/hour=00/a-20261121T000000Z-0000.parquet");
        let segment = all(root).unwrap().remove(0);
        let sent = begin(root, &segment).unwrap().unwrap();
        fs::write(root.join("new"), "other rows").unwrap();
        fs::rename(root.join("new"), root.join(&segment.name)).unwrap();
        mark(root, &segment, &sent).unwrap();
        assert!(!is_shipped(root, &segment) && !begun(root, &segment).exists());
        let sent = begin(root, &segment).unwrap().unwrap();
        mark(root, &segment, &sent).unwrap();
        assert!(is_shipped(root, &segment));
    }

    /// As `rocescope_store::retain` reads it.
    #[test]
    fn what_is_deleted_is_noted_for_each_observer() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (hour, observer) in [("02", "rail-3"), ("01", "rail-3"), ("01", "rail4"), ("03", "rail-3")] {
            make(
                root,
                &format!("flows/date=2026-11-21/hour={hour}/{observer}-20261121T000000Z-0000.parquet"),
            );
        }
        let mut segments = all(root).unwrap();
        segments.rotate_left(1);
        segments.iter().for_each(|segment| delete(root, segment).unwrap());
        let noted = fs::read_to_string(root.join(".open/retained")).unwrap();
        let expected = ["01 rail4", "02 rail-3", "03 rail-3"];
        let expected: String = expected
            .iter()
            .map(|line| format!("date=2026-11-21/hour={line}\n"))
            .collect();
        assert_eq!(noted, expected);
    }

    #[test]
    fn an_hour_ends_where_the_next_begins() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), "flows/date=2026-11-21/hour=23/a.parquet");
        let segment = all(folder.path()).unwrap().remove(0);
        let end = |resolution| {
            segment
                .end(resolution)
                .unwrap()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .as_secs()
        };
        // Midnight, and the end of the month.
        assert_eq!(end(Resolution::Captured), 1_795_305_600);
        assert_eq!(end(Resolution::Hour), 1_795_305_600);
        assert_eq!(end(Resolution::Day), 1_796_083_200);
        assert_eq!(resolution(Path::new("/d/rollups/1h")), Resolution::Hour);
        assert_eq!(resolution(Path::new("/d/1h")), Resolution::Captured);
    }
}
