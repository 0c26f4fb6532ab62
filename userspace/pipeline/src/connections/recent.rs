//! When a PSN was last seen: enough to tell a copy from a retransmission.

use super::sequence::Place;

/// How many moments are kept. With one each 16 µs they reach back 128 µs, beyond the 100 µs within
/// which a second packet is a copy.
const MOMENTS: usize = 8;
const SPACING_NS: u64 = 16_000;

/// The way of the highest PSN through the last moments, and the run before this one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    /// Highest PSN (low 32 bits of its place) and time, a ring.
    moments: [(u32, u64); MOMENTS],
    next: u8,
    /// The run seen last.
    first: Place,
    last: Place,
    first_ns: u64,
    last_ns: u64,
}

impl Recent {
    /// A run passed; `high` is the highest PSN with it.
    pub(crate) fn pass(
        &mut self,
        first: Place,
        last: Place,
        first_ns: u64,
        last_ns: u64,
        high: Place,
    ) {
        (self.first, self.last) = (first, last);
        (self.first_ns, self.last_ns) = (first_ns, last_ns);
        if last != high {
            return;
        }
        let newest = (self.next as usize + MOMENTS - 1) % MOMENTS;
        if let Some((_, ns)) = self.moments.get(newest)
            && last_ns < ns.saturating_add(SPACING_NS)
            && *ns != 0
        {
            return;
        }
        if let Some(moment) = self.moments.get_mut(self.next as usize) {
            *moment = (high as u32, last_ns);
            self.next = (self.next + 1) % MOMENTS as u8;
        }
    }

    /// The last PSN of the run seen last, and when it passed.
    pub(crate) const fn last(&self) -> Place {
        self.last
    }

    pub(crate) const fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// About when the PSN passed last; `None` when that is longer ago than is remembered.
    pub(crate) fn time_of(&self, place: Place) -> Option<u64> {
        if (self.first..=self.last).contains(&place) {
            let (packets, span) = (self.last - self.first, self.last_ns - self.first_ns);
            let passed = (span * (place - self.first)).checked_div(packets);
            return Some(self.first_ns + passed.unwrap_or(0));
        }
        let place = place as u32;
        // The latest moment at which the highest PSN was still below: the PSN passed after it.
        let below = self
            .moments
            .iter()
            .filter(|(high, ns)| *ns != 0 && high.wrapping_sub(place).cast_signed() < 0)
            .max_by_key(|(_, ns)| *ns);
        below.map(|(_, ns)| *ns)
    }
}
