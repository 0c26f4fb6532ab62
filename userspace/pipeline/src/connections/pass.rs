//! The pass a sender is on: the packets it sends one after another, from its first one on or from
//! where it went back to.
//!
//! What continues the pass is on its way, however often its PSNs passed before. What lies behind the
//! pass was overtaken, copied, or begins another pass; when its PSN passed last helps to tell.

use super::sequence::Place;

/// How many stretches are kept. With one each 32 µs they reach back 128 µs, beyond the 100 µs within
/// which a second packet is a copy.
const STRETCHES: usize = 4;
pub(super) const SPACING_NS: u64 = 32_000;

/// PSNs that passed one after another, and when.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    /// The low 32 bits of their places.
    first: u32,
    last: u32,
    first_ns: u64,
    /// 0: nothing is kept here.
    last_ns: u64,
}

impl Stretch {
    /// When the PSN passed, as if all had been spaced evenly.
    fn time_of(&self, place: u32) -> Option<u64> {
        let (at, most) = (
            place.wrapping_sub(self.first),
            self.last.wrapping_sub(self.first),
        );
        let holds = self.last_ns != 0 && at <= most;
        let span = self.last_ns - self.first_ns;
        let passed = (span * u64::from(at)).checked_div(u64::from(most));
        holds.then_some(self.first_ns + passed.unwrap_or(0))
    }
}

/// The pass under way, and the run seen last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pass {
    /// The PSN that continues it.
    next: Place,
    /// The highest PSN before it began: up to there all is sent again. 0 for the first pass.
    again_until: Place,
    /// `next` and `again_until` of the pass before, while this one has a single run.
    before: Option<(Place, Place)>,
    /// That run has passed.
    is_begun: bool,
    /// The last stretches of the pass, a ring.
    stretches: [Stretch; STRETCHES],
    newest: u8,
    /// The run seen last, of this pass or not.
    run: Stretch,
}

impl Pass {
    pub(crate) const fn next(&self) -> Place {
        self.next
    }

    pub(crate) const fn again_until(&self) -> Place {
        self.again_until
    }

    /// A run passed, `first` to `last`; `onward` if it, or its end, continues the pass.
    pub(crate) fn take(
        &mut self,
        (first, last): (Place, Place),
        (first_ns, last_ns): (u64, u64),
        onward: bool,
    ) {
        self.run = Stretch {
            first: first as u32,
            last: last as u32,
            first_ns,
            last_ns,
        };
        if !onward || last < self.next {
            return;
        }
        if core::mem::replace(&mut self.is_begun, true) {
            self.before = None;
        }
        self.next = last + 1;
        let newest = self.stretches.get_mut(self.newest as usize);
        if let Some(newest) = newest
            && newest.last.wrapping_add(1) == first as u32
            && last_ns < newest.first_ns.saturating_add(SPACING_NS)
        {
            (newest.last, newest.last_ns) = (last as u32, last_ns);
            return;
        }
        self.newest = (self.newest + 1) % STRETCHES as u8;
        if let Some(oldest) = self.stretches.get_mut(self.newest as usize) {
            *oldest = self.run;
        }
    }

    /// PSNs up to `last` are taken by responses.
    pub(crate) const fn reserve(&mut self, last: Place) {
        if self.next <= last {
            self.next = last + 1;
        }
    }

    /// What came ahead of `next` was not of this pass.
    pub(crate) fn rewind(&mut self, next: Place) {
        self.next = next;
    }

    /// Whether it is clear which pass is under way, and nothing of it passed later than `time_ns`.
    pub(crate) fn is_clear(&self, time_ns: u64) -> bool {
        let mut kept = self.stretches.iter().chain([&self.run]);
        self.before.is_none() && self.is_begun && kept.all(|kept| kept.last_ns <= time_ns)
    }

    /// The sender goes back to `first`; it had sent all up to `high`.
    pub(crate) fn begin(&mut self, first: Place, high: Place) {
        self.before = Some((self.next, self.again_until));
        self.is_begun = false;
        (self.next, self.again_until) = (first, high);
        self.stretches = [Stretch::default(); STRETCHES];
    }

    /// Whether this pass is a single run as yet, which may only have come late.
    pub(crate) const fn is_alone(&self) -> bool {
        self.before.is_some()
    }

    /// Whether `first` continues the pass before, or lies ahead of it: what seemed to begin this one
    /// only came late.
    pub(crate) fn is_back(&self, first: Place) -> bool {
        self.before.is_some_and(|(next, _)| next <= first)
    }

    /// Whether `first` is what would follow in the pass before, and not in this one.
    pub(crate) fn continues_before(&self, first: Place) -> bool {
        first > self.next && self.before.is_some_and(|(next, _)| next == first)
    }

    /// The pass before goes on.
    pub(crate) fn resume(&mut self) {
        if let Some((next, again_until)) = self.before.take() {
            (self.next, self.again_until) = (next, again_until);
        }
    }

    /// About when the PSN passed last; `None` when that is longer ago than is remembered, or was in
    /// an earlier pass.
    pub(crate) fn time_of(&self, place: Place) -> Option<u64> {
        let place = place as u32;
        let kept = self.stretches.iter();
        self.run
            .time_of(place)
            .or_else(|| kept.filter_map(|stretch| stretch.time_of(place)).max())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_behind_does_not_move_it() {
        let mut pass = Pass::default();
        pass.take((100, 109), (1_000, 10_000), true);
        pass.take((105, 105), (11_000, 11_000), true);
        assert_eq!(pass.next(), 110);
        pass.begin(103, 109);
        pass.take((103, 105), (50_000, 52_000), true);
        // From before it went back.
        pass.take((109, 109), (52_500, 52_500), false);
        assert_eq!((pass.next(), pass.again_until()), (106, 109));
    }

    #[test]
    fn a_single_late_run_begins_no_pass() {
        let mut pass = Pass::default();
        pass.take((100, 109), (1_000, 10_000), true);
        pass.begin(103, 109);
        pass.take((103, 103), (50_000, 50_000), true);
        assert!(pass.is_back(110) && pass.is_back(112) && !pass.is_back(104));
        pass.resume();
        assert_eq!((pass.next(), pass.again_until()), (110, 0));
    }

    #[test]
    fn a_psn_passed_last_in_this_pass_or_longer_ago() {
        let mut pass = Pass::default();
        for place in 0..100 {
            let (place, ns) = (1_000 + place, 10_000 * place + 1);
            pass.take((place, place), (ns, ns), true);
        }
        assert_eq!(pass.time_of(1_095), Some(950_001));
        assert_eq!(pass.time_of(1_050), None);
        pass.begin(1_090, 1_099);
        pass.take((1_090, 1_092), (2_000_000, 2_002_000), true);
        assert_eq!(pass.time_of(1_091), Some(2_001_000));
        assert_eq!(pass.time_of(1_080), None);
    }
}
