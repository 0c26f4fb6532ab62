//! Totals of a writer.

use crate::Unreadable;
use crate::repair::Repaired;
use crate::seal::Sealed;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a writer has written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Sealed segments by table, in the order of first use.
    pub tables: Vec<TableSummary>,
    /// Windows rejected because the disk was full or failed.
    pub refused_windows: u64,
    /// Rows that were accepted and are gone, by table: someone removed their journals before they were sealed.
    pub lost: BTreeMap<&'static str, u64>,
    /// Journals that could not be sealed; a later repair can seal them.
    pub unsealed: Vec<PathBuf>,
    /// Journals of this writer that were damaged when it sealed them, where they are now, and what is damaged. Their
    /// whole windows are sealed.
    pub damaged: Vec<Unreadable>,
    /// What this writer repaired at its start: leftovers of an earlier writer of the same observer.
    pub repaired: Repaired,
}

impl Summary {
    /// Returns the totals of one table; zeros for a table without segments.
    #[must_use]
    pub fn table(&self, name: &str) -> TableSummary {
        let found = self.tables.iter().find(|summary| summary.table == name);
        found.copied().unwrap_or_default()
    }

    pub(crate) fn lose(&mut self, table: &'static str, rows: u64) {
        *self.lost.entry(table).or_default() += rows;
    }

    pub(crate) fn count(&mut self, table: &'static str, sealed: &Sealed) {
        if self.tables.iter().all(|summary| summary.table != table) {
            self.tables.push(TableSummary {
                table,
                ..TableSummary::default()
            });
        }
        for summary in self.tables.iter_mut().filter(|s| s.table == table) {
            summary.segments += 1;
            summary.rows += sealed.rows;
            summary.bytes += sealed.bytes;
        }
    }
}

/// What a writer has written to one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableSummary {
    /// Name of the table.
    pub table: &'static str,
    /// Sealed segments.
    pub segments: u64,
    /// Rows in these segments.
    pub rows: u64,
    /// Size of these segments in bytes.
    pub bytes: u64,
}
