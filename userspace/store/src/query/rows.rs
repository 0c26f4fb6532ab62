//! Reads the rows of one table, batch by batch.

use super::condition::Condition;
use super::last::LastOfEach;
use super::{TimeRange, Timeline};
use crate::read::{ALL_ROWS, Batch, Undamaged};
use crate::{Error, Scan, Segment};
use rocescope_model::recent::Memo;
use rocescope_model::{Cells, Column, Row, StoredCell, Time, Type, Value, footer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::mem;
use std::ops::Range;
use std::slice;

/// A selection of rows of one table, not read yet; without sketches unless requested.
#[derive(Debug, Clone)]
pub struct Rows<'a, R> {
    /// Segments with the number of their dataset, in the order of their hours.
    pub(super) segments: Vec<(usize, &'a Segment)>,
    pub(super) condition: Condition,
    columns: fn(&Column) -> bool,
    /// Which rows are left out because others of their object follow.
    last: Option<LastOfEach>,
    row: PhantomData<fn() -> R>,
}

impl Scan {
    /// Selects the rows of a table that the query of this scan requests.
    #[must_use]
    pub fn select<R: Row>(&self) -> Rows<'_, R> {
        Rows::of(slice::from_ref(self))
    }
}

impl<'a, R: Row> Rows<'a, R> {
    /// Selects the rows of a table in all of these datasets, opened by the same query.
    #[must_use]
    pub fn of(datasets: &'a [Scan]) -> Self {
        let numbered = datasets.iter().enumerate();
        let segments = numbered.flat_map(|(dataset, scan)| {
            let segments = scan.table(R::TABLE.name).filter(|segment| segment.rows > 0);
            segments.map(move |segment| (dataset, segment))
        });
        let mut segments: Vec<(usize, &Segment)> = segments.collect();
        segments.sort_by(|(_, a), (_, b)| a.order().cmp(&b.order()));
        let query = datasets.first().map(|scan| scan.query.condition.clone());
        Self {
            segments,
            condition: query.unwrap_or_default(),
            columns: |column| column.kind != Type::Bytes,
            last: None,
            row: PhantomData,
        }
    }

    /// Restricts the selection to this time.
    #[must_use]
    pub fn within(mut self, time: impl Into<TimeRange>) -> Self {
        self.condition.time = self.condition.time.narrowed(time.into());
        let asked = &self.condition;
        self.segments
            .retain(|(_, segment)| asked.admits_span(segment.span) && asked.admits_time(&segment.bounds));
        self
    }

