//! The dataset that a capture writes, and its retention.

use crate::error::EngineError;
use crate::gap::{Gap, Part};
use crate::not_stored::NotStored;
use crate::notice::{Notice, Notices};
use crate::request::DatasetRequest;
use crate::reserve::Reserve;
use rocescope_capture::file::FrameFiles;
use rocescope_model::{
    CAPTURE_TABLES, CounterRow, EventRow, PathRow, ProbeRow, QueuePairRow, STEP_CAPTURE_TABLES, Text, Time, WindowRows,
    footer,
};
use rocescope_pipeline::flow_table::FLOW_HASH_SEED;
use rocescope_pipeline::overflow::{COUNT_MIN_DEPTH, COUNT_MIN_WIDTH};
use rocescope_pipeline::{LINEAR_COUNTING_BITS, Settings};
use rocescope_store::{Error, Limits, Options, Retained, Summary, Writer, retain};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Interval between two checks for old segments: there is a new one about once a minute.
const RETAIN_INTERVAL: Duration = Duration::from_secs(60);

/// Interval between two checks for segments that are due by age, without new rows.
const TICK_INTERVAL: Duration = Duration::from_millis(500);

/// The origin of the frames of a dataset: part of the footer of every segment.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Names of interfaces, or a file.
    pub source: String,
    /// How frames are captured.
    pub mode: String,
    /// The clock of their timestamps.
    pub clock_source: &'static str,
}

impl Origin {
    /// A capture file, or standard input as `-`.
    #[must_use]
    pub fn file(path: &Path) -> Self {
        let is_pipe = path == Path::new("-");
        Self {
            source: path.display().to_string(),
            mode: if is_pipe { "stdin" } else { "file" }.into(),
            clock_source: "file",
        }
    }

    /// One or several capture files.
    #[must_use]
    pub fn files(files: &FrameFiles) -> Self {
        Self::file(Path::new(&files.name()))
    }

    /// Whether the frames come from a file, which can be read again.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.mode == "file"
    }

    /// Whether the frames were recorded before, so that the dataset may have them already.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        matches!(self.mode.as_str(), "file" | "stdin")
    }

    /// The options of a writer, with the metadata of every segment.
    #[must_use]
    pub fn options(&self, settings: &Settings) -> Options {
        let pair = |key: &str, value: String| (key.to_owned(), value);
        Options {
            metadata: vec![
                pair(footer::SOURCE, self.source.clone()),
                pair(footer::MODE, self.mode.clone()),
                pair(footer::CLOCK_SOURCE, self.clock_source.into()),
                pair(footer::WINDOW_NS, settings.window_ns.to_string()),
                pair(footer::ELEPHANT_BPS, settings.elephant_bps.to_string()),
                pair(footer::FLOW_HASH_SEED, FLOW_HASH_SEED.to_string()),
                pair(footer::LINEAR_COUNTING_BITS, LINEAR_COUNTING_BITS.to_string()),
                pair(footer::COUNT_MIN_DEPTH, COUNT_MIN_DEPTH.to_string()),
                pair(footer::COUNT_MIN_WIDTH, COUNT_MIN_WIDTH.to_string()),
                pair(footer::COUNT_MIN_CONSERVATIVE, "false".into()),
            ],
            tables: match &settings.connections {
                Some(connections) if connections.steps => STEP_CAPTURE_TABLES,
                _ => CAPTURE_TABLES,
            },
            ..Options::new(&*settings.observer)
        }
    }
}

/// The limits of a dataset; without limits, everything is kept.
#[derive(Debug, Default)]
pub struct Retention {
    /// The dataset.
    pub root: PathBuf,
    /// Delete segments whose hour ended longer ago.
    pub age: Option<Duration>,
    /// Delete the oldest segments above this total.
    pub bytes: Option<u64>,
    /// What has been deleted so far.
    pub gone: Retained,
}

impl Retention {
    /// Deletes segments beyond the limits.
    ///
    /// # Errors
    /// Those of [`retain()`].
    pub fn apply(&mut self) -> Result<(), Error> {
        if self.age.is_none() && self.bytes.is_none() {
            return Ok(());
        }
        self.delete(Limits {
            older_than: self.age.map(before_now),
            max_bytes: self.bytes,
        })
    }

    /// Deletes the oldest segments until the reserve is free, if there are limits.
    ///
    /// # Errors
    /// [`Error::NoSpace`] if the reserve is not free, and those of [`retain()`].
    pub fn make_room(&mut self, reserve: &Reserve) -> Result<(), Error> {
        let missing = reserve.missing_bytes();
        if missing == 0 {
            return Ok(());
        }
        if self.age.is_some() || self.bytes.is_some() {
            let all = retain(&self.root, Limits::default())?.kept_bytes;
            self.delete(Limits {
                older_than: None,
                max_bytes: Some(all.saturating_sub(missing)),
            })?;
        }
        match reserve.missing_bytes() {
            0 => Ok(()),
            _ => Err(reserve.error()),
        }
    }

