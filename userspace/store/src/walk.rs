//! Walks the directories of a dataset.

use crate::Error;
use crate::name::{DAMAGED, OPEN, OpenFile, Partition, SegmentName, SegmentPaths, is_sealed};
use crate::query::TimeRange;
use rocescope_model::time::DAY_NS;
use rocescope_model::{Row, Time, WindowRow};
use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What `mkfs.ext4` leaves in the root of a file system, readable only by root.
const LOST_FOUND: &str = "lost+found";

/// The path and name of a sealed segment.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Name of the table's directory.
    pub(crate) table: String,
    /// `date=…/hour=…`: sorts by time.
    pub(crate) partition: String,
    /// The first and the last nanosecond that its rows can have; `None` for any.
    pub(crate) span: Option<(i64, i64)>,
    /// `None` if rocescope did not name it.
    pub(crate) name: Option<SegmentName>,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

/// Returns every sealed segment under `root`, by table, hour and name.
pub(crate) fn segments(root: &Path) -> Result<Vec<Found>, Error> {
    segments_of(root, |_| true, |_| true, |_| true)
}

/// The longest time of a partition: that of rollups of a day is a month.
const LONGEST_NS: i64 = 31 * DAY_NS;

/// Same as [`segments`], without entering directories of other tables, and of days that cannot have rows of a time: a
/// year has hundreds of days, and a report reads a dataset several times.
pub(crate) fn segments_in(root: &Path, is_table: impl Fn(&str) -> bool, time: TimeRange) -> Result<Vec<Found>, Error> {
    let is_day = |date: &str| {
        let Some(start) = Partition::parse(&format!("{date}/hour=00")).map(Partition::start) else {
            return true;
        };
        let last_ns = start.0.saturating_add(LONGEST_NS.saturating_add(DAY_NS));
        time.overlaps(start.0, last_ns)
    };
    segments_of(root, is_table, is_day, |_| true)
}

/// Same as [`segments`], in partitions that begin from an instant to before another one.
pub(crate) fn segments_within(
    root: &Path,
    is_table: impl Fn(&str) -> bool,
    time: &Range<i64>,
) -> Result<Vec<Found>, Error> {
    let is_day = |date: &str| {
        let day = Partition::parse(&format!("{date}/hour=00")).map(Partition::start);
        day.is_some_and(|day| day.0 < time.end && time.start < day.0.saturating_add(DAY_NS))
    };
    let is_hour = |path: &str| Partition::parse(path).is_some_and(|hour| time.contains(&hour.start().0));
    segments_of(root, is_table, is_day, is_hour)
}

/// Same as [`segments`], without entering directories of other tables, days and hours.
pub(crate) fn segments_of(
    root: &Path,
    is_table: impl Fn(&str) -> bool,
    is_day: impl Fn(&str) -> bool,
    is_hour: impl Fn(&str) -> bool,
) -> Result<Vec<Found>, Error> {
    let mut found = Vec::new();
    // A missing root is an error, a directory that vanishes meanwhile is not.
    fs::read_dir(root).map_err(|source| Error::io("read directory", root, source))?;
    let mut tables = directories(root, |name| !name.starts_with(['.', '_']) && name != LOST_FOUND)?;
    // `windows` first: a writer seals it last, so that what it holds at this moment is in every table listed later.
    tables.sort_by_key(|table| table.name != WindowRow::TABLE.name);
    for table in tables.into_iter().filter(|table| is_table(&table.name)) {
        for date in directories(&table.path, |name| name.starts_with("date=") && is_day(name))? {
            for hour in directories(&date.path, |name| name.starts_with("hour="))? {
                let partition = format!("{}/{}", date.name, hour.name);
                if !is_hour(&partition) {
                    continue;
                }
                let files = files(&hour.path)?.into_iter();
                found.extend(files.filter(|f| is_sealed(&f.name)).map(|file| Found {
                    table: table.name.clone(),
                    partition: partition.clone(),
                    span: None,
                    name: SegmentName::of_sealed(&file.name),
                    path: file.path,
                    bytes: file.bytes,
                }));
            }
        }
    }
    found.sort_by(|a, b| (&a.table, &a.partition, &a.path).cmp(&(&b.table, &b.partition, &b.path)));
    for table in found.chunk_by_mut(|a, b| a.table == b.table) {
        set_spans(table);
    }
    Ok(found)
}

