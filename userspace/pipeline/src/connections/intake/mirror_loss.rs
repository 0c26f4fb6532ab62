//! When a mirror lost frames, by its own numbers or by acknowledgements of what never passed: a gap that opened then does
//! not show fabric loss.

use crate::time::EventTime;
use alloc::collections::VecDeque;

/// Intervals kept: what a timer repeats after seconds may be older, and then counts as lost.
const MAX_INTERVALS: usize = 4_096;
/// Intervals that may have begun before one that is asked for and still overlap it.
const LOOK_BACK: usize = 64;
/// The gap of a direction that is seldom seen shows nothing about gaps that are shorter by more than this factor.
const LOOSE: u64 = 8;

/// Gaps are compared with those of one packet, of two or three, or of more.
const CLASSES: usize = 3;
/// The mirror may have lost one gap in this many: none is fabric loss without a NAK.
const RARE: u32 = 4;

/// Gaps that show that nothing was delivered.
const SEVERAL: u32 = 2;
/// Silence that is longer than the distance of packets: 50 µs.
pub(crate) const SILENT_NS: u64 = 50_000;

/// When a mirror lost frames, in ascending order.
#[derive(Debug, Default)]
pub(crate) struct MirrorLoss {
    intervals: VecDeque<(u64, u64)>,
    /// When nothing passed last, for long, and how many gaps span that.
    silence: (u64, u64),
    spanning: u32,
    /// A mirror numbers its frames: it has said when it lost some.
    is_numbered: bool,
    /// Gaps that were acknowledged, and those that a NAK named, by their length.
    lost: [u32; CLASSES],
    fabric_lost: [u32; CLASSES],
}

impl MirrorLoss {
    /// The frames between two frames of a mirror were lost, or those of a gap whose packets arrived.
    pub(crate) fn add(&mut self, from_ns: u64, to_ns: u64) {
        if self.intervals.len() >= MAX_INTERVALS {
            self.intervals.pop_front();
        }
        let at = self.intervals.partition_point(|(from, _)| *from <= from_ns);
        self.intervals.insert(at, (from_ns, to_ns));
    }

    /// Nothing passed between these times.
    pub(crate) const fn silent(&mut self, from_ns: u64, to_ns: u64) {
        self.silence = (from_ns, to_ns);
        self.spanning = 0;
    }

    /// A gap opens. Gaps of several directions that span the same silence are those of a mirror that delivered nothing.
    pub(crate) fn opened(&mut self, before_ns: u64, opened_ns: u64) {
        let (from_ns, to_ns) = self.silence;
        if to_ns > 0 && before_ns <= from_ns && to_ns <= opened_ns {
            self.spanning += 1;
            if self.spanning == SEVERAL {
                self.add(from_ns, to_ns);
            }
        }
    }

    /// A mirror states by its numbers that it lost the frames between two frames.
    pub(crate) fn stated(&mut self, from_ns: u64, to_ns: u64) {
        self.is_numbered = true;
        self.add(from_ns, to_ns);
    }

    /// The packets of a gap arrived.
    pub(crate) fn acknowledged(&mut self, packets: u64) {
        count(&mut self.lost, packets);
    }

    /// A NAK named a gap.
    pub(crate) fn fabric_lost(&mut self, packets: u64) {
        count(&mut self.fabric_lost, packets);
    }

    /// Whether the mirror loses as many packets in a row so often that a gap which no NAK names may be its own.
    pub(crate) fn is_likely(&self, packets: u64) -> bool {
        let at = class(packets);
        let of = |counts: &[u32; CLASSES]| counts.get(at).copied().unwrap_or(0);
        !self.is_numbered && of(&self.lost) * RARE > of(&self.fabric_lost)
    }

    /// Whether a mirror numbers its frames.
    pub(crate) const fn is_numbered(&self) -> bool {
        self.is_numbered
    }

    /// Whether a mirror is known to lose frames.
    pub(crate) fn is_known(&self) -> bool {
        self.is_numbered || self.lost.iter().any(|gaps| *gaps > 0)
    }

    /// Whether frames were lost at the time of a gap between these times.
    pub(crate) fn overlaps(&self, from_ns: u64, to_ns: u64) -> bool {
        let longest_ns = LOOSE * to_ns.since(from_ns);
        let until = self.intervals.partition_point(|(from, _)| *from < to_ns);
        let mut near = self.intervals.range(until.saturating_sub(LOOK_BACK)..until);
        near.any(|(from, to)| *to > from_ns && to.since(*from) <= longest_ns)
    }
}

fn class(packets: u64) -> usize {
    (packets.max(1).ilog2() as usize).min(CLASSES - 1)
}

fn count(counts: &mut [u32; CLASSES], packets: u64) {
    if let Some(count) = counts.get_mut(class(packets)) {
        *count = (*count + 1).min(u32::MAX / RARE);
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_INTERVALS, MirrorLoss};

    #[test]
    fn what_overlaps_a_loss_is_found_and_the_oldest_gives_way() {
        let mut losses = MirrorLoss::default();
        losses.add(10, 30);
        losses.add(2, 4);
        assert!(losses.overlaps(25, 36) && losses.overlaps(3, 12) && losses.overlaps(1, 40));
        // What only touches an interval is beside it, and a long one shows nothing of a short one within.
        assert!(!losses.overlaps(30, 40) && !losses.overlaps(4, 10) && !losses.overlaps(15, 16));
        for at in 0..MAX_INTERVALS as u64 {
            losses.add(100 + 10 * at, 105 + 10 * at);
        }
        assert!(!losses.overlaps(3, 12) && losses.overlaps(102, 103));
    }
}
