//! The record of a UET packet, which crosses to user space in a batch, in the place of a run.
//!
//! UET sprays its packets, acknowledges them selectively and retransmits single ones, so that runs of consecutive PSNs
//! would hold one packet each. Its headers cross instead. A record is as long as a run, with flow and time in the same
//! place, and has no packets where a run has one at least.

use crate::run::RunRecord;
use bytemuck::{Pod, Zeroable};
use core::mem::{offset_of, size_of};
use rocescope_wire::FlowKey;
use rocescope_wire::uet::UetPacket;

/// The headers of a UET packet, with its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct UetRecord {
    /// Addresses and tags; in place of the UDP source port the entropy, in place of the queue pair 0.
    pub flow: FlowKey,
    /// When it passed, nanoseconds since the epoch.
    pub time_ns: u64,
    /// Index of the interface that saw it.
    pub interface: u32,
    /// Its headers.
    pub packet: UetPacket,
    /// Always 0: a run has at least one packet.
    packets: u16,
    /// Always 0.
    reserved: [u8; 22],
}

const _: () = {
    assert!(size_of::<UetRecord>() == size_of::<RunRecord>());
    assert!(offset_of!(UetRecord, time_ns) == offset_of!(RunRecord, first_ns));
    assert!(offset_of!(UetRecord, packets) == offset_of!(RunRecord, packets));
};

impl UetRecord {
    /// The record in the place of a run.
    #[must_use]
    #[inline(always)]
    pub fn as_run(&self) -> &RunRecord {
        bytemuck::cast_ref(self)
    }

    /// The record in this place, unless it is a run.
    #[must_use]
    #[inline(always)]
    pub fn in_place_of(run: &RunRecord) -> Option<&Self> {
        (run.packets == 0).then(|| bytemuck::cast_ref(run))
    }
}
