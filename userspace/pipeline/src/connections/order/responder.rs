//! Predicts the responder from the order of requests at the tap.
//!
//! A responder accepts the PSN it expects, answers the first one above it with a NAK, and drops the rest until the
//! expected one arrives (IBTA volume 1, 9.7.5.1.1). If the order at the tap explains a NAK, it shows nothing about the
//! network downstream of the tap. Any other NAK does: its PSN passed in order, and did not arrive in order.

use crate::connections::intake::inline_queue::InlineQueue;
use crate::connections::order::psn_tracker::ExtendedPsn;

/// NAKs that the order at the tap predicts and that have not passed yet. A responder sends one and then waits, so there
/// is rarely more than one, unless the fabric reorders much; the oldest is dropped.
const MAX_DUE: usize = 64;

/// What a NAK shows about the packet it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NakMeaning {
    /// It passed in order, and was lost downstream of the tap, or reordered there.
    Loss,
    /// Nothing: the order at the tap explains it, or an earlier NAK named it.
    Expected,
}

/// The responder of one direction's requests, as far as the tap can follow it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Responder {
    /// The PSN it waits for; 0 before any has passed.
    expected: ExtendedPsn,
    /// It silently drops everything else.
    dropping: bool,
    /// A NAK for that PSN has passed: it certainly waits.
    asked: bool,
    due: InlineQueue<ExtendedPsn>,
    /// The PSN lost downstream of the tap, and the time of its NAK. The retransmission confirms it; if the responder
    /// continues before, it was only reordered.
    lost: Option<(ExtendedPsn, u64)>,
}

impl Responder {
    /// Requests pass. Returns the loss that this confirms: its PSN and the time of its NAK.
    pub(crate) fn arrive(&mut self, first: ExtendedPsn, last: ExtendedPsn) -> Option<(ExtendedPsn, u64)> {
        let confirmed = self.lost.take_if(|(lost, _)| (first..=last).contains(lost));
        if self.expected == 0 || first <= self.expected && last >= self.expected {
            self.expected = last + 1;
            (self.dropping, self.asked) = (false, false);
        } else if first > self.expected && !self.dropping {
            self.dropping = true;
            self.put_due(self.expected);
        }
        confirmed
    }

    /// These passed before any answer, below all that had passed: it waits for the first of them, not for what follows those.
    pub(crate) fn begin_below(&mut self, first: ExtendedPsn, last: ExtendedPsn) {
        self.put_due(first);
        self.expected = last + 1;
        (self.dropping, self.asked) = (false, false);
    }

    /// Responses use PSNs up to `last`.
    pub(crate) const fn reserve(&mut self, last: ExtendedPsn) {
        if !self.dropping && self.expected <= last {
            self.expected = last + 1;
        }
    }

    /// Whether it waits for `next`, and for no NAK.
    pub(crate) const fn is_clear(&self, next: ExtendedPsn) -> bool {
        self.expected == next && !self.dropping && !self.asked && self.due.len() == 0 && self.lost.is_none()
    }

    /// A NAK for `psn` passes at `now_ns`; `None` if the PSN itself did not pass.
    pub(crate) fn nak(&mut self, psn: ExtendedPsn, now_ns: Option<u64>) -> NakMeaning {
        if self.take_due(psn) || self.dropping && self.expected == psn {
            self.asked |= self.expected == psn;
            return NakMeaning::Expected;
        }
        self.asked = true;
        // While it waits for an earlier one it drops everything: later packets were not lost. It waits for this one
        // now, so the earlier one has arrived.
        let was_dropping = core::mem::replace(&mut self.dropping, true);
        let before = core::mem::replace(&mut self.expected, psn);
        if was_dropping && before < psn {
            return NakMeaning::Expected;
        }
        self.lost = now_ns.map(|ns| (psn, ns));
        match self.lost {
            Some(_) => NakMeaning::Loss,
            None => NakMeaning::Expected,
        }
    }

    /// The PSN it named is already being retransmitted.
    pub(crate) fn expect_resent(&mut self, psn: ExtendedPsn) {
        self.expected = psn;
        (self.dropping, self.asked) = (true, true);
    }

