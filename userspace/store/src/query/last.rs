//! Of rows with totals since some start, the last of each object in a segment.
//!
//! A connection has a row a minute, and a report needs only the last one. The columns that name it are read first, and then
//! all columns of the rows that matter: of a day in hours, one row of 24.

use super::{TimeRange, time_column};
use crate::read::ALL_ROWS;
use crate::{Error, Segment};
use rocescope_model::time::MINUTE_NS;
use rocescope_model::{Cells, Table, Value};
use std::collections::HashMap;
use std::ops::Range;
use std::slice;

/// Which rows of a segment matter.
#[derive(Debug, Clone, Copy)]
pub struct LastOfEach {
    /// The columns that name an object: texts and integers that are never null.
    pub object: &'static [&'static str],
    /// Of an object, only the last row in this time matters; of rows with equal times, the later one.
    pub time: TimeRange,
    /// The same for another time. Rows in neither matter all.
    pub other: Option<TimeRange>,
}

/// A segment that is no longer has few rows of an object: a capture seals one a minute.
const SHORT_NS: i64 = MINUTE_NS;

impl LastOfEach {
    /// The rows of a segment within this time that matter, as ranges in order.
    pub(super) fn rows(
        self,
        table: &'static Table,
        segment: &Segment,
        within: TimeRange,
    ) -> Result<Vec<Range<usize>>, Error> {
        let is_short = segment
            .bounds
            .time_ns
            .is_some_and(|(first, last)| last - first < SHORT_NS);
        let (Some(time), false) = (time_column(table), is_short) else {
            return Ok(vec![ALL_ROWS]);
        };
        let object: Vec<usize> = self.object.iter().filter_map(|name| table.position(name)).collect();
        let is_needed = |name| self.object.contains(&name) || table.position(name) == Some(time);
        let mut matters = Vec::new();
        let mut last: HashMap<Vec<u8>, (i64, usize)> = HashMap::new();
        let mut key = Vec::new();
        for batch in segment.undamaged(|column| is_needed(column.name), slice::from_ref(&ALL_ROWS))? {
            let batch = batch?;
            for row in 0..batch.rows() {
                let number = matters.len();
                let Value::I64(time_ns) = batch.value(row, time) else {
                    matters.push(true);
                    continue;
                };
                matters.push(within.contains(time_ns));
                let other = self.other.is_some_and(|other| other.contains(time_ns));
                if !within.contains(time_ns) || !(other || self.time.contains(time_ns)) {
                    continue;
                }
                key.clear();
                key.push(u8::from(other));
                object
                    .iter()
                    .for_each(|column| append(&mut key, &batch.value(row, *column)));
                match last.get_mut(key.as_slice()) {
                    Some((known_ns, _)) if *known_ns > time_ns => matters[number] = false,
                    Some(known) => {
                        matters[known.1] = false;
                        *known = (time_ns, number);
                    }
                    None => drop(last.insert(key.clone(), (time_ns, number))),
                }
            }
        }
        Ok(ranges(&matters))
    }
}

/// Appends a cell, so that different objects have different bytes.
fn append(key: &mut Vec<u8>, value: &Value<'_>) {
    match value {
        Value::I64(number) => key.extend(number.to_be_bytes()),
        Value::Text(text) => {
            key.extend((text.len() as u64).to_be_bytes());
            key.extend(text.as_bytes());
        }
        _ => {}
    }
}

fn ranges(matters: &[bool]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for row in (0..matters.len()).filter(|row| matters[*row]) {
        match ranges.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => ranges.push(row..row + 1),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn neighbours_are_one_range() {
        assert_eq!(ranges(&[true, true, false, true, false]), [0..2, 3..4]);
        assert!(ranges(&[false]).is_empty());
    }
}
