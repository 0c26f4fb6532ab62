//! A packet from the BTH to the pad, written with `wire`.

use super::message::{
    ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, Position, Request, UD_SEND_ONLY, read_response_opcode, request_opcode,
};
use super::responder::{Replied, RepliedKind};
use super::rules::Rules;
use super::scenario::group::{Operation, Service};
use super::session::Ends;
use super::tapped::{Content, TapView};
use rocescope_wire::cm::MAD_BYTES;
use rocescope_wire::extension::{Aeth, AtomicAckEth, AtomicEth, Cnp, Deth, Ieth, ImmDt, Reth, Syndrome};
use rocescope_wire::{Bth, Opcode, Psn, Qpn};

/// The maximum between BTH and payload: the header of an atomic request.
const EXTENSION_MAX: usize = AtomicEth::LEN;
/// Queue key of every datagram, and of the general service interface (IBTA volume 1, 10.2.5).
const QUEUE_KEY: u32 = 0x1111_1111;
const GSI_QUEUE_KEY: u32 = 0x8001_0000;

/// A credit for one request in NCCL 2.30 (`ncclIbSendFifo`: address, size, eight keys, tag, index).
const CREDIT_BYTES: u32 = 64;
/// NAK: PSN sequence error.
const NAK_SEQUENCE: Syndrome = Syndrome(0x60);

/// A packet ready to write.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) bth: Bth,
    extension: [u8; EXTENSION_MAX],
    extension_bytes: usize,
    /// Its payload; a pattern if `None`.
    pub(super) datagram: Option<Box<[u8; MAD_BYTES]>>,
    pub(super) payload_bytes: u32,
    /// Its opcode has LAST or ONLY.
    pub(super) ends_message: bool,
    /// The bits of ECN in the IP header.
    pub(super) ecn: u8,
    pub(super) damaged: bool,
}

/// A packet of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) psn: u32,
    /// Its number in the chunk, from 0.
    pub(super) at: u64,
    pub(super) is_last: bool,
    /// Bytes of the whole chunk.
    pub(super) bytes: u32,
}

/// Where a WRITE writes to.
fn remote(peer: Qpn, psn: u32, dma_length: u32) -> Reth {
    Reth {
        virtual_address: 0x7f00_0000_0000 | u64::from(psn) << 12,
        remote_key: peer.get() << 8 | 1,
        dma_length,
    }
}

/// The constants of one side of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// This side's queue pair, and the other's.
    pub(super) qpn: u32,
    pub(super) peer_qpn: u32,
    /// First PSN of the requests of the packet's channel.
    pub(super) start_psn: u32,
    /// PSN of the next datagram from this host's queue pair 1.
    pub(super) gsi_psn: u32,
}

impl Packet {
    pub(super) fn new(tapped: &TapView, numbers: Numbers, ends: &Ends, rules: &Rules) -> Self {
        let psn = |sequence: u64| Psn::new(numbers.start_psn.wrapping_add(sequence as u32));
        let peer = Qpn::new(numbers.peer_qpn);
        let mut packet = match &tapped.content {
            Content::Request(request) => Self::request(request, peer, psn(request.sequence), numbers.qpn, rules),
            Content::Reply(replied) => Self::reply(replied, peer, psn(replied.sequence)),
            Content::Cnp => {
                let mut packet = Self::bare(Bth::cnp(peer));
                packet.extend(Cnp.write());
                packet
            }
            Content::Session(datagram) => {
                let bth = Bth::new(Opcode(UD_SEND_ONLY), Qpn::GSI, Psn::new(numbers.gsi_psn));
                let mut packet = Self::bare(bth);
                packet.extend(
                    Deth {
                        queue_key: GSI_QUEUE_KEY,
                        src_qpn: Qpn::GSI,
                    }
                    .write(),
                );
                packet.datagram = Some(Box::new(ends.write(datagram.0)));
                packet.payload_bytes = MAD_BYTES as u32;
                packet.ends_message = true;
                packet
            }
        };
        packet.bth.pad_bytes = (packet.payload_bytes.wrapping_neg() & 3) as u8;
        packet.damaged = tapped.is_damaged();
        packet
    }

    fn bare(bth: Bth) -> Self {
        Self {
            bth,
            extension: [0; EXTENSION_MAX],
            extension_bytes: 0,
            datagram: None,
            payload_bytes: 0,
            ends_message: false,
            ecn: 0,
            damaged: false,
        }
    }

    fn extend<const N: usize>(&mut self, bytes: [u8; N]) {
        let end = self.extension_bytes + N;
        if let Some(place) = self.extension.get_mut(self.extension_bytes..end) {
            place.copy_from_slice(&bytes);
            self.extension_bytes = end;
        }
    }

