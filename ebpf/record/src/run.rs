//! The run record: packets of one stream of one flow with consecutive PSNs.

use bytemuck::{Pod, Zeroable};
use rocescope_wire::extension::Syndrome;
use rocescope_wire::{FlowKey, Opcode, Position, Psn, Stream, Suffix, TrafficClass};

/// Packets of one stream of one flow with consecutive PSNs, in two cache lines.
///
/// A run holds one operation, at most one kind of ending suffix, and FIRST and MIDDLE packets of
/// one size. Therefore the packets, frame bytes and payload bytes of every opcode follow exactly
/// from its sums: see [`opcodes`](Self::opcodes).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct RunRecord {
    /// The flow.
    pub flow: FlowKey,
    /// Time of the first packet, nanoseconds since the epoch.
    pub first_ns: u64,
    /// Index of the interface that saw it.
    pub interface: u32,
    /// Source queue pair of datagrams, else 0.
    pub src_qpn: u32,
    /// PSN of the first packet.
    pub first_psn: u32,
    /// PSN of the last packet.
    pub last_psn: u32,
    /// Bytes on the wire, all packets.
    pub frame_bytes: u32,
    /// Bytes on the wire of LAST packets.
    pub last_frame_bytes: u32,
    /// Bytes on the wire of ONLY packets.
    pub only_frame_bytes: u32,
    /// Payload of LAST packets, bytes.
    pub last_payload_bytes: u32,
    /// Payload of ONLY packets, bytes.
    pub only_payload_bytes: u32,
    /// Time from the first to the last packet, nanoseconds.
    pub last_offset_ns: u32,
    /// Time from the first packet to the start of the last message, nanoseconds.
    pub message_offset_ns: u32,
    /// Last MSN with an AETH, last DMALen in bytes with a RETH, reason of an MRC NACK.
    pub msn_or_dma_length: u32,
    /// The number of packets.
    pub packets: u16,
    /// FIRST packets.
    pub first: u16,
    /// LAST packets.
    pub last: u16,
    /// ONLY packets.
    pub only: u16,
    /// Packets with ECN congestion experienced.
    pub congestion_experienced: u16,
    /// Payload of each FIRST and MIDDLE packet in bytes, the observed path MTU; 0 if there is none.
    pub segment_bytes: u16,
    /// Opcode of the first packet.
    pub opcode: u8,
    /// [`Suffix`] of LAST and ONLY packets.
    pub suffix: u8,
    /// [`Stream`].
    pub stream: u8,
    /// TTL or hop limit.
    pub ttl: u8,
    /// Syndrome of the last AETH.
    pub syndrome: u8,
    /// [`Self::ACK_REQUESTED`] and the like.
    pub flags: u8,
    /// [`Cut`]: why the run ended.
    pub cut: u8,
    /// [`Encapsulation`](rocescope_wire::tunnel::Encapsulation) around the frames.
    pub encapsulation: u8,
    /// [`TrafficClass`] of all packets.
    pub traffic_class: u8,
    /// Always 0.
    pub reserved: [u8; 3],
}

const _: () = {
    use core::mem::{align_of, offset_of, size_of};
    assert!(size_of::<RunRecord>() == 128 && align_of::<RunRecord>() == 8);
    assert!(offset_of!(RunRecord, first_ns) == 48);
    assert!(offset_of!(RunRecord, first_psn) == 64);
    assert!(offset_of!(RunRecord, packets) == 104);
    assert!(offset_of!(RunRecord, opcode) == 116);
};

/// Why a run ended. Records and counters use the numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Cut {
    /// Another flow took its slot.
    Key = 0,
    /// The PSN did not continue.
    Psn = 1,
    /// The operation changed, or whether its sender marks it as a retransmission.
    Operation = 2,
    /// A LAST or ONLY with another suffix.
    Suffix = 3,
    /// A FIRST or MIDDLE of another size.
    Segment = 4,
    /// A marked packet, whose exact time is recorded.
    Mark = 5,
    /// A packet that never joins: CNP, NAK, RNR, READ request, probe, unknown opcode.
    Solo = 6,
    /// Its time slice ended.
    Slice = 7,
    /// A count or sum is near its limit.
    Count = 8,
    /// The capture ended.
    Flush = 9,
    /// Another DSCP or ECN capability.
    Class = 10,
}

impl Cut {
    /// The number of reasons.
    pub const COUNT: usize = 11;

    /// The name of each reason, in the order of their numbers.
    pub const NAMES: [&str; Self::COUNT] = [
        "key",
        "psn",
        "operation",
        "suffix",
        "segment",
        "mark",
        "solo",
        "slice",
        "count",
        "flush",
        "class",
    ];
}

/// What one opcode sums up to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct OpcodeTotals {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub frame_bytes: u64,
    /// Payload bytes.
    pub payload_bytes: u64,
}

impl OpcodeTotals {
    /// Adds `other` to this.
    #[inline(always)]
    pub fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.frame_bytes += other.frame_bytes;
        self.payload_bytes += other.payload_bytes;
    }
}

