//! A dataset that grows. A full disk ends the writing until there is space, and an event states what is missing.

use crate::gap::{Gap, Missing};
use crate::not_stored::NotStored;
use crate::reserve::Reserve;
use crate::retention::Retention;
use rocescope_model::{Cells, EventRow, Text, Value, WindowRows};
use rocescope_store::{Error, Options, Retained, Summary, Writer};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval between two checks for old segments: there is a new one about once a minute.
const RETAIN_INTERVAL: Duration = Duration::from_secs(60);

/// Interval between two checks for segments that are due by age, without new rows.
const TICK_INTERVAL: Duration = Duration::from_millis(500);

/// A status line about a dataset.
#[derive(Debug)]
pub enum DatasetNotice {
    /// The disk is full: rows are counted, but not stored.
    NotStoring {
        /// What is not stored so far, such as `3 windows`.
        missing: String,
        /// Why.
        reason: String,
    },
    /// Rows are stored again.
    StoringAgain {
        /// What is not stored.
        missing: String,
    },
    /// A damaged journal of an earlier run was set aside.
    JournalDamaged {
        /// Where it is now.
        path: PathBuf,
        /// What is damaged.
        reason: String,
    },
}

impl fmt::Display for DatasetNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStoring { missing, reason } => write!(
                f,
                "{reason}: {missing} not stored so far; counting goes on, and so does storing when there is space"
            ),
            Self::StoringAgain { missing } => write!(
                f,
                "there is space again: {missing} not stored, and an event in the dataset states which"
            ),
            Self::JournalDamaged { path, reason } => write!(
                f,
                "{}: a journal of an earlier capture is damaged: {reason}; what is whole of it is sealed, and the \
                 journal is kept there",
                path.display()
            ),
        }
    }
}

/// Receives the notices of a dataset.
pub type Report<'a> = &'a dyn Fn(DatasetNotice);

/// A writer, and the retention of its directory.
#[derive(Debug)]
pub struct Dataset {
    writer: Writer,
    observer: Text,
    retention: Retention,
    reserve: Option<Reserve>,
    applied: Option<Instant>,
    /// What is not stored since the disk is full.
    gap: Option<Gap>,
    /// All that is not stored.
    not_stored: Arc<NotStored>,
    ticked: Option<Instant>,
}

impl Dataset {
    /// Creates the dataset in the directory of `retention`, and leaves `reserve` free.
    ///
    /// # Errors
    /// Those of [`Writer::create`].
    pub fn open(options: Options, retention: Retention, reserve: Option<Reserve>) -> Result<Self, Error> {
        Ok(Self {
            observer: options.observer.clone().into(),
            writer: Writer::create(&retention.root, options)?,
            retention,
            reserve,
            applied: None,
            gap: None,
            not_stored: Arc::default(),
            ticked: None,
        })
    }

    /// What is not stored, while the dataset is written.
    #[must_use]
    pub fn not_stored(&self) -> Arc<NotStored> {
        Arc::clone(&self.not_stored)
    }

    /// Reports the damaged journals that the writer found at its start.
    pub fn report_damage(&self, report: Report<'_>) {
        for damaged in &self.writer.summary().repaired.damaged {
            report(DatasetNotice::JournalDamaged {
                path: damaged.path.clone(),
                reason: damaged.reason.clone(),
            });
        }
    }

    /// Appends the rows of a window; once a minute, applies the retention. A full disk ends the writing until there is
    /// space: then an event with the span that is not stored is added to `rows` and stored.
    ///
    /// # Errors
    /// Those of [`Writer::append`] other than a full disk, and of [`rocescope_store::retain()`].
    pub fn append_windows(&mut self, rows: &mut WindowRows, report: Report<'_>) -> Result<(), Error> {
        let events = rows.events.len();
        self.store(Missing::windows(&rows.windows), report, |writer, gap, now| {
            rows.events.extend(gap);
            let appended = writer.append(rows, now);
            if appended.is_err() {
                rows.events.truncate(events);
            }
            appended
        })
    }

