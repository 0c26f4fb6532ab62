//! Gaps in the sequence numbers of mirrors: frames that were sent to this port and never arrived.
//!
//! A session is a mirror's source and destination address, session id and kind of tunnel, on one
//! interface. It has the lowest and the highest number and the count of frames; uncounted numbers between
//! them are lost. Each CPU of the kernel has its own sessions, and [`lost`] merges them, because frames
//! of one session may pass on several CPUs.
//!
//! A number far below the highest restarts the session: the mirror was set up again. A duplicate frame
//! hides a lost one.

use crate::counters::Counters;
use bytemuck::{Pod, Zeroable};
use rocescope_wire::mirrored::Mirrored;

/// Sets of sessions, a power of two: 512 sessions, 52 KiB a CPU. Frames of a session whose set is full are
/// counted as unfollowed.
pub const SETS: usize = 128;

/// The possible slots of a key: the first free one, permanently.
pub type SessionSet = [Session; 4];

/// How far a frame may fall behind its successors.
const REORDERED: u32 = 1 << 16;
/// The offset of stored numbers, so that one before the first fits.
const ORIGIN: u64 = 1 << 32;

/// One session, as seen by one CPU.
///
/// A reader copies the fields in their order: the count last, so that a frame that passes at the same time
/// never counts as lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Session {
    /// Outer source address.
    src: [u8; 16],
    /// Outer destination address.
    dst: [u8; 16],
    /// Index of the interface.
    interface: u32,
    /// Session id.
    session: u16,
    /// Kind of tunnel; 0 if the slot is free.
    kind: u8,
    reserved: u8,
    /// The number of restarts.
    restarts: u64,
    /// Numbers that passed before the last restart, seen or not.
    earlier_span: u64,
    /// The highest number, and
    highest: u64,
    /// the lowest since then, extended beyond the wrap.
    lowest: u64,
    /// Frames before the last restart.
    earlier_frames: u64,
    /// Frames since.
    frames: u64,
}

const _: () = assert!(size_of::<Session>() == 88 && SETS.is_power_of_two());

