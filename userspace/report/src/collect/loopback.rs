//! Loopback tests inside hosts: the last run of each host.

use super::MAX_NAMES;
use rocescope_model::LoopbackRow;
use std::collections::BTreeMap;

/// Tests of a run that are kept: 16 NICs with 64 endpoints each.
const MAX_TESTS: usize = 1_024;

/// The last run of loopback tests of each host.
#[derive(Debug, Default)]
pub struct LoopbackFigures {
    /// Time of the run in nanoseconds since 1970, and its tests, by host.
    pub runs: BTreeMap<String, (i64, Vec<LoopbackRow>)>,
    /// Tests of earlier runs.
    pub earlier: u64,
    /// Tests of further hosts, or beyond the largest number that a run may have.
    pub unfollowed: u64,
}

impl LoopbackFigures {
    /// Adds a row.
    pub(super) fn add(&mut self, row: &LoopbackRow) {
        let host: &str = &row.observer;
        if !self.runs.contains_key(host) && self.runs.len() >= MAX_NAMES {
            self.unfollowed += 1;
            return;
        }
        let (start_ns, tests) = self
            .runs
            .entry(host.to_owned())
            .or_insert((row.window_start_ns, Vec::new()));
        if row.window_start_ns > *start_ns {
            self.earlier += tests.len() as u64;
            tests.clear();
            *start_ns = row.window_start_ns;
        }
        if row.window_start_ns < *start_ns {
            self.earlier += 1;
        } else if tests.len() < MAX_TESTS {
            tests.push(row.clone());
        } else {
            self.unfollowed += 1;
        }
    }

    pub(super) fn finish(self) -> Option<Self> {
        (!self.runs.is_empty()).then_some(self)
    }
}
