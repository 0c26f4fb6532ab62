//! Runs in, a summary and a dataset out: where every source of a capture ends.

use crate::dataset::Dataset;
use anyhow::{Context, Result};
use rocescope_model::{ConnectionRow, EventRow, WindowRows};
use rocescope_pipeline::connections::ConnectionSummary;
use rocescope_pipeline::{Pipeline, Settings, Summary};
use rocescope_record::Counters;
use rocescope_store::Retained;
use std::fmt;

/// The pipeline, and what it writes into.
#[derive(Debug)]
pub struct Intake {
    /// Takes the runs.
    pub pipeline: Pipeline,
    outlet: Outlet,
}

/// Takes the rows of every window that is over, and of connections that are due.
pub type Tap = Box<dyn FnMut(&mut WindowRows) -> Result<()>>;

/// Where rows go.
#[derive(Default)]
pub struct Outlet {
    dataset: Option<Dataset>,
    tap: Option<Tap>,
    /// Rows of connections and events kept in memory, where they are asked for.
    kept: Option<(Vec<ConnectionRow>, Vec<EventRow>)>,
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet")
            .field("dataset", &self.dataset)
            .field("tap", &self.tap.is_some())
            .finish_non_exhaustive()
    }
}

impl From<Option<Dataset>> for Outlet {
    fn from(dataset: Option<Dataset>) -> Self {
        Self {
            dataset,
            ..Self::default()
        }
    }
}

impl From<Tap> for Outlet {
    fn from(tap: Tap) -> Self {
        Self {
            tap: Some(tap),
            ..Self::default()
        }
    }
}

impl Outlet {
    /// Keeps the rows of connections and events in memory until the end.
    #[must_use]
    pub fn keeping_connections(self) -> Self {
        Self {
            kept: Some(Default::default()),
            ..self
        }
    }

    /// Shows the rows to `tap` too.
    #[must_use]
    pub fn with_tap(self, tap: Option<Tap>) -> Self {
        Self { tap, ..self }
    }

    /// Takes the rows of a window. A full disk stops the writing, which the writer counts, and not
    /// the capture.
    fn take(&mut self, rows: &mut WindowRows) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        if let Some(dataset) = &mut self.dataset {
            match dataset.append(rows) {
                Err(error) if error.is_no_space() => {}
                appended => appended.context("the dataset")?,
            }
        }
        if let Some(tap) = &mut self.tap {
            tap(rows)?;
        }
        if let Some((connections, events)) = &mut self.kept {
            connections.append(&mut rows.connections);
            events.append(&mut rows.events);
        }
        rows.clear();
        Ok(())
    }
}

/// What a capture ends with.
#[derive(Debug)]
pub struct Outcome {
    /// The whole capture.
    pub summary: Summary,
    /// The exact counters.
    pub counters: Counters,
    /// What was written, where something was, and what was deleted.
    pub store: Option<(rocescope_store::Summary, Retained)>,
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
    pub fn new(settings: Settings, outlet: impl Into<Outlet>) -> Result<Self> {
        let outlet = outlet.into();
        // Nobody reads the sketches of a capture that leaves no dataset.
        let sketches = settings.sketches && outlet.dataset.is_some();
        let settings = Settings {
            sketches,
            ..settings
        };
        Ok(Self {
            pipeline: Pipeline::new(settings)?,
            outlet,
        })
    }

    /// Keeps the rows of connections and events in memory until the end.
    pub fn keep_connections(&mut self) {
        self.outlet.kept = Some(Default::default());
    }

    /// Moves the clock to `time_ns`: see [`Pipeline::turn`]. Windows that are over are written.
    ///
    /// # Errors
    /// The dataset cannot be written, for another reason than a full disk.
    pub fn turn(&mut self, time_ns: u64, counters: &Counters) -> Result<()> {
        let Self { pipeline, outlet } = self;
        pipeline.turn_by_window(time_ns, counters, &mut |rows| outlet.take(rows))?;
        outlet.take(pipeline.rows())
    }

    /// Closes all windows and seals all segments. Every run must have been taken.
    ///
    /// # Errors
    /// The dataset cannot be written, for another reason than a full disk.
    pub fn finish(mut self, counters: &Counters) -> Result<Outcome> {
        let Self { pipeline, outlet } = &mut self;
        pipeline.finish_by_window(counters, &mut |rows| outlet.take(rows))?;
        outlet.take(pipeline.rows())?;
        let store = outlet.dataset.take().map(Dataset::finish);
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
            kept: self.outlet.kept.take(),
        })
    }
}
