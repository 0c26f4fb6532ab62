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
    /// A busy capture reports a loss that goes on in hundreds of adjacent parts a second: they are one interval, so that they
    /// do not evict those before them.
    pub(crate) fn add(&mut self, from_ns: u64, to_ns: u64) {
        if let Some((from, to)) = self.intervals.back_mut()
            && from_ns <= *to
            && *from <= to_ns
        {
            (*from, *to) = ((*from).min(from_ns), (*to).max(to_ns));
            return;
        }
        if self.intervals.len() >= MAX_INTERVALS {
            self.intervals.pop_front();
        }
        self.intervals.push_back((from_ns, to_ns));
    }

    pub(crate) fn overlaps(&self, from_ns: u64, to_ns: u64) -> bool {
        self.intervals.iter().any(|(from, to)| *from <= to_ns && from_ns <= *to)
    }
}

#[cfg(test)]
mod tests {
    use super::{CaptureLoss, MAX_INTERVALS};

    #[test]
    fn a_loss_that_goes_on_evicts_no_earlier_one() {
        let mut losses = CaptureLoss::default();
        losses.add(10, 20);
        for part in 0..4 * MAX_INTERVALS as u64 {
            losses.add(100 + part, 101 + part);
        }
        assert!(losses.overlaps(15, 16) && losses.overlaps(500, 500) && !losses.overlaps(30, 90));
    }
}
