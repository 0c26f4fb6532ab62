//! Drives a source of frames through the observer into the intake.

use crate::error::Result;
use crate::intake::{Intake, Outputs, Tap};
use crate::notice::Notices;
use crate::origin::Origin;
use crate::outcome::Outcome;
use crate::request::IntakeRequest;
use rocescope_capture::file::Frame;
use rocescope_model::{EventRow, Text, Time};
use rocescope_pipeline::{Delivery, FrameClock, Settings};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Counters, Observer, Set, Slot};
use rocescope_wire::icrc::{self, Icrc};
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::{Class, LinkType, NotRoce, Pause};

/// Sets of the run cache: 8,192 slots, 1.25 MiB. It is swept at the end of every window, so it must not be
/// larger than the second-level cache.
const SETS: usize = 4_096;

/// Frames in, a summary and a dataset out.
#[derive(Debug)]
pub struct Session {
    observer: Observer<Vec<Set>>,
    intake: Intake,
    verify_icrc: bool,
    /// Times in the order of positions, where the clock of a file contradicts it. A live capture has the times of one kernel,
    /// and several processors and sockets deliver its frames: there the times are right, and the positions are not.
    clock: Option<FrameClock>,
    /// Frames that mirrors have lost so far, by their numbers.
    mirror_lost: u64,
    /// Time of the latest frame, because silence before the end of a capture matters too.
    latest_ns: u64,
    /// Frames without a time: those of simple packet blocks.
    untimed_frames: u64,
    /// Whether the requested number of frames has been processed.
    is_over: bool,
    /// Why the input ended early, and the share of it that was read, if known.
    ended_early: Option<(String, Option<f64>)>,
}

impl Session {
    /// A session without frames yet.
    ///
    /// # Errors
    /// The settings are invalid.
    pub fn new(settings: Settings, config: Config, outputs: impl Into<Outputs>) -> Result<Self> {
        let verify_icrc = settings.verify_icrc;
        let is_file = settings.live.is_none();
        let slot: Slot = bytemuck::Zeroable::zeroed();
        Ok(Self {
            observer: Observer::new(config, vec![[slot; 2]; SETS]),
            intake: Intake::new(settings, outputs)?,
            verify_icrc,
            clock: is_file.then(FrameClock::default),
            mirror_lost: 0,
            latest_ns: 0,
            untimed_frames: 0,
            is_over: false,
            ended_early: None,
        })
    }

    /// Opens the session of `request` for frames of `origin`, which has no interfaces.
    ///
    /// # Errors
    /// The settings are invalid, or the directory of the dataset or of the recordings cannot be used.
    pub fn open(request: &IntakeRequest, origin: &Origin, notices: &Notices) -> Result<Self> {
        let outputs = Outputs::open(request, origin, Vec::new(), notices)?;
        Self::new(request.settings.clone(), request.config(), outputs)
    }

    /// Passes the rows of every window to `tap` too.
    pub fn tap(&mut self, tap: Tap) {
        self.intake.tap(tap);
    }

    /// Keeps the rows of connections and events in memory until the end.
    pub fn keep_connections(&mut self) {
        self.intake.keep_connections();
    }

    /// Applies the settings that may change while a capture runs.
    pub fn reconfigure(&mut self, settings: &Settings, config: &Config) {
        self.observer.reconfigure(config);
        self.intake.pipeline.reconfigure(settings);
        self.adopt_key();
    }

    /// Whether the requested number of frames has been processed. Later frames are ignored.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Hands the frames written so far to their reader.
    pub fn flush_frames(&mut self) {
        self.is_over |= self.intake.flush_frames();
    }

    /// Processes a frame.
    ///
    /// # Errors
    /// The dataset cannot be written, for a reason other than a full disk.
    #[inline]
    pub fn frame(&mut self, frame: &Frame<'_>) -> Result<()> {
        if self.is_over {
            return Ok(());
        }
        let time_ns = match &mut self.clock {
            Some(clock) => clock.correct(frame.time_ns, frame.interface),
            None => frame.time_ns,
        };
        self.advance(time_ns)?;
        let before_ns = std::mem::replace(&mut self.latest_ns, time_ns);
        self.untimed_frames += u64::from(frame.time_ns == 0);
        let Some(link) = frame.link else {
            let class = Class::NotRoce(NotRoce::LinkType, Encapsulation::None);
            self.observer.count(&class);
            self.is_over = self.intake.frame(frame, &class);
            return Ok(());
        };
        let pipeline = &mut self.intake.pipeline;
        let class = self.observer.observe(
            frame.bytes,
            link,
            frame.lengths,
            frame.interface,
            &FrameTime(time_ns),
            pipeline,
        );
        if let Class::NotRoce(..) = &class
            && link == LinkType::Ethernet
            && let Some(pause) = Pause::decode(frame.bytes)
        {
            pipeline.paused(time_ns, frame.interface, &pause);
        }
        if self.verify_icrc
            && let Class::Roce(packet) = &class
            && pipeline.wants(packet)
        {
            match icrc::verify(frame.bytes, packet) {
                Icrc::Verified => {}
                Icrc::Bad => pipeline.count_icrc(time_ns, true),
                Icrc::Unverifiable(_) => pipeline.count_icrc(time_ns, false),
            }
        }
        self.is_over = self.intake.frame(frame, &class);
        let mirror_lost = self.observer.counters().mirror_lost;
        if std::mem::replace(&mut self.mirror_lost, mirror_lost) < mirror_lost {
            self.intake.pipeline.mirror_lost(before_ns, time_ns);
        }
        Ok(())
    }

