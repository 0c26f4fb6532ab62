//! The request, and the source of the rows.

use super::owners::OwnedBy;
use rocescope_model::filter::Filter;
use rocescope_model::hosts::Hosts;
use rocescope_model::{GroupBy, Time};
use std::collections::BTreeSet;

/// Maximum number of names of observers, sources and the like.
pub const MAX_NAMES: usize = 32;

/// The source of the rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Name of the dataset.
    pub dataset: String,
    /// Interfaces and files of the frames.
    pub sources: BTreeSet<String>,
    /// Capture modes.
    pub modes: BTreeSet<String>,
    /// Clocks of the timestamps.
    pub clocks: BTreeSet<String>,
    /// Which rows of rollups, and which captured ones, answer for which time; nothing if all were captured.
    pub answered: Vec<String>,
    /// Unreadable files, with the reason; their rows are missing.
    pub unreadable: Vec<(String, String)>,
    /// Segments being written or left open by a killed capture; their rows are missing.
    pub open_segments: usize,
    /// Names of addresses.
    pub hosts: Hosts,
}

/// The request.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Maximum rows of each list.
    pub top: usize,
    /// Only windows and events from this time on.
    pub from: Option<Time>,
    /// Only windows and events before this time.
    pub to: Option<Time>,
    /// What traffic is grouped by.
    pub by: Option<GroupBy>,
    /// What owners are grouped by.
    pub owned_by: OwnedBy,
    /// Only rows of this observer.
    pub observer: Option<String>,
    /// Only flows, connections and events that match.
    pub filter: Option<Filter>,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            top: 20,
            from: None,
            to: None,
            by: None,
            owned_by: OwnedBy::default(),
            observer: None,
            filter: None,
        }
    }
}

impl Scope {
    /// Whether an instant, in nanoseconds since 1970, is in the requested time.
    #[must_use]
    pub fn covers(&self, time_ns: i64) -> bool {
        self.from.is_none_or(|from| from.0 <= time_ns) && self.to.is_none_or(|to| time_ns < to.0)
    }
}
