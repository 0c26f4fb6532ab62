//! The content of a dataset, and its unreadable files.

use crate::checksum::{self, Checksums, Found};
use crate::error::Error;
use crate::guard::guarded;
use crate::name::replaced;
use crate::query::{Answered, Bounds, Query, Statistics, TimeRange};
use crate::walk;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use rocescope_model::{FORMAT_VERSION, Time, footer};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The segments of a dataset at one moment that a [`Query`] selects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Sealed segments, by table, hour and name.
    pub segments: Vec<Segment>,
    /// Unreadable files with the name of a segment, with the reason: truncated, damaged, or of a later format.
    pub unreadable: Vec<Unreadable>,
    /// Open segments, of running writers or left by killed ones.
    pub open: Vec<PathBuf>,
    /// What was opened, and what was skipped and why.
    pub statistics: Statistics,
    /// Which rows answer for which time, if rows of rollups were selected and there are some; in order.
    pub answered: Vec<Answered>,
    /// The query.
    pub(crate) query: Query,
}

/// A sealed segment with a readable footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Name of the table.
    pub table: String,
    /// `date=YYYY-MM-DD/hour=HH`.
    pub partition: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Number of rows.
    pub rows: u64,
    /// Metadata pairs by key; see [`footer::KEYS`].
    pub footer: Vec<(String, String)>,
    /// The first and the last nanosecond that rows of its partition can have; `None` for any.
    pub(crate) span: Option<(i64, i64)>,
    /// Its rows of other times are not read: other segments have them.
    pub(crate) only: TimeRange,
    pub(crate) bounds: Bounds,
    pub(crate) health: Health,
}

impl Segment {
    /// Returns the value of a footer key.
    #[must_use]
    pub fn footer(&self, key: &str) -> Option<&str> {
        let pair = self.footer.iter().find(|(found, _)| found == key);
        pair.map(|(_, value)| value.as_str())
    }
}

impl Segment {
    /// Orders segments by their partitions, those of rollups by what is read of them.
    pub(crate) fn order(&self) -> (i64, &str) {
        let start = self.span.map_or(i64::MIN, |(start, _)| start);
        let from = self.only.from.map_or(start, |from| start.max(from.0));
        (from, &self.partition)
    }
}

/// What reading a segment has shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Health(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Column chunks that match their checksums.
    whole: Mutex<BTreeSet<usize>>,
    /// Why the segment is not read.
    fault: OnceLock<String>,
}

/// Not part of what a segment is.
impl PartialEq for Health {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Health {}

impl Health {
    /// Checks a column chunk unless that is done.
    pub(crate) fn is_whole(&self, chunk: usize, check: impl FnOnce() -> io::Result<bool>) -> io::Result<bool> {
        let known = || self.0.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if known().contains(&chunk) {
            return Ok(true);
        }
        let is_whole = check()?;
        if is_whole {
            known().insert(chunk);
        }
        Ok(is_whole)
    }

    pub(crate) fn fault(&self) -> Option<&str> {
        self.0.fault.get().map(String::as_str)
    }
}

impl Segment {
    /// Records an error of the content: the segment is not read any more, and [`Scan::damaged`] lists it.
    ///
    /// # Errors
    /// Returns an error of the operating system that does not concern the content.
    pub(crate) fn note(&self, error: Error) -> Result<(), Error> {
        /// The medium cannot be read.
        const EIO: i32 = 5;
        let reason = match &error {
            Error::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound => "deleted while it was read".into(),
            Error::Io { cause, .. } if cause.raw_os_error() != Some(EIO) => return Err(error),
            Error::NoSpace { .. } => return Err(error),
            Error::Mismatch { cause, .. } => cause.to_string(),
            _ => error.without_path(),
        };
        let _ = self.health.0.fault.set(reason);
        Ok(())
    }
}

/// An unreadable file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Path of the file.
    pub path: PathBuf,
    /// Why it is unreadable, without the path.
    pub reason: String,
}

impl Unreadable {
    /// The file whose content is at fault; `None` if something else is.
    #[must_use]
    pub fn of(error: &Error) -> Option<Self> {
        let (Error::Content { path, .. } | Error::Version { path, .. } | Error::Mismatch { path, .. }) = error else {
            return None;
        };
        Some(Self {
            path: path.clone(),
            reason: match error {
                Error::Mismatch { cause, .. } => cause.to_string(),
                _ => error.without_path(),
            },
        })
    }
}

