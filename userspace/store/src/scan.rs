//! The content of a dataset, and its unreadable files.

use crate::error::Error;
use crate::query::{Bounds, Query, Statistics};
use crate::walk::Found;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::ParquetMetaData;
use rocescope_model::{FORMAT_VERSION, Time, footer};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    pub(crate) bounds: Bounds,
}

impl Segment {
    /// Returns the value of a footer key.
    #[must_use]
    pub fn footer(&self, key: &str) -> Option<&str> {
        let pair = self.footer.iter().find(|(found, _)| found == key);
        pair.map(|(_, value)| value.as_str())
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
pub(crate) fn read_segment(found: Found) -> Result<Segment, Option<Unreadable>> {
    let (metadata, footer) = read_footer(&found.path).map_err(|error| match error {
        Error::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound => None,
        error => Some(Unreadable {
            path: found.path.clone(),
            reason: error.without_path(),
        }),
    })?;
    Ok(Segment {
        rows: u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0),
        bounds: Bounds::of(&found.table, &metadata),
        table: found.table,
        partition: found.partition,
        path: found.path,
        bytes: found.bytes,
        footer,
    })
}

/// The Parquet metadata of a segment, and the rocescope keys in it.
type Footer = (Arc<ParquetMetaData>, Vec<(String, String)>);

pub(crate) fn read_footer(path: &Path) -> Result<Footer, Error> {
    let file = File::open(path).map_err(|source| Error::io("open", path, source))?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
        .map_err(|error| Error::parquet("read", path, error))?;
    let metadata = metadata.metadata();
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    let pairs: Vec<(String, String)> = pairs
        .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
        .collect();
    if let Some((_, found)) = pairs.iter().find(|(key, _)| key == footer::FORMAT) {
        let known = FORMAT_VERSION;
        if found.parse::<u32>().map_or(true, |found| found > known) {
            return Err(Error::Version {
                path: path.to_owned(),
                found: found.clone(),
                known,
            });
        }
    }
    Ok((Arc::clone(metadata), pairs))
}
