//! What to analyze, and what the analyses add up to.

use crate::Error;
use rocescope_diagnose::incidents::Incident;
use rocescope_model::hosts::Hosts;
use rocescope_store::{Query, Scan, TimeRange};
use std::path::PathBuf;

/// What to analyze.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The dataset.
    pub dataset: PathBuf,
    /// The time.
    pub time: TimeRange,
    /// Names of addresses.
    pub names: Hosts,
    /// The topology file of the mesh.
    pub topology: Option<PathBuf>,
}

/// What the analyses add up to, before it is joined.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) incidents: Vec<Incident>,
    pub(super) judged: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) sampled_one_of: Option<u64>,
}

impl Settings {
    /// The dataset in this time.
    pub(super) fn open(&self, time: TimeRange) -> Result<Scan, Error> {
        Ok(Query::default().within(time).open(&self.dataset)?)
    }
}
