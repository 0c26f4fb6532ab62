//! The destination of every source: runs in, a summary and a dataset out.

use crate::error::{EngineError, Result};
use crate::file_writer::FileWriter;
use crate::frames::FrameOutput;
use crate::kept::Kept;
use crate::notice::{Notice, Notices};
use crate::origin::{self, Origin};
use crate::outcome::Outcome;
use crate::recorder::Recorder;
use crate::request::IntakeRequest;
use crate::stored::Stored;
use rocescope_capture::file::Frame;
use rocescope_model::{EventRow, WindowRows};
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::Counters;
use rocescope_runtime::dataset::Dataset;
use rocescope_runtime::not_stored::NotStored;
use rocescope_store::{Retained, Summary};
use rocescope_wire::{Class, Packet};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The pipeline, and the outputs of its rows.
#[derive(Debug)]
pub struct Intake {
    /// Ingests the runs.
    pub pipeline: Pipeline,
    outputs: Outputs,
}

/// Receives the rows of every finished window, and of connections that are due. A break ends the capture
/// with [`EngineError::Stopped`].
pub type Tap = Box<dyn FnMut(&mut WindowRows) -> ControlFlow<()>>;

/// Events that others ask for, such as recordings: called with the rows of each turn, before anyone gets them.
pub type Asked = Box<dyn FnMut(&WindowRows) -> Vec<EventRow>>;

/// The destinations of rows.
#[derive(Default)]
pub struct Outputs {
    dataset: Option<Target>,
    /// What the dataset has already, if the frames may be among it.
    stored: Option<Stored>,
    /// What the dataset lacks.
    not_stored: Option<Arc<NotStored>>,
    /// Why the dataset is not written any more.
    store_error: Option<rocescope_store::Error>,
    notices: Notices,
    taps: Vec<Tap>,
    asked: Option<Asked>,
    recorder: Option<Recorder>,
    frames: Option<FrameOutput>,
    /// Rows of connections and events kept in memory, if requested.
    kept: Option<Kept>,
}

/// Who writes the dataset.
#[derive(Debug)]
enum Target {
    /// Each window, before the next one is closed: `kill -9` costs at most one window.
    Live(Box<Dataset>),
    /// The windows of a file.
    File(Box<FileWriter>),
}

impl Target {
    fn append(&mut self, mut rows: WindowRows, notices: &Notices) -> Result<(), rocescope_store::Error> {
        match self {
            _ if rows.is_empty() => Ok(()),
            Self::Live(dataset) => dataset.append_windows(&mut rows, &notices.dataset()),
            Self::File(writer) => writer.append(&mut rows),
        }
    }

    fn finish(self) -> Result<(Summary, Retained), rocescope_store::Error> {
        match self {
            Self::Live(dataset) => dataset.finish(),
            Self::File(writer) => writer.finish(),
        }
    }
}

impl fmt::Debug for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outputs")
            .field("dataset", &self.dataset)
            .field("taps", &self.taps.len())
            .finish_non_exhaustive()
    }
}

impl From<Option<Dataset>> for Outputs {
    fn from(dataset: Option<Dataset>) -> Self {
        Self {
            not_stored: dataset.as_ref().map(Dataset::not_stored),
            dataset: dataset.map(|dataset| Target::Live(Box::new(dataset))),
            ..Self::default()
        }
    }
}

impl Outputs {
    /// Opens the destinations of `request`; `names` are the interfaces by index.
    ///
    /// # Errors
    /// The directory of the dataset or of the recordings cannot be used.
    pub fn open(
        request: &IntakeRequest,
        origin: &Origin,
        names: Vec<(u32, String)>,
        notices: &Notices,
    ) -> Result<Self> {
        let frames = FrameOutput::open(request, &names, notices)?;
        let recorder = Recorder::create(request, names, notices)?;
        let mut not_stored = None;
        let dataset = match &request.dataset {
            None => None,
            Some(dataset) => {
                let dataset = origin::create(dataset, origin, &request.settings)?;
                dataset.report_damage(&notices.dataset());
                not_stored = Some(dataset.not_stored());
                Some(match origin.is_file() {
                    true => Target::File(Box::new(
                        FileWriter::start(dataset, notices.clone()).map_err(EngineError::Thread)?,
                    )),
                    false => Target::Live(Box::new(dataset)),
                })
            }
        };
        let stored = request.dataset.as_ref().filter(|_| origin.is_recorded());
        Ok(Self {
            recorder,
            frames,
            dataset,
            not_stored,
            stored: stored.map(|dataset| Stored::of(&dataset.root, &request.settings.observer)),
            notices: notices.clone(),
            store_error: None,
            taps: Vec::new(),
            asked: None,
            kept: request.keeps_connections.then(Default::default),
        })
    }

