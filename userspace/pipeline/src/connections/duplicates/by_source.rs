//! Recognizes mirror duplicates, and decides which are not counted.
//!
//! They occur if both sides of a routed hop are mirrored, or two ports of one path, or a port in both directions. Two
//! runs of one direction and stream whose packets passed within [`COPY_NS`] and that share a PSN are copies
//!
//! - if the interface differs, or the TTL by up to [`HOPS`]: no sender retransmits a packet that soon over another path,
//!   unless it was asked to or its timer expired. The later run is not counted;
//! - if both are equal, and the later run begins with the last packet of the earlier one within [`SAME_NS`]: sooner than
//!   any answer could request it. The packet stays, and counts as a duplicate of its connection, because the run
//!   continues after it. Only captures with the exact time of every packet show it: files and packet sockets.
//!
//! A run ends with its message, so several of one place may pass before the first copy of the other. Once a direction has
//! shown two places, the runs of the last millisecond are kept.

use crate::time::EventTime;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use rocescope_record::RunRecord;
use rocescope_wire::Stream;

/// The maximum time from one mirrored port to the next, with queues.
pub(crate) const COPY_NS: u64 = 1_000_000;
/// Less than a round trip between two adapters.
pub(crate) const SAME_NS: u64 = 2_000;
/// Routed hops between two mirrors.
const HOPS: u8 = 4;
/// Once this many packets that nothing asked for have passed a second place, less those that passed it first, all of them do:
/// a repeat of the sender passes the first place again.
const STEADY: u16 = 4;
/// Runs that are kept, of requests and of answers.
const KEPT: usize = 64;

/// The latest run of a direction that was not a copy, separately for requests and answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct DuplicatesBySource {
    latest: [Option<LatestRun>; 2],
    /// Runs before them, of a direction that passes two places.
    earlier: Option<Box<[VecDeque<LatestRun>; 2]>>,
    /// Copies that nothing asked for, less new packets of another place, up to [`STEADY`].
    copies: u16,
}

/// Runs that passed one after another at one place.
#[derive(Clone, Copy, Debug)]
struct LatestRun {
    first_ns: u64,
    last_ns: u64,
    interface: u32,
    first_psn: u32,
    last_psn: u32,
    ttl: u8,
    stream: u8,
}

/// Which part of a run is a mirror's copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MirrorCopy {
    /// Seen for the first time.
    None,
    /// Its first packet is a copy.
    FirstPacket,
    /// All of it is.
    WholeRun,
}

impl DuplicatesBySource {
    /// Bytes that it allocates.
    pub(crate) const HEAP_BYTES: usize = size_of::<[VecDeque<LatestRun>; 2]>() + 2 * KEPT * size_of::<LatestRun>();

    /// Bytes that it has allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        if self.earlier.is_some() { Self::HEAP_BYTES } else { 0 }
    }

    /// Checks the next run of the direction, in order of first times. `is_asked`: whether its sender had a reason to repeat
    /// it since it passed at this time.
    pub(crate) fn check(&mut self, run: &RunRecord, is_asked: impl Fn(u64) -> bool) -> MirrorCopy {
        let is_request = run.stream() == Stream::Request;
        let at = usize::from(!is_request);
        let Some(slot) = self.latest.get_mut(at) else {
            return MirrorCopy::None;
        };
        let mut copy = MirrorCopy::None;
        if let Some(latest) = slot {
            let is_elsewhere = latest.is_elsewhere(run);
            let is_copy = |passed: &&LatestRun| passed.is_elsewhere(run) && passed.is_copied_by(run);
            // The latest one may itself be a repeat.
            let mut copied = Some(&*latest).filter(is_copy);
            match &mut self.earlier {
                Some(earlier) => copied = copied.or_else(|| earlier.get(at)?.iter().rev().find(is_copy)),
                earlier if copied.is_some() => {
                    *earlier = Some(Box::new([(); 2].map(|()| VecDeque::with_capacity(KEPT))));
                }
                None => {}
            }
            if let Some(passed) = copied {
                let is_steady = self.copies == STEADY;
                let is_unasked = !is_asked(passed.time_of(run.first_psn));
                if is_unasked && is_request {
                    self.copies = STEADY.min(self.copies.saturating_add(run.packets));
                }
                if is_steady || is_unasked {
                    return MirrorCopy::WholeRun;
                }
            }
            if is_elsewhere && is_request {
                self.copies = self.copies.saturating_sub(run.packets);
            }
            if !is_elsewhere && latest.is_repeated_by(run) {
                copy = MirrorCopy::FirstPacket;
            }
        }
        let next = LatestRun::of(run);
        match slot {
            Some(latest) if latest.is_continued_by(&next) => {
                (latest.last_psn, latest.last_ns) = (next.last_psn, latest.last_ns.max(next.last_ns));
            }
            _ => {
                let earlier = self.earlier.as_mut().and_then(|earlier| earlier.get_mut(at));
                if let (Some(earlier), Some(latest)) = (earlier, *slot) {
                    if earlier.len() == KEPT {
                        earlier.pop_front();
                    }
                    earlier.push_back(latest);
                }
                *slot = Some(next);
            }
        }
        copy
    }
}

