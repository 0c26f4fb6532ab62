//! What a dataset holds, and what in it does not read.

use crate::error::Error;
use crate::query::{Bounds, Query, Statistics};
use crate::walk::Found;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::ParquetMetaData;
use rocescope_model::{FORMAT_VERSION, footer};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The segments of a dataset at one moment, as far as a [`Query`] asked for them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Sealed segments, by table, hour and name.
    pub segments: Vec<Segment>,
    /// Files named as segments that do not read, with the reason: torn, damaged, or of a later
    /// format.
    pub unreadable: Vec<Unreadable>,
    /// Open segments: of living writers, or left by killed ones.
    pub open: Vec<PathBuf>,
    /// What was opened, and what was left out and why.
    pub statistics: Statistics,
    /// What was asked for.
    pub(crate) query: Query,
}

/// A sealed segment whose footer reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Name of its table.
    pub table: String,
    /// `date=YYYY-MM-DD/hour=HH`.
    pub partition: String,
    /// The file.
    pub path: PathBuf,
    /// Bytes of the file.
    pub bytes: u64,
    /// Rows in it.
    pub rows: u64,
    /// Metadata pairs by key; see [`footer::KEYS`].
    pub footer: Vec<(String, String)>,
    pub(crate) bounds: Bounds,
}

impl Segment {
    /// The value of a footer key.
    #[must_use]
    pub fn footer(&self, key: &str) -> Option<&str> {
        let pair = self.footer.iter().find(|(found, _)| found == key);
        pair.map(|(_, value)| value.as_str())
    }
}

/// A file that does not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// Why not.
    pub reason: String,
}

impl Scan {
    /// The segments of a table.
    pub fn table(&self, name: &str) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(move |s| s.table == name)
    }

    /// Rows of a table in all its segments.
    #[must_use]
    pub fn row_count(&self, table: &str) -> u64 {
        self.table(table).map(|segment| segment.rows).sum()
    }
}

/// All of what must be a dataset: see [`Query::open`].
///
/// # Errors
/// Those of [`Query::open`].
pub fn open(root: &Path) -> Result<Scan, Error> {
    Query::default().open(root)
}

/// Reads the footer of every sealed segment under `root`: see [`Query::scan`].
///
/// # Errors
/// Those of [`Query::scan`].
pub fn scan(root: &Path) -> Result<Scan, Error> {
    Query::default().scan(root)
}

/// The segment in a file; none where the file is gone.
pub(crate) fn read_segment(found: Found) -> Result<Segment, Option<Unreadable>> {
    let (metadata, footer) = read_footer(&found.path).map_err(|error| match error {
        Error::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound => None,
        error => Some(Unreadable {
            path: found.path.clone(),
            reason: error.to_string(),
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

/// What Parquet keeps of a segment, and our pairs in it.
type Footer = (Arc<ParquetMetaData>, Vec<(String, String)>);

pub(crate) fn read_footer(path: &Path) -> Result<Footer, Error> {
    let file = File::open(path).map_err(|source| Error::io("open", path, source))?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
        .map_err(|error| Error::parquet("read", path, error))?;
    let metadata = metadata.metadata();
    let pairs = metadata
        .file_metadata()
        .key_value_metadata()
        .into_iter()
        .flatten();
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
