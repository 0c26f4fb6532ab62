//! UET packets as bytes.

use super::super::frame::End;
use super::super::scenario::uet::Uet;
use super::pdc::Passing;
use rocescope_wire::uet::{PROTOCOL_UET, Pds, Prologue, Ses, UET_UDP_PORT};
use std::net::IpAddr;

/// Bytes of the standard semantic header after its common part.
const SES_REST: usize = 36;
/// Bytes after the prologue of a trimmed packet that its switch keeps.
const TRIMMED_BYTES: usize = 64;
const ETHERNET_BYTES: usize = 14;
/// Protocol number of UDP.
const UDP: u8 = 17;
const ACK_CC: u8 = 8;
const WRITE: u8 = 1;
/// The control type that closes a PDC.
const CLOSE: u8 = 4;
const TRIMMED: u16 = 0x0100;

/// The headers of both sides.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    ends: [End; 2],
    /// PDC numbers.
    numbers: [u16; 2],
}

impl Headers {
    pub(super) fn new(uet: &Uet, index: usize, number: u16) -> Self {
        Self {
            ends: [uet.src.get(index), uet.dst.get(index)].map(End::new),
            // Unique on each side up to 32,768 PDCs.
            numbers: [1 + index as u16, 0x8000 | number.wrapping_add(index as u16) & 0x7fff],
        }
    }

    pub(super) const fn address(&self, side: usize) -> IpAddr {
        self.ends[side].address
    }

    pub(super) const fn number(&self, side: usize) -> u16 {
        self.numbers[side]
    }

    pub(super) fn write(&self, uet: &Uet, passing: &Passing, frame: &mut Vec<u8>) {
        let mut kept = usize::MAX;
        let mut is_marked = false;
        let (from, entropy, payload) = match passing {
            Passing::Request(copy) => {
                is_marked = copy.is_marked;
                let offset = copy.at as u16 & 0x0fff;
                let mut flags = if copy.is_retransmission {
                    Prologue::RETRANSMISSION
                } else {
                    0
                };
                if copy.is_first {
                    flags |= Prologue::SYN;
                }
                let pds = Pds {
                    prologue: Prologue {
                        kind: 2,
                        next: 3,
                        flags,
                    },
                    second: 0,
                    psn: copy.psn,
                    src_pdc: self.numbers[0],
                    dst_pdc: if copy.is_first { offset } else { self.numbers[1] },
                };
                let ses = Ses {
                    opcode: WRITE,
                    starts: copy.at.is_multiple_of(uet.message),
                    ends: copy.ends_message,
                    message: (copy.at / uet.message) as u16,
                    job: uet.job,
                };
                let mut bytes = [&pds.write()[..], &ses.write()].concat();
                bytes.resize(bytes.len() + SES_REST + usize::from(uet.payload), 0);
                if copy.is_trimmed {
                    kept = TRIMMED_BYTES;
                }
                (0, 0xc000 | copy.path as u16 & 0x3fff, bytes)
            }
            Passing::Ack(ack) => {
                let flags = if ack.is_of_retransmission {
                    Prologue::RETRANSMISSION
                } else {
                    0
                } | if ack.is_marked { Prologue::ECN_ECHO } else { 0 };
                let offset = ack.psn.wrapping_sub(ack.cumulative) as u16;
                let mut bytes = self.answer(ACK_CC, flags, offset, ack.cumulative);
                bytes.extend(ack.sack().write());
                bytes.extend([0; 8]);
                (1, 0xd000, bytes)
            }
            Passing::Nack { psn, is_marked } => {
                let flags = if *is_marked { Prologue::ECN_ECHO } else { 0 };
                let mut bytes = self.answer(10, flags, TRIMMED, *psn);
                bytes.extend([0; 4]);
                (1, 0xd000, bytes)
            }
            Passing::Close { psn } => {
                let pds = Pds {
                    prologue: Prologue {
                        kind: 11,
                        next: CLOSE,
                        flags: 0,
                    },
                    second: 0,
                    psn: *psn,
                    src_pdc: self.numbers[0],
                    dst_pdc: self.numbers[1],
                };
                (0, 0xc000, [&pds.write()[..], &[0; 4]].concat())
            }
        };
        self.frame(from, uet.ip, entropy, is_marked, &payload, frame);
        if kept < usize::MAX {
            let headers = frame.len() - payload.len();
            frame.truncate(headers + kept.min(payload.len() - 1));
        }
    }

    fn answer(&self, kind: u8, flags: u8, second: u16, psn: u32) -> Vec<u8> {
        let pds = Pds {
            prologue: Prologue { kind, next: 0, flags },
            second,
            psn,
            src_pdc: self.numbers[1],
            dst_pdc: self.numbers[0],
        };
        pds.write().to_vec()
    }

    /// Ethernet, IP, and UDP or the entropy header.
    fn frame(&self, from: usize, is_on_ip: bool, entropy: u16, is_marked: bool, payload: &[u8], frame: &mut Vec<u8>) {
        let [src, dst] = [self.ends[from], self.ends[1 - from]];
        let header_bytes = if is_on_ip { 4 } else { 8 };
        let bytes = (header_bytes + payload.len()) as u16;
        let class = if is_marked { 3 } else { 2 };
        let protocol = if is_on_ip { PROTOCOL_UET } else { UDP };
        frame.extend(dst.mac);
        frame.extend(src.mac);
        match (src.address, dst.address) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                frame.extend([0x08, 0x00, 0x45, class]);
                frame.extend((20 + bytes).to_be_bytes());
                frame.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
                frame.extend(src.octets());
                frame.extend(dst.octets());
                let header = frame.get(ETHERNET_BYTES..).unwrap_or(&[]);
                let sum = header.chunks_exact(2).fold(0u32, |sum, pair| match pair {
                    [high, low] => sum + u32::from(u16::from_be_bytes([*high, *low])),
                    _ => sum,
                });
                let sum = (sum & 0xffff) + (sum >> 16);
                let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
                if let Some(place) = frame.get_mut(ETHERNET_BYTES + 10..ETHERNET_BYTES + 12) {
                    place.copy_from_slice(&checksum.to_be_bytes());
                }
            }
            (src, dst) => {
                frame.extend([0x86, 0xdd, 0x60, class << 4, 0, 0]);
                frame.extend(bytes.to_be_bytes());
                frame.extend([protocol, 64]);
                for address in [src, dst] {
                    let IpAddr::V6(address) = address else {
                        return;
                    };
                    frame.extend(address.octets());
                }
            }
        }
        frame.extend(entropy.to_be_bytes());
        if is_on_ip {
            frame.extend([0, 0]);
        } else {
            frame.extend(UET_UDP_PORT.to_be_bytes());
            frame.extend(bytes.to_be_bytes());
            frame.extend([0, 0]);
        }
        frame.extend(payload);
    }
}
