//! One PSN: its copies, what was said of them, and the verdict.

use super::counts::PdcCounts;
use super::psns::Psns;
use crate::time::EventTime;

/// What is known of a PSN. Times of 0: never.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Psn {
    /// When a later PSN, or a copy of itself, passed first.
    pub(super) since_ns: u64,
    /// When its first copy without the mark of a retransmission passed.
    pub(super) plain_ns: u64,
    /// When its latest copy passed.
    pub(super) passed_ns: u64,
    /// When the copy before the latest retransmission passed.
    pub(super) before_ns: u64,
    /// When its first retransmission passed.
    pub(super) marked_ns: u64,
    /// When an acknowledgement called it arrived first.
    pub(super) arrived_ns: u64,
    /// When one called it missing last.
    pub(super) missing_ns: u64,
    /// Copies without the mark of a retransmission, with it, and of both those that were trimmed.
    pub(super) plain: u8,
    pub(super) marked: u8,
    pub(super) trimmed: u8,
    /// NACKs for trimmed copies.
    pub(super) trim_nacks: u8,
    /// Of those the ones for copies that passed trimmed, and for copies that passed whole.
    pub(super) trimmed_answered: u8,
    pub(super) cut_downstream: u8,
    /// Its whole copies.
    pub(super) whole: u8,
    /// The receiver named it as not received.
    pub(super) is_nacked: bool,
    /// An acknowledgement names its first copy, which was not lost.
    pub(super) by_first_copy: bool,
    /// The first acknowledgement was that of a retransmission.
    pub(super) by_retransmission: bool,
    /// Not a request: nothing is said of it.
    pub(super) is_control: bool,
    /// It gave a round trip.
    pub(super) is_timed: bool,
}

impl Psn {
    /// It has arrived. Returns how long it took at least, if it was retransmitted and that copy cannot have arrived so
    /// soon; else 0.
    pub(super) fn arrive(&mut self, now_ns: u64, soon_ns: u64) -> u64 {
        if self.arrived_ns > 0 {
            return 0;
        }
        self.arrived_ns = now_ns;
        if self.plain > 0 && self.marked == 1 && now_ns < self.passed_ns.saturating_add(soon_ns) {
            now_ns.since(self.plain_ns)
        } else {
            0
        }
    }

    /// Counts what happened to its copies.
    pub(super) fn judge(&self, all: &Psns, all_pass: bool, counts: &mut PdcCounts) {
        let Psns {
            shortest_ns,
            longest_ns,
            is_ordered,
            ..
        } = *all;
        let has_arrived = self.arrived_ns > 0;
        if self.plain == 0 && self.marked == 0 {
            if has_arrived {
                counts.unseen_packets += 1;
            } else {
                counts.unknown_packets += 1;
            }
            return;
        }
        let mut resent = self.marked;
        if self.plain == 0 {
            // The first copy never passed.
            resent -= 1;
            let was_there = has_arrived && self.arrived_ns < self.marked_ns
                || self.trim_nacks > self.trimmed_answered + self.cut_downstream;
            if was_there {
                counts.unseen_packets += 1;
            } else if all_pass {
                counts.fabric_lost_upstream_packets += 1;
            } else {
                counts.unanswered_packets += 1;
            }
        }
        // Copies that passed and were retransmitted, but for those of which it is known why.
        let resent = u64::from(resent.saturating_sub(self.trimmed.saturating_add(self.cut_downstream)));
        if resent == 0 {
            return;
        }
        let answer_ns = shortest_ns.unwrap_or(0) / 2;
        let is_after = |time_ns: u64, since_ns: u64, late_ns: u64| time_ns > since_ns.saturating_add(late_ns);
        let is_needless = !self.by_retransmission && !is_after(self.arrived_ns, self.passed_ns, answer_ns);
        if has_arrived && (self.by_first_copy || is_needless) {
            counts.needless_packets += resent;
        } else if self.is_nacked
            || !is_ordered
                && longest_ns > 0
                && (is_after(self.missing_ns, self.before_ns, 2 * longest_ns)
                    || self.by_retransmission && is_after(self.missing_ns, self.before_ns, longest_ns))
        {
            counts.fabric_lost_downstream_packets += resent;
        } else {
            counts.unanswered_packets += resent;
        }
    }
}
