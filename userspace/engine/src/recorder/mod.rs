//! The flight recorder: the headers of the last frames in memory, and a pcapng file around each event.
//!
//! A NAK or RNR NAK is known as soon as its frame arrives, so its file begins immediately and the ring need
//! not reach further back than requested. Jitter is known only some windows later: see `REACH_WINDOWS`.
//! An event whose frames overlap with the open file extends it; no frame is written more than once.
//!
//! | module | what it does |
//! |---|---|
//! | `budget` | limits the number and size of files |
//! | `event` | the events to record, and the comment of their file |
//! | `recording` | one file |
//! | `summary` | the summary at the end |

mod budget;
mod event;
mod recording;
mod summary;

pub use budget::Deleted;
pub use summary::{REFUSALS, RecorderSummary};

use crate::error::{Conflict, EngineError};
use crate::notice::{Notice, Notices};
use crate::request::IntakeRequest;
use budget::{Budget, Refusal};
use event::Event;
use recording::Recording;
use rocescope_capture::file::Frame;
use rocescope_capture::history::{History, SLICE_MAX};
use rocescope_model::EventRow;
use rocescope_wire::Stream;
use rocescope_wire::extension::Acknowledgement;
use rocescope_wire::{Class, Packet};
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

/// Time recorded after an event, in nanoseconds.
const AFTER_NS: u64 = 1_000_000_000;
/// Jitter is reported when the window after the change closes: up to three windows after its beginning, four
/// if the change takes two, plus the lateness.
const REACH_WINDOWS: u64 = 4;
/// Bytes kept of frames other than RoCEv2: a whole PFC frame, and headers up to TCP.
const OTHER_BYTES: usize = 64;
/// ICRC of a packet without payload, at the position of the payload.
const ICRC_BYTES: usize = 4;
/// Directory in a dataset: readers skip names that begin with an underscore.
const FOLDER: &str = "_frames";

/// Keeps headers, and writes those around events.
#[derive(Debug)]
pub struct Recorder {
    history: History,
    budget: Budget,
    recording: Option<Recording>,
    /// The current file includes frames up to this time; 0 without a file.
    until_ns: u64,
    folder: PathBuf,
    observer: String,
    /// Interfaces by index, for the files.
    names: Vec<(u32, String)>,
    before_ns: u64,
    window_ns: u64,
    reach_ns: u64,
    summary: RecorderSummary,
    notices: Notices,
}

impl Recorder {
    /// Creates the recorder, if requested. `names` are the interfaces by index.
    ///
    /// # Errors
    /// There is no directory for its files, or it would reveal anonymized addresses.
    pub fn create(
        request: &IntakeRequest,
        names: Vec<(u32, String)>,
        notices: &Notices,
    ) -> Result<Option<Self>, EngineError> {
        let Some(wanted) = &request.recorder else {
            return Ok(None);
        };
        let settings = &request.settings;
        if settings.addresses.is_some() {
            return Err(Conflict::RecorderAnonymized.into());
        }
        let beside = request.dataset.as_ref().map(|dataset| dataset.root.join(FOLDER));
        let folder = wanted.folder.clone().or(beside);
        let folder = folder.ok_or(Conflict::RecorderNowhere)?;
        let refused = |error| EngineError::RecorderFolder(folder.clone(), error);
        fs::create_dir_all(&folder).map_err(refused)?;
        let before_ns = u64::try_from(wanted.before.as_nanos()).unwrap_or(u64::MAX);
        let window_ns = settings.window_ns;
        let reach_ns = window_ns
            .saturating_mul(REACH_WINDOWS)
            .saturating_add(settings.lateness_ns);
        let memory = usize::try_from(wanted.memory_bytes).unwrap_or(usize::MAX);
        let budget = Budget::new(
            (&folder, &settings.observer),
            wanted.disk_bytes,
            wanted.keep_age,
            wanted.files_per_hour,
            notices.clone(),
        )
        .map_err(refused)?;
        let history = History::new(memory, before_ns.saturating_add(reach_ns)).map_err(EngineError::RecorderMemory)?;
        Ok(Some(Self {
            history,
            budget,
            recording: None,
            until_ns: 0,
            summary: RecorderSummary::new(folder.clone(), before_ns, reach_ns),
            folder,
            observer: settings.observer.to_string(),
            notices: notices.clone(),
            names,
            before_ns,
            window_ns,
            reach_ns,
        }))
    }

    /// Processes a frame and its class; `wants` returns whether the filter accepts a packet, or a frame that
    /// is none.
    #[inline]
    pub fn frame(&mut self, frame: &Frame<'_>, class: &Class<&Packet>, wants: impl FnOnce(Option<&Packet>) -> bool) {
        let packet = match class {
            Class::Roce(packet) => Some(*packet),
            _ => None,
        };
        if !wants(packet) {
            return;
        }
        let refusal = packet.filter(|packet| refuses(packet));
        if self.summary.error.is_none() {
            let slice = packet.map_or(OTHER_BYTES, headers);
            let mark = refusal.map_or(0, |packet| packet.syndrome.0);
            self.history.push(frame, slice, mark);
        }
        if let Some(packet) = refusal {
            self.happened(&Event::refusal(packet, frame.time_ns));
            self.catch_up();
        } else if frame.time_ns <= self.until_ns {
            self.catch_up();
        }
    }

