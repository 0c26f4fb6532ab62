//! The send sequence: the packets that a sender sends one after another, from its first packet or from the PSN it went
//! back to.
//!
//! Packets that continue the sequence were sent now, however often their PSNs passed before. A lower PSN was reordered
//! or duplicated, or begins another sequence; the time at which it last passed helps to decide.

use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::time::EventTime;

/// The number of spans. With one per 32 µs they cover 128 µs, more than the 100 µs within which a second packet is a
/// copy.
const SPANS: usize = 4;
pub(crate) const SPACING_NS: u64 = 32_000;

/// Packets of a run after its first one that show the pace of the sender.
const LONG: u64 = 7;

/// Packets in a row that only a failed path loses.
const LONG_BURST: u64 = 16;

/// PSNs that passed one after another, and when.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    /// The low 32 bits of the extended PSNs.
    first: u32,
    last: u32,
    first_ns: u64,
    /// 0: unused.
    last_ns: u64,
}

impl Span {
    /// When the PSN passed, as if all had been spaced evenly.
    fn time_of(&self, psn: u32) -> Option<u64> {
        let (at, max) = (psn.wrapping_sub(self.first), self.last.wrapping_sub(self.first));
        let holds = self.last_ns != 0 && at <= max;
        let duration_ns = self.last_ns.since(self.first_ns);
        let passed = (duration_ns * u64::from(at)).checked_div(u64::from(max));
        holds.then_some(self.first_ns + passed.unwrap_or(0))
    }
}

/// The current sequence, and the last run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SendSequence {
    /// The PSN that continues it.
    next: ExtendedPsn,
    /// The highest PSN before it began: all PSNs up to there are retransmissions. 0 for the first sequence.
    resent_until: ExtendedPsn,
    /// `next` and `resent_until` of the previous send sequence, while this one has a single run.
    previous: Option<(ExtendedPsn, ExtendedPsn)>,
    /// That run has passed.
    is_begun: bool,
    /// The last spans of the send sequence, a ring.
    spans: [Span; SPANS],
    newest: u8,
    /// The time between two packets of the last long run.
    pace_ns: u32,
    /// The last run, of this sequence or not.
    run: Span,
}

impl SendSequence {
    pub(crate) const fn next(&self) -> ExtendedPsn {
        self.next
    }

    pub(crate) const fn resent_until(&self) -> ExtendedPsn {
        self.resent_until
    }

    /// A run passed, `first` to `last`; `in_order` if it, or its end, continues the send sequence.
    pub(crate) fn take(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        (first_ns, last_ns): (u64, u64),
        in_order: bool,
    ) {
        self.run = Span {
            first: first as u32,
            last: last as u32,
            first_ns,
            last_ns,
        };
        if last >= first + LONG {
            let pace_ns = last_ns.since(first_ns) / (last - first);
            self.pace_ns = u32::try_from(pace_ns).unwrap_or(u32::MAX);
        }
        if !in_order || last < self.next {
            return;
        }
        if core::mem::replace(&mut self.is_begun, true) {
            self.previous = None;
        }
        self.next = last + 1;
        let newest = self.spans.get_mut(self.newest as usize);
        if let Some(newest) = newest
            && newest.last.wrapping_add(1) == first as u32
            && last_ns < newest.first_ns.saturating_add(SPACING_NS)
        {
            // Time may go back between runs; a span that ended before it began would have no duration.
            (newest.last, newest.last_ns) = (last as u32, newest.last_ns.max(last_ns));
            return;
        }
        self.newest = (self.newest + 1) % SPANS as u8;
        if let Some(oldest) = self.spans.get_mut(self.newest as usize) {
            *oldest = self.run;
        }
    }

    /// Whether the sender may have transmitted this number of packets, none of which passed, in this time, as a failed path
    /// loses them.
    pub(crate) const fn is_long_burst(&self, packets: u64, silent_ns: u64) -> bool {
        packets > LONG_BURST && self.pace_ns > 0 && silent_ns >= packets.saturating_mul(self.pace_ns as u64) / 2
    }

    /// Whether the last run, of this sequence or not, ended before `first`.
    pub(crate) const fn is_followed_by(&self, first: ExtendedPsn) -> bool {
        self.run.last_ns > 0 && self.run.last.wrapping_add(1) == first as u32
    }

    /// Responses use PSNs up to `last`.
    pub(crate) const fn reserve(&mut self, last: ExtendedPsn) {
        if self.next <= last {
            self.next = last + 1;
        }
    }

    /// Packets ahead of `next` were not part of this sequence.
    pub(crate) fn rewind(&mut self, next: ExtendedPsn) {
        self.next = next;
    }

    /// Whether the current sequence is certain, and none of its packets passed after `time_ns`.
    pub(crate) fn is_clear(&self, time_ns: u64) -> bool {
        let mut kept = self.spans.iter().chain([&self.run]);
        self.previous.is_none() && self.is_begun && kept.all(|kept| kept.last_ns <= time_ns)
    }

