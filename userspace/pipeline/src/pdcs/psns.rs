//! The PSNs of a direction: what passed, what arrived, and what was lost.
//!
//! Order is evidence of nothing: UET sprays. Evidence is
//!
//! - **upstream of the tap**: a retransmission passes, and no other copy of its PSN ever did;
//! - **downstream**: a copy passed, and a NACK states that it arrived trimmed or not at all; or it was retransmitted,
//!   while selective acknowledgements called it missing for longer than twice the longest round trip, or than once if the
//!   ACK of the retransmission was the first to call it arrived;
//! - **neither**: a PSN that was acknowledged without having passed (mirror loss, or another path), and one that was
//!   retransmitted although it had arrived.
//!
//! Where many arrive without having passed, what did not pass proves no loss upstream: the tap sees a part of the paths.
//! All else is unknown, and counts as that. A PSN is judged when it was acknowledged and no copy of it can be on the way
//! any more.

use super::counts::PdcCounts;
use super::psn::Psn;
use crate::time::EventTime;
use alloc::collections::VecDeque;
use rocescope_wire::uet::NackCode;

/// PSNs that one direction holds at most: 72 bytes each. Beyond it the oldest are judged early.
const MAX_PSNS: usize = 16_384;
/// A larger step is no gap, but another life of the PDC.
const LARGEST_STEP: u32 = 1 << 16;
/// The largest offset from the first PSN that a packet can state.
const LARGEST_OFFSET: u32 = 0x0fff;
/// Packets that pass within this time of the first one may have been overtaken by it: nothing is said of their PSNs.
const SETTLE_NS: u64 = 1_000_000;
/// A PSN is held at least this long after it was acknowledged.
const HOLD_NS: u64 = 1_000_000;
/// A PSN without news for this long is judged without an acknowledgement.
const SILENT_NS: u64 = 1_000_000_000;

/// Where more than one PSN in this many arrives without having passed, the tap sees a part of the paths: then what did
/// not pass may have been lost elsewhere.
const UNSEEN_SHARE: u64 = 100;

/// What a packet is to its PSN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pass {
    /// It is the first whole copy.
    pub(super) is_new: bool,
    /// A copy passed before.
    pub(super) is_repeated: bool,
}

/// The PSNs of a direction, from the oldest that is not judged.
#[derive(Debug, Default)]
pub(super) struct Psns {
    /// PSN of the first.
    base: u32,
    known: VecDeque<Psn>,
    is_started: bool,
    /// The first PSN of the PDC, if that was seen.
    first: Option<u32>,
    /// The first PSN that is judged.
    judged_from: u32,
    /// Until then [`judged_from`](Self::judged_from) rises with every packet.
    settled_ns: u64,
    /// PSNs up to here have arrived.
    cumulative: Option<u32>,
    /// When that was stated.
    cumulative_ns: u64,
    /// Round trips from the tap to the receiver and back.
    pub(super) shortest_ns: Option<u64>,
    pub(super) longest_ns: u64,
    /// The receiver has marked an acknowledgement as that of a retransmission: one without the mark is of a first copy.
    names_copies: bool,
    /// PSNs that passed, and those that arrived without having passed, of all that were judged.
    passed: u64,
    unseen: u64,
    /// Whether selective acknowledgements say that a packet is missing: not with delivery in order, where a receiver drops
    /// what is out of order.
    pub(super) is_ordered: bool,
}

impl Psns {
    /// Whether the first packet of a PDC, with PSN `psn` and `offset` after the first PSN, may be one of these.
    pub(super) const fn may_begin(&self, psn: u32, offset: u32) -> bool {
        match self.first {
            Some(first) => psn.wrapping_sub(offset) == first,
            None => !self.is_started || psn.wrapping_sub(self.base).cast_signed().unsigned_abs() <= LARGEST_OFFSET,
        }
    }

    /// Whether nothing is open.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The first PSN, of a PDC whose beginning was seen.
    pub(super) fn start_at(&mut self, psn: u32) {
        if !self.is_started {
            self.is_started = true;
            self.first = Some(psn);
            self.base = psn;
            self.judged_from = psn;
        }
    }

    /// Forgets everything: the capture lost packets.
    pub(super) fn forget(&mut self) {
        *self = Self {
            shortest_ns: self.shortest_ns,
            longest_ns: self.longest_ns,
            names_copies: self.names_copies,
            is_ordered: self.is_ordered,
            first: self.first,
            ..Self::default()
        };
    }

