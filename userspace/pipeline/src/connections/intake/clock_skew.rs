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

/// A pair of hosts whose skew has become known, or has grown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Correction {
    hosts: u64,
    more_ns: u64,
}

impl Correction {
    /// Moves the run to the time at which it passed by the other clock.
    pub(crate) fn apply(&self, run: &mut RunRecord) {
        if DirectionKey::of(run).hosts() == self.hosts {
            run.first_ns = run.first_ns.saturating_sub(self.more_ns);
        }
    }

    pub(crate) const fn more_ns(&self) -> u64 {
        self.more_ns
    }
}

/// By how much the clock is ahead that captures what a host sends to another.
#[derive(Debug, Default)]
pub(crate) struct ClockSkew {
    /// And how often that was corrected.
    ahead_ns: HashMap<u64, (u64, u8)>,
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
    pub(crate) fn learn(&mut self, run: &RunRecord, late_ns: u64) {
        let more_ns = late_ns + REACTION_NS;
        let hosts = DirectionKey::of(run).hosts();
        if self.ahead_ns.len() >= MAX_PAIRS && !self.ahead_ns.contains_key(&hosts) {
            return;
        }
        let (known_ns, corrections) = self.ahead_ns.entry(hosts).or_default();
        if *known_ns + more_ns > LONGEST_NS || *corrections >= MAX_CORRECTIONS {
            return;
        }
        *known_ns += more_ns;
        *corrections += 1;
        self.longest_ns = self.longest_ns.max(*known_ns);
        self.news = Some(Correction { hosts, more_ns });
    }

    /// Moves a run to the time at which it passed by the other clock.
    pub(crate) fn correct(&self, run: &mut RunRecord) {
        let hosts = DirectionKey::of(run).hosts();
        let (ahead_ns, _) = self.ahead_ns.get(&hosts).copied().unwrap_or_default();
        run.first_ns = run.first_ns.saturating_sub(ahead_ns);
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
