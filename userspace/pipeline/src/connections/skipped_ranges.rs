//! PSNs that a retransmission skipped at the tap. They were lost upstream if they are retransmitted or never arrive;
//! otherwise they were late.

use super::psn_tracker::ExtendedPsn;
use alloc::boxed::Box;

/// Ranges that may still arrive late. With more, the oldest counts as lost.
const MAX_RANGES: usize = 8;

/// PSNs that were skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SkippedRange {
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    /// Time of the packet after them.
    pub(crate) time_ns: u64,
}

/// Ranges that may still arrive late, oldest first.
///
/// Allocated only when something is skipped.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkippedRanges {
    ranges: Option<Box<[Option<SkippedRange>; MAX_RANGES]>>,
}

impl SkippedRanges {
    /// Bytes that they have allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        let ranges = self.ranges.as_ref();
        ranges.map_or(0, |_| MAX_RANGES * size_of::<Option<SkippedRange>>())
    }

    /// Adds a range; returns the oldest if there is no room.
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

    /// The sender retransmits `first..=last`: passes the skipped part to `lost`, and also the part of the same range
    /// before it, if the range continues after it.
    pub(crate) fn confirm(&mut self, first: ExtendedPsn, last: ExtendedPsn, mut lost: impl FnMut(SkippedRange)) {
        let Some(ranges) = &mut self.ranges else {
            return;
        };
        for slot in ranges.iter_mut() {
            let Some(range) = slot.as_mut().filter(|range| range.first <= last && range.last >= first) else {
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

    /// Closes holes between the remaining ranges.
    fn close(ranges: &mut [Option<SkippedRange>; MAX_RANGES]) {
        let mut kept = ranges.iter().flatten().copied();
        *ranges = core::array::from_fn(|_| kept.next());
    }

    /// The range with `psn`.
    pub(crate) fn at(&self, psn: ExtendedPsn) -> Option<SkippedRange> {
        let mut ranges = self.ranges.iter().flat_map(|ranges| ranges.iter().flatten());
        ranges.find(|range| (range.first..=range.last).contains(&psn)).copied()
    }

    /// `first..=last` arrived late. If that splits a range, the part after it is kept.
    pub(crate) fn fill(&mut self, first: ExtendedPsn, last: ExtendedPsn) {
        let Some(ranges) = &mut self.ranges else {
            return;
        };
        for slot in ranges.iter_mut() {
            let Some(range) = slot.as_mut().filter(|range| range.first <= last && range.last >= first) else {
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
    fn a_late_packet_was_not_lost() {
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
    fn the_oldest_is_evicted() {
        let mut skipped = SkippedRanges::default();
        for first in (1..).take(MAX_RANGES) {
            assert_eq!(skipped.put(range(2 * first, 2 * first)), None);
        }
        assert_eq!(skipped.put(range(77, 77)), Some(range(2, 2)));
        assert_eq!(skipped.take_oldest(), Some(range(4, 4)));
    }

    #[test]
    fn a_retransmitted_packet_was_lost() {
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
