//! Merges the sketches of several rows of `windows`. A sketch that one row lacks is left out.

use super::part::{MergeError, Part, hash};
use alloc::vec::Vec;
use rocescope_model::{SparseBytes, WindowRow};
use rocescope_sketches::{CountMin, FlowHash, HyperLogLog, LinearCounting, Mismatch};

fn bitmap(row: &WindowRow) -> Result<Option<LinearCounting>, MergeError> {
    let bytes = row.linear_counting.as_ref();
    let bitmap = bytes.map(|bytes| LinearCounting::from_row_bytes(&[bytes.to_vec()]));
    bitmap.transpose().map_err(MergeError::Bitmap)
}

/// The sketches of a window.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketches {
    pub(super) flows: Option<LinearCounting>,
    pub(super) packets: Option<CountMin>,
    pub(super) frame_bytes: Option<CountMin>,
    pub(super) hll: Option<HyperLogLog>,
}

impl Sketches {
    /// The sketches of the rows of one observer.
    pub(super) fn of(rows: &[WindowRow]) -> Result<Self, MergeError> {
        let each = rows.iter().map(Self::read);
        Self::merged(&each.collect::<Result<Vec<_>, _>>()?)
    }

    /// The bitmap of the rows of one observer.
    fn bitmap(rows: &[WindowRow]) -> Result<Option<LinearCounting>, MergeError> {
        let Some((first, rest)) = rows.split_first() else {
            return Ok(None);
        };
        let mut sum = bitmap(first)?;
        for row in rest {
            merge(BITMAP, &mut sum, &bitmap(row)?, LinearCounting::merge)?;
        }
        Ok(sum)
    }

    fn read(row: &WindowRow) -> Result<Self, MergeError> {
        let count_min = |column, bytes: &Option<SparseBytes>| {
            let read = bytes
                .as_ref()
                .map(|bytes| CountMin::from_spark(&bytes.to_vec()))
                .transpose();
            read.map_err(|error| MergeError::CountMin { column, error })
        };
        let hll = row.hll_flows.as_ref();
        let hll = hll.map(|bytes| HyperLogLog::from_datasketches(&bytes.to_vec()));
        Ok(Self {
            flows: bitmap(row)?,
            packets: count_min(PACKETS, &row.count_min_packets)?,
            frame_bytes: count_min(FRAME_BYTES, &row.count_min_bytes)?,
            hll: hll.transpose().map_err(MergeError::HyperLogLog)?,
        })
    }

    fn merged(all: &[Self]) -> Result<Self, MergeError> {
        let Some((first, rest)) = all.split_first() else {
            return Ok(Self::default());
        };
        let mut sum = first.clone();
        rest.iter().try_for_each(|other| sum.merge(other))?;
        Ok(sum)
    }

    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        merge(BITMAP, &mut self.flows, &other.flows, LinearCounting::merge)?;
        merge(PACKETS, &mut self.packets, &other.packets, CountMin::merge)?;
        merge(FRAME_BYTES, &mut self.frame_bytes, &other.frame_bytes, CountMin::merge)?;
        merge("hll_flows", &mut self.hll, &other.hll, |ours, theirs| {
            ours.merge(theirs);
            Ok(())
        })
    }
}

/// The sketches of several parts together.
///
/// A part that lists all its flows needs no Count-Min tables and no HyperLogLog: its rows say the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    /// The bitmaps of all parts; `None` if one lacks it.
    pub(super) flows: Option<LinearCounting>,
    /// Of the parts that do not list all their flows; `None` if there is none yet.
    unlisted: Option<Sketches>,
    /// The flows of the others, with packets and frame bytes.
    listed: Vec<(FlowHash, u64, u64)>,
    parts: usize,
}

impl Sum {
    /// Adds a part that does not list all its flows.
    pub(super) fn add(&mut self, mut seen: Sketches) -> Result<(), MergeError> {
        self.add_bitmap(seen.flows.take())?;
        match &mut self.unlisted {
            None => self.unlisted = Some(seen),
            Some(sum) => sum.merge(&seen)?,
        }
        Ok(())
    }

    /// Adds a part that lists all its flows.
    pub(super) fn add_listed(&mut self, part: &Part) -> Result<(), MergeError> {
        self.add_bitmap(Sketches::bitmap(&part.windows)?)?;
        let flows = part.flows.iter();
        let sizes = flows.map(|row| (hash(row.flow_hash), row.packets, row.frame_bytes));
        self.listed.extend(sizes);
        Ok(())
    }

    fn add_bitmap(&mut self, bitmap: Option<LinearCounting>) -> Result<(), MergeError> {
        self.parts += 1;
        match self.parts {
            1 => self.flows = bitmap,
            _ => merge(BITMAP, &mut self.flows, &bitmap, LinearCounting::merge)?,
        }
        Ok(())
    }

    /// The number of flows; `None` if a part that does not list its flows has none.
    pub(super) fn hyper_log_log(&self) -> Option<HyperLogLog> {
        let mut all = match &self.unlisted {
            None => HyperLogLog::new(),
            Some(sketches) => sketches.hll.clone()?,
        };
        self.listed.iter().for_each(|(flow, ..)| all.add(*flow));
        Some(all)
    }

    /// The Count-Min tables of packets and of frame bytes. `None` where a part that does not list its flows has none, and
    /// where all parts list theirs.
    pub(super) fn count_min(self) -> (Option<CountMin>, Option<CountMin>) {
        let Some(Sketches {
            mut packets,
            mut frame_bytes,
            ..
        }) = self.unlisted
        else {
            return (None, None);
        };
        for (flow, listed_packets, listed_bytes) in self.listed {
            let tables = [(&mut packets, listed_packets), (&mut frame_bytes, listed_bytes)];
            for (table, size) in tables {
                if let Some(table) = table {
                    table.add(flow, size);
                }
            }
        }
        (packets, frame_bytes)
    }
}

const BITMAP: &str = "linear_counting";
const PACKETS: &str = "count_min_packets";
const FRAME_BYTES: &str = "count_min_bytes";

fn merge<S>(
    column: &'static str,
    ours: &mut Option<S>,
    theirs: &Option<S>,
    merge: impl Fn(&mut S, &S) -> Result<(), Mismatch>,
) -> Result<(), MergeError> {
    match (&mut *ours, theirs) {
        (Some(ours), Some(theirs)) => merge(ours, theirs).map_err(|mismatch| MergeError::Mismatch { column, mismatch }),
        _ => {
            *ours = None;
            Ok(())
        }
    }
}
