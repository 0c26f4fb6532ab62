//! The sequence numbers of a stream that the tap has seen.

/// The maximum number of stored holes, 64 KiB. Beyond it, as on an unreliable service that loses for
/// hours, the older half is dropped: counted as missing and never filled.
const HOLES_MAX: usize = 4096;

/// All numbers up to the highest, except holes.
#[derive(Clone, Debug, Default)]
pub(super) struct SequenceSet {
    /// The end of the highest number seen.
    end: u64,
    /// Ranges of numbers below `end` that were not seen, in rising order.
    holes: Vec<Hole>,
    /// Numbers in dropped holes.
    given_up: u64,
}

/// A start, an end, and when a number behind it was seen.
type Hole = (u64, u64, u64);

impl SequenceSet {
    /// Records `span` numbers from `first` on. Returns how many are new, and since when a higher one than those of them
    /// that fill a hole had been seen.
    pub(super) fn see(&mut self, first: u64, span: u64, now: u64) -> (u64, Option<u64>) {
        let behind = first + span;
        if first >= self.end {
            if first > self.end {
                self.open(first, now);
            }
            self.end = behind;
            return (span, None);
        }
        let mut new = behind.saturating_sub(self.end);
        self.end = self.end.max(behind);
        // The holes that the numbers touch, and the rest of the first and the last.
        let from = self.holes.partition_point(|(_, to, _)| *to <= first);
        let to = self.holes.partition_point(|(from, ..)| *from < behind);
        let Some(touched) = self.holes.get(from..to.max(from)) else {
            return (new, None);
        };
        let mut since = None;
        if let (Some(&(lowest, _, opened)), Some(&(_, highest, last))) = (touched.first(), touched.last()) {
            since = Some(opened);
            let cut = |&(from, to, _): &Hole| to.min(behind) - from.max(first);
            new += touched.iter().map(cut).sum::<u64>();
            let left = [(lowest, first, opened), (behind, highest, last)];
            let left = left.into_iter().filter(|(from, to, _)| from < to);
            self.holes.splice(from..to, left);
        }
        (new, since)
    }

    fn open(&mut self, first: u64, now: u64) {
        if self.holes.len() >= HOLES_MAX {
            let old = self.holes.drain(..HOLES_MAX / 2);
            self.given_up += old.map(|(from, to, _)| to - from).sum::<u64>();
        }
        self.holes.push((self.end, first, now));
    }

    /// Whether a higher number than `sequence` was seen.
    pub(super) fn is_past(&self, sequence: u64) -> bool {
        sequence < self.end
    }

    /// Whether all numbers below the highest were seen.
    pub(super) fn is_whole(&self) -> bool {
        self.holes.is_empty()
    }

    /// The count of numbers below the highest that were never seen.
    pub(super) fn missing(&self) -> u64 {
        self.given_up + self.holes.iter().map(|(from, to, _)| to - from).sum::<u64>()
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
        assert_eq!(seen.see(0, 1, 0).0, 1);
        assert_eq!(seen.see(3, 2, 0).0, 2);
        assert_eq!(seen.missing(), 2);
        assert!(seen.is_past(1) && !seen.is_past(5));
        assert_eq!(seen.see(2, 2, 0).0, 1);
        assert_eq!(seen.see(1, 1, 0).0, 1);
        assert_eq!(seen.see(1, 1, 0).0, 0);
        assert_eq!(seen.missing(), 0);
        assert_eq!(seen.see(4, 3, 0).0, 2);
    }

    #[test]
    fn a_hole_remembers_since_when_it_is_one() {
        let mut seen = SequenceSet::default();
        seen.see(0, 1, 10);
        assert_eq!(seen.see(5, 1, 20), (1, None));
        assert_eq!(seen.see(8, 1, 30), (1, None));
        assert_eq!(seen.see(3, 1, 40), (1, Some(20)));
        assert_eq!(seen.see(3, 1, 45), (0, None));
        assert_eq!(seen.see(2, 1, 50), (1, Some(20)));
        assert_eq!(seen.see(7, 1, 60), (1, Some(30)));
    }

    #[test]
    fn it_agrees_with_a_set() {
        let mut random = Random::new(1, 1);
        for _ in 0..200 {
            let (mut seen, mut set) = (SequenceSet::default(), BTreeSet::new());
            for _ in 0..60 {
                let (first, span) = (random.below(80), 1 + random.below(9));
                let new = (first..first + span).filter(|number| set.insert(*number)).count();
                assert_eq!(seen.see(first, span, 0).0, new as u64);
                let end = set.last().map_or(0, |last| last + 1);
                assert_eq!(seen.missing(), end - set.len() as u64);
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_the_count_exact() {
        let mut seen = SequenceSet::default();
        for number in 0..100_000 {
            seen.see(2 * number + 1, 1, 0);
        }
        assert!(seen.holes.len() <= HOLES_MAX);
        assert_eq!(seen.missing(), 100_000);
    }
}