/// The part of a run that identifies its copies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunIdentity {
    pub(crate) stream: Stream,
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
    pub(crate) first_psn: u32,
    pub(crate) last_psn: u32,
}

impl DuplicatesBySource {
    /// The interface and TTL of the latest runs, if all are equal, and no other place was seen: a run with the same values
    /// that continues them, or an ACK, is not a copy.
    pub(crate) fn interface_and_ttl(&self) -> Option<(u32, u8)> {
        if self.earlier.is_some() {
            return None;
        }
        let mut seen = self.latest.iter().flatten().map(|p| (p.interface, p.ttl));
        let first = seen.next()?;
        seen.all(|other| other == first).then_some(first)
    }

    /// A run passed that was not a copy.
    pub(crate) fn set(&mut self, (interface, ttl): (u32, u8), latest: &RunIdentity) {
        let at = usize::from(latest.stream != Stream::Request);
        if let Some(slot) = self.latest.get_mut(at) {
            *slot = Some(LatestRun {
                first_ns: latest.first_ns,
                last_ns: latest.last_ns,
                interface,
                first_psn: latest.first_psn,
                last_psn: latest.last_psn,
                ttl,
                stream: latest.stream as u8,
            });
        }
    }
}

impl LatestRun {
    const fn of(run: &RunRecord) -> Self {
        Self {
            first_ns: run.first_ns,
            last_ns: run.last_ns(),
            interface: run.interface,
            first_psn: run.first_psn,
            last_psn: run.last_psn,
            ttl: run.ttl,
            stream: run.stream,
        }
    }

    /// Whether the run passed another place of the same path.
    const fn is_elsewhere(&self, run: &RunRecord) -> bool {
        let hops = self.ttl.abs_diff(run.ttl);
        self.interface != run.interface || hops > 0 && hops <= HOPS
    }

    /// Whether a run that passed another place repeats a packet of this one.
    fn is_copied_by(&self, run: &RunRecord) -> bool {
        self.stream == run.stream && run.first_ns.since(self.last_ns) <= COPY_NS && self.shares_psn(run)
    }

    /// When the PSN passed, as if all had been spaced evenly; when the first one did if it is none of them.
    fn time_of(&self, psn: u32) -> u64 {
        let offset = |psn: u32| u64::from(psn.wrapping_sub(self.first_psn) & 0x00ff_ffff);
        let (at, span) = (offset(psn), offset(self.last_psn));
        if at > span {
            return self.first_ns;
        }
        let duration_ns = self.last_ns.since(self.first_ns);
        self.first_ns + (duration_ns * at).checked_div(span).unwrap_or(0)
    }

