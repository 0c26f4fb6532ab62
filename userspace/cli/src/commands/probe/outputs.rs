//! Writes rows to the dataset.

use crate::arguments::ProbeArguments;
use crate::status;
use anyhow::Result;
use rocescope_engine::dataset::{Dataset, Retention};
use rocescope_model::{Cells, PROBE_TABLES, footer};
use rocescope_probe::{Backend, Settings};
use rocescope_store::{Error, Options, Writer};
use serde::Serialize;

/// The dataset, if requested.
pub(super) struct ProbeOutputs {
    dataset: Option<Dataset>,
    stored: Stored,
}

/// What was written.
#[derive(Debug, Default, Serialize)]
pub(super) struct Stored {
    /// Rows of probes.
    pub(super) probes: u64,
    /// Rows of paths.
    pub(super) paths: u64,
    /// Rows that could not be written.
    pub(super) lost: u64,
    /// Why.
    #[serde(skip)]
    pub(super) refused: Option<String>,
    /// Sealed segments.
    pub(super) segments: u64,
}

impl ProbeOutputs {
    pub(super) fn open(arguments: &ProbeArguments, settings: &Settings, backend: &dyn Backend) -> Result<Self> {
        let dataset = match &arguments.out {
            None => None,
            Some(root) => {
                let nics: Vec<&str> = backend.nics().iter().map(|nic| &*nic.name).collect();
                let pair = |key: &str, value: String| (key.to_owned(), value);
                let options = Options {
                    metadata: vec![
                        pair(footer::SOURCE, nics.join(",")),
                        pair(footer::MODE, "probe".into()),
                        pair(footer::CLOCK_SOURCE, backend.clock().source.into()),
                    ],
                    tables: PROBE_TABLES,
                    max_age: arguments.segment_age,
                    ..Options::new(&*settings.observer)
                };
                let retention = Retention {
                    root: root.clone(),
                    age: arguments.keep_age,
                    bytes: arguments.keep_bytes,
                    ..Retention::default()
                };
                Some(Dataset::new(Writer::create(root, options)?, retention))
            }
        };
        Ok(Self {
            dataset,
            stored: Stored::default(),
        })
    }

    /// Writes rows. A full disk ends writing, not probing.
    pub(super) fn append(&mut self, probes: &dyn Cells, paths: &dyn Cells) -> Result<()> {
        let Some(dataset) = &mut self.dataset else {
            return Ok(());
        };
        let mut appended = Ok(());
        // Paths first, so that the path of every stored probe is stored too.
        if paths.rows() > 0 {
            appended = dataset.append_cells(paths);
        }
        if appended.is_ok() && probes.rows() > 0 {
            appended = dataset.append_cells(probes);
        }
        match appended {
            Ok(()) => {
                self.stored.probes += probes.rows() as u64;
                self.stored.paths += paths.rows() as u64;
            }
            Err(error) if error.is_no_space() => {
                self.stored.lost += (probes.rows() + paths.rows()) as u64;
                self.refuse(&error);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn refuse(&mut self, error: &Error) {
        if self.stored.refused.is_none() {
            status!("{error}; stopped writing the dataset");
            self.stored.refused = Some(error.to_string());
        }
    }

    /// Seals everything; `None` without a dataset.
    pub(super) fn finish(mut self) -> Result<Option<Stored>> {
        let Some(dataset) = self.dataset.take() else {
            return Ok(None);
        };
        let (summary, _) = dataset.finish()?;
        self.stored.segments = PROBE_TABLES
            .iter()
            .map(|table| summary.table(table.name).segments)
            .sum();
        Ok(Some(self.stored))
    }
}