    /// Restricts the selection to these observers; without names, to all.
    #[must_use]
    pub fn observers<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.condition.observers = names.into_iter().map(String::from).collect();
        let asked = &self.condition;
        let segments = &mut self.segments;
        segments.retain(|(_, segment)| asked.admits_observers(&segment.bounds));
        self
    }

    /// Restricts the selection to segments whose footer names this writer.
    #[must_use]
    pub fn written_by(mut self, writer: Option<&str>) -> Self {
        let segments = &mut self.segments;
        segments.retain(|(_, segment)| segment.footer(footer::OBSERVER) == writer);
        self
    }

    /// Restricts the selection to one hour, named as by [`hours`](Self::hours).
    #[must_use]
    pub fn of_hour(mut self, hour: &str) -> Self {
        self.segments.retain(|(_, segment)| segment.partition == hour);
        self
    }

    /// Reads the columns that `wanted` selects and those that conditions need. The others are null, or zero and empty where
    /// they cannot be null; addresses cannot be left out.
    #[must_use]
    pub const fn columns(mut self, wanted: fn(&Column) -> bool) -> Self {
        self.columns = wanted;
        self
    }

    /// Leaves out rows that a later one in the same segment replaces: for tables whose rows have totals since some start.
    #[must_use]
    pub const fn last_of_each(mut self, last: LastOfEach) -> Self {
        self.last = Some(last);
        self
    }

    /// Splits the selection into steps of at least `rows` rows, by the times at which segments begin. Each step has the
    /// time from which all rows of the later steps are; the last has none.
    #[must_use]
    pub fn steps(mut self, rows: u64) -> Vec<(Self, Option<Time>)> {
        // Segments whose time is unknown come first: what holds for later steps must be known.
        let begin = |segment: &Segment| segment.bounds.time_ns.map_or(i64::MIN, |(first, _)| first);
        self.segments.sort_by_key(|(_, segment)| begin(segment));
        let mut steps = Vec::new();
        while !self.segments.is_empty() {
            let mut held = 0;
            let more = |(_, segment): &(usize, &Segment)| {
                let is_full = held >= rows;
                held += segment.rows;
                is_full
            };
            let end = self.segments.iter().position(more).unwrap_or(self.segments.len());
            let later = self.segments.split_off(end);
            let next = later.first().map(|(_, segment)| Time(begin(segment)));
            let step = Self {
                segments: mem::replace(&mut self.segments, later),
                condition: self.condition.clone(),
                ..self
            };
            steps.push((step, next));
        }
        steps
    }

    /// Returns the hours with such rows, in order.
    #[must_use]
    pub fn hours(&self) -> BTreeSet<&'a str> {
        let segments = self.segments.iter();
        segments.map(|(_, segment)| segment.partition.as_str()).collect()
    }

    /// Returns the segments that will be read.
    pub fn segments(&self) -> impl Iterator<Item = &'a Segment> + '_ {
        self.segments.iter().map(|(_, segment)| *segment)
    }

    /// Reads the rows in batches: hour by hour, and segment by segment within an hour.
    pub fn batches(self) -> impl Iterator<Item = Result<Vec<R>, Error>> + 'a
    where
        R: 'a,
    {
        let segments = self.segments.clone().into_iter();
        segments.flat_map(move |(_, segment)| {
            let (rows, error) = match self.open_all(segment) {
                Ok(rows) => (Some(rows), None),
                Err(error) => (None, Some(Err(error))),
            };
            rows.into_iter().flatten().chain(error)
        })
    }

    /// Calls `take` for each row, in the same order.
    ///
    /// # Errors
    /// The operating system refuses to read a segment. Damaged ones are skipped: see [`Scan::damaged`].
    pub fn for_each(self, mut take: impl FnMut(R)) -> Result<(), Error> {
        for batch in self.batches() {
            batch?.into_iter().for_each(&mut take);
        }
        Ok(())
    }

    /// Reads only some integer columns of the rows, in the same order.
    ///
    /// # Errors
    /// The operating system refuses to read a segment. Damaged ones are skipped: see [`Scan::damaged`].
    pub fn integers<const N: usize>(self, columns: [&str; N], mut take: impl FnMut([i64; N])) -> Result<(), Error> {
        let table = R::TABLE;
        let places = columns.map(|name| table.position(name).unwrap_or(usize::MAX));
        for (_, segment) in &self.segments {
            let condition = self.condition.in_segment(segment);
            let wanted = |column: &Column| columns.contains(&column.name) || condition.needs(table, column.name);
            for batch in segment.undamaged(wanted, slice::from_ref(&ALL_ROWS))? {
                let batch = batch?;
                for row in condition.rows(&batch) {
                    take(places.map(|place| match batch.value(row, place) {
                        Value::I64(number) => number,
                        _ => 0,
                    }));
                }
            }
        }
        Ok(())
    }

    /// Reads the rows window by window.
    ///
    /// # Errors
    /// The operating system refuses to read a segment. Damaged ones are skipped: see [`Scan::damaged`].
    pub fn timeline(self) -> Result<Timeline<'a, R>, Error> {
        Timeline::new(self)
    }

    /// Starts to read the requested rows of a segment.
    pub(super) fn open_all(&self, segment: &'a Segment) -> Result<SegmentRows<'a, R>, Error> {
        match self.last {
            Some(last) => {
                let within = self.condition.in_segment(segment).time;
                self.open(segment, &last.rows(R::TABLE, segment, within)?)
            }
            None => self.open(segment, slice::from_ref(&ALL_ROWS)),
        }
    }

    /// Starts to read the requested ones of these rows of a segment.
    pub(super) fn open(&self, segment: &'a Segment, rows: &[Range<usize>]) -> Result<SegmentRows<'a, R>, Error> {
        let condition = self.condition.in_segment(segment);
        let wanted = |column: &Column| (self.columns)(column) || condition.needs(R::TABLE, column.name);
        let unread = |column: &Column| (!column.nullable && !wanted(column)).then(|| empty(column.kind));
        Ok(SegmentRows {
            segment,
            batches: segment.undamaged(wanted, rows)?,
            condition: condition.clone(),
            unread: R::TABLE.columns.iter().map(unread).collect(),
            memo: R::Memo::default(),
        })
    }
}

/// The rows of one segment, batch by batch.
#[derive(Debug)]
pub(super) struct SegmentRows<'a, R: Row> {
    segment: &'a Segment,
    batches: Undamaged<'a>,
    condition: Condition,
    /// The values of columns that were not requested and are never null.
    unread: Vec<Option<Value<'static>>>,
    memo: R::Memo,
}

/// A cell of a batch.
struct Place<'a> {
    batch: &'a Batch,
    row: usize,
    column: usize,
    /// The value in place of null where the column was not requested and is never null.
    unread: Option<&'a Value<'static>>,
}

impl StoredCell for Place<'_> {
    fn value(&self) -> Value<'_> {
        match (self.batch.value(self.row, self.column), self.unread) {
            (Value::Null, Some(unread)) => unread.clone(),
            (value, _) => value,
        }
    }

    #[inline]
    fn is_null(&self) -> bool {
        let column = self.batch.column(self.column);
        self.unread.is_none() && column.is_none_or(|column| column.is_null(self.row))
    }

    #[inline]
    fn integer(&self) -> Option<i64> {
        let column = self.batch.column(self.column)?;
        column.integer(self.row).or(match self.unread {
            Some(Value::I64(unread)) => Some(*unread),
            _ => None,
        })
    }

    #[inline]
    fn text(&self) -> Option<&str> {
        let column = self.batch.column(self.column)?;
        column.text(self.row).or(match self.unread {
            Some(Value::Text(unread)) => Some(unread),
            _ => None,
        })
    }
}

/// A value of this type.
const fn empty(kind: Type) -> Value<'static> {
    match kind {
        Type::I64 => Value::I64(0),
        Type::F64 => Value::F64(0.0),
        Type::Bool => Value::Bool(false),
        Type::Text => Value::Text(Cow::Borrowed("")),
        Type::Time => Value::Time(Time(0)),
        Type::Bytes => Value::Bytes(&[]),
        Type::ListI64 => Value::ListI64(&[]),
    }
}

impl<R: Row> Iterator for SegmentRows<'_, R> {
    type Item = Result<Vec<R>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.batches.next()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
        };
        let (memo, unread) = (&mut self.memo, &self.unread);
        memo.next_batch();
        let rows = self.condition.rows(&batch).map(|row| {
            R::read_next(memo, |column| {
                let unread = unread.get(column).and_then(Option::as_ref);
                Place {
                    batch: &batch,
                    row,
                    column,
                    unread,
                }
            })
        });
        let rows: Result<Vec<R>, _> = rows.collect();
        match rows {
            Ok(rows) => Some(Ok(rows)),
            Err(cause) => {
                let path = self.segment.path.clone();
                self.segment.note(Error::Mismatch { path, cause }).err().map(Err)
            }
        }
    }
}