    /// Processes new events, and closes the file when no event can extend it at `time_ns`.
    pub fn turn(&mut self, events: &[EventRow], time_ns: u64) {
        let mut happened = false;
        for row in events {
            if let Some(event) = Event::of_row(row, self.window_ns) {
                self.happened(&event);
                happened = true;
            }
        }
        if happened {
            // Once for all of them, because it visits every frame since the last written one.
            self.catch_up();
        }
        self.budget.retain(SystemTime::now());
        self.flush();
        let open_ns = self
            .until_ns
            .saturating_add(self.before_ns)
            .saturating_add(self.reach_ns);
        if open_ns < time_ns {
            self.close();
        }
    }

    /// Ends the current file, and returns the summary.
    #[must_use]
    pub fn finish(mut self) -> RecorderSummary {
        self.close();
        self.summary.deleted = self.budget.deleted();
        self.summary.overwritten = self.history.overwritten();
        self.summary.held_ns = self.history.shortest_ns();
        self.summary
    }

    /// Extends the current file, or begins one. [`catch_up`](Self::catch_up) writes its frames
    /// later.
    #[cold]
    fn happened(&mut self, event: &Event) {
        self.summary.count(event.kind());
        let from_ns = event.time_ns.saturating_sub(self.before_ns);
        if self.recording.is_some() && from_ns > self.until_ns {
            self.catch_up();
            self.close();
        }
        let taken = match &mut self.recording {
            Some(recording) => {
                recording.note(event, from_ns);
                Ok(())
            }
            None => self.begin(event, from_ns),
        };
        match taken {
            Ok(()) => {
                self.summary.recorded += 1;
                let until_ns = event.last_ns.saturating_add(AFTER_NS);
                self.until_ns = self.until_ns.max(until_ns);
            }
            Err(refusal) => self.summary.refuse(refusal),
        }
    }

    /// Begins a file.
    fn begin(&mut self, event: &Event, from_ns: u64) -> Result<(), Refusal> {
        if self.summary.error.is_some() {
            return Err(Refusal::Error);
        }
        self.budget.begin(event.time_ns)?;
        let comment = event.comment(&self.history, from_ns, self.before_ns);
        let path = self.folder.join(event.file_name(&self.observer));
        match Recording::begin(&path, &comment, self.names.clone(), from_ns) {
            Ok(mut recording) => {
                recording.note(event, from_ns);
                self.summary.files += 1;
                self.recording = Some(recording);
                Ok(())
            }
            Err(error) => {
                self.fail(&error);
                Err(Refusal::Error)
            }
        }
    }

    /// Writes the frames that the current file still lacks.
    #[inline]
    fn catch_up(&mut self) {
        let Some(recording) = &mut self.recording else {
            return;
        };
        loop {
            match recording.write(&self.history, self.until_ns, self.budget.left()) {
                Ok(true) => return,
                Ok(false) if self.budget.make_room() => {}
                Ok(false) => {
                    self.summary.cut += 1;
                    return self.close();
                }
                Err(error) => {
                    self.close();
                    return self.fail(&error);
                }
            }
        }
    }

    /// Flushes the current file: it can be read while it is open, and `kill -9` loses only frames since the last
    /// window closed.
    fn flush(&mut self) {
        if let Some(recording) = &mut self.recording
            && let Err(error) = recording.flush()
        {
            self.close();
            self.fail(&error);
        }
    }

    /// Ends the current file.
    fn close(&mut self) {
        self.until_ns = 0;
        let Some(mut recording) = self.recording.take() else {
            return;
        };
        let flushed = recording.flush();
        let written = recording.written();
        self.summary.frames += written.frames;
        self.summary.bytes += written.bytes;
        self.summary.missed += written.missed;
        if written.bytes > 0 {
            self.budget.finish(recording.path(), written.bytes, SystemTime::now());
        }
        if let Err(error) = flushed {
            self.fail(&error);
        }
    }

    /// Stops recording after a write error; the capture continues.
    #[cold]
    fn fail(&mut self, error: &std::io::Error) {
        if self.summary.error.is_none() {
            let error = format!("{}: {error}", self.folder.display());
            self.notices.send(Notice::RecorderStopped(error.clone()));
            self.summary.error = Some(error);
        }
    }
}

/// Bytes of a packet's headers, from the start of the frame.
#[inline]
fn headers(packet: &Packet) -> usize {
    let icrc = if packet.payload_bytes == 0 { ICRC_BYTES } else { 0 };
    (packet.payload_at() + icrc).min(SLICE_MAX)
}

/// Whether it is a NAK or RNR NAK, as in the table `events`.
#[inline]
fn refuses(packet: &Packet) -> bool {
    !packet.syndrome.is_ack()
        && packet.stream() == Stream::Acknowledge
        && matches!(
            packet.syndrome.meaning(),
            Acknowledgement::Nak(_) | Acknowledgement::RnrNak { .. }
        )
}
