//! A table that an analysis reads, and how its rows reach it.
//!
//! Functions for each table are chosen once per batch, hour or slice. The loops over rows know their types, so that the
//! compiler sees through the call for each row.

use rocescope_model::{Column, Row, Table, Time, Type};
use rocescope_store::{Batch, Error, Rows, Scan, TimeRange};
use std::collections::BTreeSet;

/// Takes rows of a table.
pub trait Reads<R: Row>: Sized + 'static {
    /// How long before a time rows must be read of which something is valid at its start.
    const LOOK_BACK_NS: i64 = 0;
    /// Whether the rows of an hour may be read in steps, with windows analyzed in between: their segments are in the
    /// order of time.
    const IN_STEPS: bool = false;

    /// Whether it reads a column; the others may be null, zero or empty.
    fn is_read(column: &Column) -> bool {
        column.kind != Type::Bytes
    }

    /// The time of a row.
    fn time_ns(row: &R) -> i64;

    /// Takes a row.
    fn row(&mut self, row: &R);
}

/// A table that an analysis reads.
#[derive(Debug)]
pub struct Input<A> {
    /// The table.
    pub table: &'static Table,
    /// How long before a time its rows are read.
    pub look_back_ns: i64,
    /// Whether a column is read.
    pub is_read: fn(&Column) -> bool,
    feed: fn(&mut A, &Batch),
    hours: fn(&Scan, TimeRange) -> BTreeSet<String>,
    steps: for<'s> fn(&'s Scan, TimeRange, &str) -> Vec<Step<'s, A>>,
    slice: fn(&mut A, &Scan, TimeRange, i64) -> Result<(), Error>,
    rows: fn(&Scan, TimeRange) -> u64,
}

/// A part of the rows of an hour.
pub(crate) struct Step<'s, A> {
    /// Feeds the rows; returns the time of the last one.
    pub(crate) feed: Box<Feed<'s, A>>,
    /// The time from which all rows of the later steps are, if windows before it may be analyzed.
    pub(crate) next: Option<Time>,
}

type Feed<'s, A> = dyn FnOnce(&mut A) -> Result<i64, Error> + 's;

/// The rows that are read before the next windows are analyzed: enough for two threads, and 16 MB of probes.
const STEP_ROWS: u64 = 1_000_000;

impl<A> Input<A> {
    /// The table of these rows.
    #[must_use]
    pub const fn new<R: Row + Send>() -> Self
    where
        A: Reads<R>,
    {
        Self {
            table: R::TABLE,
            look_back_ns: A::LOOK_BACK_NS,
            is_read: A::is_read,
            feed: feed::<A, R>,
            hours: |found, time| {
                let hours = select::<A, R>(found, time).hours();
                hours.into_iter().map(String::from).collect()
            },
            steps: steps::<A, R>,
            slice: slice::<A, R>,
            rows: |found, time| {
                let rows = found.select::<R>().within(time);
                rows.segments().map(|segment| segment.rows).sum()
            },
        }
    }

    /// Adds the rows of a batch of this table.
    pub fn feed(&self, analysis: &mut A, rows: &Batch) {
        (self.feed)(analysis, rows);
    }

    /// Adds the rows of a time, and of the time before it whose rows are valid at its start.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn read(&self, analysis: &mut A, found: &Scan, time: TimeRange) -> Result<(), Error> {
        self.slice(analysis, found, earlier(time, self.look_back_ns), i64::MAX)
    }

    /// The hours of these rows.
    pub(crate) fn hours(&self, found: &Scan, time: TimeRange) -> BTreeSet<String> {
        (self.hours)(found, earlier(time, self.look_back_ns))
    }

    /// The rows of an hour, in the order in which they are to be fed.
    pub(crate) fn steps<'s>(&self, found: &'s Scan, time: TimeRange, hour: &str) -> Vec<Step<'s, A>> {
        (self.steps)(found, earlier(time, self.look_back_ns), hour)
    }

    /// Adds the rows of a time that are dated `last_ns` at most.
    pub(crate) fn slice(&self, analysis: &mut A, found: &Scan, time: TimeRange, last_ns: i64) -> Result<(), Error> {
        (self.slice)(analysis, found, time, last_ns)
    }

    /// The rows of the segments of a time.
    pub(crate) fn rows(&self, found: &Scan, time: TimeRange) -> u64 {
        (self.rows)(found, time)
    }
}

/// This time, with a start that is earlier.
pub(crate) fn earlier(time: TimeRange, by_ns: i64) -> TimeRange {
    let from = time.from.map(|from| Time(from.0.saturating_sub(by_ns)));
    TimeRange { from, ..time }
}

fn select<A: Reads<R>, R: Row>(found: &Scan, time: TimeRange) -> Rows<'_, R> {
    found.select::<R>().within(time).columns(A::is_read)
}

fn feed<A: Reads<R>, R: Row>(analysis: &mut A, rows: &Batch) {
    // Invalid rows were refused before they were stored.
    let rows = rows.typed::<R>().unwrap_or_default();
    rows.iter().for_each(|row| analysis.row(row));
}

fn steps<'s, A: Reads<R>, R: Row + Send>(found: &'s Scan, time: TimeRange, hour: &str) -> Vec<Step<'s, A>> {
    let rows = select::<A, R>(found, time).of_hour(hour);
    let steps = match A::IN_STEPS {
        true => rows.steps(STEP_ROWS),
        false => vec![(rows, None)],
    };
    let step = |(rows, next): (Rows<'s, R>, Option<Time>)| Step {
        feed: Box::new(move |analysis: &mut A| {
            let mut last_ns = i64::MIN;
            rows.for_each_in_parallel(|row| {
                last_ns = last_ns.max(A::time_ns(row));
                analysis.row(row);
            })?;
            Ok(last_ns)
        }),
        next,
    };
    steps.into_iter().map(step).collect()
}

fn slice<A: Reads<R>, R: Row>(analysis: &mut A, found: &Scan, time: TimeRange, last_ns: i64) -> Result<(), Error> {
    select::<A, R>(found, time).for_each(|row| {
        if A::time_ns(&row) <= last_ns {
            analysis.row(&row);
        }
    })
}
