//! Whole events: the few frames that say more than a run can hold.
//!
//! A run keeps counts and PSNs; how a connection was set up stands in connection management
//! datagrams on QP 1 and, for the many programs that exchange QPNs over TCP, in a TCP handshake.
//! Both are rare, so they cross the line whole, beside the runs, and cost RoCE data packets
//! nothing but one comparison.

use bytemuck::{Pod, Zeroable};
use rocescope_wire::cm::MAD_BYTES;
use rocescope_wire::{FlowKey, Octets, Packet, Qpn, Stream};

/// A datagram to the general service interface: one CM message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct MadRecord {
    /// Which flow.
    pub flow: FlowKey,
    /// When it passed, nanoseconds since the epoch.
    pub time_ns: u64,
    /// Index of the interface that saw it.
    pub interface: u32,
    /// Source queue pair.
    pub src_qpn: u32,
    /// How many bytes of `mad` were captured.
    pub mad_bytes: u32,
    /// Always 0.
    pub reserved: u32,
    /// The datagram.
    pub mad: [u8; MAD_BYTES],
}

/// A TCP handshake, whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct HandshakeRecord {
    /// Who opened the connection; IPv4 as an IPv4-mapped IPv6 address.
    pub client: [u8; 16],
    /// Who accepted it.
    pub server: [u8; 16],
    /// When the SYN passed, nanoseconds since the epoch; of several, the last.
    pub syn_ns: u64,
    /// When the SYN-ACK passed; of several, the last.
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
    /// How often a SYN or SYN-ACK was repeated: round trips of such a handshake mislead.
    pub repeats: u32,
    /// Always 0.
    pub reserved: u32,
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<MadRecord>() == 72 + MAD_BYTES && offset_of!(MadRecord, mad) == 72);
    assert!(size_of::<HandshakeRecord>() == 80 && offset_of!(HandshakeRecord, vni) == 56);
    assert!(MAD_BYTES == 256);
};

/// What crosses the line whole.
#[derive(Clone, Copy, Debug)]
pub enum Whole<'a> {
    /// A CM datagram.
    Mad(&'a MadRecord),
    /// A TCP handshake.
    Handshake(&'a HandshakeRecord),
}

/// Whether a packet crosses whole: a datagram to QP 1.
#[must_use]
#[inline(always)]
pub fn is_management(packet: &Packet) -> bool {
    packet.flow.dst_qpn == Qpn::GSI.get()
        && packet.bth.opcode.stream() as u8 == Stream::Datagram as u8
}

impl MadRecord {
    /// Fills the record from a packet for which [`is_management`] holds. The record is the
    /// caller's memory, a reserved piece of a ring in the kernel, whose stack is too small for it.
    #[inline(always)]
    pub fn fill<O: Octets + ?Sized>(
        &mut self,
        frame: &O,
        packet: &Packet,
        interface: u32,
        now_ns: u64,
    ) {
        const PIECE: usize = 16;
        self.flow = packet.flow;
        self.time_ns = now_ns;
        self.interface = interface;
        self.src_qpn = packet.src_qpn.get();
        self.mad_bytes = 0;
        self.reserved = 0;
        self.mad = [0; MAD_BYTES];
        let at = packet.payload_at();
        for piece in 0..MAD_BYTES / PIECE {
            let offset = piece * PIECE;
            let Some(bytes) = frame.read::<PIECE>(at + offset) else {
                return;
            };
            if let Some(room) = self.mad.get_mut(offset..offset + PIECE) {
                room.copy_from_slice(&bytes);
            }
            self.mad_bytes += PIECE as u32;
        }
    }
}
