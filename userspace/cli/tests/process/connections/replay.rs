//! Counters of a soft-RoCE endpoint, replayed from the packets that reached it.
//!
//! The rules are those of the Linux driver `rdma_rxe` (`rxe_resp.c`, `rxe_comp.c`): a request below the expected PSN is
//! a duplicate; the first above it draws a NAK; a NAK counts at the requester only when it acknowledges something new.

use rocescope_capture::file::{FrameReader, open};
use rocescope_wire::extension::{Acknowledgement, NakCode, psn_after_read};
use rocescope_wire::icrc::{self, Icrc};
use rocescope_wire::{Class, Operation, Packet, Psn, ROCE_UDP_PORT, Stream, decode};
use std::collections::BTreeMap;
use std::path::Path;

/// A request packet.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) dst_qpn: u32,
    pub(super) psn: u32,
    /// The number of PSNs that it occupies.
    pub(super) psns: u32,
    pub(super) to_server: bool,
    opcode: u8,
}

impl Request {
    pub(super) fn same(&self, other: &Self) -> bool {
        (self.dst_qpn, self.psn, self.opcode) == (other.dst_qpn, other.psn, other.opcode)
    }
}

/// The largest payload in a capture: the path MTU of its READs.
fn path_mtu(path: &Path) -> u32 {
    let mut mtu = 256;
    packets(path, |packet| mtu = mtu.max(packet.payload_bytes));
    mtu
}

/// Visits all packets that arrive whole.
fn packets(path: &Path, mut take: impl FnMut(&Packet)) {
    let mut reader = FrameReader::new(open(path).unwrap()).unwrap();
    while let Some(frame) = reader.next_frame().unwrap() {
        let Some(link) = frame.link else { continue };
        let ports = [ROCE_UDP_PORT, 0, 0, 0];
        if let Class::Roce(packet) = decode(frame.bytes, link, frame.lengths, ports)
            && icrc::verify(frame.bytes, &packet) != Icrc::Bad
        {
            take(&packet);
        }
    }
}

fn psns(packet: &Packet, mtu: u32) -> u32 {
    if packet.opcode().operation() == Operation::RdmaReadRequest {
        psn_after_read(Psn::new(0), packet.msn_or_dma_length, mtu).get()
    } else {
        1
    }
}

/// Whether the packet goes to the server, whose address ends in 2.
fn to_server(packet: &Packet) -> bool {
    packet.flow.dst[15] == 2
}

pub(super) fn requests(path: &Path) -> Vec<Request> {
    let (mtu, mut found) = (path_mtu(path), Vec::new());
    packets(path, |packet| {
        if packet.stream() == Stream::Request {
            found.push(Request {
                dst_qpn: packet.flow.dst_qpn,
                psn: packet.psn().get(),
                psns: psns(packet, mtu),
                to_server: to_server(packet),
                opcode: packet.opcode().0,
            });
        }
    });
    found
}

/// The counters of one endpoint.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) duplicate_request: u64,
    pub(super) out_of_seq_request: u64,
    pub(super) send_rnr_err: u64,
    pub(super) rcvd_rnr_err: u64,
    pub(super) rcvd_seq_err: u64,
}

/// Which queue pair answers which: of the client (`false`) or the server, with its peer.
pub(super) type Peers = BTreeMap<(bool, u32), u32>;

/// The first PSN of the requests to a queue pair. The first packet that passes may have another: it may have overtaken.
pub(super) type Starts = BTreeMap<(bool, u32), Psn>;

/// The counters of client and server when they receive the packets of `path` in that order.
pub(super) fn endpoints(path: &Path, pairs: &Peers, starts: &Starts) -> [Counted; 2] {
    let mtu = path_mtu(path);
    let mut counted = <[Counted; 2]>::default();
    // How often each PSN was refused without a receive buffer: it arrived, but was not accepted.
    let mut refused: BTreeMap<(bool, u32, u32), u32> = BTreeMap::new();
    let mut peers: BTreeMap<(bool, u32), Psn> = BTreeMap::new();
    let mut rnr: Vec<(bool, u32, u32)> = Vec::new();
    packets(path, |packet| {
        if let Acknowledgement::RnrNak { .. } = packet.syndrome.meaning()
            && packet.stream() == Stream::Acknowledge
        {
            rnr.push((to_server(packet), packet.flow.dst_qpn, packet.psn().get()));
        }
    });
    let peer = |server: bool, qpn: u32| pairs.get(&(server, qpn)).copied().unwrap_or(0);
    for (server, qpn, psn) in rnr {
        *refused.entry((!server, peer(server, qpn), psn)).or_default() += 1;
    }
    // The expected PSN of each responder, and the PSN that each requester waits for.
    let mut expected: BTreeMap<(bool, u32), Psn> = starts.clone();
    packets(path, |packet| {
        let server = to_server(packet);
        let key = (server, packet.flow.dst_qpn);
        let psn = packet.psn();
        let Some(counts) = counted.get_mut(usize::from(server)) else {
            return;
        };
        match packet.stream() {
            Stream::Request if packet.opcode().transport() == rocescope_wire::Transport::Rc => {
                let next = expected.entry(key).or_insert(psn);
                if psn == *next {
                    match refused.get_mut(&(server, packet.flow.dst_qpn, psn.get())) {
                        Some(times) if *times > 0 => *times -= 1,
                        _ => *next = psn.plus(psns(packet, mtu)),
                    }
                } else if !psn.is_after(*next) {
                    counts.duplicate_request += 1;
                }
            }
            Stream::Response => {
                peers.insert(key, psn.plus(1));
            }
            Stream::Acknowledge => {
                let begun = starts.get(&(!server, peer(server, key.1))).copied();
                let awaited = peers.entry(key).or_insert(begun.unwrap_or(psn));
                match packet.syndrome.meaning() {
                    Acknowledgement::Ack { .. } if !awaited.is_after(psn) => *awaited = psn.plus(1),
                    Acknowledgement::RnrNak { .. } => {
                        counts.rcvd_rnr_err += 1;
                        *awaited = psn;
                    }
                    Acknowledgement::Nak(NakCode::PsnSequenceError) if psn.is_after(*awaited) => {
                        counts.rcvd_seq_err += 1;
                        *awaited = psn;
                    }
                    _ => {}
                }
                let sender = usize::from(!server);
                if let Some(counts) = counted.get_mut(sender) {
                    match packet.syndrome.meaning() {
                        Acknowledgement::RnrNak { .. } => counts.send_rnr_err += 1,
                        Acknowledgement::Nak(NakCode::PsnSequenceError) => {
                            counts.out_of_seq_request += 1;
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    });
    counted
}
