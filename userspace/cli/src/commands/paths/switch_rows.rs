//! The rows of switches, and the dataset if one is requested.

use crate::arguments::RetentionArguments;
use anyhow::Result;
use rocescope_model::{SWITCH_TABLES, SwitchDropRow, SwitchPortRow, Text, footer};
use rocescope_paths::document::sampled::SwitchSummary;
use rocescope_paths::switch::{Growth, Source};
use rocescope_runtime::dataset::Dataset;
use rocescope_runtime::not_stored::NotStored;
use rocescope_runtime::status;
use rocescope_store::Options;
use std::path::Path;
use std::sync::Arc;

/// Rows of ports that are made at a time, at most.
const AT_ONCE: usize = 8_192;

/// Turns readings of one source into rows, and stores them.
pub(super) struct Rows {
    pub(super) observer: Text,
    growth: Growth,
    dataset: Option<(Dataset, Arc<NotStored>)>,
    summary: SwitchSummary,
}

impl Rows {
    /// Rows of a source of kind `mode` at `address`, in the dataset at `root` if one is given.
    pub(super) fn open(
        root: Option<&Path>,
        retention: &RetentionArguments,
        observer: &str,
        (mode, address): (&str, String),
    ) -> Result<Self> {
        let dataset = match root {
            None => None,
            Some(root) => {
                let options = Options {
                    metadata: vec![
                        (footer::SOURCE.to_owned(), address),
                        (footer::MODE.to_owned(), mode.into()),
                    ],
                    tables: SWITCH_TABLES,
                    ..Options::new(observer)
                };
                Some(retention.storage(root).open(options)?)
            }
        };
        Ok(Self {
            observer: observer.to_owned().into(),
            growth: Growth::default(),
            dataset,
            summary: SwitchSummary::default(),
        })
    }

    /// Writes what the source read since the last call, and these drops.
    pub(super) fn write<S: Source>(&mut self, source: &mut S, drops: &[SwitchDropRow], now_ns: i64) -> Result<()> {
        let mut ports: Vec<SwitchPortRow> = Vec::new();
        let mut stored = Ok(());
        source.readings(now_ns, &mut |reading| {
            ports.extend(self.growth.row(&self.observer, S::NAME, &reading));
            if ports.len() >= AT_ONCE && stored.is_ok() {
                stored = self.store(&ports, &[]);
                ports.clear();
            }
        });
        stored?;
        drops.iter().for_each(|row| self.summary.drops.add(row));
        self.store(&ports, drops)
    }

    fn store(&mut self, ports: &[SwitchPortRow], drops: &[SwitchDropRow]) -> Result<()> {
        let Some((dataset, not_stored)) = &mut self.dataset else {
            return Ok(());
        };
        if ports.is_empty() && drops.is_empty() {
            dataset.tick(&status::notice)?;
            return Ok(());
        }
        let before = not_stored.count();
        dataset.append(&[&ports, &drops], &status::notice)?;
        if not_stored.count() == before {
            self.summary.rows += (ports.len() + drops.len()) as u64;
        }
        Ok(())
    }

    /// Seals everything; `overflow` is what the source could not keep.
    pub(super) fn finish(mut self, overflow: u64) -> Result<SwitchSummary> {
        if let Some((dataset, not_stored)) = self.dataset.take() {
            self.summary.rows_not_stored = not_stored.count();
            dataset.finish()?;
        }
        self.summary.drops_elsewhere = self.summary.drops.elsewhere();
        self.summary.overflow = self.growth.overflow() + overflow;
        Ok(self.summary)
    }
}
