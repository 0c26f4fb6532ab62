//! Frames that a mirror captures twice with the same TTL: two ports of one switch, or one port in both directions.
//!
//! Each copy follows its frame after nearly the same delay, so the PSNs of two sequences alternate: 5 6 **3** 7 **4** 8. A
//! sender that goes back repeats in order up to where it was, one that repeats selectively is asked for it, and the last
//! packet alone is repeated only by a timer. So a packet that is soon repeated, that no NAK asked for, and that the next
//! new one follows, is a sign of copies; [`SIGNS`] of them are evidence.
//! From then on, a PSN that passed less than twice the learnt delay ago, and has not been copied since, is a copy, also
//! while the sender goes back.

use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::time::EventTime;
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Signs that are evidence of a mirror that captures frames twice.
const SIGNS: u32 = 3;
/// Runs after which signs, or copies, are forgotten.
const FORGET: u32 = 64;
/// Passes that are remembered: 100 packets pass in 8 µs at 100 Gbit/s.
const PASSES: usize = 128;

/// PSNs that passed one after another, as low 32 bits of the extended ones.
#[derive(Clone, Copy, Debug)]
struct Pass {
    first: u32,
    psns: u32,
    first_ns: u64,
    last_ns: u64,
    /// A bit for each of the first 64 that was copied.
    copied: u64,
}

impl Pass {
    /// The number of the PSN in it.
    fn at(&self, psn: ExtendedPsn) -> Option<u32> {
        let at = (psn as u32).wrapping_sub(self.first);
        (at < self.psns).then_some(at)
    }

    /// When its PSN number `at` passed, as if all had been spaced evenly.
    fn time_of(&self, at: u32) -> u64 {
        let duration_ns = self.last_ns.since(self.first_ns);
        let passed_ns = (duration_ns * u64::from(at)).checked_div(u64::from(self.psns.saturating_sub(1)));
        self.first_ns + passed_ns.unwrap_or(0)
    }

    fn bit(at: u32) -> u64 {
        1_u64.checked_shl(at).unwrap_or(0)
    }
}

/// A repeat that may be a copy: it is one if a new packet follows.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    last: ExtendedPsn,
    delay_ns: u64,
}

/// What a direction shows of a mirror that captures its frames twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct DuplicatesByDelay {
    repeat: Option<Repeat>,
    signs: u32,
    /// Runs since the last sign or copy.
    quiet: u32,
    /// The longest delay of a copy.
    delay_ns: u64,
    /// Packets that were counted as retransmitted before the copies were certain.
    pub(crate) supposed: u64,
    passes: VecDeque<Pass>,
}

impl DuplicatesByDelay {
    /// Bytes that it allocates.
    pub(crate) const HEAP_BYTES: usize = size_of::<Self>() + PASSES * size_of::<Pass>();

    /// State for a direction in which a packet came again soon.
    pub(crate) fn new() -> Box<Self> {
        Box::new(Self {
            passes: VecDeque::with_capacity(PASSES),
            ..Self::default()
        })
    }

    /// Whether copies are certain.
    pub(crate) const fn is_certain(&self) -> bool {
        self.signs >= SIGNS
    }

    /// Whether there was no sign for long: it may be removed.
    pub(crate) const fn is_over(&self) -> bool {
        self.quiet > FORGET
    }

    /// A run of requests passes, when `high` was the highest PSN. Returns whether copies are certain from now on.
    pub(crate) fn look(&mut self, (first, last): (ExtendedPsn, ExtendedPsn), high: ExtendedPsn) -> bool {
        self.quiet += 1;
        let Some(repeat) = self.repeat else {
            return false;
        };
        if first == high + 1 {
            return self.sign(repeat.delay_ns);
        }
        // A sender that went back repeats all, in several runs.
        if first != repeat.last + 1 || last >= high {
            self.repeat = None;
        }
        false
    }

    /// Packets up to `last` were repeated after `delay_ns`, and no NAK had asked for them.
    pub(crate) fn repeated(&mut self, last: ExtendedPsn, delay_ns: u64) {
        let delay_ns = self.repeat.map_or(delay_ns, |repeat| repeat.delay_ns);
        self.repeat = Some(Repeat { last, delay_ns });
    }

