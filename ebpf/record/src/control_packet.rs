//! Control packets: the few frames whose content a run cannot hold.
//!
//! A run keeps counts and PSNs. The setup of a connection is in connection management datagrams on QP 1
//! and, for the many programs that exchange QPNs over TCP, in a TCP handshake. Both are rare, so they
//! are exported whole beside the runs, and cost RoCE data packets only one comparison.

use bytemuck::{Pod, Zeroable};
use rocescope_wire::cm::MAD_BYTES;
use rocescope_wire::tcp::Segment;
use rocescope_wire::{FlowKey, Octets, Packet, Qpn, Stream};

/// A datagram to the general service interface: one CM message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct MadRecord {
    /// The flow.
    pub flow: FlowKey,
    /// When it passed, nanoseconds since the epoch.
    pub time_ns: u64,
    /// Index of the interface that saw it.
    pub interface: u32,
    /// Source queue pair.
    pub src_qpn: u32,
    /// The captured bytes of `mad`.
    pub mad_bytes: u32,
    /// Always 0.
    pub reserved: u32,
    /// The datagram.
    pub mad: [u8; MAD_BYTES],
}

/// A TCP handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct HandshakeRecord {
    /// The client; IPv4 as an IPv4-mapped IPv6 address.
    pub client: [u8; 16],
    /// The server.
    pub server: [u8; 16],
    /// When the last SYN passed, nanoseconds since the epoch.
    pub syn_ns: u64,
    /// When the last SYN-ACK passed.
    pub syn_ack_ns: u64,
    /// When the ACK passed.
    pub ack_ns: u64,
    /// VXLAN network identifier.
    pub vni: u32,
    /// VLAN id of the outer tag.
    pub vlan: u16,
    /// VLAN id of the inner tag.
    pub inner_vlan: u16,
    /// Port of the client.
    pub client_port: u16,
    /// Port of the server.
    pub server_port: u16,
    /// Index of the interface that saw it.
    pub interface: u32,
    /// Repeated SYNs and SYN-ACKs: round trips of such a handshake mislead.
    pub repeats: u32,
    /// Always 0.
    pub reserved: u32,
}

/// A TCP segment that may belong to a handshake, with its time, as the kernel exports it.
/// [`HalfOpens`](crate::handshake::HalfOpens) assembles handshakes from them, across CPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SegmentRecord {
    /// When it passed, nanoseconds since the epoch.
    pub time_ns: u64,
    /// Source address; IPv4 as an IPv4-mapped IPv6 address.
    pub src: [u8; 16],
    /// Destination address, likewise.
    pub dst: [u8; 16],
    /// VXLAN network identifier.
    pub vni: u32,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Index of the interface that saw it.
    pub interface: u32,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// VLAN id of the outer tag.
    pub vlan: u16,
    /// VLAN id of the inner tag.
    pub inner_vlan: u16,
    /// Which of FIN, SYN, RST and ACK are set.
    pub kind: u32,
    /// Always 0.
    pub reserved: u32,
}

impl SegmentRecord {
    /// The record of a segment.
    #[must_use]
    #[inline(always)]
    pub const fn new(segment: &Segment, interface: u32, time_ns: u64) -> Self {
        Self {
            time_ns,
            src: segment.src,
            dst: segment.dst,
            vni: segment.vni,
            sequence: segment.sequence,
            acknowledgement: segment.acknowledgement,
            interface,
            src_port: segment.src_port,
            dst_port: segment.dst_port,
            vlan: segment.vlan,
            inner_vlan: segment.inner_vlan,
            kind: segment.kind as u32,
            reserved: 0,
        }
    }

    /// The segment.
    #[must_use]
    pub const fn segment(&self) -> Segment {
        Segment {
            src: self.src,
            dst: self.dst,
            src_port: self.src_port,
            dst_port: self.dst_port,
            vni: self.vni,
            vlan: self.vlan,
            inner_vlan: self.inner_vlan,
            sequence: self.sequence,
            acknowledgement: self.acknowledgement,
            kind: self.kind as u8,
        }
    }
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<MadRecord>() == 72 + MAD_BYTES && offset_of!(MadRecord, mad) == 72);
    assert!(size_of::<HandshakeRecord>() == 80 && offset_of!(HandshakeRecord, vni) == 56);
    assert!(size_of::<SegmentRecord>() == 72 && offset_of!(SegmentRecord, kind) == 64);
    assert!(MAD_BYTES == 256);
};

/// A packet exported with its content.
#[derive(Clone, Copy, Debug)]
pub enum ControlPacket<'a> {
    /// A CM datagram.
    Mad(&'a MadRecord),
    /// A TCP handshake.
    Handshake(&'a HandshakeRecord),
}

/// Whether a packet is a control packet: a datagram to QP 1.
#[must_use]
#[inline(always)]
pub fn is_management(packet: &Packet) -> bool {
    packet.flow.dst_qpn == Qpn::GSI.get() && packet.bth.opcode().stream() as u8 == Stream::Datagram as u8
}

impl MadRecord {
    /// A truncated datagram ends at a multiple of this.
    pub const PIECE: usize = 16;

    /// Fills the record from a packet for which [`is_management`] holds. The record is the
    /// caller's memory, a reserved piece of a ring in the kernel, whose stack is too small for it.
    #[inline(always)]
    pub fn fill<O: Octets + ?Sized>(&mut self, frame: &O, packet: &Packet, interface: u32, now_ns: u64) {
        self.begin(packet, interface, now_ns);
        self.mad = [0; MAD_BYTES];
        let at = packet.payload_at();
        for piece in 0..MAD_BYTES / Self::PIECE {
            let offset = piece * Self::PIECE;
            let Some(bytes) = frame.read::<{ Self::PIECE }>(at + offset) else {
                return;
            };
            if let Some(room) = self.mad.get_mut(offset..offset + Self::PIECE) {
                room.copy_from_slice(&bytes);
            }
            self.mad_bytes += Self::PIECE as u32;
        }
    }

    /// Fills in all but the datagram itself.
    #[inline(always)]
    pub fn begin(&mut self, packet: &Packet, interface: u32, now_ns: u64) {
        self.flow = packet.flow;
        self.time_ns = now_ns;
        self.interface = interface;
        self.src_qpn = packet.src_qpn.get();
        self.mad_bytes = 0;
        self.reserved = 0;
    }
}
