//! Exact counts of frames by class and of runs by end, one block for each CPU.

use crate::run::{Cut, OpcodeTotals};
use bytemuck::{Pod, Zeroable};
use core::mem::{offset_of, size_of};
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::uet::Kind;
use rocescope_wire::{Class, Foreign, Inner, Malformed, NotRoce, Opcode, Packet};

/// Space for reasons: a power of two, so that an index can be masked for the verifier.
const REASONS: usize = 16;

/// Counts since the capture began.
///
/// The identity at the end of every capture (see [`frames_accounted`](Self::frames_accounted)):
/// frames = RoCE + not RoCE + malformed + fragments + filtered + snapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Counters {
    /// Frames seen.
    pub frames: u64,
    /// Frames that are RoCEv2.
    pub roce_packets: u64,
    /// Frames that are something else, by [`NotRoce`].
    pub not_roce: [u64; REASONS],
    /// Frames that are damaged, by [`Malformed`].
    pub malformed: [u64; REASONS],
    /// Pieces of fragmented UDP packets.
    pub fragments: u64,
    /// RoCEv2 packets that the configuration rejected: see [`PacketFilter`](crate::PacketFilter).
    pub filtered: u64,
    /// Frames that the capture truncated before they could be classified.
    pub snapped: u64,
    /// RoCEv2 packets whose extension headers or payload the capture truncated; they count as RoCEv2.
    pub snapped_packets: u64,
    /// RoCEv2 packets that a mirror truncated; they count as RoCEv2.
    pub truncated_packets: u64,
    /// Bytes of those that arrived, from the Ethernet header: by `truncated_packets` the length at which it cuts.
    pub truncated_arrived_bytes: u64,
    /// Frames for which Linux has no protocol, whatever they are: those that XDP passes count there as dropped by the
    /// interface.
    pub unhandled_frames: u64,
    /// RoCEv2 packets whose payload a switch cut, because its queue was full; they count as RoCEv2.
    pub trimmed_packets: u64,
    /// Frames by the [`Encapsulation`] of the mirror.
    pub encapsulated: [u64; REASONS],
    /// Published runs by [`Cut`].
    pub published: [u64; REASONS],
    /// RoCEv2 packets in published runs: all that are no longer in the cache.
    pub published_packets: u64,
    /// Published runs that found the ring full.
    pub lost_runs: u64,
    /// RoCEv2 packets in those.
    pub lost_packets: u64,
    /// CM datagrams lost to a full ring, so that connection tracking misses them. They are still counted as
    /// RoCEv2 packets in runs.
    pub lost_mads: u64,
    /// TCP segments of handshakes, likewise.
    pub lost_segments: u64,
    /// UET packets by [`Kind`]; they also count as not RoCEv2.
    pub uet: [u64; Kind::COUNT],
    /// Of those the ones without a [`UetRecord`](crate::UetRecord), because they are encrypted, or the capture cut their
    /// headers.
    pub uet_unread: u64,
    /// Those that the configuration rejected.
    pub uet_filtered: u64,
    /// Those whose record found the ring full.
    pub lost_uet: u64,
    /// Frames with a sequence number of their mirror, whatever they carry.
    pub mirrored_frames: u64,
    /// Frames that mirrors numbered and that never arrived: see [`mirror`](crate::mirror). Not part of
    /// `frames`. The reader of the counters of all CPUs computes it, not the kernel's program.
    pub mirror_lost: u64,
    /// Numbered frames of sessions beyond the limit.
    pub mirror_unfollowed: u64,
    /// The sums of each opcode.
    pub opcodes: [OpcodeTotals; 256],
    /// What the frames are that are not RoCEv2.
    pub foreign: [ForeignCount; FOREIGN],
}

/// What a mirror leaves of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutLength {
    /// Bytes from the Ethernet header.
    pub bytes: u64,
    /// They are the mean of several lengths.
    pub is_mean: bool,
}

impl core::fmt::Display for CutLength {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mean = if self.is_mean { " on average" } else { "" };
        write!(out, "{} bytes{mean}", self.bytes)
    }
}

/// Slots for protocols, a power of two.
const FOREIGN: usize = 1 << FOREIGN_BITS;
const FOREIGN_BITS: u32 = 5;

