//! Rows of narrow spans of time, read many times from the same segments.

use super::{Rows, time_column};
use crate::{Error, Scan, Segment};
use rocescope_model::{Cells, Row, Value};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

/// Rows whose times are kept as one span: so many are read at least where one is wanted.
const BLOCK: u32 = 1_024;

/// Reads spans of a scan. It keeps, of each segment that it has read, between which times the rows of
/// each block lie, so that the next span decodes the blocks in it and no others.
#[derive(Debug)]
pub struct SpanReader {
    found: Scan,
    blocks: HashMap<PathBuf, Vec<Block>>,
}

/// Rows of a segment that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    first_ns: i64,
    last_ns: i64,
    rows: u32,
}

impl SpanReader {
    /// Reads what this scan found.
    #[must_use]
    pub fn new(found: Scan) -> Self {
        Self {
            found,
            blocks: HashMap::new(),
        }
    }

    /// The rows of a table, without sketches, whose time lies in `span_ns`, segment by segment.
    ///
    /// # Errors
    /// A segment does not read, or holds a value that does not fit the row.
    pub fn rows<R: Row>(&mut self, span_ns: &Range<i64>) -> Result<Vec<R>, Error> {
        let mut found = Vec::new();
        let rows: Rows<'_, R> = self.found.select().within(span_ns.clone());
        for segment in rows.segments() {
            let blocks = match self.blocks.get(&segment.path) {
                Some(blocks) => blocks,
                None => {
                    let read = blocks_of::<R>(segment)?;
                    self.blocks.entry(segment.path.clone()).or_insert(read)
                }
            };
            if let Some(range) = within(blocks, span_ns) {
                for batch in rows.open(segment, range)? {
                    found.append(&mut batch?);
                }
            }
        }
        Ok(found)
    }
}

fn blocks_of<R: Row>(segment: &Segment) -> Result<Vec<Block>, Error> {
    let mut blocks: Vec<Block> = Vec::new();
    let time = time_column(R::TABLE).unwrap_or(usize::MAX);
    let is_time = |name| R::TABLE.position(name) == Some(time);
    for batch in segment.batches(|column| is_time(column.name))? {
        let batch = batch?;
        for row in 0..batch.rows() {
            let Value::I64(time) = batch.value(row, time) else {
                continue;
            };
            match blocks.last_mut() {
                Some(block) if block.takes(time) => {
                    block.first_ns = block.first_ns.min(time);
                    block.last_ns = block.last_ns.max(time);
                    block.rows += 1;
                }
                _ => blocks.push(Block {
                    first_ns: time,
                    last_ns: time,
                    rows: 1,
                }),
            }
        }
    }
    Ok(blocks)
}

impl Block {
    /// Whether the next row joins: all of one window do, and of other times so many.
    const fn takes(&self, time: i64) -> bool {
        (self.first_ns == time && self.last_ns == time) || self.rows < BLOCK
    }
}

/// From the first row that may be in `span` to the last; not all between need be.
fn within(blocks: &[Block], span: &Range<i64>) -> Option<Range<usize>> {
    let mut range: Option<Range<usize>> = None;
    let mut at = 0;
    for block in blocks {
        let end = at + block.rows as usize;
        if block.first_ns < span.end && block.last_ns >= span.start {
            let start = range.map_or(at, |range| range.start);
            range = Some(start..end);
        }
        at = end;
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_reach_from_the_first_to_the_last_row_in_time() {
        let block = |(first_ns, last_ns, rows)| Block {
            first_ns,
            last_ns,
            rows,
        };
        let blocks = [(10, 10, 3), (18, 20, 2), (15, 15, 1), (30, 39, 4)].map(block);
        assert_eq!(within(&blocks, &(15..25)), Some(3..6));
        assert_eq!(within(&blocks, &(19..20)), Some(3..5));
        assert_eq!(within(&blocks, &(0..100)), Some(0..10));
        assert_eq!(within(&blocks, &(40..50)), None);
    }
}
