//! Tracks the PSNs of one direction: the highest, and the gaps below it.
//!
//! PSNs are unwrapped into [`ExtendedPsn`]s, which never wrap, by their distance from the highest one (the half of the
//! space ahead of it is new, IBTA volume 1, 9.7.1).

use crate::connections::order::intervals::{Interval, Intervals};
use rocescope_wire::Psn;

/// A PSN extended so that it never wraps: congruent to it modulo 2^24.
pub(crate) type ExtendedPsn = u64;

/// A jump ahead by more than this is not a gap: the queue pair restarted, or the capture lost runs.
const LONGEST_GAP: u64 = 1 << 16;
/// The start of extended PSNs, far from zero so that PSNs below the first one can be extended.
const ORIGIN: ExtendedPsn = 1 << 32;

/// When a gap opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    /// Time of the last packet before it.
    pub(crate) before_ns: u64,
    /// Time of the packet that opened it.
    pub(crate) opened_ns: u64,
    /// The PSN in it that the last NAK named.
    pub(crate) nak: Option<ExtendedPsn>,
    /// The first packet that was missing, and how many were.
    pub(crate) first: ExtendedPsn,
    pub(crate) packets: u64,
}

/// PSNs below the highest that have not passed.
pub(crate) type Gap = Interval<Opened>;

/// The number of PSNs that were new, filled a gap or had passed before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Above the highest.
    pub(crate) above: u64,
    /// Below the lowest.
    pub(crate) below: u64,
    /// Fill gaps.
    pub(crate) filled: u64,
    /// Had passed before.
    pub(crate) repeated: u64,
    /// The last PSN had not passed before.
    pub(crate) end_is_new: bool,
    /// The jump was too far: the direction restarted.
    pub(crate) restarted: bool,
    /// The lowest gap, for which there was no room any more.
    pub(crate) displaced: Option<Gap>,
}

impl Arrival {
    /// The number that had not passed before.
    pub(crate) const fn unseen(&self) -> u64 {
        self.above + self.below + self.filled
    }

    /// The sum of two consecutive runs.
    pub(crate) fn and(self, later: Self) -> Self {
        Self {
            above: self.above + later.above,
            below: self.below + later.below,
            filled: self.filled + later.filled,
            repeated: self.repeated + later.repeated,
            end_is_new: later.end_is_new,
            restarted: self.restarted || later.restarted,
            displaced: self.displaced.or(later.displaced),
        }
    }
}

/// The PSN space of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct PsnTracker {
    started: bool,
    low: ExtendedPsn,
    high: ExtendedPsn,
    gaps: Intervals<Opened>,
}

impl PsnTracker {
    pub(crate) const fn is_started(&self) -> bool {
        self.started
    }

    pub(crate) const fn low(&self) -> ExtendedPsn {
        self.low
    }

    pub(crate) const fn high(&self) -> ExtendedPsn {
        self.high
    }

    /// How often the PSN wrapped from 2^24 - 1 to 0.
    pub(crate) const fn wraps(&self) -> u64 {
        // CM may have named the first PSN 0 before a packet passed: the highest one is then below it.
        (self.high >> 24).saturating_sub(self.low >> 24)
    }

