//! Intervals in which the capture lost runs: a gap there does not show fabric loss.

use alloc::collections::VecDeque;

/// Intervals kept; gaps are closed long before this many have passed.
const MAX_INTERVALS: usize = 256;

/// When the capture lost runs.
#[derive(Debug, Default)]
pub(crate) struct CaptureLoss {
    intervals: VecDeque<(u64, u64)>,
}

impl CaptureLoss {
    pub(crate) fn add(&mut self, from_ns: u64, to_ns: u64) {
        if self.intervals.len() >= MAX_INTERVALS {
            self.intervals.pop_front();
        }
        self.intervals.push_back((from_ns, to_ns));
    }

    pub(crate) fn overlaps(&self, from_ns: u64, to_ns: u64) -> bool {
        self.intervals.iter().any(|(from, to)| *from <= to_ns && from_ns <= *to)
    }
}
