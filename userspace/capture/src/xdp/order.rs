//! Merges the runs of all CPUs, and the UET packets in the place of some, sorted by first timestamp.

use rocescope_record::RunRecord;

/// Runs that wait for the watermark. Usually bounded by what the rings pass in a slice; above [`FULL`]
/// the oldest are released early, which costs order but never a run.
#[derive(Debug)]
pub(super) struct Order {
    runs: Vec<RunRecord>,
    /// The smallest first timestamp. The watermark moves once a slice, but the rings are read every few
    /// milliseconds: scanning all waiting runs each time took most of a core.
    earliest_ns: u64,
    /// First timestamp and place of the runs to release; memory that is used again.
    keys: Vec<(u64, u32)>,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            earliest_ns: u64::MAX,
            keys: Vec::new(),
        }
    }
}

/// 256 MiB.
const FULL: usize = if cfg!(test) { 1 << 10 } else { 2 << 20 };

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

    /// Passes every run that began before `watermark_ns` to `take`, sorted by first timestamp; ties keep the order of
    /// publication. Usually there is none: the watermark moves once a slice.
    pub(super) fn release(&mut self, watermark_ns: u64, mut take: impl FnMut(&RunRecord)) {
        let full = self.is_full();
        if !full && self.earliest_ns >= watermark_ns {
            return;
        }
        // A run has eight times the size of its key, and is moved only if it stays.
        self.keys.clear();
        let keys = self.runs.iter().zip(0u32..).map(|(run, at)| (run.first_ns, at));
        self.keys.extend(keys.filter(|(time, _)| full || *time < watermark_ns));
        // The input consists of sorted stretches, which this sort exploits.
        self.keys.sort();
        if full {
            let count = self.keys.partition_point(|(time, _)| *time < watermark_ns);
            self.keys.truncate(count.max(FULL / 2));
        }
        for (_, at) in &self.keys {
            if let Some(run) = self.runs.get(*at as usize) {
                take(run);
            }
        }
        let Some(last) = self.keys.last().copied() else {
            return;
        };
        let mut at = 0;
        self.earliest_ns = u64::MAX;
        self.runs.retain(|run| {
            let stays = (run.first_ns, at) > last;
            at += 1;
            if stays {
                self.earliest_ns = self.earliest_ns.min(run.first_ns);
            }
            stays
        });
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
        let mut seen = Vec::new();
        order.release(watermark_ns, |run| seen.push((run.first_ns, run.first_psn)));
        seen
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

    #[test]
    fn a_full_order_releases_its_older_half_early() {
        let mut order = Order::default();
        for at in 0..FULL as u64 {
            order.push(run((1_000 + at / 4) ^ 1, at as u32));
        }
        let half = released(&mut order, 0);
        assert_eq!(half.len(), FULL / 2);
        assert!(half.is_sorted());
        let rest = released(&mut order, u64::MAX);
        assert_eq!(rest.len(), FULL / 2);
        assert!(rest.is_sorted() && half.last() < rest.first());
    }
}
