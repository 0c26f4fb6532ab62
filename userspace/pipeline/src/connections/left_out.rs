//! PSNs that did not pass where their sender went through its packets again: lost before the tap,
//! unless they come late.

use super::sequence::Place;
use alloc::boxed::Box;

/// Ranges that may still come late. When there are more, the oldest is lost.
const MOST: usize = 3;

/// PSNs that were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: Place,
    pub(crate) last: Place,
    /// When the packet behind them passed.
    pub(crate) time_ns: u64,
}

/// What may still come late, oldest first.
///
/// Nothing but a pointer before anything is left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeftOut {
    ranges: Option<Box<[Option<Range>; MOST]>>,
}

impl LeftOut {
    /// Another range; the oldest, where there is no room.
    pub(crate) fn put(&mut self, range: Range) -> Option<Range> {
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

    pub(crate) fn take_oldest(&mut self) -> Option<Range> {
        let ranges = self.ranges.as_mut()?;
        let oldest = ranges[0].take();
        ranges.rotate_left(1);
        oldest
    }

    pub(crate) fn clear(&mut self) {
        self.ranges = None;
    }

    /// The range that holds `place`.
    pub(crate) fn at(&self, place: Place) -> Option<Range> {
        let mut ranges = self
            .ranges
            .iter()
            .flat_map(|ranges| ranges.iter().flatten());
        ranges
            .find(|range| (range.first..=range.last).contains(&place))
            .copied()
    }

    /// `first..=last` came late. Of a range that loses its middle the part behind is kept.
    pub(crate) fn fill(&mut self, first: Place, last: Place) {
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
        // No holes between those that are left.
        let mut kept = ranges.iter().flatten().copied();
        **ranges = [kept.next(), kept.next(), kept.next()];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: Place, last: Place) -> Range {
        Range {
            first,
            last,
            time_ns: 0,
        }
    }

    #[test]
    fn what_comes_late_was_not_lost() {
        let mut out = LeftOut::default();
        assert_eq!(out.put(range(10, 14)), None);
        assert_eq!(out.put(range(20, 20)), None);
        out.fill(20, 20);
        out.fill(10, 11);
        assert_eq!(out.at(20), None);
        assert_eq!(out.take_oldest(), Some(range(12, 14)));
        assert_eq!(out.take_oldest(), None);
    }

    #[test]
    fn the_oldest_gives_way() {
        let mut out = LeftOut::default();
        for first in [1, 3, 5] {
            assert_eq!(out.put(range(first, first)), None);
        }
        assert_eq!(out.put(range(7, 7)), Some(range(1, 1)));
        assert_eq!(out.take_oldest(), Some(range(3, 3)));
    }
}
