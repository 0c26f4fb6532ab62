//! Reads rows of one table from many segments, in the order of their windows.
//!
//! The sketches of a window are a megabyte, so an hour of a few boxes does not fit into memory. Each segment has its
//! rows in order, and is read batch by batch when the window in its footer is due.

use super::rows::SegmentRows;
use super::{Rows, time_column};
use crate::{Error, Segment};
use rocescope_model::{Row, Value};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// The rows of all segments of a selection.
#[derive(Debug)]
pub struct Timeline<'a, R: Row> {
    selected: Rows<'a, R>,
    /// Segments that are not due yet, the earliest last.
    waiting: Vec<(i64, usize, &'a Segment)>,
    lanes: Vec<Lane<'a, R>>,
}

/// A segment being read.
#[derive(Debug)]
struct Lane<'a, R: Row> {
    dataset: usize,
    batches: SegmentRows<'a, R>,
    rows: VecDeque<R>,
}

impl<'a, R: Row> Timeline<'a, R> {
    pub(super) fn new(mut selected: Rows<'a, R>) -> Result<Self, Error> {
        let segments = std::mem::take(&mut selected.segments);
        let mut timeline = Self {
            selected,
            waiting: Vec::new(),
            lanes: Vec::new(),
        };
        for (dataset, segment) in segments {
            match segment.bounds.time_ns {
                Some((first, _)) => {
                    let from = segment.only.from.map_or(first, |from| first.max(from.0));
                    timeline.waiting.push((from, dataset, segment));
                }
                None => timeline.read(dataset, segment)?,
            }
        }
        // For equal times, datasets in the order in which they were named.
        let waiting = &mut timeline.waiting;
        waiting.sort_by_key(|(first, dataset, _)| Reverse((*first, *dataset)));
        Ok(timeline)
    }

    /// Returns the start of the next window that may have rows.
    #[must_use]
    pub fn next_ns(&self) -> Option<i64> {
        let waiting = self.waiting.last().map(|(first, ..)| *first);
        let reading = self.lanes.iter().filter_map(Lane::head);
        reading.chain(waiting).min()
    }

    /// Takes the rows of the window that starts at `start_ns`, with the number of their dataset. Drops rows of earlier
    /// windows, for which the source of `start_ns` has no row.
    ///
    /// # Errors
    /// The operating system refuses to read a segment. Damaged ones are skipped: see `Scan::damaged`.
    pub fn take(&mut self, start_ns: i64) -> Result<Vec<(usize, R)>, Error> {
        while let Some((_, dataset, segment)) = self.waiting.pop_if(|(first, ..)| *first <= start_ns) {
            self.read(dataset, segment)?;
        }
        let mut taken = Vec::new();
        for lane in &mut self.lanes {
            while let Some(first) = lane.head()
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

    fn read(&mut self, dataset: usize, segment: &'a Segment) -> Result<(), Error> {
        let mut lane = Lane {
            dataset,
            batches: self.selected.open_all(segment)?,
            rows: VecDeque::new(),
        };
        lane.fill()?;
        self.lanes.push(lane);
        Ok(())
    }
}

impl<R: Row> Lane<'_, R> {
    fn head(&self) -> Option<i64> {
        match self.rows.front()?.value(time_column(R::TABLE)?) {
            Value::I64(start) => Some(start),
            _ => None,
        }
    }

    /// Reads the next batch when the last one is consumed.
    fn fill(&mut self) -> Result<(), Error> {
        while self.rows.is_empty()
            && let Some(batch) = self.batches.next()
        {
            self.rows.extend(batch?);
        }
        Ok(())
    }
}
