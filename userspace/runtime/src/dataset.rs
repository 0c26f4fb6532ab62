//! A dataset that grows. A disk that is full, fails or cannot be written ends the writing until it works again, and an
//! event states what is missing.

use crate::gap::{Gap, Missing, Unit};
use crate::not_stored::NotStored;
use crate::reserve::Reserve;
use crate::retention::Retention;
use rocescope_model::{Cells, EventRow, Row, Text, Value, WindowRow, WindowRows};
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
    /// The disk is full or fails: rows are counted, but not stored.
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
    /// Old segments could not be deleted.
    NotDeleted {
        /// Why.
        reason: String,
    },
    /// Rollups could not be made.
    NotRolledUp {
        /// Why.
        reason: String,
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
                "{reason}: {missing} not stored so far; counting goes on, and storing when the dataset can be written again"
            ),
            Self::StoringAgain { missing } => write!(
                f,
                "the dataset is written again: {missing} not stored, and an event in the dataset states which"
            ),
            Self::NotDeleted { reason } => {
                write!(f, "old segments are not deleted, which is tried every minute: {reason}")
            }
            Self::NotRolledUp { reason } => {
                write!(f, "rollups are not made, which is tried every ten minutes: {reason}")
            }
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
    /// What is not stored since the disk is full or fails.
    gap: Option<Gap>,
    /// All that is not stored.
    not_stored: Arc<NotStored>,
    /// What is counted: windows or rows.
    unit: Unit,
    /// Accepted rows that are gone, as far as they are counted as not stored.
    lost: u64,
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
            unit: Unit::Row,
            lost: 0,
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

    /// Appends the rows of a window; once a minute, applies the retention. An error of the disk ends the writing until it
    /// has passed: then an event with the span that is not stored is added to `rows` and stored.
    ///
    /// # Errors
    /// Those of [`Writer::append`] other than errors of the disk.
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
    /// Those of [`Writer::append_tables`] other than errors of the disk.
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
        let now = Instant::now();
        self.unit = missing.unit;
        self.retain(report, now)?;
        let gap = match self.gap.take() {
            None => match of_disk(self.make_room().and_then(|()| write(&mut self.writer, None, now)))? {
                None => return Ok(()),
                Some(error) => Gap::new(missing, &error, now),
            },
            Some(mut gap) => {
                if gap.is_due(now) {
                    match self.write_again(&mut gap, &mut write, now)? {
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

    /// Tries to end a gap, and to write; returns the error of the disk.
    fn write_again(
        &mut self,
        gap: &mut Gap,
        write: &mut impl FnMut(&mut Writer, Option<EventRow>, Instant) -> Result<(), Error>,
        now: Instant,
    ) -> Result<Option<Error>, Error> {
        if let Some(error) = of_disk(self.make_room().and_then(|()| self.writer.resume()))? {
            return Ok(Some(error));
        }
        self.count_lost(gap);
        of_disk(write(&mut self.writer, gap.event(&self.observer), now))
    }

    /// Adds accepted rows that are gone to a gap.
    fn count_lost(&mut self, gap: &mut Gap) {
        let lost = lost(self.writer.summary(), gap.unit());
        let new = lost.saturating_sub(self.lost);
        self.lost = lost;
        gap.add_count(new);
        self.not_stored.add(new);
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

    /// Seals segments that are due by age and applies the retention, at most twice a second. The next append reports an
    /// error of the disk.
    ///
    /// # Errors
    /// Those of [`Writer::rotate`] other than errors of the disk.
    pub fn tick(&mut self, report: Report<'_>) -> Result<(), Error> {
        let now = Instant::now();
        if self.ticked.is_some_and(|then| now.duration_since(then) < TICK_INTERVAL) {
            return Ok(());
        }
        self.ticked = Some(now);
        self.retain(report, now)?;
        of_disk(self.writer.rotate(now)).map(|_| ())
    }

    /// Applies the retention once a minute. Rows are stored also while that fails.
    fn retain(&mut self, report: Report<'_>, now: Instant) -> Result<(), Error> {
        let due = self
            .applied
            .is_none_or(|then| now.duration_since(then) >= RETAIN_INTERVAL);
        if due {
            self.applied = Some(now);
            if let Some(error) = of_disk(self.retention.apply())? {
                report(DatasetNotice::NotDeleted {
                    reason: error.to_string(),
                });
            }
            if let Some(error) = self.retention.take_fault() {
                report(DatasetNotice::NotRolledUp {
                    reason: error.to_string(),
                });
            }
        }
        Ok(())
    }

    /// Seals everything, and applies the retention.
    ///
    /// # Errors
    /// Those of [`Writer::finish`] and of [`rocescope_store::retain()`].
    pub fn finish(mut self) -> Result<(Summary, Retained), Error> {
        if of_disk(self.writer.resume())?.is_none()
            && let Some(mut gap) = self.gap.take()
        {
            self.count_lost(&mut gap);
            let events: Vec<EventRow> = gap.event(&self.observer).into_iter().collect();
            of_disk(self.writer.append_cells(&events, Instant::now()))?;
        }
        let mut summary = self.writer.finish()?;
        self.not_stored.add(lost(&summary, self.unit).saturating_sub(self.lost));
        summary.refused_windows = self.not_stored.count();
        self.retention.apply()?;
        Ok((summary, self.retention.gone))
    }
}

/// How much of what was accepted is gone.
fn lost(summary: &Summary, unit: Unit) -> u64 {
    match unit {
        Unit::Window => summary.lost.get(WindowRow::TABLE.name).copied().unwrap_or_default(),
        Unit::Row => summary.lost.values().sum(),
    }
}

/// Returns an error of the disk; other errors fail.
fn of_disk(result: Result<(), Error>) -> Result<Option<Error>, Error> {
    match result {
        Err(error) if error.is_of_disk() => Ok(Some(error)),
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

#[cfg(test)]
mod tests {
    use super::{Dataset, DatasetNotice};
    use crate::retention::Retention;
    use rocescope_model::{EventRow, Time, WindowRow, WindowRows};
    use rocescope_store::{Options, scan};
    use rocescope_testkit::until;
    use std::cell::RefCell;
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    const SECOND_NS: i64 = 1_000_000_000;

    fn open(root: &Path) -> Dataset {
        let options = Options {
            max_age: Duration::ZERO,
            ..Options::new("rail3")
        };
        let retention = Retention {
            root: root.to_owned(),
            ..Retention::default()
        };
        Dataset::open(options, retention, None).unwrap()
    }

    fn window(n: u64) -> WindowRows {
        let start = 1_795_228_200 * SECOND_NS + n as i64 * SECOND_NS;
        let row = WindowRow {
            observer: "rail3".into(),
            window_start: Time(start),
            window_start_ns: start,
            window_ns: SECOND_NS,
            ..WindowRow::default()
        };
        WindowRows {
            windows: vec![row],
            ..WindowRows::default()
        }
    }

    /// A directory that could not be written for three seconds ended the storing for good, or the capture.
    #[test]
    fn a_failure_that_passes_costs_the_rows_of_its_time_and_an_event_names_them() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let mut dataset = open(root);
        let not_stored = dataset.not_stored();
        let notices = RefCell::new(Vec::new());
        let report = |notice: DatasetNotice| notices.borrow_mut().push(notice.to_string());
        let mut appended = 0;
        let mut append = |dataset: &mut Dataset| {
            dataset.append_windows(&mut window(appended), &report).unwrap();
            appended += 1;
        };
        append(&mut dataset);
        // Root may write to every directory, so a file is in its place.
        fs::write(root.join("windows"), "").unwrap();
        dataset.tick(&report).unwrap();
        append(&mut dataset);
        assert!(not_stored.is_stopped() && not_stored.count() == 1);
        fs::remove_file(root.join("windows")).unwrap();
        until("it is written again", || {
            append(&mut dataset);
            !not_stored.is_stopped()
        });
        let (summary, _) = dataset.finish().unwrap();
        assert_eq!(summary.refused_windows, not_stored.count());
        let found = scan(root).unwrap();
        assert_eq!(found.row_count("windows") + not_stored.count(), appended);
        let events: Vec<EventRow> = found.rows().unwrap();
        assert_eq!((events.len(), events[0].count), (1, not_stored.count()));
        let notices = notices.borrow();
        assert!(notices[0].contains("1 window not stored so far"), "{notices:?}");
        assert!(notices[1].starts_with("the dataset is written again"), "{notices:?}");
        assert_eq!(notices.len(), 2);
    }

    #[test]
    fn windows_of_a_directory_that_vanished_are_counted_at_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("dataset");
        let mut dataset = open(&root);
        dataset.append_windows(&mut window(0), &|_| {}).unwrap();
        fs::remove_dir_all(&root).unwrap();
        let (summary, _) = dataset.finish().unwrap();
        assert_eq!(summary.refused_windows, 1);
    }
}
