//! Reads the rows of any table, for what copies them and does not know their columns.

use crate::read::{ALL_ROWS, Batch};
use crate::{Error, Scan};
use rocescope_model::{Cells, Table, Value};
use std::slice;

/// The requested rows of a batch.
#[derive(Debug)]
pub struct Selected {
    batch: Batch,
    /// Their positions in the batch.
    rows: Vec<usize>,
}

impl Cells for Selected {
    fn table(&self) -> &'static Table {
        self.batch.table()
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let row = self.rows.get(row);
        row.map_or(Value::Null, |row| self.batch.value(*row, column))
    }
}

impl Scan {
    /// Reads the rows of a table that the query of this scan requests, with every column: hour by hour, and segment by
    /// segment within an hour.
    ///
    /// # Errors
    /// The operating system refuses to read a segment. Damaged ones are skipped: see [`Scan::damaged`].
    pub fn cells(&self, table: &'static Table) -> impl Iterator<Item = Result<Selected, Error>> + '_ {
        let mut segments: Vec<_> = self.table(table.name).filter(|segment| segment.rows > 0).collect();
        segments.sort_by(|a, b| a.order().cmp(&b.order()));
        segments.into_iter().flat_map(|segment| {
            let (batches, error) = match segment.undamaged(|_| true, slice::from_ref(&ALL_ROWS)) {
                Ok(batches) => (Some(batches), None),
                Err(error) => (None, Some(Err(error))),
            };
            let condition = self.query.condition.in_segment(segment);
            let selected = batches.into_iter().flatten().map(move |batch| {
                let batch = batch?;
                let rows = condition.rows(&batch).collect();
                Ok(Selected { batch, rows })
            });
            selected.chain(error)
        })
    }
}
