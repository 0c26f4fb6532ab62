//! Runs in, a summary and a dataset out: where every source of a capture ends.

use anyhow::{Context, Result};
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_pipeline::connections::ConnectionSummary;
use rocescope_pipeline::{Pipeline, Settings, Summary};
use rocescope_record::Counters;
use rocescope_store::Writer;
use std::time::Instant;

/// The pipeline, and what it writes into.
#[derive(Debug)]
pub struct Intake {
    /// Takes the runs.
    pub pipeline: Pipeline,
    writer: Option<Writer>,
    /// The disk is full: what is counted still is, what is written no longer.
    disk_full: bool,
    /// Rows of connections and events kept in memory, where they are asked for.
    kept: Option<(Vec<ConnectionRow>, Vec<EventRow>)>,
}

/// What a capture ends with.
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

impl Intake {
    /// An intake without runs yet.
    ///
    /// # Errors
    /// The settings make no sense.
    pub fn new(settings: Settings, writer: Option<Writer>) -> Result<Self> {
        Ok(Self {
            pipeline: Pipeline::new(settings)?,
            writer,
            disk_full: false,
            kept: None,
        })
    }

    /// Keeps the rows of connections and events in memory until the end.
    pub fn keep_connections(&mut self) {
        self.kept = Some(Default::default());
    }

    /// Moves the clock to `time_ns`: see [`Pipeline::turn`]. Windows that are over are written.
    ///
    /// # Errors
    /// The dataset cannot be written, for another reason than a full disk.
    pub fn turn(&mut self, time_ns: u64, counters: &Counters) -> Result<()> {
        self.pipeline.turn(time_ns, counters);
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

    /// Closes all windows and seals all segments. Every run must have been taken.
    ///
    /// # Errors
    /// The dataset cannot be written, for another reason than a full disk.
    pub fn finish(mut self, counters: &Counters) -> Result<Outcome> {
        self.pipeline.finish(counters);
        self.write()?;
        let store = self.writer.take().map(Writer::finish);
        let (store, store_error) = match store {
            None => (None, None),
            Some(Ok(summary)) => (Some(summary), None),
            Some(Err(error)) => (None, Some(error)),
        };
        Ok(Outcome {
            summary: self.pipeline.summary(),
            counters: *counters,
            store,
            store_error,
            connections: self.pipeline.connections(),
            kept: self.kept.take(),
        })
    }
}
