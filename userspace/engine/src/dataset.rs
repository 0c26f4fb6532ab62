//! The dataset that a capture writes, and how much of it stays.

use rocescope_model::{Cells, Time, WindowRows};
use rocescope_store::{Error, Limits, Retained, Summary, Writer, retain};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often old segments are looked for: there is a new one about once a minute.
const LOOK: Duration = Duration::from_secs(60);

/// What may stay of a dataset; without limits, everything.
#[derive(Debug, Default)]
pub struct Retention {
    /// The dataset.
    pub root: PathBuf,
    /// Segments whose hour ended longer ago go.
    pub age: Option<Duration>,
    /// The oldest segments go until no more bytes than these remain.
    pub bytes: Option<u64>,
    /// What has gone so far.
    pub gone: Retained,
}

impl Retention {
    /// Deletes what may not stay.
    ///
    /// # Errors
    /// Those of [`retain()`].
    pub fn apply(&mut self) -> Result<(), Error> {
        if self.age.is_none() && self.bytes.is_none() {
            return Ok(());
        }
        let limits = Limits {
            older_than: self.age.map(before_now),
            max_bytes: self.bytes,
        };
        let gone = retain(&self.root, limits)?;
        self.gone.deleted_segments += gone.deleted_segments;
        self.gone.deleted_bytes += gone.deleted_bytes;
        self.gone.kept_bytes = gone.kept_bytes;
        Ok(())
    }
}

/// A writer, and what keeps its directory within bounds.
#[derive(Debug)]
pub struct Dataset {
    writer: Writer,
    retention: Retention,
    looked: Option<Instant>,
}

impl Dataset {
    /// What `writer` writes, within the bounds of `retention`.
    #[must_use]
    pub const fn new(writer: Writer, retention: Retention) -> Self {
        Self {
            writer,
            retention,
            looked: None,
        }
    }

    /// Appends the rows of a window; once a minute, deletes what may not stay.
    ///
    /// # Errors
    /// Those of [`Writer::append`] and of [`retain()`].
    pub fn append(&mut self, rows: &WindowRows) -> Result<(), Error> {
        let now = self.look()?;
        self.writer.append(rows, now)
    }

    /// Appends rows of any one table; once a minute, deletes what may not stay.
    ///
    /// # Errors
    /// Those of [`Writer::append_cells`] and of [`retain()`].
    pub fn append_cells(&mut self, cells: &dyn Cells) -> Result<(), Error> {
        let now = self.look()?;
        self.writer.append_cells(cells, now)
    }

    fn look(&mut self) -> Result<Instant, Error> {
        let now = Instant::now();
        let due = self
            .looked
            .is_none_or(|then| now.duration_since(then) >= LOOK);
        if due {
            self.looked = Some(now);
            self.retention.apply()?;
        }
        Ok(now)
    }

    /// Seals everything, and deletes what may not stay.
    ///
    /// # Errors
    /// Those of [`Writer::finish`] and of [`retain()`].
    pub fn finish(mut self) -> Result<(Summary, Retained), Error> {
        let summary = self.writer.finish()?;
        self.retention.apply()?;
        Ok((summary, self.retention.gone))
    }
}

/// The instant that lies so far in the past.
fn before_now(age: Duration) -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let then = since.unwrap_or_default().saturating_sub(age);
    Time(i64::try_from(then.as_nanos()).unwrap_or(i64::MAX))
}
