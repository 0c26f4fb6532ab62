//! Merges the sketches of several rows of `windows`. A sketch that one row lacks is left out.

use super::part::MergeError;
use rocescope_model::{SparseBytes, WindowRow};
use rocescope_sketches::{CountMin, HyperLogLog, LinearCounting, Mismatch};

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
        Self::merged(&each.collect::<Result<alloc::vec::Vec<_>, _>>()?)
    }

    fn read(row: &WindowRow) -> Result<Self, MergeError> {
        let count_min = |column, bytes: &Option<SparseBytes>| {
            let read = bytes
                .as_ref()
                .map(|bytes| CountMin::from_spark(&bytes.to_vec()))
                .transpose();
            read.map_err(|error| MergeError::CountMin { column, error })
        };
        let bitmap = row.linear_counting.as_ref();
        let bitmap = bitmap.map(|bytes| LinearCounting::from_row_bytes(&[bytes.to_vec()]));
        let hll = row.hll_flows.as_ref();
        let hll = hll.map(|bytes| HyperLogLog::from_datasketches(&bytes.to_vec()));
        Ok(Self {
            flows: bitmap.transpose().map_err(MergeError::Bitmap)?,
            packets: count_min(PACKETS, &row.count_min_packets)?,
            frame_bytes: count_min(FRAME_BYTES, &row.count_min_bytes)?,
            hll: hll.transpose().map_err(MergeError::HyperLogLog)?,
        })
    }

    pub(super) fn merged(all: &[Self]) -> Result<Self, MergeError> {
        let Some((first, rest)) = all.split_first() else {
            return Ok(Self::default());
        };
        let mut sum = first.clone();
        for other in rest {
            merge("linear_counting", &mut sum.flows, &other.flows, LinearCounting::merge)?;
            merge(PACKETS, &mut sum.packets, &other.packets, CountMin::merge)?;
            merge(FRAME_BYTES, &mut sum.frame_bytes, &other.frame_bytes, CountMin::merge)?;
            merge("hll_flows", &mut sum.hll, &other.hll, |ours, theirs| {
                ours.merge(theirs);
                Ok(())
            })?;
        }
        Ok(sum)
    }
}

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