    /// The sender goes back to `first`; it had sent everything up to `high`.
    pub(crate) fn begin(&mut self, first: ExtendedPsn, high: ExtendedPsn) {
        self.previous = Some((self.next, self.resent_until));
        self.is_begun = false;
        (self.next, self.resent_until) = (first, high);
        self.spans = [Span::default(); SPANS];
    }

    /// Whether this sequence is still a single run, which may just be late.
    pub(crate) const fn is_single_run(&self) -> bool {
        self.previous.is_some()
    }

    /// Whether `first` continues the previous send sequence, or is ahead of it: the run that seemed to begin this one
    /// was just late.
    pub(crate) fn rejoins_previous(&self, first: ExtendedPsn) -> bool {
        self.previous.is_some_and(|(next, _)| next <= first)
    }

    /// Whether `first` is next in the previous send sequence, and not in this one.
    pub(crate) fn continues_previous(&self, first: ExtendedPsn) -> bool {
        first > self.next && self.previous.is_some_and(|(next, _)| next == first)
    }

    /// The previous send sequence continues.
    pub(crate) fn resume(&mut self) {
        if let Some((next, resent_until)) = self.previous.take() {
            (self.next, self.resent_until) = (next, resent_until);
        }
    }

    /// What has passed in this sequence lately, by PSNs near `psn`.
    pub(crate) fn passed_near(&self, psn: ExtendedPsn) -> impl Iterator<Item = (ExtendedPsn, ExtendedPsn)> {
        let extended = move |low: u32| psn.wrapping_add_signed(i64::from(low.wrapping_sub(psn as u32).cast_signed()));
        let used = self.spans.into_iter().filter(|span| span.last_ns != 0);
        used.map(move |span| (extended(span.first), extended(span.last)))
    }

    /// A time before which the PSN did not pass in this sequence, at most [`SPACING_NS`] before it did.
    pub(crate) fn passed_after(&self, psn: ExtendedPsn) -> Option<u64> {
        let kept = self.spans.iter().chain([&self.run]);
        let held = kept.filter(|span| span.time_of(psn as u32).is_some());
        held.map(|span| span.first_ns).max()
    }

    /// A time after which the PSN did not pass: in this sequence, or before what is known of it.
    pub(crate) fn passed_before(&self, psn: ExtendedPsn) -> u64 {
        let kept = || self.spans.iter().chain([&self.run]).filter(|span| span.last_ns != 0);
        let held = kept().filter(|span| span.time_of(psn as u32).is_some());
        let oldest = || kept().map(|span| span.first_ns).min();
        held.map(|span| span.last_ns).max().or_else(oldest).unwrap_or(0)
    }

    /// About when the PSN last passed; `None` if that is too long ago, or was in an earlier send sequence.
    pub(crate) fn time_of(&self, psn: ExtendedPsn) -> Option<u64> {
        let psn = psn as u32;
        let kept = self.spans.iter();
        self.run
            .time_of(psn)
            .or_else(|| kept.filter_map(|span| span.time_of(psn)).max())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_psns_do_not_move_it() {
        let mut sequence = SendSequence::default();
        sequence.take((100, 109), (1_000, 10_000), true);
        sequence.take((105, 105), (11_000, 11_000), true);
        assert_eq!(sequence.next(), 110);
        sequence.begin(103, 109);
        sequence.take((103, 105), (50_000, 52_000), true);
        // From before it went back.
        sequence.take((109, 109), (52_500, 52_500), false);
        assert_eq!((sequence.next(), sequence.resent_until()), (106, 109));
    }

    /// The span ended before it began, and its duration underflowed.
    #[test]
    fn time_that_goes_back_within_a_span_leaves_it_a_duration() {
        let mut sequence = SendSequence::default();
        sequence.take((100, 109), (50_000, 60_000), true);
        sequence.take((110, 119), (10_000, 20_000), true);
        assert_eq!(sequence.time_of(100), Some(50_000));
        assert!(
            sequence
                .time_of(105)
                .is_some_and(|time_ns| (50_000..=60_000).contains(&time_ns))
        );
    }

    #[test]
    fn a_single_late_run_begins_no_send_sequence() {
        let mut sequence = SendSequence::default();
        sequence.take((100, 109), (1_000, 10_000), true);
        sequence.begin(103, 109);
        sequence.take((103, 103), (50_000, 50_000), true);
        assert!(sequence.rejoins_previous(110) && sequence.rejoins_previous(112) && !sequence.rejoins_previous(104));
        sequence.resume();
        assert_eq!((sequence.next(), sequence.resent_until()), (110, 0));
    }

    #[test]
    fn a_psn_last_passed_in_this_send_sequence_or_longer_ago() {
        let mut sequence = SendSequence::default();
        for psn in 0..100 {
            let (psn, ns) = (1_000 + psn, 10_000 * psn + 1);
            sequence.take((psn, psn), (ns, ns), true);
        }
        assert_eq!(sequence.time_of(1_095), Some(950_001));
        assert_eq!(sequence.time_of(1_050), None);
        sequence.begin(1_090, 1_099);
        sequence.take((1_090, 1_092), (2_000_000, 2_002_000), true);
        assert_eq!(sequence.time_of(1_091), Some(2_001_000));
        assert_eq!(sequence.time_of(1_080), None);
    }
}
