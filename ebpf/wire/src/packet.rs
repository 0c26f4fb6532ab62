//! A decoded RoCEv2 packet: its flow, its lengths, its headers.

use bytemuck::{Pod, Zeroable};

use crate::bth::{Bth, RawBth};
use crate::extension::Syndrome;
use crate::meaning::{self, Meaning, Stream};
use crate::mrc;
use crate::number::{Psn, Qpn};
use crate::opcode::Opcode;
use crate::traffic_class::TrafficClass;
use crate::tunnel::Encapsulation;

/// The identity of a flow in one direction: 48 bytes, the same in the kernel, in records and in hashes.
///
/// RC and UC packets carry no source QPN, so it is not part of the key.
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
    /// Written as the words that are compared and hashed right after: a CPU stalls if it must assemble a
    /// word from smaller stores.
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

/// The length of a frame on the wire and in the capture, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameLengths {
    /// Captured bytes.
    pub captured: u32,
    /// Bytes on the wire.
    pub original: u32,
}

impl FrameLengths {
    /// The lengths of a frame that is not truncated.
    #[must_use]
    pub const fn whole(bytes: u32) -> Self {
        Self {
            captured: bytes,
            original: bytes,
        }
    }
}

/// A RoCEv2 packet, decoded up to the headers after the BTH.
///
/// In this order, because what most packets lack is then set by two stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Packet {
    /// Its flow.
    pub flow: FlowKey,
    /// The base transport header.
    pub bth: RawBth,
    /// The meaning of its opcode.
    pub meaning: Meaning,
    /// Source queue pair of a datagram; 0 for other packets, which do not carry it.
    pub src_qpn: Qpn,
    /// MSN with an AETH, DMALen in bytes with a RETH, else 0.
    pub msn_or_dma_length: u32,
    /// The syndrome, with an AETH.
    pub syndrome: Syndrome,
    /// The extension headers or the payload's end were not captured.
    pub snapped: bool,
    /// A mirror truncated the frame, so its ICRC is missing.
    pub truncated: bool,
    /// The encapsulation of a mirror, or of the fabric.
    pub encapsulation: Encapsulation,
    /// Bytes of the frame on the wire, without the encapsulation of a mirror.
    pub frame_bytes: u32,
    /// Bytes of payload, without extension headers, pad and ICRC; 0 of a trimmed packet.
    pub payload_bytes: u32,
    /// TTL or hop limit; of IPv6 in IPv6 that of the outermost header.
    pub ttl: u8,
    /// DSCP and ECN capability.
    pub traffic_class: TrafficClass,
    /// ECN congestion experienced; of IPv6 in IPv6 in the outermost header or the innermost.
    pub congestion_experienced: bool,
    /// Offset of the IP header in the captured bytes.
    pub network_at: usize,
    /// Offset of the BTH in the captured bytes.
    pub bth_at: usize,
}

impl Packet {
    /// An empty packet to decode into.
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
            bth: RawBth::ZERO,
            meaning: meaning::UNKNOWN,
            src_qpn: Qpn::new(0),
            syndrome: Syndrome(0),
            msn_or_dma_length: 0,
            frame_bytes: 0,
            payload_bytes: 0,
            ttl: 0,
            traffic_class: TrafficClass(0),
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
        self.bth.opcode()
    }

    /// The packet sequence number.
    #[must_use]
    #[inline(always)]
    pub const fn psn(&self) -> Psn {
        self.bth.psn()
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
        let timestamp_bytes = mrc::timestamp_bytes(self.meaning, self.bth);
        self.bth_at + Bth::LEN + self.meaning.extension_bytes as usize + timestamp_bytes as usize
    }

    /// Whether its sender marked it as a retransmission, as only MRC does.
    #[must_use]
    #[inline(always)]
    pub const fn is_marked_retransmission(&self) -> bool {
        self.meaning.is_mrc_write() && self.bth.is_retransmission()
    }

    /// Whether a switch cut its payload: it was sent, and has not arrived.
    #[must_use]
    #[inline(always)]
    pub const fn is_trimmed(&self) -> bool {
        matches!(self.meaning.stream, Stream::Trimmed)
    }
}