/// Frames of one protocol. Those of another one with the same slot vote it out, so the frames of a frequent protocol are a
/// lower bound, and those of a rare one may be missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct ForeignCount {
    /// The protocol.
    pub protocol: Foreign,
    reserved: u32,
    /// Its frames.
    pub frames: u64,
}

impl ForeignCount {
    /// Counts a frame.
    #[inline(always)]
    fn count(&mut self, protocol: Foreign) {
        if self.protocol == protocol {
            self.frames += 1;
        } else if self.frames == 0 {
            self.protocol = protocol;
            self.frames = 1;
        } else {
            self.vote_out(1);
        }
    }

    #[inline(always)]
    const fn vote_out(&mut self, votes: u64) {
        self.frames -= votes;
        if self.frames == 0 {
            self.protocol = Foreign::NONE;
        }
    }

    /// Adds the count of another CPU.
    fn add(&mut self, other: &Self) {
        if self.protocol == other.protocol {
            self.frames += other.frames;
        } else if other.frames > self.frames {
            *self = Self {
                frames: other.frames - self.frames,
                ..*other
            };
        } else {
            self.vote_out(other.frames);
        }
    }

    /// The count since `earlier`.
    const fn since(self, earlier: Self) -> Self {
        let before = if self.protocol.is(earlier.protocol) {
            earlier.frames
        } else {
            0
        };
        Self {
            frames: self.frames.saturating_sub(before),
            ..self
        }
    }
}

/// Bytes of private state of the kernel's program after the counters of a CPU, in the same map entry:
/// saves a lookup at each packet.
pub const STATE_BYTES: usize = 6_144;

const _: () = assert!(
    NotRoce::NAMES.len() <= REASONS
        && Malformed::NAMES.len() <= REASONS
        && Encapsulation::COUNT <= REASONS
        && Cut::COUNT <= REASONS
);

/// More than the words before the opcodes, a power of two.
const INDICES: usize = 256;

const _: () = assert!(INDICES * 8 <= size_of::<Counters>() && offset_of!(Counters, opcodes) / 8 <= INDICES);

/// The counters of a frame that is not a RoCEv2 packet. The kernel's program keeps both numbers in
/// memory: its verifier must not know their values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct CounterIndex {
    /// The word of [`Counters`].
    pub word: u16,
    /// [`Encapsulation`] around it.
    pub encapsulation: u8,
    /// One more than the [`Kind`] of a UET packet, else 0.
    pub uet: u8,
}

impl CounterIndex {
    /// The counters of a frame of this class. RoCEv2 packets go to
    /// [`Counters::count_roce`].
    #[must_use]
    #[inline(always)]
    pub fn of(class: &Class<&Packet>) -> Self {
        let (offset, reason, encapsulation) = match class {
            Class::Roce(packet) => (offset_of!(Counters, roce_packets), 0, packet.encapsulation),
            Class::NotRoce(reason, outer) => (offset_of!(Counters, not_roce), *reason as u8, *outer),
            Class::Malformed(reason, outer) => (offset_of!(Counters, malformed), *reason as u8, *outer),
            Class::Fragment(outer) => (offset_of!(Counters, fragments), 0, *outer),
            Class::Snapped(outer) => (offset_of!(Counters, snapped), 0, *outer),
        };
        Self {
            word: (offset / size_of::<u64>()) as u16 + u16::from(reason),
            encapsulation: encapsulation as u8,
            uet: 0,
        }
    }

    /// The same with the [`Kind`] of a UET packet.
    #[must_use]
    #[inline(always)]
    pub const fn with_uet(self, class: &Class<&Packet>, uet: u8) -> Self {
        let is_uet = matches!(class, Class::NotRoce(NotRoce::Uet, _));
        Self {
            uet: if is_uet { uet + 1 } else { 0 },
            ..self
        }
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self::zeroed()
    }
}

impl Counters {
    /// Counts a frame by its class, that of a UET packet with its [`Kind`].
    #[inline(always)]
    pub fn count(&mut self, class: &Class<&Packet>, uet: u8) {
        match class {
            Class::Roce(packet) => self.count_roce(packet),
            other => self.count_other(CounterIndex::of(other).with_uet(other, uet)),
        }
    }

