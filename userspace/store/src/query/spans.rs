//! Reads rows of narrow time spans, many times from the same segments.

use super::{Rows, time_column};
use crate::read::ALL_ROWS;
use crate::{Error, Scan, Segment};
use rocescope_model::{Cells, Row, Value};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::slice;

/// Rows in a block, for which one time span is kept: at least this many rows are read for each requested one.
const BLOCK: u32 = 1_024;

/// Reads time spans of a scan. For each segment that it has read, it keeps the time span of each block of rows, so that
/// the next read decodes only the blocks that overlap.
#[derive(Debug)]
pub struct SpanReader {
    found: Scan,
    blocks: HashMap<PathBuf, Vec<Block>>,
}

/// Consecutive rows of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    first_ns: i64,
    last_ns: i64,
    rows: u32,
}

impl SpanReader {
    /// Creates a reader of the segments of this scan.
    #[must_use]
    pub fn new(found: Scan) -> Self {
        Self {
            found,
            blocks: HashMap::new(),
        }
    }

    /// Reads the rows of a table, without sketches, with times in `span_ns`, segment by segment.
    ///
    /// # Errors
    /// The operating system refuses to read a segment. Damaged ones are skipped: see [`Scan::damaged`].
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
                for batch in rows.open(segment, slice::from_ref(&range))? {
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
    for batch in segment.undamaged(|column| is_time(column.name), slice::from_ref(&ALL_ROWS))? {
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
    /// Whether the block accepts the next row: all rows of one window, and other rows up to [`BLOCK`].
    const fn takes(&self, time: i64) -> bool {
        (self.first_ns == time && self.last_ns == time) || self.rows < BLOCK
    }
}

/// Returns the range from the first to the last row that may be in `span`; some between may not be.
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