/// Returns the days with segments of any table.
pub(crate) fn days(root: &Path) -> Result<Vec<Time>, Error> {
    let mut days = Vec::new();
    if !root.is_dir() {
        return Ok(days);
    }
    for table in directories(root, |name| !name.starts_with(['.', '_']) && name != LOST_FOUND)? {
        for date in directories(&table.path, |name| name.starts_with("date="))? {
            days.extend(Partition::parse(&format!("{}/hour=00", date.name)).map(Partition::start));
        }
    }
    Ok(days)
}

/// Returns the partitions of tables.
pub(crate) fn partitions(root: &Path, is_table: impl Fn(&str) -> bool) -> Result<BTreeSet<Partition>, Error> {
    let mut found = BTreeSet::new();
    for table in directories(root, is_table)? {
        for date in directories(&table.path, |name| name.starts_with("date="))? {
            let hours = directories(&date.path, |name| name.starts_with("hour="))?;
            found.extend(
                hours
                    .iter()
                    .filter_map(|hour| Partition::parse(&format!("{}/{}", date.name, hour.name))),
            );
        }
    }
    Ok(found)
}

/// Sets which times the segments of a table can have. A partition is an hour; in rollups of hours and of days it is a day or
/// a month, in the first hour of it. So that of an hour 00 may last until the next one begins.
fn set_spans(table: &mut [Found]) {
    let mut next: Option<Partition> = None;
    for hour in table.chunk_by_mut(|a, b| a.partition == b.partition).rev() {
        let Some(own) = hour.first().and_then(|found| Partition::parse(&found.partition)) else {
            continue;
        };
        let last = match next {
            _ if !own.is_first_of_day() => own.last_ns(),
            Some(next) => next.start().0.saturating_sub(1),
            None => i64::MAX,
        };
        for found in hour {
            found.span = Some((own.start().0, last));
        }
        next = Some(own);
    }
}

/// A journal or unfinished segment.
#[derive(Debug, Clone)]
pub(crate) struct Leftover {
    pub(crate) place: SegmentPaths,
    /// Whether it is a journal.
    pub(crate) journal: bool,
    pub(crate) path: PathBuf,
}

/// Returns every journal and unfinished segment under `root`, of running writers or left by killed ones.
pub(crate) fn leftovers(root: &Path) -> Result<Vec<Leftover>, Error> {
    let open = root.join(OPEN);
    let mut found = Vec::new();
    // Missing, or unreadable? A journal in a directory that cannot be read is not gone.
    match fs::metadata(&open) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        other => other.map_err(|source| Error::io("read directory", &open, source))?,
    };
    for table in directories(&open, |_| true)? {
        for file in files(&table.path)? {
            let (name, journal) = match OpenFile::of(&file.name) {
                Some(OpenFile::Journal(name)) => (name, true),
                Some(OpenFile::Unfinished(name)) => (name, false),
                None => continue,
            };
            found.push(Leftover {
                place: SegmentPaths {
                    root: root.to_owned(),
                    table: table.name.clone(),
                    name,
                },
                journal,
                path: file.path,
            });
        }
    }
    Ok(found)
}

/// Returns the damaged journals that were set aside.
pub(crate) fn set_aside(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for table in directories(&root.join(DAMAGED), |_| true)? {
        found.extend(files(&table.path)?.into_iter().map(|file| file.path));
    }
    Ok(found)
}

struct Entry {
    name: String,
    path: PathBuf,
    /// 0 of a directory.
    bytes: u64,
}

fn directories(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<Entry>, Error> {
    // Without asking for its size, which a list of a year would do thousands of times.
    entries(path, |entry| Ok(entry.file_type()?.is_dir().then_some(0)), wanted)
}

fn files(path: &Path) -> Result<Vec<Entry>, Error> {
    let size = |entry: &DirEntry| {
        let metadata = entry.metadata()?;
        Ok((!metadata.is_dir()).then_some(metadata.len()))
    };
    entries(path, size, |_| true)
}

/// Returns the entries of a directory that have a size, by name, without names that are not UTF-8. Skips files and
/// directories that disappear meanwhile because of a concurrent seal or retain.
fn entries(
    path: &Path,
    size: impl Fn(&DirEntry) -> io::Result<Option<u64>>,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Entry>, Error> {
    let failed = |source| Error::io("read directory", path, source);
    let mut entries = Vec::new();
    let read = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(entries),
        read => read.map_err(failed)?,
    };
    for entry in read {
        let entry = match entry {
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            entry => entry.map_err(failed)?,
        };
        let Some(name) = entry.file_name().into_string().ok().filter(|name| wanted(name)) else {
            continue;
        };
        match size(&entry) {
            Ok(Some(bytes)) => entries.push(Entry {
                name,
                path: entry.path(),
                bytes,
            }),
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("read", &entry.path(), error)),
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}