    /// Appends rows of any tables as [`append_windows`](Self::append_windows) does, all of them or none.
    ///
    /// # Errors
    /// Those of [`Writer::append_tables`] other than a full disk, and of [`rocescope_store::retain()`].
    pub fn append(&mut self, tables: &[&dyn Cells], report: Report<'_>) -> Result<(), Error> {
        let times_ns = tables.iter().flat_map(|cells| times_ns(*cells));
        self.store(Missing::rows(times_ns), report, |writer, gap, now| {
            let events: Vec<EventRow> = gap.into_iter().collect();
            let mut all: Vec<&dyn Cells> = vec![&events];
            all.extend(tables);
            writer.append_tables(&all, now)
        })
    }

    /// Writes rows with `write`, which also gets the event of a gap that ends with them.
    fn store(
        &mut self,
        missing: Missing,
        report: Report<'_>,
        mut write: impl FnMut(&mut Writer, Option<EventRow>, Instant) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let now = self.retain()?;
        let gap = match self.gap.take() {
            None => match full(self.make_room().and_then(|()| write(&mut self.writer, None, now)))? {
                None => return Ok(()),
                Some(error) => Gap::new(missing, &error, now),
            },
            Some(mut gap) => {
                if gap.is_due(now) && full(self.make_room().and_then(|()| self.writer.resume()))?.is_none() {
                    match full(write(&mut self.writer, gap.event(&self.observer), now))? {
                        None => {
                            self.not_stored.resume();
                            report(DatasetNotice::StoringAgain { missing: gap.missing() });
                            return Ok(());
                        }
                        Some(error) => gap.reason = error.to_string(),
                    }
                }
                gap.add(&missing);
                gap
            }
        };
        self.not_stored.stop(missing.count);
        self.keep(gap, report, now);
        Ok(())
    }

    /// Deletes the oldest segments until the reserve is free, if segments may be deleted.
    fn make_room(&mut self) -> Result<(), Error> {
        match &self.reserve {
            Some(reserve) => self.retention.make_room(reserve),
            None => Ok(()),
        }
    }

    fn keep(&mut self, mut gap: Gap, report: Report<'_>, now: Instant) {
        if gap.is_unreported(now) {
            report(DatasetNotice::NotStoring {
                missing: gap.missing(),
                reason: gap.reason.clone(),
            });
        }
        self.gap = Some(gap);
    }

    /// Seals segments that are due by age and applies the retention, at most twice a second.
    ///
    /// # Errors
    /// Those of [`Writer::rotate`] and of [`rocescope_store::retain()`].
    pub fn tick(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        if self.ticked.is_some_and(|then| now.duration_since(then) < TICK_INTERVAL) {
            return Ok(());
        }
        self.ticked = Some(now);
        self.retain()?;
        self.writer.rotate(now)
    }

    fn retain(&mut self) -> Result<Instant, Error> {
        let now = Instant::now();
        let due = self
            .applied
            .is_none_or(|then| now.duration_since(then) >= RETAIN_INTERVAL);
        if due {
            self.applied = Some(now);
            self.retention.apply()?;
        }
        Ok(now)
    }

    /// Seals everything, and applies the retention.
    ///
    /// # Errors
    /// Those of [`Writer::finish`] and of [`rocescope_store::retain()`].
    pub fn finish(mut self) -> Result<(Summary, Retained), Error> {
        if let Some(gap) = self.gap.take()
            && full(self.writer.resume())?.is_none()
        {
            let events: Vec<EventRow> = gap.event(&self.observer).into_iter().collect();
            full(self.writer.append_cells(&events, Instant::now()))?;
        }
        let mut summary = self.writer.finish()?;
        summary.refused_windows = self.not_stored.count();
        self.retention.apply()?;
        Ok((summary, self.retention.gone))
    }
}

/// Returns the error of a full disk; other errors fail.
fn full(result: Result<(), Error>) -> Result<Option<Error>, Error> {
    match result {
        Err(error) if error.is_no_space() => Ok(Some(error)),
        result => result.map(|()| None),
    }
}

/// The times of rows, by their column `time_ns`.
fn times_ns(cells: &dyn Cells) -> impl Iterator<Item = i64> + Clone {
    let column = cells.table().columns.iter().position(|column| column.name == "time_ns");
    let rows = column.map_or(0, |_| cells.rows());
    let cell = move |row| cells.value(row, column.unwrap_or_default());
    (0..rows).filter_map(move |row| match cell(row) {
        Value::I64(time_ns) => Some(time_ns),
        _ => None,
    })
}
