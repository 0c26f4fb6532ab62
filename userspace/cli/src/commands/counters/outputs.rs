//! Writes rows to the dataset.

use crate::arguments::CountersArguments;
use anyhow::Result;
use rocescope_model::{COUNTER_TABLES, CounterRow, QUEUE_PAIR_TABLES, QueuePairRow, footer};
use rocescope_runtime::cost::shrink_between_steps;
use rocescope_runtime::dataset::Dataset;
use rocescope_runtime::not_stored::NotStored;
use rocescope_runtime::status;
use rocescope_store::Options;
use std::path::PathBuf;
use std::sync::Arc;

/// The dataset, if requested.
pub(super) struct CounterOutputs {
    dataset: Option<(Dataset, Arc<NotStored>)>,
    rows: u64,
}

/// What was written.
pub(super) struct Stored {
    /// Rows.
    pub(super) rows: u64,
    /// Rows that are not in the dataset, because the disk was full or failed.
    pub(super) lost: u64,
    /// Sealed segments.
    pub(super) segments: u64,
}

impl CounterOutputs {
    pub(super) fn open(arguments: &CountersArguments, observer: &str) -> Result<Self> {
        let dataset = match &arguments.out {
            None => None,
            Some(root) => {
                let source = arguments.sysfs_root.clone().unwrap_or_else(|| PathBuf::from("/sys"));
                let options = Options {
                    metadata: vec![
                        (footer::SOURCE.to_owned(), source.display().to_string()),
                        (footer::MODE.to_owned(), "counters".into()),
                    ],
                    tables: match arguments.queue_pairs {
                        true => QUEUE_PAIR_TABLES,
                        false => COUNTER_TABLES,
                    },
                    between_steps: shrink_between_steps,
                    ..Options::new(observer)
                };
                Some(arguments.retention.storage(root).open(options)?)
            }
        };
        Ok(Self { dataset, rows: 0 })
    }

    /// Writes rows. A disk that is full or fails loses rows, which an event in the dataset names, and does not end reading.
    pub(super) fn append(&mut self, rows: &[CounterRow], queue_pairs: &[QueuePairRow]) -> Result<()> {
        let Some((dataset, not_stored)) = &mut self.dataset else {
            return Ok(());
        };
        if rows.is_empty() && queue_pairs.is_empty() {
            dataset.tick(&status::notice)?;
            return Ok(());
        }
        let before = not_stored.count();
        dataset.append(&[&queue_pairs, &rows], &status::notice)?;
        if not_stored.count() == before {
            self.rows += (rows.len() + queue_pairs.len()) as u64;
        }
        Ok(())
    }

    /// Seals everything; `None` without a dataset.
    pub(super) fn finish(mut self) -> Result<Option<Stored>> {
        let Some((dataset, not_stored)) = self.dataset.take() else {
            return Ok(None);
        };
        let lost = not_stored.count();
        let (summary, _) = dataset.finish()?;
        let segments = QUEUE_PAIR_TABLES.iter().map(|table| summary.table(table.name).segments);
        Ok(Some(Stored {
            rows: self.rows,
            lost,
            segments: segments.sum(),
        }))
    }
}