impl Scan {
    /// Returns the segments of a table.
    pub fn table(&self, name: &str) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(move |s| s.table == name)
    }

    /// Returns the oldest and the newest time of a row in all segments.
    #[must_use]
    pub fn time_span(&self) -> Option<(Time, Time)> {
        let mut bounds = self.segments.iter().filter_map(|segment| segment.bounds.time_ns);
        let first = bounds.next()?;
        let (oldest, newest) = bounds.fold(first, |(oldest, newest), (first, last)| {
            (oldest.min(first), newest.max(last))
        });
        Some((Time(oldest), Time(newest)))
    }

    /// Returns the unreadable files, and the segments that reading has shown to be damaged so far. Their rows are
    /// missing.
    #[must_use]
    pub fn damaged(&self) -> Vec<Unreadable> {
        let read = self.segments.iter().filter_map(|segment| {
            Some(Unreadable {
                path: segment.path.clone(),
                reason: segment.health.fault()?.to_owned(),
            })
        });
        self.unreadable.iter().cloned().chain(read).collect()
    }

    /// Returns the number of rows of a table in all segments.
    #[must_use]
    pub fn row_count(&self, table: &str) -> u64 {
        self.table(table).map(|segment| segment.rows).sum()
    }
}

/// Opens a whole dataset: see [`Query::open`].
///
/// # Errors
/// Same as [`Query::open`].
pub fn open(root: &Path) -> Result<Scan, Error> {
    Query::default().open(root)
}

/// Reads the footer of every sealed segment under `root`: see [`Query::scan`].
///
/// # Errors
/// Same as [`Query::scan`].
pub fn scan(root: &Path) -> Result<Scan, Error> {
    Query::default().scan(root)
}

/// Reads the segment in a file; `Err(None)` if the file no longer exists.
pub(crate) fn read_segment(found: walk::Found) -> Result<Segment, Option<Unreadable>> {
    let failed = |error: Error| match error {
        Error::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound => None,
        error => Some(Unreadable {
            path: found.path.clone(),
            reason: error.without_path(),
        }),
    };
    let footer = read_footer(&found.path).map_err(failed)?;
    Ok(segment_of(found, &footer))
}

/// The segment in a file with this footer.
pub(crate) fn segment_of(found: walk::Found, footer: &Footer) -> Segment {
    let metadata = footer.metadata.metadata();
    Segment {
        rows: u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0),
        bounds: Bounds::of(&found.table, metadata),
        table: found.table,
        partition: found.partition,
        span: found.span,
        only: TimeRange::default(),
        path: found.path,
        bytes: found.bytes,
        footer: footer.pairs.clone(),
        health: Health::default(),
    }
}

/// The footer of a segment.
pub(crate) struct Footer {
    pub(crate) file: File,
    pub(crate) metadata: ArrowReaderMetadata,
    /// The rocescope keys.
    pairs: Vec<(String, String)>,
    /// The version of the format; the current one if it is not stated.
    pub(crate) format: u32,
    /// `None` in segments of versions without them.
    pub(crate) checksums: Option<Checksums>,
}

/// Reads the footer of a segment of the current format.
pub(crate) fn read_footer(path: &Path) -> Result<Footer, Error> {
    let footer = load_footer(path)?;
    match footer.format {
        FORMAT_VERSION => Ok(footer),
        found => Err(Error::Version {
            path: path.to_owned(),
            found,
            known: FORMAT_VERSION,
        }),
    }
}

/// Reads the footer of a segment of any format.
pub(crate) fn load_footer(path: &Path) -> Result<Footer, Error> {
    let file = open_file(path).map_err(|source| Error::io("open", path, source))?;
    let checksums = match checksum::read(&file).map_err(|source| Error::io("read", path, source))? {
        Found::Whole(checksums) => Some(checksums),
        Found::None => None,
        Found::Damaged => {
            let reason = "the footer does not match its checksum";
            return Err(Error::content("read", path, &reason));
        }
    };
    let metadata = guarded(|| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()))
        .ok_or_else(|| Error::content("read", path, &"the footer is damaged"))?
        .map_err(|error| Error::parquet("read", path, error))?;
    let pairs = metadata.metadata().file_metadata().key_value_metadata();
    let pairs: Vec<(String, String)> = pairs
        .into_iter()
        .flatten()
        .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
        .collect();
    let format = pairs.iter().find(|(key, _)| key == footer::FORMAT);
    let format = format.map_or(FORMAT_VERSION, |(_, found)| found.parse().unwrap_or(u32::MAX));
    Ok(Footer {
        file,
        metadata,
        pairs,
        format,
        checksums,
    })
}

/// Opens a segment, also for a while after compaction replaced it: a reader that listed it before still finds it.
fn open_file(path: &Path) -> io::Result<File> {
    match (File::open(path), replaced(path)) {
        (Err(error), Some(replaced)) if error.kind() == io::ErrorKind::NotFound => {
            File::open(replaced).map_err(|_| error)
        }
        (opened, _) => opened,
    }
}
