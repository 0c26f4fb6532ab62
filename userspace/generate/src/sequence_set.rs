//! The sequence numbers of a stream that the tap has seen.

/// The maximum number of stored holes, 64 KiB. Beyond it, as on an unreliable service that loses for
/// hours, the older half is dropped: counted as missing and never filled.
const HOLES_MAX: usize = 4096;

/// All numbers up to the highest, except holes.
#[derive(Clone, Debug, Default)]
pub(super) struct SequenceSet {
    /// The end of the highest number seen.
    end: u64,
    /// Ranges of numbers below `end` that were not seen: start and end, in rising order.
    holes: Vec<(u64, u64)>,
    /// Numbers in dropped holes.
    given_up: u64,
}

impl SequenceSet {
    /// Records `span` numbers from `first` on and returns how many are new.
    pub(super) fn see(&mut self, first: u64, span: u64) -> u64 {
        let behind = first + span;
        if first >= self.end {
            if first > self.end {
                self.open(first);
            }
            self.end = behind;
            return span;
        }
        let mut new = behind.saturating_sub(self.end);
        self.end = self.end.max(behind);
        // The holes that the numbers touch, and the rest of the first and the last.
        let from = self.holes.partition_point(|(_, to)| *to <= first);
        let to = self.holes.partition_point(|(from, _)| *from < behind);
        let Some(touched) = self.holes.get(from..to.max(from)) else {
            return new;
        };
        if let (Some(&(lowest, _)), Some(&(_, highest))) = (touched.first(), touched.last()) {
            let cut = |&(from, to): &(u64, u64)| to.min(behind) - from.max(first);
            new += touched.iter().map(cut).sum::<u64>();
            let left = [(lowest, first), (behind, highest)];
            let left = left.into_iter().filter(|(from, to)| from < to);
            self.holes.splice(from..to, left);
        }
        new
    }

    fn open(&mut self, first: u64) {
        if self.holes.len() >= HOLES_MAX {
            let old = self.holes.drain(..HOLES_MAX / 2);
            self.given_up += old.map(|(from, to)| to - from).sum::<u64>();
        }
        self.holes.push((self.end, first));
    }

    /// Whether a higher number than `sequence` was seen.
    pub(super) fn is_past(&self, sequence: u64) -> bool {
        sequence < self.end
    }

    /// The count of numbers below the highest that were never seen.
    pub(super) fn missing(&self) -> u64 {
        self.given_up + self.holes.iter().map(|(from, to)| to - from).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn new_numbers_are_counted_once() {
        let mut seen = SequenceSet::default();
        assert_eq!(seen.see(0, 1), 1);
        assert_eq!(seen.see(3, 2), 2);
        assert_eq!(seen.missing(), 2);
        assert!(seen.is_past(1) && !seen.is_past(5));
        assert_eq!(seen.see(2, 2), 1);
        assert_eq!(seen.see(1, 1), 1);
        assert_eq!(seen.see(1, 1), 0);
        assert_eq!(seen.missing(), 0);
        assert_eq!(seen.see(4, 3), 2);
    }

    #[test]
    fn it_agrees_with_a_set() {
        let mut random = Random::new(1, 1);
        for _ in 0..200 {
            let (mut seen, mut set) = (SequenceSet::default(), BTreeSet::new());
            for _ in 0..60 {
                let (first, span) = (random.below(80), 1 + random.below(9));
                let new = (first..first + span).filter(|number| set.insert(*number)).count();
                assert_eq!(seen.see(first, span), new as u64);
                let end = set.last().map_or(0, |last| last + 1);
                assert_eq!(seen.missing(), end - set.len() as u64);
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_the_count_exact() {
        let mut seen = SequenceSet::default();
        for number in 0..100_000 {
            seen.see(2 * number + 1, 1);
        }
        assert!(seen.holes.len() <= HOLES_MAX);
        assert_eq!(seen.missing(), 100_000);
    }
}
