//! The run cache: which packets join a run, and when a run is published.
//!
//! A set has two slots. A packet looks up its stream in the set that its key hashes to; it joins that run
//! when the rules allow, else it ends it and starts another. Runs of one stream are published in the
//! order of their first packets.

use crate::config::Config;
use crate::control_packet::ControlPacket;
use crate::counters::Counters;
use crate::exact_budget::ExactBudget;
use crate::run::{Cut, RunRecord};
use crate::uet::UetRecord;
use bytemuck::{Pod, Zeroable};
use core::sync::atomic::{Ordering, compiler_fence};
use rocescope_wire::{FlowKey, Operation, Packet, Position, Psn, Stream, Suffix};

/// The clocks of the caller.
pub trait Clock {
    /// A cheap counter that advances at least every [`Config::tick_ns`]; read at every packet.
    fn tick(&self) -> u64;
    /// Exact nanoseconds since the epoch; read when a run starts or a marked packet passes.
    fn now(&self) -> u64;
    /// [`Config::ticks_left`]; a clock may remember the slice.
    #[inline(always)]
    fn ticks_left(&self, config: &Config, now_ns: u64) -> u64 {
        config.ticks_left(now_ns)
    }
}

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

/// An open run.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Slot {
    /// The run so far; without packets the slot is free.
    pub run: RunRecord,
    /// Tick of its first packet.
    first_tick: u64,
    /// Tick of its last packet: a full set evicts the older run.
    last_tick: u64,
    /// Ticks from the first packet to the end of its slice.
    slice_ticks: u32,
    /// [`kind`] of its packets.
    kind: u16,
    /// [`middle`] of its last packet: implies stream, transport, operation and position of the next.
    middle: u16,
    /// Frame bytes of its last packet, if that is a MIDDLE.
    middle_frame_bytes: u32,
    /// Frame bytes of FIRST and MIDDLE packets beside extension headers and payload.
    overhead_bytes: u32,
}

/// The possible slots of a key.
pub type Set = [Slot; 2];

/// A run ends before any of its sums or counts can overflow.
const MOST_PACKETS: u16 = u16::MAX;
const MOST_BYTES: u32 = 1 << 31;

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

/// When and where a packet passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Moment {
    /// The cheap clock.
    pub tick: u64,
    /// Index of the interface.
    pub interface: u32,
    /// Not 0: the exact time of the packet is recorded, and its PSN is marked.
    pub is_exact: u32,
}

impl Moment {
    /// Now, on an interface.
    #[must_use]
    #[inline(always)]
    pub fn now(clock: &impl Clock, interface: u32, budget: &mut ExactBudget, config: &Config) -> Self {
        let tick = clock.tick();
        Self {
            tick,
            interface,
            is_exact: budget.take(tick, config),
        }
    }

    /// The mask of the key of runs. Exact packets keep their port, because each may be a record anyway: so the ports of a
    /// sprayed direction are known in a live capture.
    #[inline(always)]
    const fn key_mask(&self, config: &Config) -> u64 {
        config.key_mask | (self.is_exact as u64).wrapping_neg()
    }

    /// Whether round trips are measured at this PSN.
    #[inline(always)]
    const fn marks(&self, psn: Psn, config: &Config) -> bool {
        self.is_exact != 0 || config.is_marked(psn)
    }
}

/// The effect of a packet on its set. In memory of the caller, because it passes from one subprogram of
/// the kernel to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Step {
    /// The slot of the set.
    way: u32,
    /// Why its run has to end, a [`Cut`], or [`NO_CUT`](Self::NO_CUT): the packet has joined it.
    obstacle: u32,
    /// Why the packet's own run ends with it, likewise.
    ending: u32,
    /// Always 0.
    reserved: u32,
}

