//! PSNs that a retransmission skipped at the tap: lost upstream of it, once they are retransmitted or
//! nothing more of them comes, unless they come late.

use super::psn_tracker::ExtendedPsn;
use alloc::boxed::Box;

/// Ranges that may still come late. When there are more, the oldest is lost.
const MOST: usize = 8;

/// PSNs that were skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SkippedRange {
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    /// When the packet behind them passed.
    pub(crate) time_ns: u64,
}

/// What may still come late, oldest first.
///
/// Nothing but a pointer before anything is skipped.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkippedRanges {
    ranges: Option<Box<[Option<SkippedRange>; MOST]>>,
}

impl SkippedRanges {
    /// Another range; the oldest, where there is no room.
    pub(crate) fn put(&mut self, range: SkippedRange) -> Option<SkippedRange> {
        let ranges = self.ranges.get_or_insert_default();
        let oldest = if ranges.iter().all(Option::is_some) {
            let oldest = ranges[0].take();
            ranges.rotate_left(1);
            oldest
        } else {
            None
        };
        if let Some(free) = ranges.iter_mut().find(|range| range.is_none()) {
            *free = Some(range);
        }
        oldest
    }

    pub(crate) fn take_oldest(&mut self) -> Option<SkippedRange> {
        let ranges = self.ranges.as_mut()?;
        let oldest = ranges[0].take();
        ranges.rotate_left(1);
        oldest
    }

    pub(crate) fn clear(&mut self) {
        self.ranges = None;
    }

    /// The sender sends `first..=last` again: what of it was skipped is handed to `lost`. So is what
    /// lies before it in the same range, where there is more behind it.
    pub(crate) fn confirm(
        &mut self,
        first: ExtendedPsn,
        last: ExtendedPsn,
        mut lost: impl FnMut(SkippedRange),
    ) {
        let Some(ranges) = &mut self.ranges else {
            return;
        };
        for slot in ranges.iter_mut() {
            let Some(range) = slot
                .as_mut()
                .filter(|range| range.first <= last && range.last >= first)
            else {
                continue;
            };
            let until = range.last.min(last);
            let from = if until < range.last {
                range.first
            } else {
                range.first.max(first)
            };
            lost(SkippedRange {
                first: from,
                last: until,
                ..*range
            });
            if until < range.last {
                range.first = until + 1;
            } else if range.first < from {
                range.last = from - 1;
            } else {
                *slot = None;
            }
        }
        Self::close(ranges);
    }

    /// No holes between those that are left.
    fn close(ranges: &mut [Option<SkippedRange>; MOST]) {
        let mut kept = ranges.iter().flatten().copied();
        *ranges = core::array::from_fn(|_| kept.next());
    }

    /// The range that holds `psn`.
    pub(crate) fn at(&self, psn: ExtendedPsn) -> Option<SkippedRange> {
        let mut ranges = self
            .ranges
            .iter()
            .flat_map(|ranges| ranges.iter().flatten());
        ranges
            .find(|range| (range.first..=range.last).contains(&psn))
            .copied()
    }

    /// `first..=last` came late. Of a range that loses its middle the part behind is kept.
    pub(crate) fn fill(&mut self, first: ExtendedPsn, last: ExtendedPsn) {
        let Some(ranges) = &mut self.ranges else {
            return;
        };
        for slot in ranges.iter_mut() {
            let Some(range) = slot
                .as_mut()
                .filter(|range| range.first <= last && range.last >= first)
            else {
                continue;
            };
            if range.first < first && range.last <= last {
                range.last = first - 1;
            } else {
                range.first = last + 1;
            }
            if range.first > range.last {
                *slot = None;
            }
        }
        Self::close(ranges);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn range(first: ExtendedPsn, last: ExtendedPsn) -> SkippedRange {
        SkippedRange {
            first,
            last,
            time_ns: 0,
        }
    }

    #[test]
    fn what_comes_late_was_not_lost() {
        let mut skipped = SkippedRanges::default();
        assert_eq!(skipped.put(range(10, 14)), None);
        assert_eq!(skipped.put(range(20, 20)), None);
        skipped.fill(20, 20);
        skipped.fill(10, 11);
        assert_eq!(skipped.at(20), None);
        assert_eq!(skipped.take_oldest(), Some(range(12, 14)));
        assert_eq!(skipped.take_oldest(), None);
    }

    #[test]
    fn the_oldest_gives_way() {
        let mut skipped = SkippedRanges::default();
        for first in (1..).take(MOST) {
            assert_eq!(skipped.put(range(2 * first, 2 * first)), None);
        }
        assert_eq!(skipped.put(range(77, 77)), Some(range(2, 2)));
        assert_eq!(skipped.take_oldest(), Some(range(4, 4)));
    }

    #[test]
    fn what_is_sent_again_was_lost() {
        let mut skipped = SkippedRanges::default();
        skipped.put(range(10, 14));
        skipped.put(range(12, 12));
        let mut lost = Vec::new();
        skipped.confirm(12, 13, |range| lost.push((range.first, range.last)));
        assert_eq!(lost, [(10, 13), (12, 12)]);
        assert_eq!(skipped.take_oldest(), Some(range(14, 14)));
        assert_eq!(skipped.take_oldest(), None);
        skipped.put(range(20, 29));
        skipped.confirm(25, 40, |range| lost.push((range.first, range.last)));
        assert_eq!(lost.last(), Some(&(25, 29)));
        assert_eq!(skipped.take_oldest(), Some(range(20, 24)));
    }
}
