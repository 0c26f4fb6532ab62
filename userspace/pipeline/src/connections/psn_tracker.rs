//! Tracks the PSNs of one direction: the highest, and the gaps below it.
//!
//! PSNs are unwrapped into [`ExtendedPsn`]s, which never wrap, by their distance from the highest one (the half of the
//! space ahead of it is new, IBTA volume 1, 9.7.1).

use alloc::vec::Vec;
use rocescope_wire::Psn;

/// A PSN extended so that it never wraps: congruent to it modulo 2^24.
pub(crate) type ExtendedPsn = u64;

/// Open gaps per direction, 40 bytes each. With more, the oldest counts as never filled.
const MAX_GAPS: usize = 16;
/// A jump ahead by more than this is not a gap: the queue pair restarted, or the capture lost runs.
const LONGEST_GAP: u64 = 1 << 16;
/// The start of extended PSNs, far from zero so that PSNs below the first one can be extended.
const ORIGIN: ExtendedPsn = 1 << 32;

/// PSNs below the highest that have not passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    /// Time of the last packet before it.
    pub(crate) before_ns: u64,
    /// Time of the packet that opened it.
    pub(crate) opened_ns: u64,
    /// The PSN in it that the last NAK named.
    pub(crate) nak: Option<ExtendedPsn>,
}

impl Gap {
    /// The number of PSNs.
    pub(crate) const fn packets(&self) -> u64 {
        self.last - self.first + 1
    }
}

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
    /// A gap that was displaced.
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

/// A few ranges of PSNs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PsnRanges {
    ranges: [(ExtendedPsn, ExtendedPsn); MAX_GAPS],
    count: usize,
}

impl PsnRanges {
    pub(crate) fn note(&mut self, first: ExtendedPsn, last: ExtendedPsn) {
        if let Some(range) = self.ranges.get_mut(self.count) {
            *range = (first, last);
            self.count += 1;
        }
    }

    /// The same ranges in another PSN space.
    pub(crate) fn map(&self, convert: impl Fn(ExtendedPsn) -> ExtendedPsn) -> Self {
        let ranges = self.ranges.map(|(first, last)| {
            let moved = convert(first);
            (moved, moved + (last - first))
        });
        Self { ranges, ..*self }
    }

    pub(crate) fn ranges(&self) -> &[(ExtendedPsn, ExtendedPsn)] {
        self.ranges.get(..self.count).unwrap_or_default()
    }
}

/// The PSN space of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct PsnTracker {
    started: bool,
    low: ExtendedPsn,
    high: ExtendedPsn,
    gaps: Vec<Gap>,
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
        (self.high >> 24) - (self.low >> 24)
    }

    /// Bytes that it has allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.gaps.capacity() * size_of::<Gap>()
    }

    pub(crate) fn gaps(&self) -> &[Gap] {
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
        self.started
            && (self.low..=self.high).contains(&psn)
            && !self.gaps.iter().any(|g| (g.first..=g.last).contains(&psn))
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
            let gap = Gap {
                first: psn,
                last: self.low - 1,
                before_ns: now_ns,
                opened_ns: now_ns,
                nak: Some(psn),
            };
            self.low = psn;
            let _ = self.open(gap);
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

    /// All open gaps.
    pub(crate) fn open_ranges(&self) -> PsnRanges {
        let mut open = PsnRanges::default();
        self.gaps.iter().for_each(|gap| open.note(gap.first, gap.last));
        open
    }

    /// The open gap with `psn`.
    pub(crate) fn gap_at(&self, psn: ExtendedPsn) -> Option<&Gap> {
        let holds = |gap: &&Gap| (gap.first..=gap.last).contains(&psn);
        self.gaps.iter().find(holds)
    }

    /// PSNs `first..=last` pass at `now_ns`; the packet before them passed at `before_ns`. `silent`: a jump ahead opens
    /// no gap. Calls `fill` with the range filled in each gap.
    pub(crate) fn take(
        &mut self,
        first: ExtendedPsn,
        last: ExtendedPsn,
        (before_ns, now_ns): (u64, u64),
        silent: bool,
        fill: &mut dyn FnMut(ExtendedPsn, ExtendedPsn),
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
                let (first, last) = (self.high + 1, from - 1);
                arrival.displaced = self.open(Gap {
                    first,
                    last,
                    before_ns,
                    opened_ns: now_ns,
                    nak: None,
                });
            }
        }
        if first < self.low {
            let until = last.min(self.low - 1);
            arrival.below = until - first + 1;
            if until + 1 < self.low {
                let gap = Gap {
                    first: until + 1,
                    last: self.low - 1,
                    before_ns: now_ns,
                    opened_ns: now_ns,
                    nak: None,
                };
                arrival.displaced = self.open(gap).or(arrival.displaced);
            }
        }
        let (from, to) = (first.max(self.low), last.min(self.high));
        if from <= to {
            arrival.filled = self.fill(from, to, fill);
            arrival.repeated = to - from + 1 - arrival.filled;
        }
        self.low = self.low.min(first);
        self.high = self.high.max(last);
        arrival
    }

    fn open(&mut self, gap: Gap) -> Option<Gap> {
        let displaced = (self.gaps.len() >= MAX_GAPS).then(|| self.gaps.remove(0));
        self.gaps.push(gap);
        displaced
    }

    /// Fills the gaps in `from..=to`, and returns the number of PSNs filled.
    fn fill(&mut self, from: ExtendedPsn, to: ExtendedPsn, fill: &mut dyn FnMut(ExtendedPsn, ExtendedPsn)) -> u64 {
        let mut filled = 0;
        let mut rest: [Option<Gap>; 2] = [None; 2];
        let mut at = 0;
        while let Some(gap) = self.gaps.get(at).copied() {
            let (first, last) = (gap.first.max(from), gap.last.min(to));
            if first > last {
                at += 1;
                continue;
            }
            filled += last - first + 1;
            fill(first, last);
            self.gaps.remove(at);
            // Only the first and the last gap in the range can keep a part.
            if gap.first < first {
                rest[0] = Some(Gap { last: first - 1, ..gap });
            }
            if last < gap.last {
                rest[1] = Some(Gap { first: last + 1, ..gap });
            }
        }
        self.gaps.extend(rest.into_iter().flatten());
        filled
    }

    /// A NAK named `psn`.
    pub(crate) fn nak(&mut self, psn: ExtendedPsn) {
        for gap in &mut self.gaps {
            if (gap.first..=gap.last).contains(&psn) {
                gap.nak = Some(psn);
            }
        }
    }

    /// The peer acknowledged everything up to `psn`: gaps below arrived without passing the tap.
    pub(crate) fn settle(&mut self, psn: ExtendedPsn, mut lost: impl FnMut(Gap)) {
        if self.gaps.is_empty() {
            return;
        }
        self.gaps.retain(|gap| {
            let arrived = gap.last <= psn;
            if arrived {
                lost(*gap);
            }
            !arrived
        });
    }

    /// All remaining gaps, at the end.
    pub(crate) fn drain(&mut self) -> Vec<Gap> {
        core::mem::take(&mut self.gaps)
    }
}
