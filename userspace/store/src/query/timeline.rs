//! Rows of one table from many segments, in the order of their windows.
//!
//! A window's sketches are a megabyte, so an hour of a few boxes does not fit the memory: each
//! segment, whose rows are in order, is read batch by batch once its time has come.

use anyhow::{Context, Result};
use rocescope_model::{Cells, Column, Row, Value};
use rocescope_store::read::Batches;
use rocescope_store::{Scan, Segment};
use std::collections::VecDeque;
use std::path::PathBuf;

/// The column that gives the order.
const START: &str = "window_start_ns";

/// The rows of all segments of a table.
#[derive(Debug)]
pub struct Timeline<'a, R> {
    /// Segments whose time has not come, the earliest last.
    waiting: Vec<(i64, usize, &'a Segment)>,
    lanes: Vec<Lane<R>>,
    column: usize,
    /// The columns that are read.
    wanted: fn(&Column) -> bool,
}

/// A segment that is being read.
#[derive(Debug)]
struct Lane<R> {
    dataset: usize,
    path: PathBuf,
    batches: Batches,
    rows: VecDeque<R>,
}

impl<'a, R: Row> Timeline<'a, R> {
    /// The rows of this table in all datasets.
    ///
    /// # Errors
    /// A segment does not read.
    pub fn new(scans: &'a [Scan]) -> Result<Self> {
        let scans = scans.iter().enumerate();
        let segments =
            scans.flat_map(|(dataset, scan)| scan.segments.iter().map(move |s| (dataset, s)));
        Self::of(segments, |_| true)
    }

    /// The rows of this table in these segments, each with the number of its dataset; of the columns
    /// only those that `wanted` says yes to.
    ///
    /// # Errors
    /// A segment does not read.
    pub fn of(
        segments: impl Iterator<Item = (usize, &'a Segment)>,
        wanted: fn(&Column) -> bool,
    ) -> Result<Self> {
        let column = R::TABLE.position(START).unwrap_or(usize::MAX);
        let mut waiting = Vec::new();
        for (dataset, segment) in segments.filter(|(_, s)| s.table == R::TABLE.name) {
            let mut batches = segment.batches(|column| column.name == START)?;
            if let Some(batch) = batches.next().transpose()?
                && let Value::I64(first) = batch.value(0, column)
            {
                waiting.push((first, dataset, segment));
            }
        }
        // Datasets in the order in which they were named, where times are equal.
        waiting.sort_by_key(|(first, dataset, _)| std::cmp::Reverse((*first, *dataset)));
        Ok(Self {
            waiting,
            lanes: Vec::new(),
            column,
            wanted,
        })
    }

    /// Start of the next window that has rows.
    #[must_use]
    pub fn next_ns(&self) -> Option<i64> {
        let waiting = self.waiting.last().map(|(first, ..)| *first);
        let reading = self.lanes.iter().filter_map(|lane| lane.head(self.column));
        reading.chain(waiting).min()
    }

    /// Takes all rows up to the window that starts at `start_ns`, with the number of the dataset of
    /// each. Those of an earlier window, which has no row where `start_ns` came from, are dropped.
    ///
    /// # Errors
    /// A segment does not read.
    pub fn take(&mut self, start_ns: i64) -> Result<Vec<(usize, R)>> {
        while let Some((_, dataset, segment)) =
            self.waiting.pop_if(|(first, ..)| *first <= start_ns)
        {
            let mut lane = Lane {
                dataset,
                path: segment.path.clone(),
                batches: segment.batches(self.wanted)?,
                rows: VecDeque::new(),
            };
            lane.fill()?;
            self.lanes.push(lane);
        }
        let mut taken = Vec::new();
        for lane in &mut self.lanes {
            while let Some(first) = lane.head(self.column)
                && first <= start_ns
            {
                let row = lane.rows.pop_front();
                if first == start_ns {
                    taken.extend(row.map(|row| (lane.dataset, row)));
                }
                lane.fill()?;
            }
        }
        self.lanes.retain(|lane| !lane.rows.is_empty());
        Ok(taken)
    }
}

impl<R: Row> Lane<R> {
    fn head(&self, column: usize) -> Option<i64> {
        match self.rows.front()?.value(column) {
            Value::I64(start) => Some(start),
            _ => None,
        }
    }

    /// Reads the next batch once the last is used up.
    fn fill(&mut self) -> Result<()> {
        while self.rows.is_empty()
            && let Some(batch) = self.batches.next()
        {
            let rows = batch?.typed::<R>();
            self.rows
                .extend(rows.with_context(|| self.path.display().to_string())?);
        }
        Ok(())
    }
}
