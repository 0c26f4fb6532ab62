//! What is asked of the rows, and where they came from.

use rocescope_model::Time;
use rocescope_model::filter::Filter;
use std::collections::BTreeSet;

/// Different names kept of observers, sources and the like: a list to read, not to fill memory.
pub const MOST_NAMES: usize = 32;

/// Where the rows came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Name of the dataset.
    pub dataset: String,
    /// Interfaces and files that the frames came from.
    pub sources: BTreeSet<String>,
    /// How they were captured.
    pub modes: BTreeSet<String>,
    /// Clocks that stamped them.
    pub clocks: BTreeSet<String>,
    /// Files that did not read, with the reason: their rows are missing.
    pub unreadable: Vec<(String, String)>,
    /// Segments that are being written, or were left open by a killed capture: theirs too.
    pub open_segments: usize,
}

/// What is asked of the rows.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Rows of each list.
    pub top: usize,
    /// Windows and events from this time on.
    pub from: Option<Time>,
    /// Windows and events before this time.
    pub to: Option<Time>,
    /// Rows of this capture point alone.
    pub observer: Option<String>,
    /// Flows, connections and events for which this holds.
    pub filter: Option<Filter>,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            top: 20,
            from: None,
            to: None,
            observer: None,
            filter: None,
        }
    }
}

impl Scope {
    /// Whether an instant, in nanoseconds since 1970, lies in the time asked for.
    #[must_use]
    pub fn covers(&self, time_ns: i64) -> bool {
        self.from.is_none_or(|from| from.0 <= time_ns) && self.to.is_none_or(|to| time_ns < to.0)
    }
}
