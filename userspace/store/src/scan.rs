//! What a dataset holds, and what in it does not read.

use crate::error::Error;
use crate::name::OPEN;
use crate::walk;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use rocescope_model::{FORMAT_VERSION, footer};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The segments of a dataset at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Sealed segments, by table, hour and name.
    pub segments: Vec<Segment>,
    /// Files named as segments that do not read, with the reason: torn, damaged, or of a later
    /// format.
    pub unreadable: Vec<Unreadable>,
    /// Open segments: of living writers, or left by killed ones.
    pub open: Vec<PathBuf>,
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

/// As [`scan`], of what must be a dataset: one that a writer has been in, rows or not.
///
/// # Errors
/// [`Error::NoDirectory`] and [`Error::NoDataset`]; and those of [`scan`].
pub fn open(root: &Path) -> Result<Scan, Error> {
    if !root.is_dir() {
        let root = root.to_owned();
        return Err(Error::NoDirectory { root });
    }
    let found = scan(root)?;
    let is_empty = found.segments.is_empty() && found.unreadable.is_empty();
    if is_empty && !root.join(OPEN).is_dir() {
        let root = root.to_owned();
        return Err(Error::NoDataset { root });
    }
    Ok(found)
}

/// Reads the footer of every sealed segment under `root`.
///
/// # Errors
/// Only if directories cannot be read: a file that does not read is listed, not an error.
pub fn scan(root: &Path) -> Result<Scan, Error> {
    let mut scan = Scan::default();
    for found in walk::segments(root)? {
        match read_footer(&found.path) {
            Ok((rows, footer)) => scan.segments.push(Segment {
                table: found.table,
                partition: found.partition,
                path: found.path,
                bytes: found.bytes,
                rows,
                footer,
            }),
            // Retained between the two looks.
            Err(Error::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {}
            Err(error) => scan.unreadable.push(Unreadable {
                path: found.path,
                reason: error.to_string(),
            }),
        }
    }
    let leftovers = walk::leftovers(root)?.into_iter();
    scan.open = leftovers.filter(|l| l.journal).map(|l| l.path).collect();
    Ok(scan)
}

/// Rows and metadata of a segment.
type Footer = (u64, Vec<(String, String)>);

pub(crate) fn read_footer(path: &Path) -> Result<Footer, Error> {
    let file = File::open(path).map_err(|source| Error::io("open", path, source))?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
        .map_err(|error| Error::parquet("read", path, error))?;
    let metadata = metadata.metadata().file_metadata();
    let pairs = metadata.key_value_metadata().into_iter().flatten();
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
    let rows = u64::try_from(metadata.num_rows()).unwrap_or(0);
    Ok((rows, pairs))
}