    /// Whether a run of the same place begins with its last packet, at once.
    fn is_repeated_by(&self, run: &RunRecord) -> bool {
        // Acknowledgements repeat for each duplicate packet, and all CNPs have one PSN.
        self.stream == run.stream
            && self.ttl == run.ttl
            && !matches!(run.stream(), Stream::Acknowledge | Stream::Cnp)
            && self.last_psn == run.first_psn
            && run.first_ns.since(self.last_ns) <= SAME_NS
    }

    /// Whether the next run of the same place continues this one, not long after it began.
    fn is_continued_by(&self, next: &Self) -> bool {
        (self.interface, self.ttl, self.stream) == (next.interface, next.ttl, next.stream)
            && next.first_psn == self.last_psn.wrapping_add(1) & 0x00ff_ffff
            && next.last_ns.since(self.first_ns) <= COPY_NS
    }

    /// Whether the first PSN of one is in the other.
    fn shares_psn(&self, run: &RunRecord) -> bool {
        let within = |psn: u32, first: u32, last: u32| {
            let span = last.wrapping_sub(first) & 0x00ff_ffff;
            psn.wrapping_sub(first) & 0x00ff_ffff <= span
        };
        within(run.first_psn, self.first_psn, self.last_psn) || within(self.first_psn, run.first_psn, run.last_psn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(at_ns: u64, psns: (u32, u32), ttl: u8) -> RunRecord {
        RunRecord {
            first_ns: at_ns,
            first_psn: psns.0,
            last_psn: psns.1,
            packets: 1,
            ttl,
            ..bytemuck::Zeroable::zeroed()
        }
    }

    fn looked(runs: &[RunRecord]) -> alloc::vec::Vec<MirrorCopy> {
        let mut copies = DuplicatesBySource::default();
        runs.iter().map(|run| copies.check(run, |_| false)).collect()
    }

    #[test]
    fn both_sides_of_a_hop_are_one_packet() {
        let runs = [
            run(0, (0xff_fffe, 3), 64),
            run(9_000, (0xff_fffe, 3), 63),
            run(10_000, (4, 9), 64),
            run(12_000, (4, 9), 63),
        ];
        assert_eq!(
            looked(&runs),
            [
                MirrorCopy::None,
                MirrorCopy::WholeRun,
                MirrorCopy::None,
                MirrorCopy::WholeRun
            ]
        );
    }

    #[test]
    fn a_later_or_continuing_run_is_not_a_copy() {
        let runs = [run(0, (1, 4), 64), run(10, (5, 8), 63), run(2_000_000, (5, 8), 64)];
        assert_eq!(looked(&runs), [MirrorCopy::None; 3]);
    }

    #[test]
    fn a_repeated_frame_is_distinguished_from_a_retransmission() {
        let runs = [run(0, (1, 1), 64), run(500, (1, 2), 64), run(900_000, (2, 3), 64)];
        assert_eq!(
            looked(&runs),
            [MirrorCopy::None, MirrorCopy::FirstPacket, MirrorCopy::None]
        );
    }

    #[test]
    fn runs_of_several_messages_may_pass_before_the_first_copy() {
        // Messages of two packets at one place, each again 1,500 ns later at the next.
        let mut runs = alloc::vec::Vec::new();
        for at in 0..6 {
            runs.push(run(1_000 * at, (2 * at as u32, 2 * at as u32 + 1), 64));
            runs.push(run(1_000 * at + 1_500, (2 * at as u32, 2 * at as u32 + 1), 63));
        }
        runs.sort_by_key(|run| run.first_ns);
        let copies = looked(&runs);
        let is_right = |(run, copy): (&RunRecord, &MirrorCopy)| (run.ttl == 63) == (*copy == MirrorCopy::WholeRun);
        assert!(runs.iter().zip(&copies).all(is_right), "{copies:?}");
    }

    #[test]
    fn what_a_nak_asked_for_is_no_copy_whatever_way_it_takes() {
        let mut copies = DuplicatesBySource::default();
        assert_eq!(copies.check(&run(0, (1, 4), 64), |_| true), MirrorCopy::None);
        assert_eq!(copies.check(&run(9_000, (3, 4), 63), |_| true), MirrorCopy::None);
    }
}
