//! The run cache: which packets join a run, and when a run is published.
//!
//! A set has two slots. A packet looks up its stream in the set that its key hashes to; it joins that run
//! when the rules allow, else it ends it and starts another. Runs of one stream are published in the
//! order of their first packets.

use crate::config::Config;
use crate::control_packet::ControlPacket;
use crate::counters::Counters;
use crate::moment::{Clock, Moment};
use crate::run::{Cut, RunRecord};
use crate::slot::{Slot, is_timed};
use crate::uet::UetRecord;
use rocescope_wire::{FlowKey, Operation, Packet, Psn, Suffix};

/// The destination of runs.
pub trait Sink {
    /// Publishes a run. If there is no space, counts it in [`Counters::lost_runs`] and
    /// [`Counters::lost_packets`].
    fn publish(&mut self, run: &RunRecord, counters: &mut Counters);

    /// Publishes a control packet; `false` if there is no space and it is lost. A sink that tracks no
    /// connections ignores it.
    fn control_packet(&mut self, packet: ControlPacket<'_>) -> bool {
        let _ = packet;
        true
    }

    /// Publishes a UET packet. If there is no space, counts it in [`Counters::lost_uet`].
    fn uet(&mut self, record: &UetRecord, counters: &mut Counters) {
        let _ = (record, counters);
    }

    /// A packet of a run that began at `first_ns` has another UDP source port than `run`, the flow of the run. Only
    /// [`observe`] reports it: in user space.
    fn other_port(&mut self, run: &FlowKey, first_ns: u64, packet: &Packet) {
        let _ = (run, first_ns, packet);
    }
}

/// The possible slots of a key.
pub type Set = [Slot; 2];

