//! The result of a capture, and whether it is complete.

use crate::frames::FramesSummary;
use crate::kept::Kept;
use crate::recorder::RecorderSummary;
use rocescope_pipeline::Summary;
use rocescope_pipeline::connections::ConnectionSummary;
use rocescope_record::Counters;
use rocescope_store::Retained;

/// The result of a capture.
#[derive(Debug)]
pub struct Outcome {
    /// The summary of the whole capture.
    pub summary: Summary,
    /// The exact counters.
    pub counters: Counters,
    /// Why the input ended early.
    pub ended_early: Option<String>,
    /// Frames of a file that carry no time; they count at 1970, or at the time of the frame before.
    pub untimed_frames: u64,
    /// What was written to and deleted from the dataset, if there is one.
    pub store: Option<(rocescope_store::Summary, Retained)>,
    /// Why writing stopped early.
    pub store_error: Option<rocescope_store::Error>,
    /// Counters of the connection state, if connections were tracked.
    pub connections: Option<ConnectionSummary>,
    /// What the flight recorder wrote, if there was one.
    pub recorder: Option<RecorderSummary>,
    /// The frames that were written to a file, if there was one.
    pub frames: Option<FramesSummary>,
    /// Rows of connections and events, if they were kept.
    pub kept: Option<Kept>,
}

/// Why an outcome is incomplete.
#[derive(Debug, thiserror::Error)]
pub enum Incomplete {
    /// Frames, packets and runs are inconsistent.
    #[error("the loss identity does not hold: this is a defect, please report it with the capture")]
    LossIdentity,
    /// Windows and counters are inconsistent.
    #[error("the windows do not match the counters: this is a defect, please report it with the capture")]
    Windows,
    /// The dataset was not written completely.
    #[error("the dataset: {0}")]
    Dataset(String),
    /// The disk was full or failed.
    #[error("the disk was full or failed: {0} windows were not written; all others are complete")]
    NotStored(u64),
    /// The file of frames ends early.
    #[error("the frames in {0} end early: {1}")]
    Frames(String, String),
    /// The flight recorder stopped early.
    #[error("flight recorder stopped: {0}")]
    Recorder(String),
}

impl Outcome {
    /// Checks whether the capture is complete. Call it after the results are printed, so none is lost.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), Incomplete> {
        let counters = &self.counters;
        if counters.frames != counters.frames_accounted() || counters.roce_packets != counters.published_packets {
            return Err(Incomplete::LossIdentity);
        }
        // Compares the sum of the windows by opcode with the count by frame.
        let totals = &self.summary.totals;
        if totals.frames() != counters.frames {
            return Err(Incomplete::Windows);
        }
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
            && let Some(damaged) = store.damaged.first()
        {
            let others = match store.damaged.len() - 1 {
                0 => String::new(),
                others => format!(", and {others} more"),
            };
            let (path, reason) = (damaged.path.display(), &damaged.reason);
            return Err(Incomplete::Dataset(format!("{path} is damaged: {reason}{others}")));
        }
        if let Some((store, _)) = &self.store
            && store.refused_windows > 0
        {
            return Err(Incomplete::NotStored(store.refused_windows));
        }
        if let Some(frames) = &self.frames
            && let Some(error) = &frames.error
        {
            return Err(Incomplete::Frames(frames.path.display().to_string(), error.clone()));
        }
        match self.recorder.as_ref().and_then(|summary| summary.error.clone()) {
            Some(error) => Err(Incomplete::Recorder(error)),
            None => Ok(()),
        }
    }
}
