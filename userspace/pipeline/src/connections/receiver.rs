//! What a receiver makes of requests in the order in which they pass the tap.
//!
//! A responder takes the PSN it expects, answers the first one above it with a NAK, and drops the
//! rest until the expected one comes (IBTA volume 1, 9.7.5.1.1). A NAK that follows from the order
//! at the tap tells nothing of what lies behind the tap. Any other one does: its PSN passed in
//! order, and did not arrive in order.

use super::sequence::Place;

/// NAKs that follow from the order at the tap and have not passed yet. A receiver sends one, and
/// then waits for what it asked for, so there is seldom more than one; the oldest gives way.
const MOST_DUE: usize = 4;

/// What a NAK tells of the packet it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// It passed in order, and was lost behind the tap, or overtaken there.
    Lost,
    /// Nothing: the order at the tap asks for it, or it was asked for before.
    Nothing,
}

/// The receiver of one direction's requests, as far as the tap can follow it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Receiver {
    /// What it waits for; 0 before anything passed.
    expected: Place,
    /// It drops all else in silence.
    refusing: bool,
    /// A NAK for what it waits for has passed: it does so for certain.
    asked: bool,
    due: [Place; MOST_DUE],
    due_count: u8,
    /// What was lost behind the tap, and when the NAK passed. It stands once the sender sends it
    /// again; should the receiver go on before, it was only overtaken.
    lost: Option<(Place, u64)>,
}

impl Receiver {
    /// Requests pass. The loss that this confirms: its place, and when its NAK passed.
    pub(crate) fn arrive(&mut self, first: Place, last: Place) -> Option<(Place, u64)> {
        let confirmed = self.lost.take_if(|(lost, _)| (first..=last).contains(lost));
        if self.expected == 0 || first <= self.expected && last >= self.expected {
            self.expected = last + 1;
            (self.refusing, self.asked) = (false, false);
        } else if first > self.expected && !self.refusing {
            self.refusing = true;
            self.put_due(self.expected);
        }
        confirmed
    }

    /// PSNs up to `last` are taken by responses.
    pub(crate) const fn reserve(&mut self, last: Place) {
        if !self.refusing && self.expected <= last {
            self.expected = last + 1;
        }
    }

    /// Whether it waits for `next`, and for no NAK.
    pub(crate) const fn is_clear(&self, next: Place) -> bool {
        self.expected == next
            && !self.refusing
            && !self.asked
            && self.due_count == 0
            && self.lost.is_none()
    }

    /// A NAK asks for `place`, and passes at `now_ns`; `None` where the place itself did not pass.
    pub(crate) fn refuse(&mut self, place: Place, now_ns: Option<u64>) -> Told {
        if self.take_due(place) || self.refusing && self.expected == place {
            self.asked |= self.expected == place;
            return Told::Nothing;
        }
        self.asked = true;
        // While it waits for an earlier one it drops all: what comes behind was not lost. That it
        // waits for this one now means that the earlier one has arrived.
        let was_refusing = core::mem::replace(&mut self.refusing, true);
        let before = core::mem::replace(&mut self.expected, place);
        if was_refusing && before < place {
            return Told::Nothing;
        }
        self.lost = now_ns.map(|ns| (place, ns));
        match self.lost {
            Some(_) => Told::Lost,
            None => Told::Nothing,
        }
    }

    /// What it asked for is on its way again already.
    pub(crate) fn forgive(&mut self, place: Place) {
        self.expected = place;
        (self.refusing, self.asked) = (true, true);
    }

    /// It is not ready for `place`, and drops what follows: with a NAK or without.
    pub(crate) fn not_ready(&mut self, place: Place) {
        self.expected = place;
        (self.refusing, self.asked) = (true, true);
        self.put_due(place);
    }

    /// It has all up to `place`, whatever passed here; `next` would continue what passed.
    pub(crate) fn acknowledged(&mut self, place: Place, next: Place) {
        while self.due_count > 0 && self.due[0] <= place {
            self.drop_due(1);
        }
        if self.lost.is_some_and(|(lost, _)| lost <= place) {
            self.lost = None;
        }
        if self.expected > place {
            return;
        }
        // What it waited for has come by another way. If it did wait, it dropped what came behind;
        // if not, the mirror lost what the tap missed.
        self.expected = if self.asked {
            place + 1
        } else {
            next.max(place + 1)
        };
        self.refusing = self.asked;
        self.asked = false;
    }

    /// Whether it must have taken `place`, had nothing been lost behind the tap.
    pub(crate) const fn has_taken(&self, place: Place) -> bool {
        place < self.expected
    }

    /// What nobody sent again: at the end it counts as lost.
    pub(crate) fn take_lost(&mut self) -> Option<(Place, u64)> {
        self.lost.take()
    }

    fn put_due(&mut self, place: Place) {
        if self.due_count as usize == MOST_DUE {
            self.drop_due(1);
        }
        if let Some(slot) = self.due.get_mut(self.due_count as usize) {
            *slot = place;
            self.due_count += 1;
        }
    }

    /// Whether a NAK for `place` is due; it and those before it are not any more.
    fn take_due(&mut self, place: Place) -> bool {
        let due = self.due.iter().take(self.due_count as usize);
        let at = due.into_iter().position(|due| *due == place);
        if let Some(at) = at {
            self.drop_due(at + 1);
        }
        at.is_some()
    }

    fn drop_due(&mut self, count: usize) {
        self.due.copy_within(count.min(MOST_DUE).., 0);
        self.due_count -= count as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(passes: &[(Place, Place)]) -> Receiver {
        let mut receiver = Receiver::default();
        for (first, last) in passes {
            receiver.arrive(*first, *last);
        }
        receiver
    }

    #[test]
    fn what_passed_in_order_and_is_asked_for_was_lost_once_it_is_sent_again() {
        let mut receiver = after(&[(100, 110)]);
        assert_eq!(receiver.refuse(105, Some(7)), Told::Lost);
        assert_eq!(receiver.refuse(105, Some(8)), Told::Nothing);
        assert_eq!(receiver.arrive(111, 112), None);
        assert_eq!(receiver.arrive(105, 107), Some((105, 7)));
        // Lost once more.
        assert_eq!(receiver.refuse(105, Some(9)), Told::Lost);
    }

    #[test]
    fn the_order_at_the_tap_explains_a_nak() {
        let mut receiver = after(&[(100, 104), (106, 108), (105, 105), (109, 109)]);
        // 105 came late, so 106 to 108 were dropped.
        assert_eq!(receiver.refuse(105, Some(1)), Told::Nothing);
        assert_eq!(receiver.refuse(106, Some(2)), Told::Nothing);
        assert_eq!(receiver.take_lost(), None);
    }

    #[test]
    fn overtaken_behind_the_tap_is_not_lost() {
        let mut receiver = after(&[(100, 110)]);
        assert_eq!(receiver.refuse(105, Some(1)), Told::Lost);
        // It goes on without a second 105: nothing was lost, and 106 was dropped behind the gap.
        receiver.acknowledged(105, 111);
        assert_eq!(receiver.refuse(106, Some(2)), Told::Nothing);
        assert_eq!(receiver.arrive(105, 110), None);
    }

    #[test]
    fn a_receiver_that_is_not_ready_drops_what_follows() {
        let mut receiver = after(&[(100, 110)]);
        receiver.not_ready(103);
        assert_eq!(receiver.refuse(103, Some(1)), Told::Nothing);
    }
}