impl Step {
    /// In place of a [`Cut`]: none.
    const NO_CUT: u32 = 0xff;

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

/// Whether the exact time of the packet is recorded though its run goes on: while the CPU can afford it; and that of an
/// acknowledgement, which settles what came before it, so it must not seem earlier than it was.
#[inline(always)]
fn is_timed(packet: &Packet, moment: &Moment) -> bool {
    moment.is_exact != 0 || packet.meaning.stream == Stream::Acknowledge
}

/// Why a packet's run ends with it: a [`Cut`] or [`Step::NO_CUT`].
#[inline(always)]
fn ending(packet: &Packet, moment: &Moment, config: &Config) -> u32 {
    let meaning = packet.meaning;
    let cut = match meaning.stream {
        Stream::Cnp | Stream::Unknown | Stream::Control => Cut::Solo,
        Stream::Acknowledge if !packet.syndrome.is_ack() => Cut::Solo,
        Stream::Acknowledge if moment.marks(packet.psn(), config) => Cut::Mark,
        Stream::Request if meaning.operation == Operation::RdmaReadRequest => Cut::Solo,
        // Whether it asks for an acknowledgement or not: with every PSN marked a run holds at
        // most one message, so that a repeated part of it is known to the byte.
        Stream::Request
            if matches!(meaning.position(), Position::Last | Position::Only) && moment.marks(packet.psn(), config) =>
        {
            Cut::Mark
        }
        _ => return Step::NO_CUT,
    };
    cut as u32
}

/// Operation and transport of a packet, and whether its sender marked it as a retransmission: those of a run are the
/// same.
#[inline(always)]
fn kind(packet: &Packet) -> u16 {
    packet.meaning.operation as u16
        | u16::from(packet.is_marked_retransmission()) << 8
        | u16::from(packet.opcode().0 & 0xe0) << 8
}

/// The number of a MIDDLE's opcode, different from [`NO_MIDDLE`].
#[inline(always)]
fn middle(packet: &Packet) -> u16 {
    0x100 | u16::from(packet.opcode().0)
}

/// In place of the opcode of a MIDDLE: none. That of a free slot.
const NO_MIDDLE: u16 = 0;

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

impl Slot {
    /// Joins a MIDDLE of a message to a run whose last packet was one too, and returns whether it did: what
    /// [`obstacle`](Self::obstacle) and [`join`](Self::join) do with the most frequent packets, in few
    /// enough words for the registers of BPF.
    #[inline(always)]
    fn advance(&mut self, packet: &Packet, moment: &Moment, config: &Config) -> bool {
        let run = &mut self.run;
        // A MIDDLE has no source QPN, and equal opcodes have one length of extension headers.
        if self.middle != middle(packet)
            || packet.psn() != run.last_psn().plus(1)
            || !is_same(&run.flow, &packet.flow, config.key_mask)
            || run.ttl != packet.ttl
            || run.traffic_class != packet.traffic_class.0
            || run.interface != moment.interface
            || self.middle_frame_bytes != packet.frame_bytes
            || u32::from(run.segment_bytes) != packet.payload_bytes
            || run.packets == MOST_PACKETS
            || u64::from(run.frame_bytes) + u64::from(packet.frame_bytes) > u64::from(MOST_BYTES)
        {
            return false;
        }
        let ticks = moment.tick.wrapping_sub(self.first_tick);
        if ticks >= u64::from(self.slice_ticks) {
            return false;
        }
        // The compiler reads again what it compared, because it does not fit the registers of BPF beside the rest.
        compiler_fence(Ordering::SeqCst);
        run.last_offset_ns = ticks.wrapping_mul(config.tick_ns) as u32;
        self.last_tick = moment.tick;
        run.packets += 1;
        run.frame_bytes += packet.frame_bytes;
        run.last_psn = packet.psn().get();
        run.congestion_experienced += u16::from(packet.congestion_experienced);
        run.flags = flags(run, packet);
        true
    }

    /// Joins the packet to the run in the slot, if that is of its stream and nothing forbids it; returns
    /// whether the packet is done.
    #[cfg_attr(target_arch = "bpf", inline(never))]
    #[cfg_attr(not(target_arch = "bpf"), inline(always))]
    fn consider(&mut self, packet: &Packet, moment: &Moment, config: &Config, step: &mut Step) -> bool {
        if step.obstacle == Step::NO_CUT {
            let obstacle = self.obstacle(packet, moment, config);
            step.obstacle = obstacle;
            if obstacle == Step::NO_CUT {
                self.join(packet, moment, config);
            }
        }
        let ending = ending(packet, moment, config);
        step.ending = ending;
        step.obstacle == Step::NO_CUT && ending == Step::NO_CUT && !is_timed(packet, moment)
    }

    /// Whether the run is of the packet's stream.
    #[inline(always)]
    fn is_of(&self, packet: &Packet, moment: &Moment, config: &Config) -> bool {
        self.run.packets != 0
            && is_same(&self.run.flow, &packet.flow, moment.key_mask(config))
            && self.run.stream == packet.meaning.stream as u8
            && self.run.ttl == packet.ttl
            && self.run.interface == moment.interface
            && self.run.src_qpn == packet.src_qpn.get()
    }

    /// Whether the slice of the run is over. Time that runs backwards ends it too.
    #[inline(always)]
    fn is_over(&self, tick: u64) -> bool {
        tick.wrapping_sub(self.first_tick) >= u64::from(self.slice_ticks)
    }

    /// Why `packet` cannot join, although it is of the same stream.
    #[inline(always)]
    fn obstacle(&self, packet: &Packet, moment: &Moment, config: &Config) -> u32 {
        match self.cut(packet, moment, config) {
            None => Step::NO_CUT,
            Some(cut) => cut as u32,
        }
    }