    fn delete(&mut self, limits: Limits) -> Result<(), Error> {
        let gone = retain(&self.root, limits)?;
        self.gone.deleted_segments += gone.deleted_segments;
        self.gone.deleted_bytes += gone.deleted_bytes;
        self.gone.kept_bytes = gone.kept_bytes;
        self.gone.waiting_segments = gone.waiting_segments;
        Ok(())
    }
}

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
    /// Creates the dataset of `request`.
    ///
    /// # Errors
    /// Those of [`Writer::create`].
    pub fn create(request: &DatasetRequest, origin: &Origin, settings: &Settings) -> Result<Self, EngineError> {
        let options = Options {
            max_age: request.segment_age,
            max_bytes: request.segment_bytes,
            ..origin.options(settings)
        };
        let retention = Retention {
            root: request.root.clone(),
            age: request.keep_age,
            bytes: request.keep_bytes,
            ..Retention::default()
        };
        let reserve = Reserve::new(&request.root, request.keep_free);
        let created = Self::open(options, retention, Some(reserve));
        created.map_err(EngineError::Store)
    }

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
    pub fn report_damage(&self, notices: &Notices) {
        for damaged in &self.writer.summary().repaired.damaged {
            notices.send(Notice::JournalDamaged {
                path: damaged.path.clone(),
                reason: damaged.reason.clone(),
            });
        }
    }

    /// Appends the rows of a window; once a minute, applies the retention. A full disk ends the writing until there is
    /// space: then an event with the span that is not stored is added to `rows` and stored.
    ///
    /// # Errors
    /// Those of [`Writer::append`] other than a full disk, and of [`retain()`].
    pub fn append(&mut self, rows: &mut WindowRows, notices: &Notices) -> Result<(), Error> {
        let events = rows.events.len();
        self.store(Part::windows(&rows.windows), notices, |writer, gap, now| {
            rows.events.extend(gap);
            let appended = writer.append(rows, now);
            if appended.is_err() {
                rows.events.truncate(events);
            }
            appended
        })
    }

    /// Appends rows of probes as [`append`](Self::append) does.
    ///
    /// # Errors
    /// Those of [`Writer::append_tables`] other than a full disk, and of [`retain()`].
    pub fn append_probes(&mut self, probes: &[ProbeRow], paths: &[PathRow], notices: &Notices) -> Result<(), Error> {
        let times_ns = probes.iter().map(|row| row.time_ns);
        let times_ns = times_ns.chain(paths.iter().map(|row| row.time_ns));
        self.store(Part::rows(times_ns), notices, |writer, gap, now| {
            let events: Vec<EventRow> = gap.into_iter().collect();
            writer.append_tables(&[&events, &paths, &probes], now)
        })
    }

    /// Appends counters and queue pairs as [`append`](Self::append) does.
    ///
    /// # Errors
    /// Those of [`Writer::append_tables`] other than a full disk, and of [`retain()`].
    pub fn append_counters(
        &mut self,
        counters: &[CounterRow],
        queue_pairs: &[QueuePairRow],
        notices: &Notices,
    ) -> Result<(), Error> {
        let times_ns = counters.iter().map(|row| row.time_ns);
        let times_ns = times_ns.chain(queue_pairs.iter().map(|row| row.time_ns));
        self.store(Part::rows(times_ns), notices, |writer, gap, now| {
            let events: Vec<EventRow> = gap.into_iter().collect();
            writer.append_tables(&[&events, &queue_pairs, &counters], now)
        })
    }

    /// Writes rows with `write`, which also gets the event of a gap that ends with them.
    fn store(
        &mut self,
        part: Part,
        notices: &Notices,
        mut write: impl FnMut(&mut Writer, Option<EventRow>, Instant) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let now = self.retain()?;
        let gap = match self.gap.take() {
            None => match full(self.make_room().and_then(|()| write(&mut self.writer, None, now)))? {
                None => return Ok(()),
                Some(error) => Gap::new(part, &error, now),
            },
            Some(mut gap) => {
                if gap.is_due(now) && full(self.make_room().and_then(|()| self.writer.resume()))?.is_none() {
                    match full(write(&mut self.writer, gap.event(&self.observer), now))? {
                        None => {
                            self.not_stored.resume();
                            let missing = gap.missing();
                            notices.send(Notice::StoringAgain { missing });
                            return Ok(());
                        }
                        Some(error) => gap.reason = error.to_string(),
                    }
                }
                gap.add(&part);
                gap
            }
        };
        self.not_stored.stop(part.count);
        self.keep(gap, notices, now);
        Ok(())
    }

    /// Deletes the oldest segments until the reserve is free, if segments may be deleted.
    fn make_room(&mut self) -> Result<(), Error> {
        match &self.reserve {
            Some(reserve) => self.retention.make_room(reserve),
            None => Ok(()),
        }
    }

    fn keep(&mut self, mut gap: Gap, notices: &Notices, now: Instant) {
        if gap.is_unreported(now) {
            notices.send(Notice::NotStoring {
                missing: gap.missing(),
                reason: gap.reason.clone(),
            });
        }
        self.gap = Some(gap);
    }

    /// Seals segments that are due by age and applies the retention, at most twice a second.
    ///
    /// # Errors
    /// Those of [`Writer::rotate`] and of [`retain()`].
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
    /// Those of [`Writer::finish`] and of [`retain()`].
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

/// The time `age` ago.
fn before_now(age: Duration) -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let then = since.unwrap_or_default().saturating_sub(age);
    Time(i64::try_from(then.as_nanos()).unwrap_or(i64::MAX))
}