    /// The last packet alone was repeated after `delay_ns`, and no NAK had asked for it. Returns whether copies are certain
    /// from now on.
    pub(crate) fn last_repeated(&mut self, delay_ns: u64) -> bool {
        self.sign(delay_ns)
    }

    fn sign(&mut self, delay_ns: u64) -> bool {
        self.repeat = None;
        self.delay_ns = self.delay_ns.max(delay_ns);
        self.quiet = 0;
        self.signs += 1;
        self.signs == SIGNS
    }

    /// Of the run `first..=last`, the last PSN up to which it consists of copies; `None` if it does not begin with one.
    /// `before` knows when packets passed before the first sign.
    pub(crate) fn copied_until(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        first_ns: u64,
        before: impl Fn(ExtendedPsn) -> Option<u64>,
    ) -> Option<ExtendedPsn> {
        if !self.is_certain() {
            return None;
        }
        let longest_ns = 2 * self.delay_ns;
        let is_soon = |passed_ns: u64| first_ns.since(passed_ns) <= longest_ns;
        let mut until = None;
        for psn in first..=last {
            // The latest pass: an earlier one has its copy already.
            let latest = self
                .passes
                .iter_mut()
                .rev()
                .find_map(|pass| pass.at(psn).map(|at| (pass, at)));
            let is_copy = match latest {
                Some((pass, at)) => {
                    let is_first = pass.copied & Pass::bit(at) == 0;
                    pass.copied |= Pass::bit(at);
                    is_first && is_soon(pass.time_of(at))
                }
                None => before(psn).is_some_and(is_soon),
            };
            if !is_copy {
                break;
            }
            until = Some(psn);
        }
        if until.is_some() {
            self.quiet = 0;
        }
        until
    }

    /// Packets passed that are no copies.
    pub(crate) fn passed(&mut self, (first, last): (ExtendedPsn, ExtendedPsn), (first_ns, last_ns): (u64, u64)) {
        if self.passes.len() == PASSES {
            self.passes.pop_front();
        }
        self.passes.push_back(Pass {
            first: first as u32,
            psns: u32::try_from(last - first + 1).unwrap_or(u32::MAX),
            first_ns,
            last_ns,
            copied: 0,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PSNs 0 to 9, each again after 2.5 µs while later ones pass.
    fn learnt() -> DuplicatesByDelay {
        let mut duplicates = *DuplicatesByDelay::new();
        for psn in 0..10_u64 {
            let now_ns = 1_000 * psn;
            duplicates.look((psn, psn), psn.wrapping_sub(1));
            if duplicates.copied_until((psn, psn), now_ns, |_| None).is_none() {
                duplicates.passed((psn, psn), (now_ns, now_ns));
            }
            if let Some(copy) = psn.checked_sub(2) {
                duplicates.look((copy, copy), psn);
                if duplicates.copied_until((copy, copy), now_ns + 500, |_| None).is_none() {
                    duplicates.repeated(copy, 2_500);
                }
            }
        }
        duplicates
    }

    #[test]
    fn alternating_sequences_are_copies_and_a_sender_that_goes_back_is_not() {
        let mut duplicates = learnt();
        assert!(duplicates.is_certain() && !duplicates.is_over());
        // The copies of 8 and 9 still come; then the sender goes back to 5, and 5 is copied.
        assert_eq!(duplicates.copied_until((8, 9), 10_500, |_| None), Some(9));
        assert_eq!(duplicates.copied_until((5, 6), 40_000, |_| None), None);
        duplicates.passed((5, 6), (40_000, 41_000));
        assert_eq!(duplicates.copied_until((5, 7), 42_500, |_| None), Some(6));
        assert_eq!(duplicates.copied_until((5, 6), 43_000, |_| None), None);

        // 0 to 9 pass, and all come again in order, then 10.
        let mut back = *DuplicatesByDelay::new();
        for (psn, high) in (3..11).zip([9; 7].into_iter().chain([9])) {
            back.look((psn, psn), high);
            if psn <= high {
                back.repeated(psn, 15_000);
            }
        }
        // One sign at most, at the end of the pass.
        assert!(!back.is_certain());
    }
}
