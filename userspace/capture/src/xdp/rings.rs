//! Reads the ring of each CPU and tracks the runs that full rings lost.

use super::order::Order;
use aya::maps::{MapData, RingBuf};
use rocescope_record::batch::Batch;
use rocescope_record::{Counters, UetRecord};

/// An interval in which a CPU lost runs: PSN gaps in it prove no fabric loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blind {
    /// The CPU; `u32::MAX` if only the sum over all CPUs is known.
    pub cpu: u32,
    /// Its start, nanoseconds since the epoch.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// Runs lost in the interval.
    pub runs: u64,
    /// Packets in those runs.
    pub packets: u64,
    /// UET packets lost in the interval.
    pub uet: u64,
}

/// The losses of full rings.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    /// Blind intervals that are not delivered yet. Above 1,024 the last one grows instead.
    pub blind: Vec<Blind>,
    /// The number of blind intervals so far.
    pub intervals: u64,
    /// Their total length over all CPUs, in nanoseconds.
    pub blind_ns: u64,
    /// Runs lost, as reported by the batches read so far.
    pub runs: u64,
    /// Packets in those runs.
    pub packets: u64,
    /// UET packets lost.
    pub uet: u64,
    /// Bytes in a ring that are not a batch: a defect.
    pub unreadable: u64,
    /// Runs, packets and UET packets that the counters reported, but no batch yet.
    early: [u64; 3],
}

/// Intervals that wait for their delivery: 40 KiB.
const MAX_INTERVALS: usize = 1_024;

/// The counters in the last batch of a CPU.
#[derive(Clone, Copy, Debug, Default)]
struct LastBatch {
    lost_runs: u64,
    lost_packets: u64,
    lost_uet: u64,
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

/// Batches read from one ring before the next ring.
pub(super) const BATCHES_PER_TURN: usize = 256;

/// Passes the next batches of a ring to `take`, and returns their number.
pub(super) fn turn(ring: &mut RingBuf<MapData>, mut take: impl FnMut(&[u8])) -> usize {
    let mut taken = 0;
    while taken < BATCHES_PER_TURN
        && let Some(bytes) = ring.next()
    {
        taken += 1;
        take(&bytes);
    }
    taken
}

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

    /// The blind intervals since the last call.
    pub(super) fn take_blind(&mut self) -> Vec<Blind> {
        std::mem::take(&mut self.losses.blind)
    }

    /// The rings, for a thread that reads them; [`drain`](Self::drain) finds nothing until they are back.
    pub(super) fn lend(&mut self) -> RingMaps {
        std::mem::take(&mut self.rings)
    }

    /// Takes the rings back.
    pub(super) fn give_back(&mut self, rings: RingMaps) {
        self.rings = rings;
    }

    /// Moves the content of the rings at the time of the call, and perhaps a little more, into `order`.
    pub(super) fn drain(&mut self, order: &mut Order) {
        let Self {
            rings,
            last,
            losses,
            slice_ns,
        } = self;
        let mut more = true;
        while more {
            more = false;
            for (ring, last) in rings.iter_mut().zip(&mut *last) {
                let taken = turn(ring, |bytes| match bytemuck::try_from_bytes(bytes) {
                    Ok(batch) => take(batch, last, losses, *slice_ns, order),
                    Err(_) => losses.unreadable += bytes.len() as u64,
                });
                more |= taken == BATCHES_PER_TURN;
            }
        }
    }

    /// Moves the runs of batches that were read from a ring into `order`.
    pub(super) fn take(&mut self, batches: &[Batch], order: &mut Order) {
        for batch in batches {
            // The kernel numbers its CPUs as the rings.
            if let Some(last) = self.last.get_mut(batch.cpu as usize) {
                take(batch, last, &mut self.losses, self.slice_ns, order);
            }
        }
    }

    /// Counts bytes that are not a batch.
    pub(super) const fn count_unreadable(&mut self, bytes: u64) {
        self.losses.unreadable += bytes;
    }

    /// Adds losses that are in the counters, but in no batch yet: a CPU reports its losses with its next batch, while
    /// other CPUs already deliver later runs of the same flow. `since_ns` is before all of them, `now_ns` after.
    pub(super) fn count(&mut self, counters: &Counters, since_ns: u64, now_ns: u64) {
        let Losses { runs, packets, uet, .. } = self.losses;
        if counters.lost_packets > packets || counters.lost_uet > uet {
            let new = Blind {
                cpu: u32::MAX,
                from_ns: since_ns,
                to_ns: now_ns,
                runs: counters.lost_runs.saturating_sub(runs),
                packets: counters.lost_packets.saturating_sub(packets),
                uet: counters.lost_uet.saturating_sub(uet),
            };
            let [early_runs, early_packets, early_uet] = &mut self.losses.early;
            *early_runs += new.runs;
            *early_packets += new.packets;
            *early_uet += new.uet;
            self.losses.add(new);
        }
    }
}

fn take(batch: &Batch, last: &mut LastBatch, losses: &mut Losses, slice_ns: u64, order: &mut Order) {
    let &Batch {
        lost_runs,
        lost_packets,
        lost_uet,
        cpu,
        held_runs,
        ..
    } = batch;
    let mut newest_ns = last.newest_ns;
    for run in batch.runs.iter().take(held_runs as usize) {
        let ended_ns = UetRecord::in_place_of(run).map_or_else(|| run.last_ns(), |uet| uet.time_ns);
        newest_ns = newest_ns.max(ended_ns);
        order.push(*run);
    }
    let [runs, packets, uet] = losses.not_counted_early([
        lost_runs - last.lost_runs,
        lost_packets - last.lost_packets,
        lost_uet - last.lost_uet,
    ]);
    if packets > 0 || uet > 0 {
        losses.add(Blind {
            cpu,
            // The lost runs may have begun a slice before the previous batch was sent.
            from_ns: last.newest_ns.saturating_sub(slice_ns),
            to_ns: newest_ns,
            runs,
            packets,
            uet,
        });
    }
    *last = LastBatch {
        lost_runs,
        lost_packets,
        lost_uet,
        newest_ns,
    };
}

impl Losses {
    /// The part of what a batch reports that the counters have not reported before.
    fn not_counted_early(&mut self, mut counts: [u64; 3]) -> [u64; 3] {
        for (count, early) in counts.iter_mut().zip(&mut self.early) {
            let known = (*count).min(*early);
            *early -= known;
            *count -= known;
        }
        counts
    }

    fn add(&mut self, blind: Blind) {
        self.intervals += 1;
        self.blind_ns += blind.to_ns.saturating_sub(blind.from_ns);
        self.runs += blind.runs;
        self.packets += blind.packets;
        self.uet += blind.uet;
        let is_full = self.blind.len() >= MAX_INTERVALS;
        match self.blind.last_mut() {
            Some(last) if is_full => {
                last.from_ns = last.from_ns.min(blind.from_ns);
                last.to_ns = last.to_ns.max(blind.to_ns);
                last.runs += blind.runs;
                last.packets += blind.packets;
                last.uet += blind.uet;
            }
            _ => self.blind.push(blind),
        }
    }
}
