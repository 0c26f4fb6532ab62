//! An open run: which packets continue it, and what ends it.

use crate::cache::{Sink, Step};
use crate::config::Config;
use crate::counters::Counters;
use crate::moment::{Clock, Moment};
use crate::run::{Cut, RunRecord};
use bytemuck::{Pod, Zeroable};
use core::sync::atomic::{Ordering, compiler_fence};
use rocescope_wire::{FlowKey, Operation, Packet, Position, Stream};

/// An open run.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Slot {
    /// The run so far; without packets the slot is free.
    pub run: RunRecord,
    /// Tick of its first packet.
    first_tick: u64,
    /// Tick of its last packet: a full set evicts the older run.
    pub(crate) last_tick: u64,
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

/// A run ends before any of its sums or counts can overflow.
const MOST_PACKETS: u16 = u16::MAX;
const MOST_BYTES: u32 = 1 << 31;

impl Slot {
    /// Joins a MIDDLE of a message to a run whose last packet was one too, and returns whether it did: what
    /// [`obstacle`](Self::obstacle) and [`join`](Self::join) do with the most frequent packets, in few
    /// enough words for the registers of BPF.
    #[inline(always)]
    pub(crate) fn advance(&mut self, packet: &Packet, moment: &Moment, config: &Config) -> bool {
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
    pub(crate) fn consider(&mut self, packet: &Packet, moment: &Moment, config: &Config, step: &mut Step) -> bool {
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
    pub(crate) fn is_of(&self, packet: &Packet, moment: &Moment, config: &Config) -> bool {
        self.run.packets != 0
            && is_same(&self.run.flow, &packet.flow, moment.key_mask(config))
            && self.run.stream == packet.meaning.stream as u8
            && self.run.ttl == packet.ttl
            && self.run.interface == moment.interface
            && self.run.src_qpn == packet.src_qpn.get()
    }

    /// Whether the slice of the run is over. Time that runs backwards ends it too.
    #[inline(always)]
    pub(crate) fn is_over(&self, tick: u64) -> bool {
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
    pub(crate) fn start<C: Clock>(&mut self, packet: &Packet, moment: &Moment, clock: &C, config: &Config) {
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
    pub(crate) fn finish<C: Clock>(&mut self, packet: &Packet, clock: &C) {
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
    pub(crate) fn publish<S: Sink>(&mut self, cut: u32, counters: &mut Counters, sink: &mut S) {
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

/// Whether the exact time of the packet is recorded though its run goes on: while the CPU can afford it; and that of an
/// acknowledgement, which settles what came before it, so it must not seem earlier than it was.
#[inline(always)]
pub(crate) fn is_timed(packet: &Packet, moment: &Moment) -> bool {
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
