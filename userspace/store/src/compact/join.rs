//! The rows of several segments, in the order of time.
//!
//! Each segment has its rows in the order in which they were written. Where the times of two segments overlap, the earlier
//! row comes first, so that a segment whose rows are in order stays so; of equal times, the row of the earlier segment.
//! A segment is opened when its first row is due: mostly one is open at a time.

use super::group::{Group, Part};
use crate::query::time_column;
use crate::read::{Batch, Batches};
use crate::{Error, encode};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use rocescope_model::{Cells, Table, Value};
use std::collections::VecDeque;

/// The rows of a group as batches of a journal.
pub(super) struct Join<'a> {
    table: &'static Table,
    schema: SchemaRef,
    /// Parts that are not due yet, in order.
    waiting: VecDeque<&'a Part>,
    /// Open parts, in order.
    lanes: Vec<Lane>,
}

/// An open part.
struct Lane {
    batches: Batches,
    batch: Batch,
    /// The next row of the batch.
    row: usize,
}

impl<'a> Join<'a> {
    pub(super) fn new(table: &'static Table, schema: SchemaRef, group: &'a Group) -> Self {
        Self {
            table,
            schema,
            waiting: group.parts.iter().filter(|part| part.segment.rows > 0).collect(),
            lanes: Vec::new(),
        }
    }

    /// Opens the parts whose first row is not later than the next row of the open ones.
    fn open_due(&mut self) -> Result<(), Error> {
        while let Some(part) = self.waiting.front() {
            let next = self.lanes.iter().map(|lane| lane.time(self.table)).min();
            if next.is_some_and(|next| first_ns(part) > next) {
                break;
            }
            let batches = part.segment.batches(|_| true)?;
            self.waiting.pop_front();
            self.lanes.extend(Lane::open(batches)?);
        }
        Ok(())
    }

    /// The rows of one open part that come before those of all others, at most a batch.
    fn take(&mut self) -> Result<Option<RecordBatch>, Error> {
        self.open_due()?;
        let times = self.lanes.iter().map(|lane| lane.time(self.table)).enumerate();
        let Some((own, _)) = times.min_by_key(|(_, time)| *time) else {
            return Ok(None);
        };
        let mut limit = self.waiting.front().map_or(i64::MAX, |part| first_ns(part));
        for (other, lane) in self.lanes.iter().enumerate().filter(|(other, _)| *other != own) {
            // Of equal times, the earlier part is first.
            limit = limit.min(lane.time(self.table).saturating_sub(i64::from(other < own)));
        }
        let lane = &mut self.lanes[own];
        let picked = lane.pick(self.table, limit);
        let batch = encode::batch(&lane.batch, &picked, &self.schema)
            .map_err(|error| Error::arrow("encode", lane.batches.path(), error))?;
        if !lane.fill()? {
            self.lanes.remove(own);
        }
        Ok(Some(batch))
    }
}

/// The time of the earliest row of a part; the earliest of all if its footer does not state it.
fn first_ns(part: &Part) -> i64 {
    part.segment.bounds.time_ns.map_or(i64::MIN, |(first, _)| first)
}

impl Iterator for Join<'_> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take().transpose()
    }
}

impl Lane {
    /// Reads the first batch; `None` if there is none.
    fn open(mut batches: Batches) -> Result<Option<Self>, Error> {
        let batch = batches.next().transpose()?;
        Ok(batch.map(|batch| Self { batches, batch, row: 0 }))
    }

    /// The time of a row of the batch.
    fn time_of(&self, table: &Table, row: usize) -> i64 {
        match time_column(table).map(|column| self.batch.value(row, column)) {
            Some(Value::I64(time)) => time,
            _ => i64::MIN,
        }
    }

    /// The time of the next row.
    fn time(&self, table: &Table) -> i64 {
        self.time_of(table, self.row)
    }

    /// Takes the next row of the batch, and those after it that are not later than the limit.
    fn pick(&mut self, table: &Table, limit: i64) -> Vec<usize> {
        let mut end = self.row + 1;
        while end < self.batch.rows() && self.time_of(table, end) <= limit {
            end += 1;
        }
        let picked = (self.row..end).collect();
        self.row = end;
        picked
    }

    /// Reads the next batch if this one is done; false at the end.
    fn fill(&mut self) -> Result<bool, Error> {
        while self.row >= self.batch.rows() {
            match self.batches.next().transpose()? {
                Some(batch) => (self.batch, self.row) = (batch, 0),
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}
