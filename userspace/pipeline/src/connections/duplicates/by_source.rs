//! Recognizes mirror duplicates, and decides which are not counted.
//!
//! They occur if both sides of a routed hop are mirrored, or two ports of one path, or a port in both directions. Two
//! runs of one direction and stream whose first packets passed within [`COPY_NS`] and that share a PSN are copies
//!
//! - if the interface differs, or the TTL by one: no sender retransmits a packet that soon with another TTL. The later
//!   run is not counted;
//! - if both are equal, and the later run begins with the last packet of the earlier one within [`SAME_NS`]: sooner than
//!   any answer could request it. The packet stays, and counts as a duplicate of its connection, because the run
//!   continues after it. Only captures with the exact time of every packet show it: files and packet sockets.

use crate::time::EventTime;
use rocescope_record::RunRecord;
use rocescope_wire::Stream;

/// The maximum time from one mirrored port to the next, with queues.
pub(crate) const COPY_NS: u64 = 1_000_000;
/// Less than a round trip between two adapters.
pub(crate) const SAME_NS: u64 = 2_000;

/// The latest run of a direction that was not a copy, separately for requests and answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DuplicatesBySource([Option<LatestRun>; 2]);

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
    /// Checks the next run of the direction, in order of first times.
    pub(crate) fn check(&mut self, run: &RunRecord) -> MirrorCopy {
        let at = usize::from(run.stream() != Stream::Request);
        let Some(slot) = self.0.get_mut(at) else {
            return MirrorCopy::None;
        };
        let copy = slot
            .filter(|passed| passed.stream == run.stream)
            .map_or(MirrorCopy::None, |passed| passed.compare(run));
        if copy != MirrorCopy::WholeRun {
            *slot = Some(LatestRun {
                first_ns: run.first_ns,
                last_ns: run.last_ns(),
                interface: run.interface,
                first_psn: run.first_psn,
                last_psn: run.last_psn,
                ttl: run.ttl,
                stream: run.stream,
            });
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
    /// The interface and TTL of the latest runs, if all are equal: a run with the same values that continues them, or
    /// an ACK, is not a copy.
    pub(crate) fn interface_and_ttl(&self) -> Option<(u32, u8)> {
        let mut seen = self.0.iter().flatten().map(|p| (p.interface, p.ttl));
        let first = seen.next()?;
        seen.all(|other| other == first).then_some(first)
    }

    /// A run passed that was not a copy.
    pub(crate) fn set(&mut self, (interface, ttl): (u32, u8), latest: &RunIdentity) {
        let at = usize::from(latest.stream != Stream::Request);
        if let Some(slot) = self.0.get_mut(at) {
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
    fn compare(&self, run: &RunRecord) -> MirrorCopy {
        let elsewhere = self.interface != run.interface || self.ttl.abs_diff(run.ttl) == 1;
        if elsewhere {
            let soon = run.first_ns.since(self.first_ns) <= COPY_NS;
            return if soon && self.shares_psn(run) {
                MirrorCopy::WholeRun
            } else {
                MirrorCopy::None
            };
        }
        // Acknowledgements repeat for each duplicate packet, and all CNPs have one PSN.
        let again = self.ttl == run.ttl
            && !matches!(run.stream(), Stream::Acknowledge | Stream::Cnp)
            && self.last_psn == run.first_psn
            && run.first_ns.since(self.last_ns) <= SAME_NS;
        if again {
            MirrorCopy::FirstPacket
        } else {
            MirrorCopy::None
        }
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
        runs.iter().map(|run| copies.check(run)).collect()
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
}
