//! Batches of runs from the kernel, with the losses before them.

use crate::run::RunRecord;
use bytemuck::{Pod, Zeroable};

/// Runs in a batch, a power of two: 4 KiB, so that a ring of 8 MiB holds 2,000 of them.
pub const RUNS_A_BATCH: usize = 32;

/// Runs of one CPU, and the state that the kernel keeps between them.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Batch {
    /// Counts the batches of this CPU, sent or lost.
    pub sequence: u64,
    /// Runs lost on this CPU so far, because the ring was full.
    pub lost_runs: u64,
    /// Packets in those runs.
    pub lost_packets: u64,
    /// UET packets lost on this CPU so far, likewise.
    pub lost_uet: u64,
    /// The CPU.
    pub cpu: u32,
    /// Runs and UET packets in this batch.
    pub held_runs: u32,
    /// Packets in those runs.
    pub held_packets: u32,
    /// UET packets in this batch.
    pub held_uet: u32,
    /// The set at which the next flush continues.
    pub cursor: u32,
    /// Always 0.
    pub reserved: u32,
    /// The runs, and in the place of some a [`UetRecord`](crate::UetRecord).
    pub runs: [RunRecord; RUNS_A_BATCH],
}
