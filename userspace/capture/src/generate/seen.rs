//! Which sequence numbers of a stream the tap has seen.

/// All up to the highest, but for holes.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Behind the highest number seen.
    end: u64,
    /// Numbers below `end` that were not seen: first, and behind the last.
    holes: Vec<(u64, u64)>,
}

impl Seen {
    /// Sees `span` numbers from `first` on. How many of them are new.
    pub(super) fn see(&mut self, first: u64, span: u64) -> u64 {
        let behind = first + span;
        if first >= self.end {
            if first > self.end {
                self.holes.push((self.end, first));
            }
            self.end = behind;
            return span;
        }
        let mut new = behind.saturating_sub(self.end);
        self.end = self.end.max(behind);
        if self.holes.is_empty() {
            return new;
        }
        let mut left = Vec::new();
        for &(from, to) in &self.holes {
            let (cut_from, cut_to) = (from.max(first), to.min(behind));
            if cut_from >= cut_to {
                left.push((from, to));
                continue;
            }
            new += cut_to - cut_from;
            if from < cut_from {
                left.push((from, cut_from));
            }
            if cut_to < to {
                left.push((cut_to, to));
            }
        }
        self.holes = left;
        new
    }

    /// Whether a higher number than `sequence` was seen.
    pub(super) fn is_past(&self, sequence: u64) -> bool {
        sequence < self.end
    }

    /// How many numbers below the highest were never seen.
    pub(super) fn missing(&self) -> u64 {
        self.holes.iter().map(|(from, to)| to - from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_counted_once() {
        let mut seen = Seen::default();
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
}