    /// Advances the clock to `time_ns`, so that windows end even without frames.
    ///
    /// # Errors
    /// Those of [`frame`](Self::frame).
    #[inline]
    pub fn advance(&mut self, time_ns: u64) -> Result<()> {
        if self.intake.pipeline.is_current(time_ns) {
            return Ok(());
        }
        self.turn(time_ns)
    }

    /// Begins the next window.
    #[cold]
    fn turn(&mut self, time_ns: u64) -> Result<()> {
        let pipeline = &mut self.intake.pipeline;
        if pipeline.is_pressed() {
            // Ending all runs costs a little compression and keeps the runs in the cache.
            self.observer.flush(None, pipeline);
            pipeline.complete_before(time_ns);
        } else if pipeline.is_ahead(time_ns) {
            self.observer.flush(Some(time_ns), pipeline);
        }
        self.intake.turn(time_ns, self.observer.counters())?;
        self.adopt_key();
        Ok(())
    }

    /// The cache separates runs as the pipeline separates flows.
    fn adopt_key(&mut self) {
        let (config, key_mask) = (*self.observer.config(), self.intake.pipeline.key_mask());
        if config.key_mask != key_mask {
            self.observer.reconfigure(&Config { key_mask, ..config });
        }
    }

    /// A packet socket dropped frames: see [`Pipeline::capture_dropped`](rocescope_pipeline::Pipeline::capture_dropped).
    pub fn capture_dropped(&mut self, from_ns: u64, to_ns: u64, frames: u64) {
        self.intake.pipeline.capture_dropped(from_ns, to_ns, frames);
    }

    /// See [`Pipeline::yield_connections`](rocescope_pipeline::Pipeline::yield_connections).
    pub fn yield_connections(&mut self, yields: bool) {
        self.intake.pipeline.yield_connections(yields);
    }

    /// The input ended early: why, and the share of it that was read, if known. The rows and the outcome state it.
    pub(crate) fn end_early(&mut self, why: String, share: Option<f64>) {
        self.ended_early = Some((why, share));
    }

    /// Does what is due by the clock, without frames: see [`Intake::tick`].
    pub fn tick(&mut self) {
        self.intake.tick();
    }

    /// The counters so far.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        self.observer.counters()
    }

    /// Fabric loss, retransmissions and mirror loss so far, if connections are tracked.
    #[must_use]
    pub fn delivery(&self) -> Option<Delivery> {
        self.intake.pipeline.delivery()
    }

    /// Ends the session: all windows are closed, all segments sealed.
    ///
    /// # Errors
    /// Those of [`frame`](Self::frame).
    pub fn finish(mut self) -> Result<Outcome> {
        self.observer.flush(None, &mut self.intake.pipeline);
        if self.latest_ns > 0 {
            self.intake.turn(self.latest_ns, self.observer.counters())?;
        }
        if let Some((why, share)) = self.ended_early.as_ref().filter(|_| self.latest_ns > 0) {
            let pipeline = &mut self.intake.pipeline;
            let time_ns = self.latest_ns.min(i64::MAX as u64) as i64;
            let event = EventRow {
                observer: pipeline.settings().observer.clone(),
                time: Time(time_ns),
                time_ns,
                kind: Text::from_static(EventRow::INPUT_ENDED),
                value: *share,
                count: 1,
                detail: why.clone().into(),
                ..EventRow::default()
            };
            pipeline.rows().events.push(event);
        }
        let outcome = self.intake.finish(self.observer.counters())?;
        Ok(Outcome {
            ended_early: self.ended_early.map(|(why, _)| why),
            untimed_frames: self.untimed_frames,
            ..outcome
        })
    }
}
