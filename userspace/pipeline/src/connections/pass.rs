//! The pass a sender is on: the packets it sends one after another, from its first one on or from
//! where it went back to.
//!
//! What continues the pass is on its way, however often its PSNs passed before. What lies behind the
//! pass was overtaken, copied, or begins another pass; when its PSN passed last helps to tell.

use super::sequence::Place;

/// How many moments are kept. With one each 16 µs they reach back 128 µs, beyond the 100 µs within
/// which a second packet is a copy.
const MOMENTS: usize = 8;
const SPACING_NS: u64 = 16_000;

/// The pass under way, and the run seen last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pass {
    /// The PSN that continues it.
    next: Place,
    /// The highest PSN before it began: up to there all is sent again. 0 for the first pass.
    again_until: Place,
    /// PSNs the pass had reached (low 32 bits of their places) and when, a ring.
    moments: [(u32, u64); MOMENTS],
    newest: u8,
    /// The run seen last, of this pass or not.
    first: Place,
    last: Place,
    first_ns: u64,
    last_ns: u64,
}

impl Pass {
    pub(crate) const fn next(&self) -> Place {
        self.next
    }

    pub(crate) const fn again_until(&self) -> Place {
        self.again_until
    }

    /// A run passed, `first` to `last`: it continues the pass unless all of it lies behind.
    pub(crate) fn take(&mut self, first: Place, last: Place, first_ns: u64, last_ns: u64) {
        (self.first, self.last) = (first, last);
        (self.first_ns, self.last_ns) = (first_ns, last_ns);
        if last < self.next {
            return;
        }
        self.next = last + 1;
        let newest = self.moments.get(self.newest as usize);
        if newest.is_none_or(|(_, ns)| *ns == 0 || last_ns >= ns.saturating_add(SPACING_NS)) {
            self.remember(last, last_ns);
        }
    }

    /// PSNs up to `last` are taken by responses.
    pub(crate) fn reserve(&mut self, last: Place) {
        self.next = self.next.max(last + 1);
    }

    /// The sender goes back to `first`; it had sent all up to `high`.
    pub(crate) fn begin(&mut self, first: Place, high: Place, now_ns: u64) {
        (self.next, self.again_until) = (first, high);
        self.moments = [(0, 0); MOMENTS];
        self.remember(first.saturating_sub(1), now_ns);
    }

    fn remember(&mut self, place: Place, now_ns: u64) {
        self.newest = (self.newest + 1) % MOMENTS as u8;
        if let Some(moment) = self.moments.get_mut(self.newest as usize) {
            *moment = (place as u32, now_ns);
        }
    }

    /// About when the PSN passed last; `None` when that is longer ago than is remembered, or was in
    /// an earlier pass.
    pub(crate) fn time_of(&self, place: Place) -> Option<u64> {
        if (self.first..=self.last).contains(&place) {
            let (packets, span) = (self.last - self.first, self.last_ns - self.first_ns);
            let passed = (span * (place - self.first)).checked_div(packets);
            return Some(self.first_ns + passed.unwrap_or(0));
        }
        let place = place as u32;
        // The latest moment at which the pass was still below: the PSN passed after it.
        let below = self
            .moments
            .iter()
            .filter(|(reached, ns)| *ns != 0 && reached.wrapping_sub(place).cast_signed() < 0)
            .max_by_key(|(_, ns)| *ns);
        below.map(|(_, ns)| *ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_behind_does_not_move_it() {
        let mut pass = Pass::default();
        pass.take(100, 109, 1_000, 10_000);
        pass.take(105, 105, 11_000, 11_000);
        assert_eq!(pass.next(), 110);
        pass.begin(103, 109, 50_000);
        pass.take(103, 105, 50_000, 52_000);
        assert_eq!((pass.next(), pass.again_until()), (106, 109));
    }

    #[test]
    fn a_psn_passed_last_in_this_pass_or_longer_ago() {
        let mut pass = Pass::default();
        for place in 0..100 {
            pass.take(
                1_000 + place,
                1_000 + place,
                10_000 * place + 1,
                10_000 * place + 1,
            );
        }
        let about = pass.time_of(1_095).unwrap();
        assert!((930_000..=950_001).contains(&about), "{about}");
        assert_eq!(pass.time_of(1_050), None);
        pass.begin(1_090, 1_099, 2_000_000);
        pass.take(1_090, 1_092, 2_000_000, 2_002_000);
        assert_eq!(pass.time_of(1_091), Some(2_001_000));
        assert_eq!(pass.time_of(1_080), None);
    }
}