/// A hash of the fields that identify a run, to choose its set.
#[must_use]
#[inline(always)]
pub fn set_hash(packet: &Packet, interface: u32, config: &Config) -> u32 {
    let [a, b, c, d, e, f] = packet.flow.words();
    let f = f & config.key_mask;
    let g = packet.stream() as u64
        | u64::from(packet.ttl) << 8
        | u64::from(interface) << 16
        | u64::from(packet.src_qpn.get()) << 40;
    // Independent products that the CPU overlaps, then one more to mix every bit up.
    let sum = a
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(b.wrapping_mul(0xbf58_476d_1ce4_e5b9))
        .wrapping_add(c.wrapping_mul(0x94d0_49bb_1331_11eb))
        .wrapping_add(d.wrapping_mul(0xd6e8_feb8_6659_fd93))
        .wrapping_add(e.wrapping_mul(0xa076_1d64_78bd_642f))
        .wrapping_add(f.wrapping_mul(0xe703_7ed1_a0b4_28db))
        .wrapping_add(g.wrapping_mul(0x8ebc_6af0_9c88_c6e3));
    ((sum ^ sum >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// The effect of a packet on its set. In memory of the caller, because it passes from one subprogram of
/// the kernel to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Step {
    /// The slot of the set.
    pub(crate) way: u32,
    /// Why its run has to end, a [`Cut`], or [`NO_CUT`](Self::NO_CUT): the packet has joined it.
    pub(crate) obstacle: u32,
    /// Why the packet's own run ends with it, likewise.
    pub(crate) ending: u32,
    /// Always 0.
    reserved: u32,
}

impl Step {
    /// In place of a [`Cut`]: none.
    pub(crate) const NO_CUT: u32 = 0xff;

    /// Memory for a step.
    #[must_use]
    pub const fn zeroed() -> Self {
        Self {
            way: 0,
            obstacle: 0,
            ending: 0,
            reserved: 0,
        }
    }
}

/// Adds a packet to its set; publishes runs that end to `sink` and counts them.
#[inline(always)]
pub fn observe<C: Clock, S: Sink>(
    set: &mut Set,
    packet: &Packet,
    moment: &Moment,
    clock: &C,
    config: &Config,
    counters: &mut Counters,
    sink: &mut S,
) {
    let mut step = Step::zeroed();
    if !advance(set, packet, moment, config) && !join(set, packet, moment, config, |way| way, &mut step) {
        renew(set, &step, packet, moment, clock, config, counters, sink);
    }
    // A slot keeps the flow of the run that it has just published.
    let run = &set[step.way as usize & 1].run;
    if run.flow.udp_src_port != packet.flow.udp_src_port {
        sink.other_port(&run.flow, run.first_ns, packet);
    }
}

/// The first attempt of [`observe`]: joins a MIDDLE of a message to its run in the first slot; returns
/// whether the packet is done. Few enough words for the registers of BPF, and one slot only, because a
/// choice needs pointer arithmetic.
#[inline(always)]
pub fn advance(set: &mut Set, packet: &Packet, moment: &Moment, config: &Config) -> bool {
    let [first, _] = set;
    moment.is_exact == 0 && first.advance(packet, moment, config)
}

/// The first half of [`observe`]: joins the packet to the run that it continues; returns whether the packet
/// is done. Reads no clock and publishes nothing, which keeps the path of most packets short in the
/// kernel.
///
/// `settle` returns its argument in a way that the kernel's verifier cannot follow, because it forbids
/// pointer arithmetic with different constants on different paths.
#[inline(always)]
pub fn join(
    set: &mut Set,
    packet: &Packet,
    moment: &Moment,
    config: &Config,
    settle: impl Fn(u32) -> u32,
    step: &mut Step,
) -> bool {
    let way = if set[0].is_of(packet, moment, config) {
        FOUND
    } else {
        find_second(set, packet, moment, config)
    };
    let found = way & FOUND != 0;
    step.way = way;
    step.obstacle = if found { Step::NO_CUT } else { Cut::Key as u32 };
    let slot = &mut set[settle(way) as usize & 1];
    if found && moment.is_exact == 0 && slot.advance(packet, moment, config) {
        return true;
    }
    slot.consider(packet, moment, config, step)
}

/// The slot of the packet's run if that is not the first, or the slot to evict; with [`FOUND`] if it is
/// the run's.
#[cfg_attr(target_arch = "bpf", inline(never))]
#[cfg_attr(not(target_arch = "bpf"), inline(always))]
fn find_second(set: &Set, packet: &Packet, moment: &Moment, config: &Config) -> u32 {
    let [one, two] = set;
    if two.is_of(packet, moment, config) {
        1 | FOUND
    } else if one.run.packets == 0 || (two.run.packets != 0 && one.last_tick <= two.last_tick) {
        0
    } else {
        1
    }
}

/// Flag on the number of a slot that has the packet's run.
const FOUND: u32 = 2;

/// The second half of [`observe`], for a step that is not done: ends the run in the slot, starts another,
/// and ends that too if the packet is its last.
#[inline(always)]
#[expect(
    clippy::too_many_arguments,
    reason = "the kernel's stack has no space for them in one"
)]
pub fn renew<C: Clock, S: Sink>(
    set: &mut Set,
    step: &Step,
    packet: &Packet,
    moment: &Moment,
    clock: &C,
    config: &Config,
    counters: &mut Counters,
    sink: &mut S,
) {
    let slot = &mut set[step.way as usize & 1];
    if step.obstacle != Step::NO_CUT {
        slot.publish(step.obstacle, counters, sink);
        slot.start(packet, moment, clock, config);
    }
    if step.ending != Step::NO_CUT || is_timed(packet, moment) {
        slot.finish(packet, clock);
    }
    if step.ending != Step::NO_CUT {
        slot.publish(step.ending, counters, sink);
    }
}

/// Publishes the runs of a set whose slice has ended at `tick`, or all when `tick` is `None`.
///
/// `settle` is that of [`join`].
#[inline(always)]
pub fn flush<S: Sink>(
    set: &mut Set,
    tick: Option<u64>,
    counters: &mut Counters,
    sink: &mut S,
    settle: impl Fn(u32) -> u32,
) {
    let cut = settle(match tick {
        None => Cut::Flush as u32,
        Some(_) => Cut::Slice as u32,
    });
    for slot in set {
        if tick.is_none_or(|tick| slot.is_over(tick)) {
            slot.publish(cut, counters, sink);
        }
    }
}

/// The PSN that continues a run, for tests and readers of records.
#[must_use]
pub fn psn_after(run: &RunRecord, path_mtu: u32) -> Psn {
    if run.opcode().operation() == Operation::RdmaReadRequest {
        rocescope_wire::extension::psn_after_read(run.last_psn(), run.msn_or_dma_length, path_mtu)
    } else {
        run.last_psn().plus(1)
    }
}

const _: () = assert!(Suffix::None as u8 == 0 && core::mem::size_of::<Set>() == 320);

#[cfg(test)]
mod tests;
