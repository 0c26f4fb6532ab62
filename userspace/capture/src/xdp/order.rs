//! Merges the runs of all CPUs, sorted by first timestamp.

use rocescope_record::RunRecord;

/// Runs that wait for the watermark. Usually bounded by what the rings pass in a slice; above [`FULL`]
/// the oldest are released early, which costs order but never a run.
#[derive(Debug)]
pub(super) struct Order {
    runs: Vec<RunRecord>,
    /// The smallest first timestamp. The watermark moves once a slice, but the rings are read every few
    /// milliseconds: scanning all waiting runs each time took most of a core.
    earliest_ns: u64,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            earliest_ns: u64::MAX,
        }
    }
}

/// 256 MiB.
const FULL: usize = 2 << 20;

impl Order {
    pub(super) fn push(&mut self, run: RunRecord) {
        self.earliest_ns = self.earliest_ns.min(run.first_ns);
        self.runs.push(run);
    }

    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.runs.len() >= FULL
    }

    /// All runs in the order of publication.
    pub(super) fn into_published(self) -> Vec<RunRecord> {
        self.runs
    }

    /// Every run that began before `watermark_ns`, sorted by first timestamp; ties keep the order of
    /// publication. Usually empty: the watermark moves once a slice.
    pub(super) fn ready(&mut self, watermark_ns: u64) -> Vec<RunRecord> {
        let full = self.is_full();
        if !full && self.earliest_ns >= watermark_ns {
            return Vec::new();
        }
        // The input consists of sorted stretches, which the stable sort exploits.
        self.runs.sort_by_key(|run| run.first_ns);
        let mut count = self.runs.partition_point(|run| run.first_ns < watermark_ns);
        if full {
            count = count.max(FULL / 2);
        }
        let later = self.runs.split_off(count);
        self.earliest_ns = later.first().map_or(u64::MAX, |run| run.first_ns);
        std::mem::replace(&mut self.runs, later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first_ns: u64, first_psn: u32) -> RunRecord {
        RunRecord {
            first_ns,
            first_psn,
            ..bytemuck::Zeroable::zeroed()
        }
    }

    fn released(order: &mut Order, watermark_ns: u64) -> Vec<(u64, u32)> {
        let runs = order.ready(watermark_ns);
        let seen = runs.iter().map(|run| (run.first_ns, run.first_psn));
        seen.collect()
    }

    #[test]
    fn runs_leave_by_time_up_to_the_watermark() {
        let mut order = Order::default();
        for (time, psn) in [(5, 0), (3, 1), (9, 2), (3, 3)] {
            order.push(run(time, psn));
        }
        assert_eq!(released(&mut order, 3), []);
        assert_eq!(released(&mut order, 6), [(3, 1), (3, 3), (5, 0)]);
        order.push(run(7, 4));
        assert_eq!(released(&mut order, u64::MAX), [(7, 4), (9, 2)]);
        assert_eq!(order.len(), 0);
    }
}
