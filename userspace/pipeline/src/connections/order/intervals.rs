//! Disjoint intervals of PSNs, sorted, each with a value.

use crate::connections::order::psn_tracker::ExtendedPsn;
use alloc::vec::Vec;

/// The maximum number of intervals of one set. A flow of 400 Gbit/s whose paths differ by 20 µs has less than 500 gaps.
pub(crate) const MAX_INTERVALS: usize = 2_048;
/// An empty set keeps memory for this many.
const KEPT: usize = 16;

/// PSNs `first..=last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval<T> {
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    pub(crate) value: T,
}

impl<T> Interval<T> {
    /// The number of PSNs.
    pub(crate) const fn packets(&self) -> u64 {
        self.last - self.first + 1
    }

    pub(crate) const fn holds(&self, psn: ExtendedPsn) -> bool {
        self.first <= psn && psn <= self.last
    }
}

/// Intervals in ascending order; no PSN is in two of them.
#[derive(Clone, Debug)]
pub(crate) struct Intervals<T>(Vec<Interval<T>>);

impl<T> Default for Intervals<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Intervals<T> {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes that it has allocated.
    pub(crate) const fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<Interval<T>>()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Interval<T>> {
        self.0.iter()
    }

    /// The first interval that ends at `psn` or later.
    fn from(&self, psn: ExtendedPsn) -> usize {
        self.0.partition_point(|interval| interval.last < psn)
    }

    /// The interval with `psn`.
    pub(crate) fn at(&self, psn: ExtendedPsn) -> Option<&Interval<T>> {
        self.0.get(self.from(psn)).filter(|interval| interval.holds(psn))
    }

    pub(crate) fn at_mut(&mut self, psn: ExtendedPsn) -> Option<&mut Interval<T>> {
        let at = self.from(psn);
        self.0.get_mut(at).filter(|interval| interval.holds(psn))
    }

    /// Whether any of `first..=last` is in an interval.
    pub(crate) fn overlaps(&self, first: ExtendedPsn, last: ExtendedPsn) -> bool {
        self.0.get(self.from(first)).is_some_and(|found| found.first <= last)
    }

    /// Adds an interval that overlaps no other. If there is no room, returns the lowest one, which it drops.
    pub(crate) fn insert(&mut self, interval: Interval<T>) -> Option<Interval<T>> {
        let dropped = (self.0.len() >= MAX_INTERVALS).then(|| self.0.remove(0));
        match self.0.last() {
            Some(newest) if newest.first > interval.first => {
                let at = self.from(interval.first);
                self.0.insert(at, interval);
            }
            _ => self.0.push(interval),
        }
        dropped
    }

    /// Removes `first..=last`; calls `removed` with each part that was in an interval. Returns their PSNs.
    pub(crate) fn remove(
        &mut self,
        first: ExtendedPsn,
        last: ExtendedPsn,
        removed: &mut dyn FnMut(Interval<T>),
    ) -> u64 {
        let from = self.from(first);
        let mut until = from;
        let mut psns = 0;
        let mut rest: [Option<Interval<T>>; 2] = [None; 2];
        for interval in self.0.iter().skip(from).take_while(|interval| interval.first <= last) {
            until += 1;
            let part = Interval {
                first: interval.first.max(first),
                last: interval.last.min(last),
                value: interval.value,
            };
            psns += part.packets();
            removed(part);
            // Only the first and the last one can keep a part.
            if interval.first < part.first {
                rest[0] = Some(Interval {
                    last: part.first - 1,
                    ..*interval
                });
            }
            if part.last < interval.last {
                rest[1] = Some(Interval {
                    first: part.last + 1,
                    ..*interval
                });
            }
        }
        if until > from {
            self.0.splice(from..until, rest.into_iter().flatten());
            self.shrink();
        }
        psns
    }

    /// Removes the intervals that end at `psn` or before; calls `removed` with each.
    pub(crate) fn remove_through(&mut self, psn: ExtendedPsn, mut removed: impl FnMut(Interval<T>)) {
        let until = self.from(psn + 1);
        if until > 0 {
            self.0.drain(..until).for_each(&mut removed);
            self.shrink();
        }
    }

    /// Removes the lowest interval.
    pub(crate) fn pop_front(&mut self) -> Option<Interval<T>> {
        let first = (!self.0.is_empty()).then(|| self.0.remove(0));
        self.shrink();
        first
    }

    pub(crate) fn clear(&mut self) {
        self.0 = Vec::new();
    }

    fn shrink(&mut self) {
        if self.0.is_empty() && self.0.capacity() > KEPT {
            self.0 = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_set_of_psns(steps in proptest::collection::vec((any::<bool>(), 0u64..100, 0u64..20), 0..40)) {
            let mut intervals: Intervals<usize> = Intervals::default();
            let mut psns: BTreeMap<u64, usize> = BTreeMap::new();
            for (at, (adds, first, more)) in steps.into_iter().enumerate() {
                let last = first + more;
                let mut gone = Vec::new();
                intervals.remove(first, last, &mut |part| {
                    gone.extend((part.first..=part.last).map(|psn| (psn, part.value)));
                });
                let wanted: Vec<(u64, usize)> = psns.range(first..=last).map(|(psn, value)| (*psn, *value)).collect();
                prop_assert_eq!(gone, wanted);
                psns.retain(|psn, _| !(first..=last).contains(psn));
                if adds {
                    prop_assert_eq!(intervals.insert(Interval { first, last, value: at }), None);
                    psns.extend((first..=last).map(|psn| (psn, at)));
                }
                let found: Vec<u64> = intervals.iter().flat_map(|i| i.first..=i.last).collect();
                prop_assert!(found.iter().eq(psns.keys()));
                for psn in 0..125 {
                    prop_assert_eq!(intervals.at(psn).map(|found| found.value), psns.get(&psn).copied());
                    prop_assert_eq!(intervals.overlaps(psn, psn + 3), psns.range(psn..=psn + 3).next().is_some());
                }
            }
        }
    }

    #[test]
    fn the_lowest_gives_way() {
        let mut intervals = Intervals::default();
        for psn in (0..).take(MAX_INTERVALS) {
            assert_eq!(
                intervals.insert(Interval {
                    first: 2 * psn,
                    last: 2 * psn,
                    value: ()
                }),
                None
            );
        }
        let one = Interval {
            first: 9_999,
            last: 9_999,
            value: (),
        };
        assert_eq!(intervals.insert(one).map(|lowest| lowest.first), Some(0));
        intervals.remove_through(9_998, |_| {});
        assert!(intervals.iter().eq([&one]) && intervals.at(9_999) == Some(&one));
        assert_eq!(intervals.pop_front(), Some(one));
        assert_eq!(intervals.heap_bytes(), 0);
    }
}
