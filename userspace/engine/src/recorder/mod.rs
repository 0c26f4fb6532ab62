//! The flight recorder: the headers of the last frames in memory, and a pcapng file around each event.
//!
//! A NAK or RNR NAK is known the moment its frame comes, so its file begins at once and the ring need not
//! reach further back than was asked for. Jitter is known only some windows later: see `REACH_WINDOWS`.
//! While a file is open an event whose frames overlap with it makes it longer; no frame is written twice.
//!
//! | module | what it does |
//! |---|---|
//! | `budget` | how many files, and how many bytes of them |
//! | `event` | what is recorded, and what the file says of it |
//! | `recording` | one file |
//! | `summary` | what it reports at the end |

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
use rocescope_wire::extension::Acknowledgement;
use rocescope_wire::opcode::Stream;
use rocescope_wire::{Class, Packet};
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

/// Recorded behind an event, in nanoseconds.
const AFTER_NS: u64 = 1_000_000_000;
/// Jitter is told when the window behind the change closes: up to three windows behind its beginning, four
/// where the change takes two, and the lateness bound on top.
const REACH_WINDOWS: u64 = 4;
/// Bytes kept of what is not RoCEv2: a PFC frame whole, and headers up to TCP.
const OTHER_BYTES: usize = 64;
/// ICRC of a packet without payload: it stands where the payload would.
const ICRC_BYTES: usize = 4;
/// Directory in a dataset: readers pass over what begins with an underscore.
const FOLDER: &str = "_frames";

/// Holds headers, and writes them around events.
#[derive(Debug)]
pub struct Recorder {
    history: History,
    budget: Budget,
    recording: Option<Recording>,
    /// The file under way takes frames up to this time; 0 where there is none.
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
    /// The recorder that is asked for, if one is. `names` are the interfaces by their index.
    ///
    /// # Errors
    /// There is no place for its files, or it would give addresses away that are to be hidden.
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
        let beside = request
            .dataset
            .as_ref()
            .map(|dataset| dataset.root.join(FOLDER));
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
        let history = History::new(memory, before_ns.saturating_add(reach_ns))
            .map_err(EngineError::RecorderMemory)?;
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

    /// Takes a frame and what it is; `wants` says whether the filter lets a packet pass, and whether it
    /// lets anything else.
    #[inline]
    pub fn frame(
        &mut self,
        frame: &Frame<'_>,
        class: &Class<&Packet>,
        wants: impl FnOnce(Option<&Packet>) -> bool,
    ) {
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

    /// Takes events that became known, and the time: what no event can make longer any more is closed.
    pub fn turn(&mut self, events: &[EventRow], time_ns: u64) {
        let mut happened = false;
        for row in events {
            if let Some(event) = Event::jitter(row, self.window_ns) {
                self.happened(&event);
                happened = true;
            }
        }
        if happened {
            // Once for all of them: it looks at every frame since the last that was written.
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

    /// Ends the file under way, and tells what was written and what was not.
    #[must_use]
    pub fn finish(mut self) -> RecorderSummary {
        self.close();
        self.summary.deleted = self.budget.deleted();
        self.summary.overwritten = self.history.overwritten();
        self.summary.held_ns = self.history.shortest_ns();
        self.summary
    }

    /// Makes the file under way longer, or begins one. Its frames are written later, by
    /// [`catch_up`](Self::catch_up).
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

    /// Writes what the file under way still lacks.
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

    /// Hands what is written to the file under way: it can be read while it is open, and `kill -9` costs
    /// what came since the last window closed.
    fn flush(&mut self) {
        if let Some(recording) = &mut self.recording
            && let Err(error) = recording.flush()
        {
            self.close();
            self.fail(&error);
        }
    }

    /// Ends the file under way.
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
            self.budget
                .finish(recording.path(), written.bytes, SystemTime::now());
        }
        if let Err(error) = flushed {
            self.fail(&error);
        }
    }

    /// A file cannot be written: there will be no more of them, and the capture goes on.
    #[cold]
    fn fail(&mut self, error: &std::io::Error) {
        if self.summary.error.is_none() {
            let error = format!("{}: {error}", self.folder.display());
            self.notices.send(Notice::RecorderStopped(error.clone()));
            self.summary.error = Some(error);
        }
    }
}

/// Bytes of a packet's headers, from the first of the frame.
#[inline]
fn headers(packet: &Packet) -> usize {
    let icrc = if packet.payload_bytes == 0 {
        ICRC_BYTES
    } else {
        0
    };
    (packet.payload_at() + icrc).min(SLICE_MAX)
}

/// Whether it is a NAK or RNR NAK, as the table `events` has it.
#[inline]
fn refuses(packet: &Packet) -> bool {
    !packet.syndrome.is_ack()
        && packet.stream() == Stream::Acknowledge
        && matches!(
            packet.syndrome.meaning(),
            Acknowledgement::Nak(_) | Acknowledgement::RnrNak { .. }
        )
}
