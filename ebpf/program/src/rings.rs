//! Sends published runs in batches over the ring of their CPU.

use crate::log;
use crate::maps::RINGS;
use aya_ebpf::helpers::bpf_get_smp_processor_id;
use rocescope_record::batch::{Batch, RUNS_A_BATCH};
use rocescope_record::{Counters, RunRecord, Sink, UetRecord};

/// Never wakes the reader, which polls often enough for the size of the ring.
pub const BPF_RB_NO_WAKEUP: u64 = 1;

pub struct Rings<'a> {
    pub batch: &'a mut Batch,
}

impl Sink for Rings<'_> {
    #[inline(always)]
    fn publish(&mut self, run: &RunRecord, counters: &mut Counters) {
        append(self.batch, run);
        if self.batch.held_runs as usize >= RUNS_A_BATCH {
            send(self.batch, counters);
        }
    }

    #[inline(always)]
    fn uet(&mut self, record: &UetRecord, counters: &mut Counters) {
        append(self.batch, record.as_run());
        self.batch.held_uet += 1;
        if self.batch.held_runs as usize >= RUNS_A_BATCH {
            send(self.batch, counters);
        }
    }
}

/// A subprogram, so that the run is copied from its place in memory, and not from registers and the stack.
#[inline(never)]
fn append(batch: &mut Batch, run: &RunRecord) -> u32 {
    batch.runs[batch.held_runs as usize & (RUNS_A_BATCH - 1)] = *run;
    batch.held_runs += 1;
    batch.held_packets += u32::from(run.packets);
    0
}

/// Distinct from the errors of the kernel, which are negative.
pub const NO_RING: i32 = 1;

/// Sends the batch, full or not; when the ring is full, its runs are lost and counted.
#[inline(always)]
pub fn send(batch: &mut Batch, counters: &mut Counters) {
    // SAFETY: the helper takes nothing.
    let cpu = unsafe { bpf_get_smp_processor_id() };
    batch.cpu = cpu;
    let failed = match RINGS.get(cpu) {
        Some(ring) => ring.output(&*batch, BPF_RB_NO_WAKEUP).err().unwrap_or(0),
        None => NO_RING,
    };
    if failed != 0 {
        if batch.lost_packets + batch.lost_uet == 0 {
            log::first_loss(cpu, failed);
        }
        batch.lost_runs += u64::from(batch.held_runs - batch.held_uet);
        batch.lost_packets += u64::from(batch.held_packets);
        batch.lost_uet += u64::from(batch.held_uet);
        counters.lost_runs = batch.lost_runs;
        counters.lost_uet = batch.lost_uet;
        counters.lost_packets = batch.lost_packets;
    }
    batch.sequence += 1;
    batch.held_runs = 0;
    batch.held_packets = 0;
    batch.held_uet = 0;
}