    /// Counts a RoCEv2 packet.
    #[inline(always)]
    pub fn count_roce(&mut self, packet: &Packet) {
        self.frames += 1;
        self.roce_packets += 1;
        self.snapped_packets += u64::from(packet.snapped);
        self.opcodes[usize::from(packet.bth.opcode().0)].add(OpcodeTotals {
            packets: 1,
            frame_bytes: u64::from(packet.frame_bytes),
            payload_bytes: u64::from(packet.payload_bytes),
        });
        self.count_encapsulation(packet.encapsulation as u8);
    }

    /// Counts a packet as trimmed or truncated if it is. Apart from [`count_roce`](Self::count_roce), because the straight
    /// path of the kernel has none of them.
    #[inline(always)]
    pub const fn count_cut(&mut self, packet: &Packet, inner: &Inner) {
        self.trimmed_packets += packet.is_trimmed() as u64;
        if packet.truncated {
            self.truncated_packets += 1;
            self.truncated_arrived_bytes += inner.arrived_bytes() as u64;
        }
    }

    /// Counts a frame as unhandled if it is, whatever its class.
    #[inline(always)]
    pub const fn count_unhandled(&mut self, inner: &Inner) {
        self.unhandled_frames += inner.is_unhandled as u64;
    }

    /// Counts the protocol of a frame that is not a RoCEv2 packet, if it is known.
    #[inline(always)]
    pub fn count_foreign(&mut self, protocol: Foreign) {
        if protocol.is_none() {
            return;
        }
        if let Some(slot) = self
            .foreign
            .get_mut(protocol.hash(FOREIGN_BITS) as usize & (FOREIGN - 1))
        {
            slot.count(protocol);
        }
    }

    /// Counts a rejected RoCEv2 packet: it is in no run and in no other count.
    #[inline(always)]
    pub const fn count_filtered(&mut self, packet: &Packet) {
        self.frames += 1;
        self.filtered += 1;
        self.count_encapsulation(packet.encapsulation as u8);
    }

    /// Counts a frame that is not a RoCEv2 packet.
    #[inline(always)]
    pub fn count_other(&mut self, index: CounterIndex) {
        self.frames += 1;
        let words: &mut [u64] = bytemuck::cast_slice_mut(core::slice::from_mut(self));
        if let Some(word) = words.get_mut(usize::from(index.word) & (INDICES - 1)) {
            *word += 1;
        }
        if index.uet != 0
            && let Some(count) = self.uet.get_mut(usize::from(index.uet - 1) & (Kind::COUNT - 1))
        {
            *count += 1;
        }
        self.count_encapsulation(index.encapsulation);
    }

    #[inline(always)]
    const fn count_encapsulation(&mut self, encapsulation: u8) {
        if encapsulation != Encapsulation::None as u8 {
            self.encapsulated[encapsulation as usize & (REASONS - 1)] += 1;
        }
    }

    /// Frames that are not RoCEv2.
    #[must_use]
    pub fn not_roce(&self) -> u64 {
        self.not_roce.iter().sum()
    }

    /// UET packets whose kind is one of these.
    #[must_use]
    pub fn uet_packets(&self, is_counted: impl Fn(Kind) -> bool) -> u64 {
        let kinds = (0..Kind::COUNT as u8).map(Kind::from_number).zip(self.uet);
        kinds
            .filter(|(kind, _)| is_counted(*kind))
            .map(|(_, packets)| packets)
            .sum()
    }

    /// UET packets whose records reached user space.
    #[must_use]
    pub fn delivered_uet(&self) -> u64 {
        let all: u64 = self.uet.iter().sum();
        all.saturating_sub(self.uet_unread + self.uet_filtered + self.lost_uet)
    }

    /// Frames that are damaged.
    #[must_use]
    pub fn malformed(&self) -> u64 {
        self.malformed.iter().sum()
    }

