//! Writes rows to the dataset.

use super::settings::ProbeSettings;
use crate::error::Result;
use rocescope_model::{CounterRow, OPERATION_TABLES, PROBE_TABLES, PathRow, ProbeRow, footer};
use rocescope_probe::{Backend, Settings};
use rocescope_runtime::cost::shrink_between_steps;
use rocescope_runtime::dataset::Dataset;
use rocescope_runtime::not_stored::NotStored;
use rocescope_runtime::status;
use rocescope_store::Options;
use serde::Serialize;
use std::sync::Arc;

/// The dataset, if requested.
pub(super) struct ProbeOutputs {
    dataset: Option<(Dataset, Arc<NotStored>)>,
    stored: Stored,
}

/// What was written.
#[derive(Debug, Default, Serialize)]
pub(super) struct Stored {
    /// Rows of probes.
    pub(super) probes: u64,
    /// Rows of paths.
    pub(super) paths: u64,
    /// Rows of RDMA operations.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) operations: u64,
    /// Rows that are not in the dataset, because the disk was full or failed.
    pub(super) lost: u64,
    /// Sealed segments.
    pub(super) segments: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ProbeOutputs {
    pub(super) fn open(wanted: &ProbeSettings, settings: &Settings, backend: &dyn Backend) -> Result<Self> {
        let dataset = match &wanted.out {
            None => None,
            Some(out) => {
                let nics: Vec<&str> = backend.nics().iter().map(|nic| &*nic.name).collect();
                let pair = |key: &str, value: String| (key.to_owned(), value);
                let options = Options {
                    metadata: vec![
                        pair(footer::SOURCE, nics.join(",")),
                        pair(footer::MODE, "probe".into()),
                        pair(footer::CLOCK_SOURCE, backend.clock().source.into()),
                    ],
                    tables: match wanted.operations {
                        Some(_) => OPERATION_TABLES,
                        None => PROBE_TABLES,
                    },
                    between_steps: shrink_between_steps,
                    ..Options::new(&*settings.observer)
                };
                Some(out.open(options)?)
            }
        };
        Ok(Self {
            dataset,
            stored: Stored::default(),
        })
    }

    /// Writes rows. A disk that is full or fails loses rows, which an event in the dataset names, and does not end probing.
    pub(super) fn append(&mut self, probes: &[ProbeRow], paths: &[PathRow]) -> Result<()> {
        let Some((dataset, not_stored)) = &mut self.dataset else {
            return Ok(());
        };
        if probes.is_empty() && paths.is_empty() {
            return Ok(());
        }
        let before = not_stored.count();
        dataset.append(&[&paths, &probes], &status::notice)?;
        if not_stored.count() == before {
            self.stored.probes += probes.len() as u64;
            self.stored.paths += paths.len() as u64;
        }
        Ok(())
    }

    /// Writes the latency of operations, as [`append`](Self::append) does.
    pub(super) fn append_operations(&mut self, rows: &[CounterRow]) -> Result<()> {
        let Some((dataset, not_stored)) = &mut self.dataset else {
            return Ok(());
        };
        if rows.is_empty() {
            return Ok(());
        }
        let before = not_stored.count();
        dataset.append(&[&rows], &status::notice)?;
        if not_stored.count() == before {
            self.stored.operations += rows.len() as u64;
        }
        Ok(())
    }

    /// Seals everything; `None` without a dataset.
    pub(super) fn finish(&mut self) -> Result<Option<Stored>> {
        let Some((dataset, not_stored)) = self.dataset.take() else {
            return Ok(None);
        };
        self.stored.lost = not_stored.count();
        let (summary, _) = dataset.finish()?;
        self.stored.segments = OPERATION_TABLES
            .iter()
            .map(|table| summary.table(table.name).segments)
            .sum();
        Ok(Some(std::mem::take(&mut self.stored)))
    }
}
