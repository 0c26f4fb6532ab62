//! Reading a dataset by time: what to open, and the rows in it, in bounded memory.
//!
//! A [`Query`] names tables, a [`TimeRange`] and observers. It opens a [`Scan`]: directories of other
//! tables and hours are not entered, and of the segments that are opened, those whose footer excludes
//! every row asked for are left out. [`Statistics`] counts both. [`Scan::select`] then gives the
//! [`Rows`] of one table, with exactly the rows asked for:
//!
//! | module | how rows come |
//! |---|---|
//! | [`rows`] | batch by batch, hour by hour |
//! | [`timeline`] | window by window, across segments and datasets |
//! | [`spans`] | narrow spans of time, read many times |
//! | `lanes` | hour by hour, decoded by two threads |
//! | [`range`], `condition`, [`statistics`] | the time asked for, what excludes a segment, what was excluded |

mod condition;
mod lanes;
pub mod range;
pub mod rows;
pub mod spans;
pub mod statistics;
pub mod timeline;

pub(crate) use condition::{Bounds, time_column};
pub use range::TimeRange;
pub use rows::Rows;
pub use spans::SpanReader;
pub use statistics::Statistics;
pub use timeline::Timeline;

use crate::name::OPEN;
use crate::{Error, Scan, scan, walk};
use condition::Condition;
use rocescope_model::Table;
use std::path::Path;

/// What to read of a dataset. The default is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    tables: Option<Vec<&'static str>>,
    pub(crate) condition: Condition,
}

impl Query {
    /// These tables only.
    #[must_use]
    pub fn tables(mut self, tables: &[&'static Table]) -> Self {
        self.tables = Some(tables.iter().map(|table| table.name).collect());
        self
    }

    /// Rows of this time only.
    #[must_use]
    pub const fn within(mut self, time: TimeRange) -> Self {
        self.condition.time = self.condition.time.narrowed(time);
        self
    }

    /// Rows of these observers only; without names, of all.
    #[must_use]
    pub fn observers<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.condition.observers = names.into_iter().map(String::from).collect();
        self
    }

    /// Opens what must be a dataset: a directory that a writer has been in, rows or not.
    ///
    /// # Errors
    /// [`Error::NoDirectory`] and [`Error::NoDataset`]; and those of [`scan`](Self::scan).
    pub fn open(self, root: &Path) -> Result<Scan, Error> {
        if !root.is_dir() {
            let root = root.to_owned();
            return Err(Error::NoDirectory { root });
        }
        let found = self.scan(root)?;
        if found.statistics.segments == 0 && !root.join(OPEN).is_dir() {
            let root = root.to_owned();
            return Err(Error::NoDataset { root });
        }
        Ok(found)
    }

    /// Reads the footers of the sealed segments that may hold rows asked for.
    ///
    /// # Errors
    /// Only if directories cannot be read: a file that does not read is listed, not an error.
    pub fn scan(self, root: &Path) -> Result<Scan, Error> {
        let mut statistics = Statistics::default();
        let mut segments = Vec::new();
        let mut unreadable = Vec::new();
        for found in walk::segments(root)? {
            statistics.segments += 1;
            if !self.has_table(&found.table) {
                statistics.other_tables += 1;
            } else if !self.condition.admits_hour(&found.partition) {
                statistics.other_hours += 1;
            } else {
                match scan::read_segment(found) {
                    Ok(segment) if !self.condition.admits_time(&segment.bounds) => {
                        statistics.other_times += 1;
                    }
                    Ok(segment) if !self.condition.admits_observers(&segment.bounds) => {
                        statistics.other_observers += 1;
                    }
                    Ok(segment) => {
                        statistics.rows += segment.rows;
                        statistics.bytes += segment.bytes;
                        segments.push(segment);
                    }
                    // Deleted since the directory was read.
                    Err(None) => statistics.segments -= 1,
                    Err(Some(file)) => unreadable.push(file),
                }
            }
        }
        let leftovers = walk::leftovers(root)?.into_iter();
        let journals = leftovers.filter(|l| l.journal && self.has_table(&l.place.table));
        Ok(Scan {
            segments,
            unreadable,
            open: journals.map(|l| l.path).collect(),
            statistics,
            query: self,
        })
    }

    fn has_table(&self, name: &str) -> bool {
        let tables = self.tables.as_ref();
        tables.is_none_or(|tables| tables.contains(&name))
    }
}