    /// Passes the rows to `tap` too.
    pub fn tap(&mut self, tap: Tap) {
        self.taps.push(tap);
    }

    /// Adds the events that `asked` returns to the rows.
    pub fn ask(&mut self, asked: Asked) {
        self.asked = Some(asked);
    }

    /// What the dataset lacks, while it is written; `None` without one.
    pub(crate) fn not_stored(&self) -> Option<Arc<NotStored>> {
        self.not_stored.clone()
    }

    /// Stores rows. If the dataset has their windows already, that ends the capture, and seals what was new.
    fn store(&mut self, rows: &mut WindowRows) -> Result<()> {
        let windows = rows.windows.len() as u64;
        let Some(target) = &mut self.dataset else {
            if let Some(not_stored) = self.not_stored.as_ref().filter(|_| self.store_error.is_some()) {
                not_stored.stop(windows);
            }
            return Ok(());
        };
        let early = match self.stored.as_mut().map(|stored| stored.admit(rows)) {
            None => WindowRows::default(),
            Some(Ok(Some(early))) => early,
            Some(Ok(None)) => return Ok(()),
            Some(Err(refused)) => {
                let sealed = self.dataset.take().map(Target::finish).transpose();
                return sealed.map_err(EngineError::Dataset).and(Err(refused));
            }
        };
        // Taps and kept rows need them too.
        let is_last = self.taps.is_empty() && self.kept.is_none();
        let stored = target.append(early, &self.notices);
        let stored = stored.and_then(|()| match target {
            Target::Live(dataset) => dataset.append_windows(rows, &self.notices.dataset()),
            Target::File(writer) if is_last => writer.append(rows),
            Target::File(writer) => writer.append(&mut rows.clone()),
        });
        if let Err(error) = stored {
            self.end_storing(error, windows);
        }
        Ok(())
    }

    /// Seals what is due by age.
    fn tick(&mut self) {
        let Some(Target::Live(dataset)) = &mut self.dataset else {
            return;
        };
        let ticked = dataset.tick(&self.notices.dataset());
        if let Err(error) = ticked {
            self.end_storing(error, 0);
        }
    }

    /// The counts go on without the dataset, and the outcome is incomplete.
    fn end_storing(&mut self, error: rocescope_store::Error, windows: u64) {
        self.notices.send(Notice::StoringEnded(error.to_string()));
        self.store_error = Some(error);
        self.dataset = None;
        if let Some(not_stored) = &self.not_stored {
            not_stored.stop(windows);
        }
    }

    /// Writes the rows of a window at `time_ns`. What stops the writing does not stop the capture.
    fn take(&mut self, rows: &mut WindowRows, time_ns: u64) -> Result<()> {
        if let Some(asked) = &mut self.asked {
            let events = asked(rows);
            rows.events.extend(events);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.turn(&rows.events, time_ns);
        }
        if rows.is_empty() {
            return Ok(());
        }
        self.store(rows)?;
        for tap in &mut self.taps {
            if tap(rows).is_break() {
                return Err(EngineError::Stopped);
            }
        }
        if let Some(kept) = &mut self.kept {
            kept.take(rows);
        }
        rows.clear();
        Ok(())
    }
}

