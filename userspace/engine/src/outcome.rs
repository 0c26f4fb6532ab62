//! What a capture ends with, and whether it is whole.

use crate::recorder::RecorderSummary;
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_pipeline::Summary;
use rocescope_pipeline::connections::ConnectionSummary;
use rocescope_record::Counters;
use rocescope_store::Retained;

/// What a capture ends with.
#[derive(Debug)]
pub struct Outcome {
    /// The whole capture.
    pub summary: Summary,
    /// The exact counters.
    pub counters: Counters,
    /// What was written, where something was, and what was deleted.
    pub store: Option<(rocescope_store::Summary, Retained)>,
    /// Why writing stopped early.
    pub store_error: Option<rocescope_store::Error>,
    /// What happened to the state of connections, where they were followed.
    pub connections: Option<ConnectionSummary>,
    /// What the flight recorder wrote, where there was one.
    pub recorder: Option<RecorderSummary>,
    /// Rows of connections and events, where they were kept.
    pub kept: Option<(Vec<ConnectionRow>, Vec<EventRow>)>,
}

/// Why an outcome is not whole.
#[derive(Debug, thiserror::Error)]
pub enum Incomplete {
    /// Frames, packets and runs do not add up.
    #[error("the loss identity does not hold: this is a defect, please report it with the capture")]
    LossIdentity,
    /// Windows and counters do not add up.
    #[error(
        "the windows do not add up to the counters: this is a defect, please report it with the capture"
    )]
    Windows,
    /// The dataset was not written to its end.
    #[error("the dataset: {0}")]
    Dataset(String),
    /// The disk was full.
    #[error("the disk is full: {0} windows were not written; the segments sealed before are whole")]
    DiskFull(u64),
    /// The flight recorder stopped early.
    #[error("no more frames were kept: {0}")]
    Recorder(String),
}

impl Outcome {
    /// Whether all went well. It is asked after the results are printed: none of them is lost.
    ///
    /// # Errors
    /// The first thing that did not.
    pub fn check(&self) -> Result<(), Incomplete> {
        let counters = &self.counters;
        if counters.frames != counters.frames_accounted()
            || counters.roce_packets != counters.published_packets
        {
            return Err(Incomplete::LossIdentity);
        }
        // What the windows add up to, opcode by opcode, against what was counted frame by frame.
        let totals = &self.summary.totals;
        let is_partial = counters.lost_runs > 0 || totals.filtered_packets > 0;
        if totals.all().packets + totals.filtered_packets != counters.delivered_packets()
            || (!is_partial && totals.opcodes[..] != counters.opcodes[..])
        {
            return Err(Incomplete::Windows);
        }
        if let Some(error) = &self.store_error {
            return Err(Incomplete::Dataset(error.to_string()));
        }
        if let Some((store, _)) = &self.store
            && store.refused_windows > 0
        {
            return Err(Incomplete::DiskFull(store.refused_windows));
        }
        match self
            .recorder
            .as_ref()
            .and_then(|summary| summary.error.clone())
        {
            Some(error) => Err(Incomplete::Recorder(error)),
            None => Ok(()),
        }
    }
}
