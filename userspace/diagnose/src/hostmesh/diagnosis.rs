//! The results of a window.

use super::place::FaultLocation;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::{SlaRow, VerdictRow};

/// The results of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowDiagnosis {
    /// Start of the window.
    pub start_ns: i64,
    /// Its row of `sla`.
    pub sla: SlaRow,
    /// Its rows of `verdicts`, most likely first.
    pub verdicts: Vec<VerdictRow>,
    /// The place of each verdict.
    pub places: Vec<Where>,
    /// NICs that the paper's rule calls anomalous in this window, as `host/nic`.
    pub anomalous_nics: Vec<String>,
    /// Every known link, by number; [`Analyzer::link_rows`](super::Analyzer::link_rows) returns its rows.
    pub coverage: Vec<Coverage>,
}

/// The place of a verdict, to check which flows cross it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Where(pub(super) FaultLocation);

/// How a window covered a link.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Coverage {
    /// 5-tuples over it.
    pub tuples: u64,
    /// Probes over it.
    pub probes: u64,
    /// Drops among them.
    pub drops: u64,
    /// Votes of Algorithm 1.
    pub votes: u64,
    /// Votes weighted as in 007.
    pub weighted_votes: f64,
}
