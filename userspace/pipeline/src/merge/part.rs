//! The rows of one window at one capture point, and why they cannot be merged.

use alloc::vec::Vec;
use rocescope_model::{FlowRow, OpcodeRow, Text, WindowRow};
use rocescope_sketches::count_min::SparkError;
use rocescope_sketches::hyper_log_log::HllError;
use rocescope_sketches::linear_counting::RowError;
use rocescope_sketches::{FlowHash, Mismatch};

/// One window as one capture point saw it. There are several rows of `windows` where it was started
/// anew within the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Totals and sketches.
    pub windows: Vec<WindowRow>,
    /// Top flows.
    pub flows: Vec<FlowRow>,
    /// Opcodes.
    pub opcodes: Vec<OpcodeRow>,
}

/// What the merged rows are to be.
#[derive(Clone, Debug)]
pub struct Target {
    /// Name of the capture point in them.
    pub observer: Text,
    /// Frame bits a second from which a flow is an elephant.
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
    /// `linear_counting` holds something else.
    #[error("linear_counting: {0}")]
    Bitmap(RowError),
    /// A Count-Min column holds something else.
    #[error("{column}: {error}")]
    CountMin {
        /// The column.
        column: &'static str,
        /// What is wrong.
        error: SparkError,
    },
    /// `hll_flows` holds something else.
    #[error("hll_flows: {0}")]
    HyperLogLog(HllError),
    /// Not all flows are listed, and the sketches that know of the others were left out.
    #[error("not all of its flows are listed, and without sketches the others cannot be counted")]
    NoSketches,
}

pub(super) const fn hash(flow_hash: i64) -> FlowHash {
    FlowHash(flow_hash.cast_unsigned())
}
