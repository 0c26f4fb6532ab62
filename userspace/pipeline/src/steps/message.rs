//! A message while it passes.

use super::CREDIT_BYTES;
use rocescope_record::RunRecord;
use rocescope_wire::{Operation, Suffix};

/// How far PSN `a` is ahead of `b`, in 24 bits.
pub(super) const fn ahead(a: u32, b: u32) -> i32 {
    (a.wrapping_sub(b) << 8) as i32 >> 8
}

/// A message that is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) first_psn: u32,
    /// The highest that passed.
    pub(super) last_psn: u32,
    pub(super) first_ns: u64,
    /// When the last of its packets passed, retransmitted or not.
    pub(super) last_ns: u64,
    pub(super) bytes: u64,
    pub(super) retransmitted: u64,
    /// When its credit passed, if `is_matched` and there was one.
    pub(super) credit_ns: Option<u64>,
    pub(super) is_matched: bool,
    /// Its first packet passed; its last.
    pub(super) has_start: bool,
    pub(super) has_end: bool,
    pub(super) has_immediate: bool,
    /// The capture lost packets while it passed.
    pub(super) is_blind: bool,
}

impl Message {
    /// Whether a run is a credit, or other control: a short RDMA WRITE without immediate.
    pub(super) fn is_credit(run: &RunRecord) -> bool {
        run.only > 0
            && run.opcode().operation() == Operation::RdmaWrite
            && run.suffix == Suffix::None as u8
            && run.only_payload_bytes <= CREDIT_BYTES * u32::from(run.only)
    }

    /// The first packets of a message.
    pub(super) fn new(run: &RunRecord) -> Self {
        let has_start = run.first > 0 || run.only > 0;
        let mut message = Self {
            first_psn: run.first_psn,
            last_psn: run.last_psn,
            first_ns: run.first_ns,
            last_ns: run.last_ns(),
            bytes: 0,
            retransmitted: 0,
            credit_ns: None,
            is_matched: false,
            has_start,
            has_end: false,
            has_immediate: false,
            is_blind: false,
        };
        message.end(run);
        message
    }

    /// Takes the end of the message, and its size, from a run of it.
    fn end(&mut self, run: &RunRecord) {
        if run.last > 0 || run.only > 0 {
            self.has_end = true;
            self.has_immediate |= run.suffix == Suffix::Immediate as u8;
        }
        let has_length = run.opcode().operation() == Operation::RdmaWrite && (run.first > 0 || run.only > 0);
        if has_length {
            self.bytes = u64::from(run.msn_or_dma_length);
        }
    }

    /// Adds a run that continues or repeats it.
    pub(super) fn add(&mut self, run: &RunRecord, repeated: u64) {
        if ahead(run.last_psn, self.last_psn) > 0 {
            self.last_psn = run.last_psn;
        }
        if ahead(run.first_psn, self.first_psn) < 0 {
            self.first_psn = run.first_psn;
            self.has_start |= run.first > 0 || run.only > 0;
        }
        self.last_ns = self.last_ns.max(run.last_ns());
        self.retransmitted += repeated;
        self.end(run);
    }

    /// Whether it has no immediate, and so no credit of NCCL: unknown before its end.
    pub(super) const fn is_plain(&self) -> bool {
        self.has_end && !self.has_immediate
    }

    /// Whether it only reports that the message before it is complete.
    pub(super) const fn is_notice(&self) -> bool {
        self.has_immediate && self.has_start && self.bytes == 0
    }
}
