//! Intervals in which the capture lost runs: a gap there shows no loss of the fabric.

use alloc::collections::VecDeque;

/// Intervals remembered; gaps are settled long before this many have passed.
const MOST: usize = 256;

/// When the capture lost runs.
#[derive(Debug, Default)]
pub(crate) struct CaptureLoss {
    intervals: VecDeque<(u64, u64)>,
}

impl CaptureLoss {
    pub(crate) fn add(&mut self, from_ns: u64, to_ns: u64) {
        if self.intervals.len() >= MOST {
            self.intervals.pop_front();
        }
        self.intervals.push_back((from_ns, to_ns));
    }

    pub(crate) fn overlaps(&self, from_ns: u64, to_ns: u64) -> bool {
        self.intervals
            .iter()
            .any(|(from, to)| *from <= to_ns && from_ns <= *to)
    }
}