impl Intake {
    /// An intake without runs yet.
    ///
    /// # Errors
    /// The settings are invalid.
    pub fn new(settings: Settings, outputs: impl Into<Outputs>) -> Result<Self> {
        let outputs = outputs.into();
        // Without a dataset nothing reads the sketches.
        let sketches = settings.sketches && outputs.dataset.is_some();
        let settings = Settings { sketches, ..settings };
        Ok(Self {
            pipeline: Pipeline::new(settings)?,
            outputs,
        })
    }

    /// Passes the rows to `tap` too.
    pub fn tap(&mut self, tap: Tap) {
        self.outputs.tap(tap);
    }

    /// Keeps the rows of connections and events in memory until the end.
    pub fn keep_connections(&mut self) {
        self.outputs.kept = Some(Default::default());
    }

    /// Passes a frame to the flight recorder and to the file of frames, if there are any. Returns whether the capture is
    /// to end.
    #[inline]
    pub fn frame(&mut self, frame: &Frame<'_>, class: &Class<&Packet>) -> bool {
        let Self { pipeline, outputs } = self;
        let wants = |packet: Option<&Packet>| match packet {
            Some(packet) => pipeline.wants(packet),
            None => pipeline.settings().filter.is_none(),
        };
        if let Some(recorder) = &mut outputs.recorder {
            recorder.frame(frame, class, wants);
        }
        let Some(frames) = &mut outputs.frames else {
            return false;
        };
        let packet = match class {
            Class::Roce(packet) => Some(*packet),
            _ => None,
        };
        if wants(packet) {
            frames.frame(frame);
        }
        frames.is_over()
    }

    /// Hands the frames written so far to their reader. Returns whether the capture is to end.
    pub fn flush_frames(&mut self) -> bool {
        let frames = &mut self.outputs.frames;
        frames.as_mut().is_some_and(|frames| {
            frames.flush();
            frames.is_over()
        })
    }

    /// Advances the clock to `time_ns`, see [`Pipeline::turn`], and writes finished windows.
    ///
    /// # Errors
    /// The dataset has windows of the capture already, or a tap ends the capture.
    pub fn turn(&mut self, time_ns: u64, counters: &Counters) -> Result<()> {
        let Self { pipeline, outputs } = self;
        pipeline.turn_by_window(time_ns, counters, &mut |rows| outputs.take(rows, time_ns))?;
        outputs.take(pipeline.rows(), time_ns)
    }

    /// Like [`turn`](Self::turn), for counters that were read at `read_ns`: see [`Pipeline::turn_at_reading`].
    ///
    /// # Errors
    /// Those of [`turn`](Self::turn).
    pub fn turn_at_reading(&mut self, time_ns: u64, read_ns: u64, counters: &Counters) -> Result<()> {
        let Self { pipeline, outputs } = self;
        pipeline.turn_at_reading(time_ns, read_ns, counters, &mut |rows| outputs.take(rows, time_ns))?;
        outputs.take(pipeline.rows(), time_ns)
    }

    /// Seals the segments that are due by age, also if no window ends for long. Call it often while a live capture
    /// runs; it does nothing most of the time.
    pub fn tick(&mut self) {
        self.outputs.tick();
    }

    /// Closes all windows and seals all segments. All runs must have been ingested before.
    ///
    /// # Errors
    /// Those of [`turn`](Self::turn).
    pub fn finish(mut self, counters: &Counters) -> Result<Outcome> {
        let Self { pipeline, outputs } = &mut self;
        // The end closes windows, not the time.
        pipeline.finish_by_window(counters, &mut |rows| outputs.take(rows, 0))?;
        outputs.take(pipeline.rows(), 0)?;
        let store = outputs.dataset.take().map(Target::finish);
        let (store, store_error) = match store {
            None => (None, outputs.store_error.take()),
            Some(Ok(summary)) => (Some(summary), None),
            Some(Err(error)) => (None, Some(error)),
        };
        Ok(Outcome {
            untimed_frames: 0,
            summary: self.pipeline.summary(),
            counters: *counters,
            ended_early: None,
            store,
            store_error,
            connections: self.pipeline.connections(),
            recorder: self.outputs.recorder.take().map(Recorder::finish),
            frames: self.outputs.frames.take().and_then(FrameOutput::finish),
            kept: self.outputs.kept.take(),
        })
    }
}
