//! Reads a dataset by time, in bounded memory.
//!
//! A [`Query`] names tables, a [`TimeRange`] and observers. It opens a [`Scan`]: it does not enter directories of other
//! tables and hours, and skips opened segments whose footer excludes every requested row. [`Statistics`] counts both.
//! [`Scan::select`] then returns the [`Rows`] of one table, exactly the requested ones:
//!
//! | module | how rows are read |
//! |---|---|
//! | [`rows`] | batch by batch, hour by hour |
//! | [`timeline`] | window by window, across segments and datasets |
//! | [`cells`] | any table, without the type of its rows |
//! | [`spans`] | narrow time spans, read many times |
//! | [`last`] | of rows with totals the last of each object |
//! | `parallel` | hour by hour, decoded by two threads |
//! | `revisions` | which windows of the mesh were analyzed more than once |
//! | [`range`], `condition`, [`statistics`] | the requested time, what excludes a segment, what was excluded |

pub mod cells;
mod condition;
pub mod last;
mod parallel;
pub mod range;
mod revisions;
pub mod rows;
pub mod spans;
pub mod statistics;
pub mod timeline;

pub(crate) use condition::{Bounds, time_column};
pub use last::LastOfEach;
pub use range::{Answered, TimeRange};
pub use rows::Rows;
pub use spans::SpanReader;
pub use statistics::Statistics;
pub use timeline::Timeline;

use crate::name::OPEN;
use crate::{Error, Scan, Segment, Unreadable, scan, walk};
use condition::Condition;
use rocescope_model::Table;
use std::path::Path;

/// What to read of a dataset. The default is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub(crate) tables: Option<Vec<&'static str>>,
    pub(crate) condition: Condition,
}

/// A dataset is listed at most this often until nothing of it vanishes meanwhile.
const LISTS: u32 = 10;

/// The segments of a dataset at one moment.
#[derive(Debug, Default)]
struct List {
    segments: Vec<Segment>,
    unreadable: Vec<Unreadable>,
    statistics: Statistics,
    /// Whether a segment was gone when its footer was due.
    vanished: bool,
}

impl Query {
    /// Selects these tables.
    #[must_use]
    pub fn tables(mut self, tables: &[&'static Table]) -> Self {
        self.tables = Some(tables.iter().map(|table| table.name).collect());
        self
    }

    /// Selects rows of this time.
    #[must_use]
    pub const fn within(mut self, time: TimeRange) -> Self {
        self.condition.time = self.condition.time.narrowed(time);
        self
    }

    /// Selects rows of these observers; without names, of all.
    #[must_use]
    pub fn observers<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.condition.observers = names.into_iter().map(String::from).collect();
        self
    }

    /// Opens a dataset: a directory that a writer has used, with or without rows.
    ///
    /// # Errors
    /// [`Error::NoDirectory`], [`Error::NoDataset`], and the errors of [`scan`](Self::scan).
    pub fn open(self, root: &Path) -> Result<Scan, Error> {
        if !root.is_dir() {
            let root = root.to_owned();
            return Err(Error::NoDirectory { root });
        }
        let found = self.scan(root)?;
        if found.statistics.segments == 0 && !root.join(OPEN).is_dir() && walk::days(root)?.is_empty() {
            let root = root.to_owned();
            return Err(Error::NoDataset { root });
        }
        Ok(found)
    }

    /// Reads the footers of the sealed segments that can contain requested rows.
    ///
    /// # Errors
    /// Directories cannot be read. An unreadable file is listed and is not an error.
    pub fn scan(self, root: &Path) -> Result<Scan, Error> {
        let mut lists = 1;
        let mut found = self.list(root)?;
        // A segment that vanished was deleted, or compaction replaced it by one that is not in the list.
        while found.vanished && lists < LISTS {
            found = self.list(root)?;
            lists += 1;
        }
        let leftovers = walk::leftovers(root)?.into_iter();
        let journals = leftovers.filter(|l| l.journal && self.has_table(&l.place.table));
        Ok(Scan {
            segments: found.segments,
            unreadable: found.unreadable,
            open: journals.map(|l| l.path).collect(),
            statistics: found.statistics,
            answered: Vec::new(),
            query: self,
        })
    }

    /// Lists the segments, and reads their footers.
    fn list(&self, root: &Path) -> Result<List, Error> {
        let mut list = List::default();
        let statistics = &mut list.statistics;
        for found in walk::segments_in(root, |table| self.has_table(table), self.condition.time)? {
            statistics.segments += 1;
            if !self.condition.admits_span(found.span) {
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
                        list.segments.push(segment);
                    }
                    Err(None) => {
                        statistics.segments -= 1;
                        list.vanished = true;
                    }
                    Err(Some(file)) => list.unreadable.push(file),
                }
            }
        }
        Ok(list)
    }

    /// Whether the query selects a table.
    pub(crate) fn has_table(&self, name: &str) -> bool {
        let tables = self.tables.as_ref();
        tables.is_none_or(|tables| tables.contains(&name))
    }
}