    fn request(request: &Request, peer: Qpn, psn: Psn, qpn: u32, rules: &Rules) -> Self {
        let opcode = request_opcode(rules.service, request.operation, request.position);
        let mut packet = Self::bare(Bth::new(Opcode(opcode), peer, psn));
        packet.bth.ack_request = request.ack_request;
        packet.payload_bytes = request.payload_bytes;
        let is_last = request.position.is_last();
        let has_immediate = matches!(
            request.operation,
            Operation::SendWithImmediate | Operation::WriteWithImmediate
        );
        packet.bth.solicited_event = is_last && has_immediate;
        packet.ends_message = is_last && !request.operation.has_response();
        packet.ecn = match (&rules.ecn, request.congested) {
            (None, _) => 0,
            (Some(_), false) => 2,
            (Some(_), true) => 3,
        };
        if rules.service == Service::Ud {
            packet.extend(
                Deth {
                    queue_key: QUEUE_KEY,
                    src_qpn: Qpn::new(qpn),
                }
                .write(),
            );
        }
        let virtual_address = 0x7f00_0000_0000 | request.sequence << 12;
        let remote_key = peer.get() << 8 | 1;
        let is_write = matches!(request.operation, Operation::Write | Operation::WriteWithImmediate);
        if request.operation == Operation::Read || is_write && request.position.is_first() {
            packet.extend(
                Reth {
                    virtual_address,
                    remote_key,
                    dma_length: request.message_bytes,
                }
                .write(),
            );
        }
        if request.operation.is_atomic() {
            packet.extend(
                AtomicEth {
                    virtual_address,
                    remote_key,
                    swap_or_add: 1,
                    compare: 0,
                }
                .write(),
            );
        }
        if is_last && has_immediate {
            packet.extend(ImmDt((request.message as u32).to_be_bytes()).write());
        }
        if is_last && request.operation == Operation::SendWithInvalidate {
            packet.extend(Ieth { remote_key }.write());
        }
        packet
    }

    fn reply(replied: &Replied, peer: Qpn, psn: Psn) -> Self {
        let aeth = |syndrome| {
            Aeth {
                syndrome: Syndrome(syndrome),
                msn: replied.completed,
            }
            .write()
        };
        let bare = |opcode| Self::bare(Bth::new(Opcode(opcode), peer, psn));
        match replied.kind {
            RepliedKind::Acknowledge(syndrome) => {
                let mut packet = bare(ACKNOWLEDGE);
                packet.extend(aeth(syndrome));
                packet
            }
            RepliedKind::Atomic => {
                let mut packet = bare(ATOMIC_ACKNOWLEDGE);
                packet.extend(aeth(Syndrome::ACK.0));
                let original = replied.sequence;
                packet.extend(AtomicAckEth { original }.write());
                packet
            }
            RepliedKind::Read(position, bytes) => {
                let mut packet = bare(read_response_opcode(position));
                if position != Position::Middle {
                    packet.extend(aeth(Syndrome::ACK.0));
                }
                packet.payload_bytes = bytes;
                packet.ends_message = position.is_last();
                packet
            }
        }
    }

    /// A packet of a chunk: RDMA WRITE, the last one with the size of the chunk as immediate.
    pub(super) fn chunk(chunk: &Chunk, peer: u32, mtu: u32) -> Self {
        let (is_first, peer) = (chunk.at == 0, Qpn::new(peer));
        let position = match (is_first, chunk.is_last) {
            (true, true) => Position::Only,
            (true, false) => Position::First,
            (false, false) => Position::Middle,
            (false, true) => Position::Last,
        };
        let opcode = request_opcode(Service::Rc, Operation::WriteWithImmediate, position);
        let mut packet = Self::bare(Bth::new(Opcode(opcode), peer, Psn::new(chunk.psn)));
        packet.bth.ack_request = chunk.is_last;
        packet.bth.solicited_event = chunk.is_last;
        packet.ends_message = chunk.is_last;
        packet.ecn = 2;
        packet.payload_bytes = (u64::from(chunk.bytes) - chunk.at * u64::from(mtu)).min(mtu.into()) as u32;
        if is_first {
            packet.extend(remote(peer, chunk.psn, chunk.bytes).write());
        }
        if chunk.is_last {
            packet.extend(ImmDt(chunk.bytes.to_be_bytes()).write());
        }
        packet.padded()
    }

    /// A credit of NCCL: where the sender may write the next chunk.
    pub(super) fn credit(psn: u32, peer: u32) -> Self {
        let opcode = request_opcode(Service::Rc, Operation::Write, Position::Only);
        let peer = Qpn::new(peer);
        let mut packet = Self::bare(Bth::new(Opcode(opcode), peer, Psn::new(psn)));
        packet.bth.ack_request = true;
        packet.ends_message = true;
        packet.ecn = 2;
        packet.payload_bytes = CREDIT_BYTES;
        packet.extend(remote(peer, psn, CREDIT_BYTES).write());
        packet.padded()
    }

    /// An acknowledgement, or the demand to go back to `psn`.
    pub(super) fn ack(psn: u32, completed: u32, peer: u32, is_nak: bool) -> Self {
        let mut packet = Self::bare(Bth::new(Opcode(ACKNOWLEDGE), Qpn::new(peer), Psn::new(psn)));
        let syndrome = if is_nak { NAK_SEQUENCE } else { Syndrome::ACK };
        let msn = completed & 0x00ff_ffff;
        packet.extend(Aeth { syndrome, msn }.write());
        packet.padded()
    }

    fn padded(mut self) -> Self {
        self.bth.pad_bytes = (self.payload_bytes.wrapping_neg() & 3) as u8;
        self
    }

    pub(super) fn extension(&self) -> &[u8] {
        self.extension.get(..self.extension_bytes).unwrap_or(&[])
    }

    /// Bytes from the BTH to the ICRC.
    pub(super) fn bytes(&self) -> u32 {
        Bth::LEN as u32 + self.extension_bytes as u32 + self.payload_bytes + u32::from(self.bth.pad_bytes) + 4
    }
}
