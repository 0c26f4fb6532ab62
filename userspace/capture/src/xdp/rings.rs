//! Reads the ring of each CPU and tracks the runs that full rings lost.

use super::order::Order;
use aya::maps::{MapData, RingBuf};
use rocescope_record::batch::Batch;
use rocescope_record::{Counters, RunRecord};
use std::mem::offset_of;

/// An interval in which a CPU lost runs: PSN gaps in it prove no fabric loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blind {
    /// The CPU.
    pub cpu: u32,
    /// Its start, nanoseconds since the epoch.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// Runs lost in the interval.
    pub runs: u64,
    /// Packets in those runs.
    pub packets: u64,
}

/// The losses of full rings.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    /// The latest blind intervals.
    pub blind: Vec<Blind>,
    /// The number of blind intervals so far.
    pub intervals: u64,
    /// Their total length over all CPUs, in nanoseconds.
    pub blind_ns: u64,
    /// Runs lost, as reported by the batches read so far.
    pub runs: u64,
    /// Packets in those runs.
    pub packets: u64,
    /// Bytes in a ring that are not a batch: a defect.
    pub unreadable: u64,
}

/// The number of intervals kept: 40 KiB.
const MAX_INTERVALS: usize = 1_024;

/// The counters in the last batch of a CPU.
#[derive(Clone, Copy, Debug, Default)]
struct LastBatch {
    lost_runs: u64,
    lost_packets: u64,
    newest_ns: u64,
}

/// The rings of runs, in the order of the CPUs.
pub(super) type RingMaps = Vec<RingBuf<MapData>>;

/// The rings of all CPUs.
pub(super) struct Rings {
    rings: RingMaps,
    last: Vec<LastBatch>,
    losses: Losses,
    slice_ns: u64,
}

/// Bytes of a batch before its runs.
const HEADER_BYTES: usize = offset_of!(Batch, runs);
/// Batches read from one ring before the next ring.
const BATCHES_PER_TURN: usize = 256;

impl Rings {
    pub(super) fn new(rings: RingMaps, slice_ns: u64) -> Self {
        let last = vec![LastBatch::default(); rings.len()];
        Self {
            rings,
            last,
            losses: Losses::default(),
            slice_ns,
        }
    }

    pub(super) const fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Moves the content of the rings at the time of the call, and perhaps a little more, into `order`.
    /// Returns whether there was any.
    pub(super) fn drain(&mut self, order: &mut Order) -> bool {
        let mut some = false;
        let mut more = true;
        while more {
            more = false;
            for (ring, last) in self.rings.iter_mut().zip(&mut self.last) {
                let mut taken = 0;
                while taken < BATCHES_PER_TURN
                    && let Some(bytes) = ring.next()
                {
                    taken += 1;
                    take(&bytes, last, &mut self.losses, self.slice_ns, order);
                }
                some |= taken > 0;
                more |= taken == BATCHES_PER_TURN;
            }
            // A consumer slower than the rings must still release runs.
            if order.is_full() {
                break;
            }
        }
        some
    }

    /// Adds the losses that no later batch reported.
    pub(super) fn finish(&mut self, counters: &Counters, end_ns: u64) {
        let reported: u64 = self.last.iter().map(|last| last.lost_runs).sum();
        if counters.lost_runs > reported {
            let packets: u64 = self.last.iter().map(|last| last.lost_packets).sum();
            let newest = self.last.iter().map(|last| last.newest_ns).min();
            self.losses.add(Blind {
                cpu: u32::MAX,
                from_ns: newest.unwrap_or(0).saturating_sub(self.slice_ns),
                to_ns: end_ns,
                runs: counters.lost_runs - reported,
                packets: counters.lost_packets.saturating_sub(packets),
            });
        }
    }
}

fn take(bytes: &[u8], last: &mut LastBatch, losses: &mut Losses, slice_ns: u64, order: &mut Order) {
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
    let mut newest_ns = last.newest_ns;
    for bytes in runs.chunks_exact(size_of::<RunRecord>()).take(held as usize) {
        let run: RunRecord = bytemuck::pod_read_unaligned(bytes);
        newest_ns = newest_ns.max(run.last_ns());
        order.push(run);
    }
    if lost_runs > last.lost_runs {
        losses.add(Blind {
            cpu,
            // The lost runs may have begun a slice before the previous batch was sent.
            from_ns: last.newest_ns.saturating_sub(slice_ns),
            to_ns: newest_ns,
            runs: lost_runs - last.lost_runs,
            packets: lost_packets - last.lost_packets,
        });
    }
    *last = LastBatch {
        lost_runs,
        lost_packets,
        newest_ns,
    };
}

const _: () = assert!(offset_of!(Batch, held_runs) == offset_of!(Batch, cpu) + 4 && cfg!(target_endian = "little"));

impl Losses {
    fn add(&mut self, blind: Blind) {
        self.intervals += 1;
        self.blind_ns += blind.to_ns.saturating_sub(blind.from_ns);
        self.runs += blind.runs;
        self.packets += blind.packets;
        if self.blind.len() == MAX_INTERVALS {
            self.blind.remove(0);
        }
        self.blind.push(blind);
    }
}