    /// A copy of `psn` passes.
    pub(super) fn pass(
        &mut self,
        psn: u32,
        now_ns: u64,
        is_marked: bool,
        is_trimmed: bool,
        counts: &mut PdcCounts,
    ) -> Pass {
        let shortest_ns = self.shortest_ns.unwrap_or(0);
        let Some(known) = self.find(psn, now_ns, counts) else {
            // It is judged, or older than all that was seen.
            return Pass {
                is_new: !is_marked && !is_trimmed,
                is_repeated: false,
            };
        };
        let copies = known.plain.saturating_add(known.marked);
        let pass = Pass {
            is_new: !is_trimmed && known.whole == 0,
            is_repeated: copies > 0,
        };
        if is_marked {
            // A sender does not retransmit twice within a round trip: that is a copy of the mirror.
            let is_copy = known.marked > 0 && now_ns.since(known.passed_ns) < shortest_ns / 2;
            if is_copy {
                return pass;
            }
            if copies > 0 {
                known.before_ns = known.passed_ns;
            }
            if known.marked == 0 {
                known.marked_ns = now_ns;
            }
            known.marked = known.marked.saturating_add(1);
        } else if known.plain == 0 {
            known.plain = 1;
            known.plain_ns = now_ns;
        } else {
            return pass;
        }
        if is_trimmed {
            known.trimmed = known.trimmed.saturating_add(1);
        } else {
            known.whole = known.whole.saturating_add(1);
        }
        known.passed_ns = now_ns;
        pass
    }

    /// A control packet may use a PSN of its own.
    pub(super) fn control(&mut self, psn: u32, now_ns: u64, counts: &mut PdcCounts) {
        if self.is_started
            && psn.wrapping_sub(self.base) <= LARGEST_STEP
            && let Some(known) = self.find(psn, now_ns, counts)
            && known.plain == 0
            && known.marked == 0
        {
            known.is_control = true;
        }
    }

    /// The receiver acknowledges `psn`, with everything up to `cumulative` and what the bitmap has.
    pub(super) fn acknowledge(
        &mut self,
        psn: Option<u32>,
        cumulative: u32,
        sack: Option<(u32, u64)>,
        is_of_retransmission: bool,
        now_ns: u64,
        counts: &mut PdcCounts,
    ) {
        if !self.is_started {
            return;
        }
        self.names_copies |= is_of_retransmission;
        if let Some(at) = psn.and_then(|psn| self.position(psn))
            && let Some(known) = self.known.get_mut(at)
        {
            let is_clear = known.plain == 1 && known.marked == 0 && known.trimmed == 0 && !known.is_timed;
            if is_clear && known.arrived_ns == 0 {
                known.is_timed = true;
                let round_trip_ns = now_ns.since(known.passed_ns);
                counts.rtt.add(round_trip_ns);
                self.longest_ns = self.longest_ns.max(round_trip_ns);
                self.shortest_ns = Some(self.shortest_ns.map_or(round_trip_ns, |ns| ns.min(round_trip_ns)));
            }
            if known.arrived_ns == 0 {
                known.arrived_ns = now_ns;
                known.by_retransmission = is_of_retransmission;
            }
            if self.names_copies && known.plain > 0 && known.marked > 0 && !is_of_retransmission {
                // Retransmitted too early. Without those the longest round trip would be too short.
                known.by_first_copy = true;
                self.longest_ns = self.longest_ns.max(now_ns.since(known.plain_ns));
            }
        }
        let soon_ns = self.shortest_ns.unwrap_or(0) / 2;
        let first = match self.cumulative {
            Some(before) if cumulative.wrapping_sub(before) > i32::MAX as u32 => None,
            Some(before) => Some(before),
            None => Some(self.base.wrapping_sub(1)),
        };
        if let Some(before) = first {
            self.cumulative = Some(cumulative);
            self.cumulative_ns = now_ns;
            let from = before.wrapping_add(1).wrapping_sub(self.base);
            let from = if from > i32::MAX as u32 { 0 } else { from as usize };
            let end = cumulative.wrapping_add(1).wrapping_sub(self.base);
            let end = if end > i32::MAX as u32 { 0 } else { end as usize };
            for known in self.known.iter_mut().take(end).skip(from) {
                self.longest_ns = self.longest_ns.max(known.arrive(now_ns, soon_ns));
            }
        }
        if let Some((lowest, bitmap)) = sack {
            let highest = u64::BITS - bitmap.leading_zeros();
            for bit in 0..highest {
                let Some(at) = self.position(lowest.wrapping_add(bit)) else {
                    continue;
                };
                if let Some(known) = self.known.get_mut(at) {
                    if bitmap >> bit & 1 != 0 {
                        self.longest_ns = self.longest_ns.max(known.arrive(now_ns, soon_ns));
                    } else if known.arrived_ns == 0 {
                        known.missing_ns = now_ns;
                    }
                }
            }
        }
        self.judge(now_ns, counts);
    }