    /// It is not ready for `psn`, and drops later packets, with or without a NAK.
    pub(crate) fn not_ready(&mut self, psn: ExtendedPsn) {
        self.expected = psn;
        (self.dropping, self.asked) = (true, true);
        self.put_due(psn);
    }

    /// It has everything up to `psn`, whatever passed the tap; `next` is the PSN after the packets that passed.
    pub(crate) fn acknowledged(&mut self, psn: ExtendedPsn, next: ExtendedPsn) {
        while self.due.front().is_some_and(|due| *due <= psn) {
            self.due.pop_front();
        }
        if self.lost.is_some_and(|(lost, _)| lost <= psn) {
            self.lost = None;
        }
        if self.expected > psn {
            return;
        }
        // The PSN it waited for arrived on another path. If it did wait, it dropped later packets; if not, the mirror
        // lost that PSN.
        self.expected = if self.asked { psn + 1 } else { next.max(psn + 1) };
        self.dropping = self.asked;
        self.asked = false;
    }

    /// Whether it must have accepted `psn` if nothing was lost downstream of the tap.
    pub(crate) const fn has_taken(&self, psn: ExtendedPsn) -> bool {
        psn < self.expected
    }

    /// A loss without a retransmission: counts as lost at the end.
    pub(crate) fn take_lost(&mut self) -> Option<(ExtendedPsn, u64)> {
        self.lost.take()
    }

    fn put_due(&mut self, psn: ExtendedPsn) {
        if self.due.len() == MAX_DUE {
            self.due.pop_front();
        }
        self.due.push_back(psn);
    }

    /// Whether a NAK for `psn` is due; removes it and those before it.
    fn take_due(&mut self, psn: ExtendedPsn) -> bool {
        let at = self.due.iter().position(|due| *due == psn);
        for _ in 0..at.map_or(0, |at| at + 1) {
            self.due.pop_front();
        }
        at.is_some()
    }

    /// Bytes that it has allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.due.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(passes: &[(ExtendedPsn, ExtendedPsn)]) -> Responder {
        let mut responder = Responder::default();
        for (first, last) in passes {
            responder.arrive(*first, *last);
        }
        responder
    }

    #[test]
    fn a_packet_that_passed_in_order_and_got_a_nak_was_lost_once_it_is_retransmitted() {
        let mut responder = after(&[(100, 110)]);
        assert_eq!(responder.nak(105, Some(7)), NakMeaning::Loss);
        assert_eq!(responder.nak(105, Some(8)), NakMeaning::Expected);
        assert_eq!(responder.arrive(111, 112), None);
        assert_eq!(responder.arrive(105, 107), Some((105, 7)));
        // Lost again.
        assert_eq!(responder.nak(105, Some(9)), NakMeaning::Loss);
    }

    #[test]
    fn the_order_at_the_tap_explains_a_nak() {
        let mut responder = after(&[(100, 104), (106, 108), (105, 105), (109, 109)]);
        // 105 arrived late, so 106 to 108 were dropped.
        assert_eq!(responder.nak(105, Some(1)), NakMeaning::Expected);
        assert_eq!(responder.nak(106, Some(2)), NakMeaning::Expected);
        assert_eq!(responder.take_lost(), None);
    }

    #[test]
    fn a_packet_reordered_downstream_of_the_tap_is_not_lost() {
        let mut responder = after(&[(100, 110)]);
        assert_eq!(responder.nak(105, Some(1)), NakMeaning::Loss);
        // It continues without a second 105: nothing was lost, and 106 was dropped after the gap.
        responder.acknowledged(105, 111);
        assert_eq!(responder.nak(106, Some(2)), NakMeaning::Expected);
        assert_eq!(responder.arrive(105, 110), None);
    }

    #[test]
    fn a_first_packet_that_passes_late_explains_the_nak_for_it() {
        let mut responder = after(&[(101, 105)]);
        responder.begin_below(100, 100);
        assert_eq!(responder.nak(100, Some(1)), NakMeaning::Expected);
    }

    #[test]
    fn a_receiver_that_is_not_ready_drops_what_follows() {
        let mut responder = after(&[(100, 110)]);
        responder.not_ready(103);
        assert_eq!(responder.nak(103, Some(1)), NakMeaning::Expected);
    }
}
