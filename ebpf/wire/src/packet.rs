//! What is known of a RoCEv2 packet: its flow, its lengths, its headers.

use bytemuck::{Pod, Zeroable};

use crate::bth::Bth;
use crate::extension::Syndrome;
use crate::number::{Psn, Qpn};
use crate::opcode::{self, Meaning, Opcode, Stream};
use crate::tunnel::Encapsulation;

/// What tells one flow from another, one way: 48 bytes, the same in the kernel, in records and
/// under the hash.
///
/// The source QPN is not on an RC or UC wire, so it is no part of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct FlowKey {
    /// Source address; IPv4 as an IPv4-mapped IPv6 address.
    pub src: [u8; 16],
    /// Destination address, likewise.
    pub dst: [u8; 16],
    /// VXLAN network identifier, [`NO_VNI`](crate::tunnel::NO_VNI) where there is none.
    pub vni: u32,
    /// Destination queue pair, 24 bits.
    pub dst_qpn: u32,
    /// UDP source port, in host order.
    pub udp_src_port: u16,
    /// VLAN id of the outer tag, [`NO_VLAN`](crate::link::NO_VLAN) where there is none.
    pub vlan: u16,
    /// VLAN id of the inner tag of QinQ.
    pub inner_vlan: u16,
    /// Always 0.
    pub reserved: u16,
}

impl FlowKey {
    /// The key as the six words of [`words`](Self::words), each little-endian whatever the machine.
    ///
    /// It is written in the words that are compared and hashed right after: a processor that has
    /// to put a word together from smaller stores stands still meanwhile.
    #[inline(always)]
    pub(crate) fn words_mut(&mut self) -> &mut [u64; 6] {
        bytemuck::cast_mut(self)
    }

    /// The key as six 64-bit words, little-endian, in the order of its fields: what is hashed.
    #[must_use]
    #[inline(always)]
    pub const fn words(&self) -> [u64; 6] {
        const fn word(bytes: &[u8; 16], at: usize) -> u64 {
            u64::from_le_bytes([
                bytes[at],
                bytes[at + 1],
                bytes[at + 2],
                bytes[at + 3],
                bytes[at + 4],
                bytes[at + 5],
                bytes[at + 6],
                bytes[at + 7],
            ])
        }
        [
            word(&self.src, 0),
            word(&self.src, 8),
            word(&self.dst, 0),
            word(&self.dst, 8),
            self.vni as u64 | (self.dst_qpn as u64) << 32,
            self.udp_src_port as u64
                | (self.vlan as u64) << 16
                | (self.inner_vlan as u64) << 32
                | (self.reserved as u64) << 48,
        ]
    }
}

/// How long a frame was on the wire, and how much of it was kept, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameLengths {
    /// Bytes that can be read.
    pub captured: u32,
    /// Bytes on the wire.
    pub original: u32,
}

impl FrameLengths {
    /// A frame that was kept whole.
    #[must_use]
    pub const fn whole(bytes: u32) -> Self {
        Self {
            captured: bytes,
            original: bytes,
        }
    }
}

/// A RoCEv2 packet, read down to the headers behind the BTH.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Which flow it belongs to.
    pub flow: FlowKey,
    /// The base transport header.
    pub bth: Bth,
    /// What its opcode means.
    pub meaning: Meaning,
    /// Source queue pair of a datagram; 0 elsewhere, for the wire does not say.
    pub src_qpn: Qpn,
    /// The syndrome, where there is an AETH.
    pub syndrome: Syndrome,
    /// MSN where there is an AETH, DMALen in bytes where there is a RETH, else 0.
    pub msn_or_dma_length: u32,
    /// Bytes of the frame on the wire, without what a mirror put around it.
    pub frame_bytes: u32,
    /// Bytes of payload, without extension headers, pad and ICRC.
    pub payload_bytes: u32,
    /// TTL or hop limit.
    pub ttl: u8,
    /// ECN congestion experienced.
    pub congestion_experienced: bool,
    /// The extension headers or the payload's end were not captured.
    pub snapped: bool,
    /// A mirror cut the frame, so that its ICRC is gone.
    pub truncated: bool,
    /// What a mirror put around the frame.
    pub encapsulation: Encapsulation,
    /// Offset of the IP header in the captured bytes.
    pub network_at: usize,
    /// Offset of the BTH in the captured bytes.
    pub bth_at: usize,
}

impl Packet {
    /// A packet without anything in it, to be decoded into.
    #[must_use]
    pub const fn zeroed() -> Self {
        Self {
            flow: FlowKey {
                src: [0; 16],
                dst: [0; 16],
                vni: 0,
                dst_qpn: 0,
                udp_src_port: 0,
                vlan: 0,
                inner_vlan: 0,
                reserved: 0,
            },
            bth: Bth::read([0; Bth::LEN]),
            meaning: opcode::UNKNOWN,
            src_qpn: Qpn::new(0),
            syndrome: Syndrome(0),
            msn_or_dma_length: 0,
            frame_bytes: 0,
            payload_bytes: 0,
            ttl: 0,
            congestion_experienced: false,
            snapped: false,
            truncated: false,
            encapsulation: Encapsulation::None,
            network_at: 0,
            bth_at: 0,
        }
    }

    /// The opcode.
    #[must_use]
    #[inline(always)]
    pub const fn opcode(&self) -> Opcode {
        self.bth.opcode
    }

    /// The packet sequence number.
    #[must_use]
    #[inline(always)]
    pub const fn psn(&self) -> Psn {
        self.bth.psn
    }

    /// The PSN space the packet counts in.
    #[must_use]
    #[inline(always)]
    pub const fn stream(&self) -> Stream {
        self.meaning.stream
    }

    /// Offset of the payload in the captured bytes.
    #[must_use]
    pub fn payload_at(&self) -> usize {
        self.bth_at + Bth::LEN + self.meaning.extension_bytes as usize
    }
}