impl RunRecord {
    /// The last packet asked for an acknowledgement.
    pub const ACK_REQUESTED: u8 = 1;
    /// The time of the last packet is exact, whatever the tick of the clock.
    pub const EXACT_END: u8 = 2;
    /// Some packet carried BECN.
    pub const BECN: u8 = 4;
    /// Some packet carried the solicited event bit.
    pub const SOLICITED: u8 = 8;
    /// Some packet was cut by the capture or the mirror.
    pub const CUT_SHORT: u8 = 16;
    /// Some packet had another UDP source port than the first.
    pub const PORTS_DIFFER: u8 = 32;
    /// Its sender marked all packets as retransmissions, as only MRC does.
    pub const MARKED_RETRANSMISSION: u8 = 64;

    /// Opcode of the first packet.
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        Opcode(self.opcode)
    }

    /// Whether its sender marked all packets as retransmissions.
    #[must_use]
    pub const fn is_marked_retransmission(&self) -> bool {
        self.flags & Self::MARKED_RETRANSMISSION != 0
    }

    /// Its PSN space.
    #[must_use]
    pub const fn stream(&self) -> Stream {
        Stream::from_number(self.stream)
    }

    /// PSN of the first packet.
    #[must_use]
    pub const fn first_psn(&self) -> Psn {
        Psn::new(self.first_psn)
    }

    /// PSN of the last packet.
    #[must_use]
    pub const fn last_psn(&self) -> Psn {
        Psn::new(self.last_psn)
    }

    /// Syndrome of the last AETH.
    #[must_use]
    pub const fn syndrome(&self) -> Syndrome {
        Syndrome(self.syndrome)
    }

    /// DSCP and ECN capability of all packets.
    #[must_use]
    pub const fn traffic_class(&self) -> TrafficClass {
        TrafficClass(self.traffic_class)
    }

    /// Time of the last packet, nanoseconds since the epoch.
    #[must_use]
    pub const fn last_ns(&self) -> u64 {
        self.first_ns.saturating_add(self.last_offset_ns as u64)
    }

    /// MIDDLE packets.
    #[must_use]
    pub const fn middle(&self) -> u16 {
        self.packets
            .saturating_sub(self.first)
            .saturating_sub(self.last)
            .saturating_sub(self.only)
    }

    /// Messages that end in this run: LAST and ONLY packets of operations that have messages. None ends with a trimmed
    /// packet.
    #[must_use]
    pub fn messages(&self) -> u64 {
        let is_delivered = self.stream != Stream::Trimmed as u8;
        if is_delivered && self.opcode().at(Position::Only, Suffix::None).ends_message() {
            u64::from(self.last) + u64::from(self.only)
        } else {
            0
        }
    }

    /// Payload bytes of all packets.
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        u64::from(self.packets.saturating_sub(self.last).saturating_sub(self.only)) * u64::from(self.segment_bytes)
            + u64::from(self.last_payload_bytes)
            + u64::from(self.only_payload_bytes)
    }

    /// What each opcode sums up to, in the order FIRST, MIDDLE, LAST, ONLY; an opcode without
    /// packets is left out.
    ///
    /// FIRST and MIDDLE packets share one size of payload and one overhead below the extension
    /// headers, so their frame bytes come apart by the size of their extension headers alone.
    pub fn opcodes(&self) -> impl Iterator<Item = (Opcode, OpcodeTotals)> + use<> {
        let suffix = match self.suffix {
            0 => Suffix::None,
            1 => Suffix::Immediate,
            _ => Suffix::Invalidate,
        };
        let [first, middle, last, only] = [
            self.opcode().at(Position::First, Suffix::None),
            self.opcode().at(Position::Middle, Suffix::None),
            self.opcode().at(Position::Last, suffix),
            self.opcode().at(Position::Only, suffix),
        ];
        let (firsts, middles) = (u64::from(self.first), u64::from(self.middle()));
        let segments_frame_bytes = u64::from(self.frame_bytes)
            .saturating_sub(u64::from(self.last_frame_bytes))
            .saturating_sub(u64::from(self.only_frame_bytes));
        let extension_bytes =
            firsts * u64::from(first.extension_bytes()) + middles * u64::from(middle.extension_bytes());
        let bare_bytes = segments_frame_bytes
            .saturating_sub(extension_bytes)
            .checked_div(firsts + middles)
            .unwrap_or(0);
        let segment = |opcode: Opcode, packets: u64| {
            let frame_bytes = packets * (bare_bytes + u64::from(opcode.extension_bytes()));
            let payload_bytes = packets * u64::from(self.segment_bytes);
            (
                opcode,
                OpcodeTotals {
                    packets,
                    frame_bytes,
                    payload_bytes,
                },
            )
        };
        let end = |opcode: Opcode, packets: u16, frame_bytes: u32, payload_bytes: u32| {
            let totals = OpcodeTotals {
                packets: u64::from(packets),
                frame_bytes: u64::from(frame_bytes),
                payload_bytes: u64::from(payload_bytes),
            };
            (opcode, totals)
        };
        [
            segment(first, firsts),
            segment(middle, middles),
            end(last, self.last, self.last_frame_bytes, self.last_payload_bytes),
            end(only, self.only, self.only_frame_bytes, self.only_payload_bytes),
        ]
        .into_iter()
        .filter(|(_, totals)| totals.packets > 0)
    }
}