    #[inline(always)]
    fn cut(&self, packet: &Packet, moment: &Moment, config: &Config) -> Option<Cut> {
        let run = &self.run;
        let meaning = &packet.meaning;
        let stream = meaning.stream;
        if self.is_over(moment.tick) {
            return Some(Cut::Slice);
        }
        if run.traffic_class != packet.traffic_class.0 {
            return Some(Cut::Class);
        }
        // A capture file may claim any length for a frame.
        if run.packets == MOST_PACKETS || run.frame_bytes > MOST_BYTES.saturating_sub(packet.frame_bytes) {
            return Some(Cut::Count);
        }
        match stream {
            Stream::Cnp | Stream::Unknown | Stream::Control => return Some(Cut::Solo),
            Stream::Datagram => {
                if !packet.psn().is_after(run.last_psn()) {
                    return Some(Cut::Psn);
                }
            }
            Stream::Acknowledge => {
                if !packet.syndrome.is_ack() || !run.syndrome().is_ack() {
                    return Some(Cut::Solo);
                }
                if moment.marks(packet.psn(), config) {
                    return Some(Cut::Mark);
                }
                if !packet.psn().is_after(run.last_psn()) {
                    return Some(Cut::Psn);
                }
            }
            Stream::Request | Stream::Response | Stream::Trimmed => {
                if packet.psn() != run.last_psn().plus(1) {
                    return Some(Cut::Psn);
                }
            }
        }
        // A READ request is a run of its own, because its length determines the next PSN.
        if self.kind != kind(packet) || packet.meaning.operation == Operation::RdmaReadRequest {
            return Some(Cut::Operation);
        }
        match meaning.position() {
            Position::First | Position::Middle => {
                if stream == Stream::Response
                    && meaning.position() == Position::First
                    && moment.marks(packet.psn(), config)
                {
                    return Some(Cut::Mark);
                }
                if run.packets > run.last + run.only
                    && (u32::from(run.segment_bytes) != packet.payload_bytes
                        || self.overhead_bytes != overhead_bytes(packet))
                {
                    return Some(Cut::Segment);
                }
            }
            Position::Last | Position::Only => {
                if stream == Stream::Response
                    && meaning.position() == Position::Only
                    && moment.marks(packet.psn(), config)
                {
                    return Some(Cut::Mark);
                }
                if run.last + run.only > 0 && run.suffix != meaning.suffix() as u8 {
                    return Some(Cut::Suffix);
                }
            }
        }
        None
    }

    #[inline(always)]
    fn start<C: Clock>(&mut self, packet: &Packet, moment: &Moment, clock: &C, config: &Config) {
        let now = clock.now();
        // Field by field, because a separate record would use a quarter of the kernel's stack.
        let run = &mut self.run;
        *run = RunRecord::zeroed();
        run.flow = packet.flow;
        run.first_ns = now;
        run.interface = moment.interface;
        run.src_qpn = packet.src_qpn.get();
        run.first_psn = packet.psn().get();
        run.opcode = packet.bth.opcode().0;
        run.stream = packet.meaning.stream as u8;
        run.ttl = packet.ttl;
        run.traffic_class = packet.traffic_class.0;
        run.encapsulation = packet.encapsulation as u8;
        run.flags = u8::from(packet.is_marked_retransmission()) * RunRecord::MARKED_RETRANSMISSION;
        self.first_tick = moment.tick;
        // A slice is at most 100 ms, and a tick at least a nanosecond.
        self.slice_ticks = clock.ticks_left(config, now).min(u64::from(u32::MAX)) as u32;
        self.kind = kind(packet);
        self.join(packet, moment, config);
    }

    #[cfg_attr(target_arch = "bpf", inline(never))]
    #[cfg_attr(not(target_arch = "bpf"), inline(always))]
    fn join(&mut self, packet: &Packet, moment: &Moment, config: &Config) {
        let tick = moment.tick;
        let run = &mut self.run;
        let meaning = &packet.meaning;
        // A slice is at most 100 ms, so the offset fits.
        let offset_ns = (tick.wrapping_sub(self.first_tick).wrapping_mul(config.tick_ns)) as u32;
        run.packets += 1;
        run.last_psn = packet.psn().get();
        run.frame_bytes += packet.frame_bytes;
        run.last_offset_ns = offset_ns;
        run.congestion_experienced += u16::from(packet.congestion_experienced);
        self.middle = NO_MIDDLE;
        match meaning.position() {
            Position::First => {
                run.first += 1;
                run.message_offset_ns = offset_ns;
                run.msn_or_dma_length = packet.msn_or_dma_length;
            }
            // Those of MRC are not alike: a retransmission has the same opcode.
            Position::Middle if !meaning.is_mrc_write() => self.middle = middle(packet),
            Position::Middle => {}
            Position::Last => {
                run.last += 1;
                run.last_frame_bytes += packet.frame_bytes;
                run.last_payload_bytes += packet.payload_bytes;
                run.suffix = meaning.suffix() as u8;
            }
            Position::Only => {
                run.only += 1;
                run.only_frame_bytes += packet.frame_bytes;
                run.only_payload_bytes += packet.payload_bytes;
                run.suffix = meaning.suffix() as u8;
                run.message_offset_ns = offset_ns;
                run.msn_or_dma_length = packet.msn_or_dma_length;
            }
        }
        if matches!(meaning.position(), Position::First | Position::Middle) {
            run.segment_bytes = packet.payload_bytes as u16;
            self.overhead_bytes = overhead_bytes(packet);
            self.middle_frame_bytes = packet.frame_bytes;
        }
        if meaning.stream == Stream::Acknowledge
            || meaning.operation == Operation::AtomicAcknowledge
            || (meaning.operation == Operation::RdmaReadResponse && meaning.position() != Position::Middle)
        {
            run.syndrome = packet.syndrome.0;
            run.msn_or_dma_length = packet.msn_or_dma_length;
        }
        run.flags = flags(run, packet);
        self.last_tick = tick;
    }