/// The hash of a session, to choose its set.
#[must_use]
#[inline(always)]
pub fn set_hash(mirrored: &Mirrored, interface: u32) -> u32 {
    let words = |bytes: &[u8; 16]| {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *bytes;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
            .wrapping_mul(0xbf58_476d_1ce4_e5b9)
            .wrapping_add(u64::from_le_bytes([i, j, k, l, m, n, o, p]))
    };
    let sum = words(&mirrored.src)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(words(&mirrored.dst).wrapping_mul(0xd6e8_feb8_6659_fd93))
        .wrapping_add((u64::from(mirrored.session) | u64::from(interface) << 32).wrapping_mul(0x94d0_49bb_1331_11eb));
    ((sum ^ sum >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// Counts a frame with a number in its set.
#[inline(always)]
pub fn observe(set: &mut SessionSet, mirrored: &Mirrored, interface: u32, counters: &mut Counters) {
    let [a, b, c, d] = set;
    // Unrolled, because loops burden the kernel's verifier; with sums in place of branches, because it
    // forbids pointer arithmetic with different constants on different paths.
    let mut taken = a.take(mirrored, interface);
    if taken == 0 {
        taken = b.take(mirrored, interface);
    }
    if taken == 0 {
        taken = c.take(mirrored, interface);
    }
    if taken == 0 {
        taken = d.take(mirrored, interface);
    }
    counters.mirrored_frames += u64::from(taken);
    counters.mirror_unfollowed += u64::from(1 - taken);
}

impl Session {
    /// Counts a frame; 0 if the slot belongs to another session.
    #[cfg_attr(target_arch = "bpf", inline(never))]
    #[cfg_attr(not(target_arch = "bpf"), inline(always))]
    fn take(&mut self, mirrored: &Mirrored, interface: u32) -> u32 {
        let number = ORIGIN + u64::from(mirrored.sequence);
        if self.kind == 0 {
            self.src = mirrored.src;
            self.dst = mirrored.dst;
            self.interface = interface;
            self.session = mirrored.session;
            self.kind = mirrored.kind;
            (self.highest, self.lowest) = (number, number);
        } else if !self.is_of(mirrored, interface) {
            return 0;
        } else {
            self.advance(mirrored.sequence, number);
        }
        self.frames += 1;
        1
    }

    #[inline(always)]
    fn advance(&mut self, sequence: u32, number: u64) {
        let ahead = sequence.wrapping_sub(self.highest as u32);
        let behind = ahead.wrapping_neg();
        if ahead < 1 << 31 {
            self.highest += u64::from(ahead);
        } else if behind <= REORDERED {
            let number = self.highest - u64::from(behind);
            if number < self.lowest {
                self.lowest = number;
            }
        } else {
            self.restarts += 1;
            self.earlier_span += self.span();
            self.earlier_frames += self.frames;
            self.frames = 0;
            (self.highest, self.lowest) = (number, number);
        }
    }

    #[inline(always)]
    fn is_of(&self, mirrored: &Mirrored, interface: u32) -> bool {
        self.kind == mirrored.kind
            && self.session == mirrored.session
            && self.interface == interface
            && self.src == mirrored.src
            && self.dst == mirrored.dst
    }

    /// Numbers since the last restart, seen or not.
    #[inline(always)]
    const fn span(&self) -> u64 {
        self.highest - self.lowest + 1
    }

    /// Whether the slot is free.
    #[must_use]
    pub const fn is_free(&self) -> bool {
        self.kind == 0
    }

    /// The number of restarts.
    #[must_use]
    pub const fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Its identity, the same on all CPUs.
    #[must_use]
    pub const fn key(&self) -> ([u8; 16], [u8; 16], u32, u16, u8) {
        (self.src, self.dst, self.interface, self.session, self.kind)
    }

    /// The counts of this reading with the numbers of an earlier one, so that frames between the two never
    /// count as lost.
    #[must_use]
    pub const fn with_numbers_of(&self, earlier: &Self) -> Self {
        if earlier.is_free() || earlier.restarts != self.restarts {
            return *self;
        }
        Self {
            highest: earlier.highest,
            ..*self
        }
    }
}

/// Lost frames of one session, whose parts are those that CPUs saw.
///
/// Exact, except for losses before a restart that several CPUs saw: there it is a lower bound, because the
/// relation of their numbers is unknown.
#[must_use]
pub fn lost<'a>(parts: impl Iterator<Item = &'a Session> + Clone) -> u64 {
    let parts = parts.filter(|part| !part.is_free());
    let frames: u64 = parts.clone().map(|part| part.frames).sum();
    let earlier_frames: u64 = parts.clone().map(|part| part.earlier_frames).sum();
    let earlier_span = parts.clone().map(|part| part.earlier_span).max();
    // Starts with the longest span and places each other one where the union grows least, because each
    // counts its own wraps. A span within it may be a wrap further on: that changes nothing.
    let Some(longest) = parts.clone().max_by_key(|part| part.span()) else {
        return 0;
    };
    let (mut low, mut high) = (longest.lowest, longest.highest);
    for part in parts {
        let (mut from, mut to) = (part.lowest, part.highest);
        let (ours, theirs) = (u64::midpoint(low, high), u64::midpoint(from, to));
        let wraps = (ours.abs_diff(theirs) + (1 << 31)) >> 32;
        if theirs < ours {
            (from, to) = (from + (wraps << 32), to + (wraps << 32));
        } else {
            (low, high) = (low + (wraps << 32), high + (wraps << 32));
        }
        (low, high) = (low.min(from), high.max(to));
    }
    (high - low + 1).saturating_sub(frames) + earlier_span.unwrap_or(0).saturating_sub(earlier_frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mirrored(session: u16, sequence: u32) -> Mirrored {
        Mirrored {
            session,
            kind: 2,
            sequence,
            ..Mirrored::none()
        }
    }

    fn seen(sequences: impl IntoIterator<Item = u32>) -> Session {
        let mut set = [Session::zeroed(); 4];
        let mut counters = Counters::default();
        for sequence in sequences {
            observe(&mut set, &mirrored(7, sequence), 1, &mut counters);
        }
        assert!(set[1].is_free());
        set[0]
    }

    fn lost_of(parts: &[Session]) -> u64 {
        lost(parts.iter())
    }

    #[test]
    fn gaps_are_counted_over_a_wrap_and_late_frames_close_them() {
        let start = u32::MAX - 3;
        let all = |at: u32| start.wrapping_add(at);
        assert_eq!(lost_of(&[seen((0..10).map(all))]), 0);
        assert_eq!(lost_of(&[seen([0, 1, 5, 6, 9].map(all))]), 5);
        assert_eq!(lost_of(&[seen([3, 1, 5, 2, 4].map(all))]), 0);
    }

    #[test]
    fn a_restart_keeps_what_was_lost_before() {
        let part = seen([100_000, 100_002, 0, 1, 4]);
        assert_eq!((part.restarts(), lost_of(&[part])), (1, 3));
    }

    #[test]
    fn a_session_without_a_slot_is_counted() {
        let mut set = [Session::zeroed(); 4];
        let mut counters = Counters::default();
        for session in 0..6 {
            observe(&mut set, &mirrored(session, 0), 1, &mut counters);
        }
        assert_eq!((counters.mirrored_frames, counters.mirror_unfollowed), (4, 2));
    }

    /// A CPU that saw nothing but frames long ago, and one that saw the numbers wrap.
    #[test]
    fn a_part_within_another_changes_nothing_but_the_count() {
        let whole = Session {
            highest: ORIGIN * 5,
            frames: ORIGIN * 4 - 1,
            ..seen([0])
        };
        let part = seen([7, 8]);
        assert_eq!(lost_of(&[whole]), 2);
        assert_eq!(lost_of(&[whole, part]), 0);
        assert_eq!(lost_of(&[part, whole]), 0);
    }

    proptest! {
        /// For any distribution of frames over CPUs and any wrap of the numbers.
        #[test]
        fn parts_add_up(
            start: u32,
            frames in proptest::collection::vec((any::<bool>(), 0usize..4), 1..400),
        ) {
            let mut parts = [[Session::zeroed(); 4]; 4];
            let mut counters = Counters::default();
            let kept = frames.iter().map(|(kept, _)| *kept);
            let first = kept.clone().position(|kept| kept);
            let last = kept.clone().rposition(|kept| kept);
            for (at, (kept, cpu)) in frames.iter().enumerate() {
                if *kept {
                    let frame = mirrored(3, start.wrapping_add(at as u32));
                    observe(&mut parts[*cpu], &frame, 1, &mut counters);
                }
            }
            let span = first.zip(last).map_or(0, |(first, last)| last - first + 1);
            let expected = span as u64 - counters.mirrored_frames;
            prop_assert_eq!(lost(parts.iter().map(|set| &set[0])), expected);
        }
    }
}
