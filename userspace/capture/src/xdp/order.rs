//! Runs of all CPUs by their first time.

use rocescope_record::RunRecord;

/// Runs that wait for the watermark. Bounded by a slice of the rates that the rings let through;
/// above [`FULL`] the oldest are handed over before their time, which costs order, never a run.
#[derive(Debug)]
pub(super) struct Order {
    runs: Vec<RunRecord>,
    /// The earliest first time of them. The watermark moves once a slice and the rings are read every
    /// few milliseconds: to look through all that wait each time took most of a core.
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

    /// All runs as they came.
    pub(super) fn into_published(self) -> Vec<RunRecord> {
        self.runs
    }

    /// Every run that began before `watermark_ns`, in the order of their beginnings; runs of one time in
    /// the order in which they were published. Empty nearly always: the watermark moves once a slice.
    pub(super) fn ready(&mut self, watermark_ns: u64) -> Vec<RunRecord> {
        let full = self.is_full();
        if !full && self.earliest_ns >= watermark_ns {
            return Vec::new();
        }
        // Mostly runs of sorted runs already, which the stable sort makes use of.
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