    /// Records the exact time of the packet that just joined, because the run ends with it.
    #[inline(always)]
    fn finish<C: Clock>(&mut self, packet: &Packet, clock: &C) {
        if self.run.packets > 1 {
            // The time of a first packet is already recorded.
            self.run.last_offset_ns = clock.now().wrapping_sub(self.run.first_ns) as u32;
            if packet.meaning.position() == Position::Only {
                self.run.message_offset_ns = self.run.last_offset_ns;
            }
        }
        self.run.flags |= RunRecord::EXACT_END;
    }

    /// Publishes the run to `sink` and frees the slot; does nothing if it is free.
    #[inline(always)]
    fn publish<S: Sink>(&mut self, cut: u32, counters: &mut Counters, sink: &mut S) {
        if self.run.packets == 0 {
            return;
        }
        self.run.cut = cut as u8;
        counters.published[cut as usize & 15] += 1;
        counters.published_packets += u64::from(self.run.packets);
        sink.publish(&self.run, counters);
        self.run.packets = 0;
        self.middle = NO_MIDDLE;
    }
}

/// The flags of a run with one more packet.
#[inline(always)]
fn flags(run: &RunRecord, packet: &Packet) -> u8 {
    // Without branches.
    let flag = |is_set: bool, flag: u8| u8::from(is_set) * flag;
    run.flags & !(RunRecord::ACK_REQUESTED | RunRecord::EXACT_END)
        | flag(packet.bth.ack_request(), RunRecord::ACK_REQUESTED)
        | flag(packet.bth.becn(), RunRecord::BECN)
        | flag(packet.bth.solicited_event(), RunRecord::SOLICITED)
        | flag(packet.snapped | packet.truncated, RunRecord::CUT_SHORT)
        | flag(
            run.flow.udp_src_port != packet.flow.udp_src_port,
            RunRecord::PORTS_DIFFER,
        )
}

/// Whether two keys are equal; a comparison of arrays would be a call in the kernel.
#[inline(always)]
fn is_same(one: &FlowKey, two: &FlowKey, key_mask: u64) -> bool {
    let (a, b) = (one.words(), two.words());
    // One branch for the six words.
    (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) | (a[4] ^ b[4]) | (a[5] ^ b[5]) & key_mask == 0
}

/// The bytes of a frame without its extension headers and its payload.
#[inline(always)]
fn overhead_bytes(packet: &Packet) -> u32 {
    packet
        .frame_bytes
        .wrapping_sub(u32::from(packet.meaning.extension_bytes))
        .wrapping_sub(packet.payload_bytes)
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
mod tests {
    extern crate std;
    use super::*;
    use crate::observer::FrameTime;
    use crate::run::OpcodeTotals;
    use proptest::prelude::*;
    use rocescope_wire::extension::Syndrome;
    use rocescope_wire::tunnel::{Encapsulation, NO_VNI};
    use rocescope_wire::{Bth, Opcode, Qpn, RawBth, TrafficClass};
    use std::collections::BTreeMap;
    use std::vec::Vec;

    impl Sink for Vec<RunRecord> {
        fn publish(&mut self, run: &RunRecord, _: &mut Counters) {
            self.push(*run);
        }
    }

    const MTU: u32 = 1024;

    fn at(clock: &FrameTime) -> Moment {
        Moment::now(clock, 0, &mut ExactBudget::default(), &Config::exact(1))
    }

    fn packet(opcode: u8, qpn: u32, psn: u32, payload_bytes: u32) -> Packet {
        let opcode = Opcode(opcode);
        Packet {
            flow: FlowKey {
                src: [1; 16],
                dst: [2; 16],
                vni: NO_VNI,
                dst_qpn: qpn,
                udp_src_port: 50_000,
                vlan: 0xffff,
                inner_vlan: 0xffff,
                reserved: 0,
            },
            bth: Bth::new(opcode, Qpn::new(qpn), Psn::new(psn)).into(),
            meaning: opcode.meaning(),
            src_qpn: Qpn::new(0),
            syndrome: Syndrome(0),
            msn_or_dma_length: 0,
            frame_bytes: 58 + opcode.extension_bytes() + payload_bytes,
            payload_bytes,
            ttl: 64,
            traffic_class: TrafficClass(0),
            congestion_experienced: false,
            snapped: false,
            truncated: false,
            encapsulation: Encapsulation::None,
            network_at: 14,
            bth_at: 42,
        }
    }

    /// The header with this value of its acknowledge request.
    fn asking(bth: RawBth, ack_request: bool) -> RawBth {
        let bth = bth.unpack();
        Bth { ack_request, ..bth }.into()
    }

    /// Runs of `packets`, one a microsecond, in one set.
    fn runs(config: Config, packets: &[Packet]) -> (Vec<RunRecord>, Counters) {
        let mut set = [Slot::zeroed(); 2];
        let (mut counters, mut published) = (Counters::default(), Vec::new());
        for (index, packet) in packets.iter().enumerate() {
            let clock = FrameTime(1_000 * index as u64);
            observe(
                &mut set,
                packet,
                &at(&clock),
                &clock,
                &config,
                &mut counters,
                &mut published,
            );
        }
        flush(&mut set, None, &mut counters, &mut published, |cut| cut);
        (published, counters)
    }

    /// Windows of a second, nothing marked.
    fn unmarked() -> Config {
        Config {
            mark_mask: u32::MAX,
            ..Config::exact(1_000_000_000)
        }
    }

    #[test]
    fn a_message_is_one_run() {
        let write = [
            packet(0x06, 7, 0x00ff_ffff, MTU),
            packet(0x07, 7, 0, MTU),
            packet(0x08, 7, 1, 10),
            packet(0x0a, 7, 2, 5),
        ];
        let (runs, _) = runs(unmarked(), &write);
        assert_eq!(runs.len(), 1);
        let run = &runs[0];
        assert_eq!((run.first_psn, run.last_psn, run.packets), (0x00ff_ffff, 2, 4));
        assert_eq!((run.messages(), run.payload_bytes()), (2, 2 * 1024 + 15));
        assert_eq!((run.last_offset_ns, run.message_offset_ns), (3_000, 3_000));
    }

    #[test]
    fn what_breaks_a_run() {
        let ack = |psn, syndrome| Packet {
            syndrome: Syndrome(syndrome),
            ..packet(0x11, 7, psn, 0)
        };
        let cuts = |packets: &[Packet]| -> Vec<u8> { runs(unmarked(), packets).0.iter().map(|run| run.cut).collect() };
        let flush = Cut::Flush as u8;
        // A PSN that does not continue; one that repeats.
        assert_eq!(cuts(&[packet(4, 7, 1, 8), packet(4, 7, 3, 8)]), [Cut::Psn as u8, flush]);
        assert_eq!(cuts(&[packet(4, 7, 1, 8), packet(4, 7, 1, 8)]), [Cut::Psn as u8, flush]);
        // Another operation, another suffix, another segment size.
        assert_eq!(
            cuts(&[packet(4, 7, 1, 8), packet(10, 7, 2, 8)]),
            [Cut::Operation as u8, flush]
        );
        assert_eq!(
            cuts(&[packet(4, 7, 1, 8), packet(5, 7, 2, 8)]),
            [Cut::Suffix as u8, flush]
        );
        assert_eq!(
            cuts(&[packet(0, 7, 1, 256), packet(1, 7, 2, 512)]),
            [Cut::Segment as u8, flush]
        );
        // A read request, a NAK and a CNP stand alone; acknowledgements join over holes.
        assert_eq!(cuts(&[packet(12, 7, 1, 0), packet(12, 7, 2, 0)]), [Cut::Solo as u8; 2]);
        assert_eq!(
            cuts(&[ack(1, 0), ack(5, 0x1f), ack(6, 0x60), ack(6, 0)]),
            [Cut::Solo as u8, Cut::Solo as u8, flush]
        );
        assert_eq!(
            cuts(&[packet(0x81, 7, 0, 0), packet(0x81, 7, 0, 0)]),
            [Cut::Solo as u8; 2]
        );
        // Another stream of the same flow takes the other slot, a third the older one.
        assert_eq!(
            cuts(&[packet(4, 7, 1, 8), ack(1, 0), packet(0x10, 7, 9, 8), packet(4, 7, 2, 8)]),
            [Cut::Key as u8, Cut::Key as u8, flush, flush]
        );
    }

    /// An MRC write with the flags of byte 8 of its BTH.
    fn mrc(opcode: u8, psn: u32, flags: u8) -> Packet {
        let bth = Bth {
            reserved7: flags,
            ..Bth::new(Opcode(opcode), Qpn::new(7), Psn::new(psn))
        };
        Packet {
            bth: bth.into(),
            ..packet(opcode, 7, psn, MTU)
        }
    }

    #[test]
    fn a_run_has_one_value_of_the_retransmission_bit() {
        const RETRANSMISSION: u8 = 0x20;
        let write = |flags: [u8; 6]| {
            let opcodes = [0xc6, 0xc7, 0xc7, 0xc7, 0xc7, 0xc8];
            let packets: Vec<Packet> = (1..)
                .zip(opcodes.into_iter().zip(flags))
                .map(|(psn, (opcode, flags))| mrc(opcode, psn, flags))
                .collect();
            let (runs, counters) = runs(unmarked(), &packets);
            assert_eq!(counters.published_packets, 6);
            runs.iter()
                .map(|run| (run.packets, run.is_marked_retransmission()))
                .collect::<Vec<_>>()
        };
        assert_eq!(write([0; 6]), [(6, false)]);
        assert_eq!(write([RETRANSMISSION; 6]), [(6, true)]);
        let some = [0, 0, RETRANSMISSION, RETRANSMISSION, 0, 0];
        assert_eq!(write(some), [(2, false), (2, true), (2, false)]);
        // The bit means that of MRC writes only.
        let rc = Packet {
            bth: mrc(0x07, 2, RETRANSMISSION).bth,
            ..packet(0x07, 7, 2, MTU)
        };
        let (runs, _) = runs(unmarked(), &[packet(0x06, 7, 1, MTU), rc]);
        assert_eq!((runs.len(), runs[0].is_marked_retransmission()), (1, false));
    }

    #[test]
    fn what_mrc_packets_join() {
        let nack = |psn, reason| Packet {
            syndrome: Syndrome(0xff),
            msn_or_dma_length: reason,
            ..packet(0xdd, 7, psn, 0)
        };
        let trimmed = |psn| {
            let mut packet = mrc(0xc7, psn, 0);
            (packet.meaning.stream, packet.payload_bytes) = (Stream::Trimmed, 0);
            packet
        };
        let of = |packets: &[Packet]| -> Vec<(u8, u16)> {
            runs(unmarked(), packets)
                .0
                .iter()
                .map(|run| (run.cut, run.packets))
                .collect()
        };
        let (solo, flush) = (Cut::Solo as u8, Cut::Flush as u8);
        let sack = |psn| packet(0xdc, 7, psn, 0);
        // Selective acknowledgements join as others do; probes stand alone, and so does each NACK, for its reason.
        assert_eq!(of(&[sack(1), sack(5), sack(9)]), [(flush, 3)]);
        assert_eq!(
            of(&[sack(1), packet(0xd1, 7, 2, 0)]),
            [(Cut::Operation as u8, 1), (flush, 1)]
        );
        assert_eq!(of(&[packet(0xde, 7, 1, 0), packet(0xde, 7, 2, 0)]), [(solo, 1); 2]);
        assert_eq!(of(&[nack(4, 1), nack(5, 1)]), [(solo, 1); 2]);
        assert_eq!(runs(unmarked(), &[nack(4, 2)]).0[0].msn_or_dma_length, 2);
        // Trimmed packets have runs of their own, beside those of the packets that arrive.
        let mixed = [mrc(0xc6, 1, 0), trimmed(2), trimmed(3), mrc(0xc7, 4, 0)];
        let (runs, _) = runs(unmarked(), &mixed);
        let of = |run: &RunRecord| (run.stream(), run.packets, run.payload_bytes(), run.messages());
        assert!(
            runs.iter().map(of).any(|run| run == (Stream::Trimmed, 2, 0, 0)),
            "{runs:?}"
        );
    }

    #[test]
    fn a_marked_end_of_message_keeps_its_time() {
        let mut packets = [packet(6, 7, 1, MTU), packet(8, 7, 2, 1), packet(6, 7, 3, MTU)];
        packets[1].bth = asking(packets[1].bth, true);
        let (runs, counters) = runs(Config::exact(1_000_000_000), &packets);
        assert_eq!(runs.len(), 2);
        assert_eq!((runs[0].cut, runs[0].last_ns()), (Cut::Mark as u8, 1_000));
        assert_eq!(runs[0].flags & RunRecord::EXACT_END, RunRecord::EXACT_END);
        assert_eq!(counters.published[Cut::Mark as usize], 1);
    }

    #[test]
    fn a_run_ends_with_its_slice_and_with_time_that_runs_backwards() {
        let config = Config {
            mark_mask: u32::MAX,
            ..Config::exact(10_000)
        };
        let packets: Vec<_> = (0..20).map(|psn| packet(4, 7, psn, 8)).collect();
        // 20 microseconds in slices of one.
        assert_eq!(runs(config, &packets).0.len(), 20);
        let mut set = [Slot::zeroed(); 2];
        let (mut counters, mut published) = (Counters::default(), Vec::new());
        for (psn, time) in [(0, 5_000_000), (1, 4_999_999)] {
            let packet = packet(4, 7, psn, 8);
            let clock = FrameTime(time);
            observe(
                &mut set,
                &packet,
                &at(&clock),
                &clock,
                &unmarked(),
                &mut counters,
                &mut published,
            );
        }
        assert_eq!(published.len(), 1);
    }

    #[test]
    fn a_full_count_starts_a_new_run() {
        let config = Config {
            slice_ns: u64::MAX,
            ..unmarked()
        };
        // PSN 0 is marked under every mask.
        let packets: Vec<_> = (1..70_001).map(|psn| packet(4, 7, psn, 8)).collect();
        let (runs, _) = runs(config, &packets);
        assert_eq!(runs.iter().map(|run| u64::from(run.packets)).sum::<u64>(), 70_000);
        assert_eq!((runs.len(), runs[0].cut), (2, Cut::Count as u8));
    }

    /// Found by fuzzing: the limit of the sum was checked without the packet about to join.
    #[test]
    fn frames_that_claim_any_length_do_not_overflow_a_sum() {
        let lengths = [100, u32::MAX, u32::MAX, 100, 200];
        // PSN 0 is marked under every mask.
        let packets: Vec<Packet> = (1..)
            .zip(lengths)
            .map(|(psn, frame_bytes)| Packet {
                frame_bytes,
                ..packet(0x0a, 7, psn, MTU)
            })
            .collect();
        let (runs, counters) = runs(unmarked(), &packets);
        let frame_bytes: Vec<u32> = runs.iter().map(|run| run.frame_bytes).collect();
        assert_eq!(frame_bytes, [100, u32::MAX, u32::MAX, 300]);
        assert_eq!(counters.published[usize::from(Cut::Count as u8)], 3);
    }

    /// [`observe`] without its first attempt.
    fn observe_without_advance(
        set: &mut Set,
        packet: &Packet,
        clock: &FrameTime,
        config: &Config,
        counters: &mut Counters,
        published: &mut Vec<RunRecord>,
    ) {
        let moment = at(clock);
        let mut step = Step::zeroed();
        if !join(set, packet, &moment, config, |way| way, &mut step) {
            renew(set, &step, packet, &moment, clock, config, counters, published);
        }
    }

    #[test]
    fn exact_packets_keep_their_port() {
        let config = Config {
            key_mask: Config::port_mask(false),
            exact_burst: 3,
            exact_a_tick: 3,
            ..unmarked()
        };
        let mut set = [Slot::zeroed(); 2];
        let (mut counters, mut runs) = (Counters::default(), Vec::new());
        let mut budget = ExactBudget::default();
        for psn in 1..9u32 {
            let mut packet = packet(0x07, 7, psn, MTU);
            packet.flow.udp_src_port = psn as u16;
            let clock = FrameTime(u64::from(psn));
            // All in one tick.
            let moment = Moment::now(&FrameTime(1), 0, &mut budget, &config);
            observe(&mut set, &packet, &moment, &clock, &config, &mut counters, &mut runs);
        }
        flush(&mut set, None, &mut counters, &mut runs, |cut| cut);
        let mut found: Vec<_> = runs
            .iter()
            .map(|run| (run.first_psn, run.flow.udp_src_port, run.packets))
            .collect();
        found.sort_unstable();
        assert_eq!(found, [(1, 1, 1), (2, 2, 1), (3, 3, 6)]);
    }

    proptest! {
        /// The short path for MIDDLEs joins what the rules join, and nothing else.
        #[test]
        fn advance_is_a_shortcut(
            packets in proptest::collection::vec(
                (prop_oneof![4 => Just(0x07u8), 1 => Just(0x06), 1 => Just(0x08), 1 => Just(0x0e), 1 => Just(0x27),
                    1 => Just(0xa7), 1 => any::<u8>()],
                 prop_oneof![9 => Just(7u32), 1 => Just(8)], prop_oneof![9 => Just(1u32), 1 => 0..4u32],
                 prop_oneof![9 => Just(1024u32), 1 => Just(512)], any::<u8>(), prop_oneof![20 => Just(1u64), 1 => 0u64..900_000]),
                0..120,
            ),
            is_port_in_key in any::<bool>(),
        ) {
            let key_mask = Config::port_mask(is_port_in_key);
            let config = Config { mark_mask: 3, key_mask, ..Config::exact(10_000_000) };
            let (mut quick, mut slow) = ([Slot::zeroed(); 2], [Slot::zeroed(); 2]);
            let (mut quick_runs, mut slow_runs) = (Vec::new(), Vec::new());
            let (mut quick_counters, mut slow_counters) = (Counters::default(), Counters::default());
            let (mut psn, mut time) = (0, 1_000_000);
            for (opcode, qpn, step, bytes, flags, wait) in packets {
                psn += step;
                time += wait;
                let mut packet = packet(opcode, qpn, psn, bytes);
                packet.bth = asking(packet.bth, flags & 1 != 0);
                packet.congestion_experienced = flags & 2 != 0;
                packet.snapped = flags & 0xfc == 0;
                packet.frame_bytes += u32::from(flags & 0xf0 == 0x50) * 4;
                packet.flow.udp_src_port += u16::from(flags & 0xc0 == 0xc0) * u16::from(flags);
                packet.ttl -= u8::from(flags & 0xf0 == 0xa0);
                packet.traffic_class.0 += u8::from(flags & 0xf0 == 0xb0) * 4;
                let clock = FrameTime(time);
                observe(&mut quick, &packet, &at(&clock), &clock, &config, &mut quick_counters, &mut quick_runs);
                observe_without_advance(&mut slow, &packet, &clock, &config, &mut slow_counters, &mut slow_runs);
            }
            flush(&mut quick, None, &mut quick_counters, &mut quick_runs, |cut| cut);
            flush(&mut slow, None, &mut slow_counters, &mut slow_runs, |cut| cut);
            prop_assert_eq!(quick_runs, slow_runs);
            prop_assert_eq!(quick_counters, slow_counters);
        }

        /// Without the port in the key, a sender that changes it at every packet gives the runs of one that does not;
        /// with it, each packet is a run.
        #[test]
        fn sprayed_packets_are_one_run_where_the_key_has_no_port(ports in proptest::collection::vec(any::<u16>(), 2..200)) {
            let runs = |is_port_in_key: bool| {
                let config = Config { key_mask: Config::port_mask(is_port_in_key), mark_mask: u32::MAX, ..Config::exact(10_000_000) };
                let mut set = [Slot::zeroed(); 2];
                let (mut counters, mut runs) = (Counters::default(), Vec::new());
                for (psn, port) in (1u32..).zip(&ports) {
                    let mut packet = packet(0x07, 7, psn, 1_024);
                    packet.flow.udp_src_port = *port;
                    let clock = FrameTime(1_000_000 + u64::from(psn));
                    observe(&mut set, &packet, &at(&clock), &clock, &config, &mut counters, &mut runs);
                }
                flush(&mut set, None, &mut counters, &mut runs, |cut| cut);
                runs
            };
            let is_sprayed = ports.windows(2).any(|pair| pair[0] != pair[1]);
            let [run] = &runs(false)[..] else { panic!("more than one run") };
            prop_assert_eq!(usize::from(run.packets), ports.len());
            prop_assert_eq!(run.flow.udp_src_port, ports[0]);
            prop_assert_eq!(run.flags & RunRecord::PORTS_DIFFER != 0, is_sprayed);
            let changes = ports.windows(2).filter(|pair| pair[0] != pair[1]).count();
            prop_assert!(runs(true).len() > changes);
            prop_assert!(runs(true).iter().all(|run| run.flags & RunRecord::PORTS_DIFFER == 0));
        }

        /// A sender that goes back repeats PSNs, and what it repeats is not in the run before: two passes are in one run only
        /// where the tap missed the end of the first from exactly there on, so that no PSN is in the run twice.
        #[test]
        fn a_run_holds_one_pass_of_the_sender(
            passes in proptest::collection::vec((0u32..40, 1u32..60, any::<u64>()), 1..12),
            is_lossy in any::<bool>(),
            start in prop_oneof![Just(0u32), Just(0xff_fff0u32), 0..1u32 << 24],
            message in 1u32..20,
            is_port_in_key in any::<bool>(),
            mark_mask in prop_oneof![Just(0u32), Just(15), Just(u32::MAX)],
        ) {
            let key_mask = Config::port_mask(is_port_in_key);
            let config = Config { key_mask, mark_mask, ..Config::exact(10_000_000_000) };
            let mut set = [Slot::zeroed(); 2];
            let (mut counters, mut runs) = (Counters::default(), Vec::new());
            // The pass and the number of each packet that the tap saw.
            let mut seen: Vec<(usize, u32)> = Vec::new();
            let (mut next, mut time) = (0u32, 1_000_000u64);
            for (number, (back, length, losses)) in passes.into_iter().enumerate() {
                let first = next.saturating_sub(back + 1);
                for at in first..first + length {
                    time += 1_000;
                    if is_lossy && losses >> (at % 64) & 3 == 0 {
                        continue;
                    }
                    let opcode = match (at % message, message) {
                        (_, 1) => 0x0a,
                        (0, _) => 0x06,
                        (place, _) if place + 1 == message => 0x08,
                        _ => 0x07,
                    };
                    let mut packet = packet(opcode, 7, (start + at) & 0xff_ffff, 1_024);
                    packet.flow.udp_src_port = if is_port_in_key { 49_152 } else { 49_152 + (at % 5) as u16 };
                    let clock = FrameTime(time);
                    observe(&mut set, &packet, &Moment::now(&clock, 0, &mut ExactBudget::default(), &config), &clock, &config,
                        &mut counters, &mut runs);
                    seen.push((number, at));
                }
                next = first + length;
            }
            flush(&mut set, None, &mut counters, &mut runs, |cut| cut);
            let mut rest = &seen[..];
            for run in &runs {
                let (packets, others) = rest.split_at(usize::from(run.packets));
                rest = others;
                prop_assert_eq!(run.first_psn, (start + packets[0].1) & 0xff_ffff);
                for pair in packets.windows(2) {
                    let [(one, before), (other, after)] = pair else { unreachable!() };
                    prop_assert_eq!(before + 1, *after);
                    prop_assert!(one == other || is_lossy);
                }
            }
            prop_assert!(rest.is_empty());
        }

        /// The invariant of the crate: opcode totals follow exactly from the published runs.
        #[test]
        fn runs_sum_up_to_the_packets(
            packets in proptest::collection::vec(
                (any::<u8>(), 0..3u32, 0..4u32, prop_oneof![Just(256u32), Just(1024), 0..64u32],
                 any::<bool>(), any::<bool>()),
                0..200,
            ),
            mark_mask in prop_oneof![Just(0u32), Just(15), Just(u32::MAX)],
        ) {
            let packets: Vec<_> = packets
                .into_iter()
                .scan(0u32, |psn, (opcode, qpn, step, bytes, ack_request, padded)| {
                    *psn += step;
                    let mut packet = packet(opcode, qpn, *psn, bytes);
                    packet.bth = asking(packet.bth, ack_request);
                    packet.frame_bytes += u32::from(padded) * 4;
                    Some(packet)
                })
                .collect();
            let mut expected = BTreeMap::<Opcode, OpcodeTotals>::new();
            let mut counters_of_packets = Counters::default();
            for packet in &packets {
                counters_of_packets.count(&rocescope_wire::Class::Roce(packet), 0);
                expected.entry(packet.bth.opcode()).or_default().add(OpcodeTotals {
                    packets: 1,
                    frame_bytes: u64::from(packet.frame_bytes),
                    payload_bytes: u64::from(packet.payload_bytes),
                });
            }
            let config = Config { mark_mask, ..unmarked() };
            let (runs, counters) = runs(config, &packets);
            let mut sums = BTreeMap::<Opcode, OpcodeTotals>::new();
            for (opcode, totals) in runs.iter().flat_map(RunRecord::opcodes) {
                sums.entry(opcode).or_default().add(totals);
            }
            prop_assert_eq!(&sums, &expected);
            prop_assert_eq!(counters.published_packets, packets.len() as u64);
            for (opcode, totals) in &expected {
                prop_assert_eq!(&counters_of_packets.opcodes[usize::from(opcode.0)], totals);
            }
            for run in &runs {
                let payload: u64 = run.opcodes().map(|(_, totals)| totals.payload_bytes).sum();
                prop_assert_eq!(run.payload_bytes(), payload);
            }
        }
    }
}
