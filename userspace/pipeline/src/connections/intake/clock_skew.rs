//! Clocks of mirrors that differ: what one host sends to another may be captured by a mirror whose clock is ahead, so that
//! answers seem to pass after what they caused.
//!
//! A sender that goes back to a packet just before the NAK that names it has received that NAK. From then on everything
//! that its peer's host sends to its own counts as that much earlier, and so it is processed.

use crate::connections::pairing::key::DirectionKey;
use hashbrown::HashMap;
use rocescope_record::RunRecord;

/// Pairs of hosts kept; the skew of others is not corrected.
const MAX_PAIRS: usize = 4_096;
/// A NAK that seems to pass so long after its effect is another one.
const LONGEST_NS: u64 = 1_000_000;
/// The least time from a NAK to its effect.
const REACTION_NS: u64 = 1_000;
/// How often the skew of a pair is corrected: each time, what waits is sorted again.
const MAX_CORRECTIONS: u8 = 8;
/// Answers to what has not passed yet, after which a correction is wrong: clocks were set, or there was no skew. A mirror
/// that loses a request causes one too.
const CONTRADICTIONS: u8 = 3;

/// A pair of hosts whose skew has become known, has grown, or is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Correction {
    hosts: u64,
    /// By how much earlier its runs passed than is known; later if it is negative.
    earlier_ns: i64,
}

impl Correction {
    /// Moves the run to the time at which it passed by the other clock.
    pub(crate) fn apply(&self, run: &mut RunRecord) {
        if DirectionKey::of(run).hosts() == self.hosts {
            run.first_ns = run.first_ns.saturating_sub_signed(self.earlier_ns);
        }
    }
}

/// What is known of a pair of hosts.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// By how much the clock is ahead.
    ahead_ns: u64,
    /// How often that was corrected, and how many answers contradict it since.
    corrections: u8,
    contradictions: u8,
}

/// By how much the clock is ahead that captures what a host sends to another.
#[derive(Debug, Default)]
pub(crate) struct ClockSkew {
    pairs: HashMap<u64, Known>,
    longest_ns: u64,
    /// What waits to be processed has not been corrected yet.
    pub(crate) news: Option<Correction>,
}

impl ClockSkew {
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.longest_ns == 0
    }

    /// The NAK in this run passed this long after what it caused.
    /// Returns by how much more the clock is ahead than was known, if that is corrected.
    pub(crate) fn learn(&mut self, run: &RunRecord, late_ns: u64) -> Option<u64> {
        let more_ns = late_ns + REACTION_NS;
        let hosts = DirectionKey::of(run).hosts();
        if self.pairs.len() >= MAX_PAIRS && !self.pairs.contains_key(&hosts) {
            return None;
        }
        let known = self.pairs.entry(hosts).or_default();
        if known.ahead_ns + more_ns > LONGEST_NS || known.corrections >= MAX_CORRECTIONS {
            return None;
        }
        known.ahead_ns += more_ns;
        known.corrections += 1;
        known.contradictions = 0;
        self.longest_ns = self.longest_ns.max(known.ahead_ns);
        self.news = Some(Correction {
            hosts,
            earlier_ns: more_ns.cast_signed(),
        });
        Some(more_ns)
    }

    /// The acknowledgement in this run passed before what it acknowledges: by its own clock it may have passed later. After
    /// a few of them the pair is not corrected any more, until a NAK shows a skew again.
    #[cold]
    pub(crate) fn contradicted(&mut self, run: &RunRecord) {
        let hosts = DirectionKey::of(run).hosts();
        let Some(known) = self.pairs.get_mut(&hosts).filter(|known| known.ahead_ns > 0) else {
            return;
        };
        known.contradictions += 1;
        if known.contradictions >= CONTRADICTIONS {
            self.news = Some(Correction {
                hosts,
                earlier_ns: -known.ahead_ns.cast_signed(),
            });
            known.ahead_ns = 0;
        }
    }

    /// Moves a run to the time at which it passed by the other clock.
    pub(crate) fn correct(&self, run: &mut RunRecord) {
        let hosts = DirectionKey::of(run).hosts();
        let known = self.pairs.get(&hosts).copied().unwrap_or_default();
        run.first_ns = run.first_ns.saturating_sub(known.ahead_ns);
    }

    /// All that passed before this time has arrived, if all has that seems to have passed before `time_ns`.
    pub(crate) const fn complete_ns(&self, time_ns: u64) -> u64 {
        if time_ns == u64::MAX {
            time_ns
        } else {
            time_ns.saturating_sub(self.longest_ns)
        }
    }
}
