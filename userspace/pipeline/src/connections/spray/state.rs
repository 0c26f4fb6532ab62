//! What a sprayed direction needs beside its tracker.

use crate::connections::losses::pending::Suspect;
use crate::connections::order::intervals::Intervals;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::requests::recovery::Trigger;
use crate::connections::spray::pass::Pass;
use alloc::vec::Vec;

/// NAKs kept until the sender reacts to them.
pub(crate) const MAX_ASKS: usize = 32;
/// Times of the highest PSN that are kept, and the time between them: 128 µs in all.
pub(crate) const TIMES: usize = 64;
pub(crate) const SPACING_NS: u64 = 2_000;
/// Late packets kept.
const LATE: usize = 64;
/// Packets repeated without a request that show that the sender went back.
pub(crate) const EVIDENT: u64 = 2;
/// Reordered packets without a NAK that show that the receiver keeps early packets.
const MANY_KEPT: u32 = 8;

/// A NAK, and whether the sender has reacted to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) trigger: Trigger,
    pub(crate) psn: ExtendedPsn,
    pub(crate) time_ns: u64,
    pub(crate) used: bool,
}

/// What a sprayed direction needs beside its tracker.
#[derive(Clone, Debug)]
pub(crate) struct Sprayed {
    pub(crate) asks: Vec<Ask>,
    pub(crate) pass: Option<Pass>,
    /// Copies of the current pass that have not passed.
    pub(crate) due: Intervals<()>,
    /// Copies that later ones of their pass overtook, and when.
    pub(crate) skipped: Intervals<u64>,
    /// What was due of the pass before at its end.
    pub(crate) was_due: Intervals<()>,
    /// Those of them that a NAK named: lost unless they pass before this time.
    pub(crate) overdue: Intervals<u64>,
    /// Filled a gap at this time, after a NAK: late, or transmitted again.
    pub(crate) suspected: Intervals<u64>,
    pub(crate) suspects: Vec<Suspect>,
    /// PSNs that were lost downstream if the receiver keeps early packets, and when a NAK named them.
    pub(crate) unproven: Vec<(ExtendedPsn, u64)>,
    /// Nothing of these ends before.
    pub(crate) deadline_ns: u64,
    /// When the run before passed.
    pub(crate) last_ns: u64,
    /// The run is a READ, which is one packet, whatever the PSNs of its response.
    pub(crate) is_read: bool,
    /// The shortest and the longest time from the last packet of a message, however late, to its acknowledgement.
    pub(crate) round_trips_ns: Option<(u64, u64)>,
    /// Reordered packets at the last answer, those between two answers without a NAK, and NAKs.
    pub(crate) reordered: u32,
    /// The last packets that were late, and when they passed, a ring.
    pub(crate) late: [(ExtendedPsn, u64); LATE],
    pub(crate) kept: u32,
    pub(crate) refused: u32,
    pub(crate) times: [(ExtendedPsn, u64); TIMES],
    pub(crate) newest: u8,
}

impl Default for Sprayed {
    fn default() -> Self {
        Self {
            asks: Vec::new(),
            pass: None,
            due: Intervals::default(),
            skipped: Intervals::default(),
            was_due: Intervals::default(),
            overdue: Intervals::default(),
            suspected: Intervals::default(),
            suspects: Vec::new(),
            unproven: Vec::new(),
            deadline_ns: u64::MAX,
            last_ns: 0,
            is_read: false,
            round_trips_ns: None,
            reordered: 0,
            late: [(0, 0); LATE],
            kept: 0,
            refused: 0,
            times: [(0, 0); TIMES],
            newest: 0,
        }
    }
}

