//! The rows of one window at one observer, and merge errors.

use alloc::vec::Vec;
use rocescope_model::{FlowRow, OpcodeRow, SpreadRow, Text, WindowRow};
use rocescope_sketches::count_min::SparkError;
use rocescope_sketches::hyper_log_log::HllError;
use rocescope_sketches::linear_counting::RowError;
use rocescope_sketches::{FlowHash, Mismatch};

/// One window of one observer. It has several rows of `windows` if the capture restarted within the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Totals and sketches.
    pub windows: Vec<WindowRow>,
    /// Top flows.
    pub flows: Vec<FlowRow>,
    /// Opcodes.
    pub opcodes: Vec<OpcodeRow>,
    /// UDP source ports of sprayed directions.
    pub spread: Vec<SpreadRow>,
}

/// Settings of the merged rows.
#[derive(Clone, Debug)]
pub struct Target {
    /// Name of the observer in the merged rows.
    pub observer: Text,
    /// Frame bits per second from which a flow is an elephant.
    pub elephant_bps: f64,
}

/// Why the rows of a window cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Sketches were made with different parameters.
    #[error("{column}: {mismatch}")]
    Mismatch {
        /// The column.
        column: &'static str,
        /// What differs.
        mismatch: Mismatch,
    },
    /// `linear_counting` is not a valid bitmap.
    #[error("linear_counting: {0}")]
    Bitmap(RowError),
    /// A Count-Min column is not a valid table.
    #[error("{column}: {error}")]
    CountMin {
        /// The column.
        column: &'static str,
        /// What is wrong.
        error: SparkError,
    },
    /// `hll_flows` is not a valid HyperLogLog.
    #[error("hll_flows: {0}")]
    HyperLogLog(HllError),
    /// Not all flows are listed, and the sketches that count the others are missing.
    #[error("not all flows are listed, and without sketches the others cannot be counted")]
    NoSketches,
}

pub(super) const fn hash(flow_hash: i64) -> FlowHash {
    FlowHash(flow_hash.cast_unsigned())
}