    /// The receiver refuses `psn`.
    pub(super) fn refuse(&mut self, psn: u32, code: NackCode, now_ns: u64, counts: &mut PdcCounts) {
        let Some(at) = self.position(psn) else {
            return;
        };
        let is_judged = self.is_judged(psn);
        let Some(known) = self.known.get_mut(at) else {
            return;
        };
        match code.0 {
            // The header arrived. A trimmed copy that passed explains it; else it was cut downstream.
            0x01 | 0x02 => {
                known.trim_nacks = known.trim_nacks.saturating_add(1);
                if known.trimmed_answered < known.trimmed {
                    known.trimmed_answered += 1;
                } else if known.cut_downstream < known.whole {
                    known.cut_downstream += 1;
                    if is_judged {
                        counts.fabric_lost_downstream_packets += 1;
                    }
                }
            }
            0x12 | 0x1a if known.arrived_ns == 0 && known.passed_ns > 0 => {
                let late_ns = now_ns.since(known.passed_ns);
                known.is_nacked |= self.shortest_ns.is_none_or(|shortest_ns| late_ns >= shortest_ns / 2);
            }
            _ => {}
        }
    }

    /// Judges all that is left: the PDC or the capture ended.
    pub(super) fn end(&mut self, counts: &mut PdcCounts) {
        while self.judge_first(counts) {}
    }

    /// Judges the PSNs that can have no more news.
    pub(super) fn judge(&mut self, now_ns: u64, counts: &mut PdcCounts) {
        let hold_ns = HOLD_NS.max(4 * self.longest_ns);
        while let Some(known) = self.known.front() {
            let quiet_ns = now_ns.since(known.since_ns.max(known.passed_ns));
            let is_over = known.arrived_ns > 0 && now_ns.since(known.arrived_ns) > hold_ns && quiet_ns > hold_ns
                || quiet_ns > SILENT_NS
                || self.known.len() > MAX_PSNS;
            if !is_over {
                break;
            }
            self.judge_first(counts);
        }
    }

    fn judge_first(&mut self, counts: &mut PdcCounts) -> bool {
        let is_judged = self.is_judged(self.base);
        let Some(known) = self.known.pop_front() else {
            return false;
        };
        self.base = self.base.wrapping_add(1);
        if is_judged && !known.is_control {
            let has_passed = known.plain > 0 || known.marked > 0;
            self.passed += u64::from(has_passed);
            self.unseen += u64::from(!has_passed && known.arrived_ns > 0);
            let all_pass = self.unseen * UNSEEN_SHARE <= self.passed;
            known.judge(self, all_pass, counts);
        }
        true
    }

    const fn is_judged(&self, psn: u32) -> bool {
        psn.wrapping_sub(self.judged_from) <= i32::MAX as u32
    }

    /// The position of a PSN that is held.
    fn position(&self, psn: u32) -> Option<usize> {
        let at = psn.wrapping_sub(self.base) as usize;
        (at < self.known.len()).then_some(at)
    }

    /// What is known of a PSN; makes room for it and those before it.
    fn find(&mut self, psn: u32, now_ns: u64, counts: &mut PdcCounts) -> Option<&mut Psn> {
        if !self.is_started {
            self.is_started = true;
            self.base = psn;
            self.judged_from = psn.wrapping_add(1);
            self.settled_ns = now_ns.saturating_add(SETTLE_NS);
        }
        if now_ns < self.settled_ns {
            let next = psn.wrapping_add(1);
            if next.wrapping_sub(self.judged_from) <= LARGEST_STEP {
                self.judged_from = next;
            }
        }
        let mut ahead = psn.wrapping_sub(self.base);
        if ahead > i32::MAX as u32 {
            return None;
        }
        if ahead as usize > self.known.len() + LARGEST_STEP as usize {
            self.end(counts);
            self.base = psn;
            self.judged_from = psn.wrapping_add(1);
            self.settled_ns = now_ns.saturating_add(SETTLE_NS);
            self.cumulative = None;
            ahead = 0;
        }
        while self.known.len() <= ahead as usize {
            let next = self.base.wrapping_add(self.known.len() as u32);
            let has_arrived = self
                .cumulative
                .is_some_and(|psn| psn.wrapping_sub(next) <= i32::MAX as u32);
            self.known.push_back(Psn {
                since_ns: now_ns,
                arrived_ns: if has_arrived { self.cumulative_ns } else { 0 },
                ..Psn::default()
            });
        }
        self.judge(now_ns, counts);
        let at = self.position(psn)?;
        self.known.get_mut(at)
    }
}
