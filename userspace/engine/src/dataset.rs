//! The dataset that a capture writes, and its retention.

use crate::error::EngineError;
use crate::notice::{Notice, Notices};
use crate::request::DatasetRequest;
use rocescope_capture::file::FrameFiles;
use rocescope_model::{Cells, Time, WindowRows, footer};
use rocescope_pipeline::flow_table::FLOW_HASH_SEED;
use rocescope_pipeline::overflow::{COUNT_MIN_DEPTH, COUNT_MIN_WIDTH};
use rocescope_pipeline::{LINEAR_COUNTING_BITS, Settings};
use rocescope_store::{Error, Limits, Options, Retained, Summary, Writer, retain};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Interval between two checks for old segments: there is a new one about once a minute.
const RETAIN_INTERVAL: Duration = Duration::from_secs(60);

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

/// A writer, and the retention of its directory.
#[derive(Debug)]
pub struct Dataset {
    writer: Writer,
    retention: Retention,
    applied: Option<Instant>,
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
        let writer = Writer::create(&request.root, options).map_err(EngineError::Store)?;
        Ok(Self::new(writer, retention))
    }

    /// A dataset from a writer and its retention.
    #[must_use]
    pub const fn new(writer: Writer, retention: Retention) -> Self {
        Self {
            writer,
            retention,
            applied: None,
        }
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

    /// Appends the rows of a window; once a minute, applies the retention.
    ///
    /// # Errors
    /// Those of [`Writer::append`] and of [`retain()`].
    pub fn append(&mut self, rows: &WindowRows) -> Result<(), Error> {
        let now = self.retain()?;
        self.writer.append(rows, now)
    }

    /// Appends rows of any one table; once a minute, applies the retention.
    ///
    /// # Errors
    /// Those of [`Writer::append_cells`] and of [`retain()`].
    pub fn append_cells(&mut self, cells: &dyn Cells) -> Result<(), Error> {
        let now = self.retain()?;
        self.writer.append_cells(cells, now)
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
        let summary = self.writer.finish()?;
        self.retention.apply()?;
        Ok((summary, self.retention.gone))
    }
}

/// The time `age` ago.
fn before_now(age: Duration) -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let then = since.unwrap_or_default().saturating_sub(age);
    Time(i64::try_from(then.as_nanos()).unwrap_or(i64::MAX))
}