    /// Packets whose opcode the specification does not define.
    #[must_use]
    pub fn unknown_opcode_packets(&self) -> u64 {
        (0..=255u8)
            .zip(&self.opcodes)
            .filter(|(number, _)| !Opcode(*number).is_known())
            .map(|(_, totals)| totals.packets)
            .sum()
    }

    /// RoCEv2 packets in runs that reached user space.
    #[must_use]
    pub const fn delivered_packets(&self) -> u64 {
        self.published_packets.saturating_sub(self.lost_packets)
    }

    /// The right side of the identity: equals [`frames`](Self::frames).
    #[must_use]
    pub fn frames_accounted(&self) -> u64 {
        self.roce_packets + self.not_roce() + self.malformed() + self.fragments + self.filtered + self.snapped
    }

    /// The length to which mirrors cut frames; `None` if none was cut.
    #[must_use]
    pub const fn truncated_length(&self) -> Option<CutLength> {
        let Some(bytes) = self.truncated_arrived_bytes.checked_div(self.truncated_packets) else {
            return None;
        };
        Some(CutLength {
            bytes,
            is_mean: self.truncated_arrived_bytes != bytes * self.truncated_packets,
        })
    }

    /// The protocols of frames that are not RoCEv2, the most frequent first.
    pub fn foreign_protocols(&self) -> impl Iterator<Item = (Foreign, u64)> {
        let mut all = self.foreign;
        all.sort_unstable_by_key(|slot| (core::cmp::Reverse(slot.frames), slot.protocol));
        all.into_iter()
            .filter(|slot| slot.frames > 0)
            .map(|slot| (slot.protocol, slot.frames))
    }

    /// All counts in the order of the fields.
    fn words(&self) -> &[u64] {
        bytemuck::cast_slice(core::slice::from_ref(self))
    }

    /// Adds the counts of another CPU.
    pub fn add(&mut self, other: &Self) {
        let mut foreign = self.foreign;
        for (slot, more) in foreign.iter_mut().zip(&other.foreign) {
            slot.add(more);
        }
        let words: &mut [u64] = bytemuck::cast_slice_mut(core::slice::from_mut(self));
        for (sum, count) in words.iter_mut().zip(other.words()) {
            *sum = sum.wrapping_add(*count);
        }
        self.foreign = foreign;
    }

    /// The counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut delta = *self;
        let words: &mut [u64] = bytemuck::cast_slice_mut(core::slice::from_mut(&mut delta));
        for (count, before) in words.iter_mut().zip(earlier.words()) {
            *count = count.wrapping_sub(*before);
        }
        for ((slot, now), before) in delta.foreign.iter_mut().zip(self.foreign).zip(earlier.foreign) {
            *slot = now.since(before);
        }
        delta
    }
}

#[cfg(test)]
mod tests {
    use super::Counters;
    use rocescope_wire::Foreign;

    /// Frequent protocols are named whatever else passes, and CPUs and times add up.
    #[test]
    fn the_frequent_protocols_are_named() {
        let (gre, lldp) = (Foreign::gre(0x1234), Foreign::ethertype(0x88cc));
        let mut one = Counters::default();
        for number in 0..6_000u16 {
            one.count_foreign(if number % 3 == 0 { Foreign::udp(number) } else { gre });
            one.count_foreign(lldp);
        }
        let earlier = one;
        one.count_foreign(gre);
        let named: std::vec::Vec<_> = one.foreign_protocols().take(2).collect();
        assert_eq!((named[0].0, named[1].0), (lldp, gre));
        // Others share the slots: the counts are lower bounds.
        assert!(named[0].1 > 5_500 && named[0].1 <= 6_000, "{named:?}");
        assert!(named[1].1 > 3_500 && named[1].1 <= 4_001, "{named:?}");
        let since: std::vec::Vec<_> = one.since(&earlier).foreign_protocols().collect();
        assert_eq!(since, [(gre, 1)]);
        let mut both = Counters::default();
        both.add(&one);
        both.add(&one);
        assert_eq!(both.foreign_protocols().next(), Some((lldp, 2 * named[0].1)));
        one.count_foreign(Foreign::NONE);
        assert_eq!(
            one.foreign_protocols().take(2).collect::<std::vec::Vec<_>>()[1].1,
            named[1].1
        );
    }
}