impl Sprayed {
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.asks.capacity() * size_of::<Ask>()
            + self.suspects.capacity() * size_of::<Suspect>()
            + self.unproven.capacity() * size_of::<(ExtendedPsn, u64)>()
            + self.due.heap_bytes()
            + self.skipped.heap_bytes()
            + self.was_due.heap_bytes()
            + self.overdue.heap_bytes()
            + self.suspected.heap_bytes()
    }

    /// The packets of the run that have these PSNs.
    pub(crate) const fn packets(&self, psns: u64) -> u64 {
        if self.is_read && psns > 1 { 1 } else { psns }
    }

    /// Whether nothing is open.
    pub(crate) const fn is_clear(&self) -> bool {
        self.pass.is_none()
            && self.skipped.is_empty()
            && self.overdue.is_empty()
            && self.suspected.is_empty()
            && self.suspects.is_empty()
    }

    /// Whether acknowledgements passed late packets without a NAK for them.
    pub(crate) const fn keeps_early(&self) -> bool {
        self.kept >= MANY_KEPT && self.kept / 4 > self.refused
    }

    /// Whether a NAK names `psn`, and the sender has not reacted to it.
    pub(crate) fn is_requested(&self, psn: ExtendedPsn) -> bool {
        self.asks.iter().any(|ask| ask.psn == psn && !ask.used)
    }

    /// Whether a READ for `psn` is only transmitted again because the sender went back to an earlier packet.
    pub(crate) fn is_replayed(&self, psn: ExtendedPsn) -> bool {
        let in_pass = |pass: &Pass| pass.from < psn && psn <= pass.until && pass.repeated >= EVIDENT;
        self.pass.as_ref().is_some_and(in_pass)
    }

    /// An acknowledgement followed `ns` after what it answers.
    pub(crate) fn learn_round_trip(&mut self, ns: u64) {
        let (min, max) = self.round_trips_ns.unwrap_or((ns, ns));
        self.round_trips_ns = Some((min.min(ns), max.max(ns)));
    }

    /// The highest PSN is `psn` at `now_ns`.
    pub(crate) fn note(&mut self, psn: ExtendedPsn, now_ns: u64) {
        let newest = self.times.get(self.newest as usize).copied().unwrap_or_default();
        if now_ns < newest.1.saturating_add(SPACING_NS) {
            return;
        }
        self.newest = (self.newest + 1) % TIMES as u8;
        if let Some(slot) = self.times.get_mut(self.newest as usize) {
            *slot = (psn, now_ns);
        }
    }

    /// The times between which `psn` became the highest; `None` if that is too long ago.
    pub(crate) fn time_of(&self, psn: ExtendedPsn) -> Option<(u64, u64)> {
        let known = || self.times.iter().filter(|(_, ns)| *ns > 0);
        let before = known().filter(|(high, _)| *high < psn).map(|(_, ns)| *ns).max()?;
        let after = known().filter(|(high, _)| *high >= psn).map(|(_, ns)| *ns).min();
        Some((before, after.unwrap_or(before)))
    }

    /// These pass after higher ones.
    pub(crate) fn note_late(&mut self, (first, last): (ExtendedPsn, ExtendedPsn), now_ns: u64) {
        for psn in first..=last.min(first + LATE as u64 - 1) {
            if let Some(slot) = self.late.get_mut(psn as usize % LATE) {
                *slot = (psn, now_ns);
            }
        }
    }

    /// When `psn` passed, if it was late.
    pub(crate) fn late_at(&self, psn: ExtendedPsn) -> Option<u64> {
        let found = self.late.iter().find(|(late, _)| *late == psn);
        found.map(|(_, ns)| *ns)
    }

    /// The NAK that explains that `first..=last` are transmitted again: one that names one of them, else the newest for
    /// a lower PSN.
    pub(crate) fn ask_for(&mut self, first: ExtendedPsn, last: ExtendedPsn) -> Option<&mut Ask> {
        let open = |ask: &Ask| !ask.used && ask.psn <= last;
        let named = self.asks.iter().rposition(|ask| open(ask) && ask.psn >= first);
        let at = named.or_else(|| self.asks.iter().rposition(open))?;
        self.asks.get_mut(at)
    }

    pub(crate) fn use_asks(&mut self, psn: ExtendedPsn) {
        for ask in &mut self.asks {
            ask.used |= ask.psn <= psn;
        }
        self.asks.retain(|ask| !ask.used);
    }
}
