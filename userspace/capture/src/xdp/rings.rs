//! The ring of each CPU, and what was lost before it was read.

use super::order::Order;
use aya::maps::{MapData, RingBuf};
use rocescope_record::batch::Batch;
use rocescope_record::{Counters, RunRecord};
use std::mem::offset_of;

/// A time in which runs of a CPU were lost: a gap in the PSNs of its streams there says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blind {
    /// The CPU.
    pub cpu: u32,
    /// Its begin, nanoseconds since the epoch.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// Runs lost in it.
    pub runs: u64,
    /// Packets in those.
    pub packets: u64,
}

/// What full rings have cost.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    /// The latest blind intervals.
    pub blind: Vec<Blind>,
    /// How many there were.
    pub intervals: u64,
    /// How long they were together, over all CPUs, in nanoseconds.
    pub blind_ns: u64,
    /// Runs lost, as far as batches have told.
    pub runs: u64,
    /// Packets in those.
    pub packets: u64,
    /// Bytes in a ring that are no batch: a defect.
    pub unreadable: u64,
}

/// The latest intervals that are kept: 40 KiB.
const KEPT: usize = 1_024;

/// What the last batch of a CPU said.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    lost_runs: u64,
    lost_packets: u64,
    newest_ns: u64,
}

/// The rings of runs, in the order of the CPUs.
pub(super) type RingMaps = Vec<RingBuf<MapData>>;

/// The rings of all CPUs.
pub(super) struct Rings {
    rings: RingMaps,
    seen: Vec<Seen>,
    losses: Losses,
    slice_ns: u64,
}

/// Bytes of a batch before its runs.
const HEADER_BYTES: usize = offset_of!(Batch, runs);
/// Batches taken from one ring before the next has its turn.
const TURN: usize = 256;

impl Rings {
    pub(super) fn new(rings: RingMaps, slice_ns: u64) -> Self {
        let seen = vec![Seen::default(); rings.len()];
        Self {
            rings,
            seen,
            losses: Losses::default(),
            slice_ns,
        }
    }

    pub(super) const fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Moves what lies in the rings into `order`, at most what lay there when it was called or a
    /// little more; whether there was something.
    pub(super) fn drain(&mut self, order: &mut Order) -> bool {
        let mut some = false;
        let mut more = true;
        while more {
            more = false;
            for (ring, seen) in self.rings.iter_mut().zip(&mut self.seen) {
                let mut taken = 0;
                while taken < TURN
                    && let Some(bytes) = ring.next()
                {
                    taken += 1;
                    take(&bytes, seen, &mut self.losses, self.slice_ns, order);
                }
                some |= taken > 0;
                more |= taken == TURN;
            }
            // A consumer that is slower than the rings fill must still hand over.
            if order.is_full() {
                break;
            }
        }
        some
    }

    /// What was lost in all, with what no batch came after.
    pub(super) fn finish(&mut self, counters: &Counters, end_ns: u64) {
        let told: u64 = self.seen.iter().map(|seen| seen.lost_runs).sum();
        if counters.lost_runs > told {
            let packets: u64 = self.seen.iter().map(|seen| seen.lost_packets).sum();
            let newest = self.seen.iter().map(|seen| seen.newest_ns).min();
            self.losses.add(Blind {
                cpu: u32::MAX,
                from_ns: newest.unwrap_or(0).saturating_sub(self.slice_ns),
                to_ns: end_ns,
                runs: counters.lost_runs - told,
                packets: counters.lost_packets.saturating_sub(packets),
            });
        }
    }
}

fn take(bytes: &[u8], seen: &mut Seen, losses: &mut Losses, slice_ns: u64, order: &mut Order) {
    let header = bytes.split_at_checked(HEADER_BYTES);
    let Some((head, runs)) = header.filter(|_| bytes.len() >= size_of::<Batch>()) else {
        losses.unreadable += bytes.len() as u64;
        return;
    };
    let word = |at: usize| -> u64 {
        let bytes = head.get(at..).and_then(<[u8]>::first_chunk::<8>);
        bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
    };
    let held = word(offset_of!(Batch, cpu)) >> 32;
    let cpu = word(offset_of!(Batch, cpu)) as u32;
    let (lost_runs, lost_packets) = (
        word(offset_of!(Batch, lost_runs)),
        word(offset_of!(Batch, lost_packets)),
    );
    let mut newest_ns = seen.newest_ns;
    for bytes in runs
        .chunks_exact(size_of::<RunRecord>())
        .take(held as usize)
    {
        let run: RunRecord = bytemuck::pod_read_unaligned(bytes);
        newest_ns = newest_ns.max(run.last_ns());
        order.push(run);
    }
    if lost_runs > seen.lost_runs {
        losses.add(Blind {
            cpu,
            // What was lost may have begun a slice before the batch that preceded it was sent.
            from_ns: seen.newest_ns.saturating_sub(slice_ns),
            to_ns: newest_ns,
            runs: lost_runs - seen.lost_runs,
            packets: lost_packets - seen.lost_packets,
        });
    }
    *seen = Seen {
        lost_runs,
        lost_packets,
        newest_ns,
    };
}

const _: () = assert!(
    offset_of!(Batch, held_runs) == offset_of!(Batch, cpu) + 4 && cfg!(target_endian = "little")
);

impl Losses {
    fn add(&mut self, blind: Blind) {
        self.intervals += 1;
        self.blind_ns += blind.to_ns.saturating_sub(blind.from_ns);
        self.runs += blind.runs;
        self.packets += blind.packets;
        if self.blind.len() == KEPT {
            self.blind.remove(0);
        }
        self.blind.push(blind);
    }
}
