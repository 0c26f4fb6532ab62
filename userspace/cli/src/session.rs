//! A source of frames, driven through observer, pipeline and store.

use anyhow::{Context, Result};
use rocescope_capture::file::Frame;
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_pipeline::connections::ConnectionSummary;
use rocescope_pipeline::{Pipeline, Settings, Summary};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Counters, Observer, Set, Slot};
use rocescope_store::Writer;
use rocescope_wire::icrc::{self, Icrc};
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::{Class, NotRoce};
use std::time::Instant;

/// Sets of the run cache: 8,192 slots, 1.25 MiB. It lies in memory that is swept at every window's
/// end, so it is no larger than the second-level cache.
const SETS: usize = 4_096;

/// Frames in, a summary and a dataset out.
#[derive(Debug)]
pub struct Session {
    observer: Observer<Vec<Set>>,
    pipeline: Pipeline,
    writer: Option<Writer>,
    /// The disk is full: what is counted still is, what is written no longer.
    disk_full: bool,
    verify_icrc: bool,
    /// Time of the latest frame: silence before the end of a capture tells something too.
    latest_ns: u64,
    /// Rows of connections and events kept in memory, where they are asked for.
    kept: Option<(Vec<ConnectionRow>, Vec<EventRow>)>,
}

/// What a session ends with.
#[derive(Debug)]
pub struct Outcome {
    /// The whole capture.
    pub summary: Summary,
    /// The exact counters.
    pub counters: Counters,
    /// What was written, where something was.
    pub store: Option<rocescope_store::Summary>,
    /// Why writing stopped early.
    pub store_error: Option<rocescope_store::Error>,
    /// What happened to the state of connections, where they were followed.
    pub connections: Option<ConnectionSummary>,
    /// Rows of connections and events, where they were kept.
    pub kept: Option<(Vec<ConnectionRow>, Vec<EventRow>)>,
}

impl Session {
    /// A session without frames yet.
    ///
    /// # Errors
    /// The settings make no sense.
    pub fn new(settings: Settings, config: Config, writer: Option<Writer>) -> Result<Self> {
        let verify_icrc = settings.verify_icrc;
        let slot: Slot = bytemuck::Zeroable::zeroed();
        Ok(Self {
            observer: Observer::new(config, vec![[slot; 2]; SETS]),
            pipeline: Pipeline::new(settings)?,
            writer,
            disk_full: false,
            verify_icrc,
            latest_ns: 0,
            kept: None,
        })
    }

    /// Keeps the rows of connections and events in memory until the end.
    pub fn keep_connections(&mut self) {
        self.kept = Some(Default::default());
    }

    /// Takes a frame.
    ///
    /// # Errors
    /// The dataset cannot be written, for another reason than a full disk.
    #[inline]
    pub fn frame(&mut self, frame: &Frame<'_>) -> Result<()> {
        if !self.pipeline.is_current(frame.time_ns) {
            self.turn(frame.time_ns)?;
        }
        self.latest_ns = frame.time_ns;
        let Some(link) = frame.link else {
            self.observer
                .count(&Class::NotRoce(NotRoce::LinkType, Encapsulation::None));
            return Ok(());
        };
        let class = self.observer.observe(
            frame.bytes,
            link,
            frame.lengths,
            frame.interface,
            &FrameTime(frame.time_ns),
            &mut self.pipeline,
        );
        if self.verify_icrc
            && let Class::Roce(packet) = &class
        {
            match icrc::verify(frame.bytes, packet) {
                Icrc::Verified => {}
                Icrc::Bad => self.pipeline.count_icrc(frame.time_ns, true),
                Icrc::Unverifiable(_) => self.pipeline.count_icrc(frame.time_ns, false),
            }
        }
        Ok(())
    }

    /// Another window begins.
    #[cold]
    fn turn(&mut self, time_ns: u64) -> Result<()> {
        if self.pipeline.is_pressed() {
            // Ending all runs costs a little compression and keeps what waits in the cache.
            self.observer.flush(None, &mut self.pipeline);
            self.pipeline.complete_before(time_ns);
        } else {
            self.observer.flush(Some(time_ns), &mut self.pipeline);
        }
        self.pipeline.turn(time_ns, self.observer.counters());
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        let rows = self.pipeline.rows();
        if rows.is_empty() {
            return Ok(());
        }
        if let Some(writer) = &mut self.writer {
            match writer.append(rows, Instant::now()) {
                Err(error) if error.is_no_space() => self.disk_full = true,
                appended => appended.context("the dataset")?,
            }
        }
        if let Some((connections, events)) = &mut self.kept {
            connections.append(&mut rows.connections);
            events.append(&mut rows.events);
        }
        rows.clear();
        Ok(())
    }

    /// Ends the session: all windows are closed, all segments sealed.
    ///
    /// # Errors
    /// The dataset cannot be written, for another reason than a full disk.
    pub fn finish(mut self) -> Result<Outcome> {
        self.observer.flush(None, &mut self.pipeline);
        if self.latest_ns > 0 {
            self.pipeline.turn(self.latest_ns, self.observer.counters());
        }
        self.pipeline.finish(self.observer.counters());
        self.write()?;
        let store = self.writer.take().map(Writer::finish);
        let (store, store_error) = match store {
            None => (None, None),
            Some(Ok(summary)) => (Some(summary), None),
            Some(Err(error)) => (None, Some(error)),
        };
        Ok(Outcome {
            summary: self.pipeline.summary(),
            counters: *self.observer.counters(),
            store,
            store_error,
            connections: self.pipeline.connections(),
            kept: self.kept.take(),
        })
    }
}