    /// Bytes that it has allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.gaps.heap_bytes()
    }

    pub(crate) const fn gaps(&self) -> &Intervals<Opened> {
        &self.gaps
    }

    /// The extended PSN: the one nearest to the highest.
    pub(crate) const fn extended(&self, psn: Psn) -> ExtendedPsn {
        if !self.started {
            return ORIGIN + psn.get() as u64;
        }
        let high = Psn::new(self.high as u32);
        let ahead = psn.distance_from(high) as u64;
        if ahead < Psn::MODULUS as u64 / 2 {
            self.high + ahead
        } else {
            (self.high + ahead).saturating_sub(Psn::MODULUS as u64)
        }
    }

    /// Whether the PSN at `psn` has passed.
    pub(crate) fn has(&self, psn: ExtendedPsn) -> bool {
        self.started && (self.low..=self.high).contains(&psn) && self.gaps.at(psn).is_none()
    }

    /// The first PSN, known from CM before any has passed.
    pub(crate) fn expect(&mut self, psn: Psn) {
        if !self.started {
            self.started = true;
            self.low = ORIGIN + u64::from(psn.get());
            self.high = self.low - 1;
        }
    }

    /// The first PSN was `psn`, below all that passed: a NAK named it.
    pub(crate) fn begin_at(&mut self, psn: ExtendedPsn, now_ns: u64) {
        if self.started && psn < self.low && self.low - psn <= LONGEST_GAP {
            let opened = Opened {
                before_ns: now_ns,
                opened_ns: now_ns,
                nak: Some(psn),
                first: psn,
                packets: self.low - psn,
            };
            let _ = self.open(psn, self.low - 1, opened);
            self.low = psn;
        }
    }

    /// PSNs that will not pass because they belong to the responses of a READ.
    pub(crate) fn reserve(&mut self, last: ExtendedPsn) {
        if self.started && last > self.high {
            self.high = last;
        }
    }

    /// Everything up to `high` passed in order.
    pub(crate) const fn continue_to(&mut self, high: ExtendedPsn) {
        self.high = high;
    }

    /// Whether any of these, in the PSNs of the peer's requests, is in a gap.
    pub(crate) fn misses(&self, first: ExtendedPsn, last: ExtendedPsn) -> bool {
        if self.gaps.is_empty() {
            return false;
        }
        let from = self.extended(Psn::new(first as u32));
        self.gaps.overlaps(from, from + (last - first))
    }

    /// The open gap with `psn`.
    pub(crate) fn gap_at(&self, psn: ExtendedPsn) -> Option<&Gap> {
        self.gaps.at(psn)
    }

    /// PSNs `first..=last` pass at `now_ns`; the packet before them passed at `before_ns`. `silent`: a jump ahead opens
    /// no gap. Calls `fill` with the filled part of each gap.
    pub(crate) fn take(
        &mut self,
        first: ExtendedPsn,
        last: ExtendedPsn,
        (before_ns, now_ns): (u64, u64),
        silent: bool,
        fill: &mut dyn FnMut(Gap),
    ) -> Arrival {
        let mut arrival = Arrival::default();
        if !self.started || first > self.high + 1 + LONGEST_GAP || last + LONGEST_GAP < self.low {
            arrival.restarted = self.started;
            self.started = true;
            self.gaps.clear();
            (self.low, self.high) = (first, last);
            arrival.above = last - first + 1;
            arrival.end_is_new = true;
            return arrival;
        }
        arrival.end_is_new = !self.has(last);
        if last > self.high {
            let from = first.max(self.high + 1);
            arrival.above = last - from + 1;
            if from > self.high + 1 && !silent {
                let opened = Opened {
                    before_ns,
                    opened_ns: now_ns,
                    nak: None,
                    first: self.high + 1,
                    packets: from - self.high - 1,
                };
                arrival.displaced = self.open(self.high + 1, from - 1, opened);
            }
        }
        if first < self.low {
            let until = last.min(self.low - 1);
            arrival.below = until - first + 1;
            if until + 1 < self.low {
                let opened = Opened {
                    before_ns: now_ns,
                    opened_ns: now_ns,
                    nak: None,
                    first: until + 1,
                    packets: self.low - until - 1,
                };
                let displaced = self.open(until + 1, self.low - 1, opened);
                arrival.displaced = displaced.or(arrival.displaced);
            }
        }
        let (from, to) = (first.max(self.low), last.min(self.high));
        if from <= to {
            arrival.filled = self.gaps.remove(from, to, fill);
            arrival.repeated = to - from + 1 - arrival.filled;
        }
        self.low = self.low.min(first);
        self.high = self.high.max(last);
        arrival
    }

    fn open(&mut self, first: ExtendedPsn, last: ExtendedPsn, value: Opened) -> Option<Gap> {
        self.gaps.insert(Gap { first, last, value })
    }

    /// A NAK named `psn`.
    pub(crate) fn nak(&mut self, psn: ExtendedPsn) {
        if let Some(gap) = self.gaps.at_mut(psn) {
            gap.value.nak = Some(psn);
        }
    }

    /// The peer acknowledged everything up to `psn`: gaps below arrived without passing the tap.
    pub(crate) fn settle(&mut self, psn: ExtendedPsn, lost: impl FnMut(Gap)) {
        self.gaps.remove_through(psn, lost);
    }

    /// The lowest gap.
    pub(crate) fn lowest_gap(&self) -> Option<Gap> {
        self.gaps.iter().next().copied()
    }

    /// Takes the lowest gap.
    pub(crate) fn take_gap(&mut self) -> Option<Gap> {
        self.gaps.pop_front()
    }
}
