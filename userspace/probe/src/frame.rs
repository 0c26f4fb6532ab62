//! The frame of a probe: a UD `SEND_ONLY`, as an RDMA NIC would send it (IBTA A17, volume 1 9.8.3).

use crate::icmp::{self, Answer};
use crate::payload::{LEN, Payload};
use crate::types::{NicIndex, Outgoing};
use etherparse::{EtherType, Ethernet2Header, IpDscp, IpNumber, Ipv4Header, Ipv6Header, UdpHeader};
use rocescope_model::FIRST_PROBE_QPN;
use rocescope_wire::extension::Deth;
use rocescope_wire::icrc::{self, Icrc};
use rocescope_wire::{Bth, Class, FrameLengths, LinkType, Opcode, Psn, Qpn, decode};
use std::net::{IpAddr, Ipv6Addr};

/// Queue key of all our datagrams.
pub const QUEUE_KEY: u32 = 0x7270_6221;
const ETHERNET_BYTES: usize = 14;
const IPV4_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
const ICRC_BYTES: usize = 4;
/// Padding to a whole number of words of four bytes.
const fn padding(payload: usize) -> usize {
    payload.wrapping_neg() & 3
}
/// Bytes between the UDP header and the payload.
pub(crate) const BEHIND_UDP: usize = Bth::LEN + Deth::LEN;
/// Bytes after the IP header, with a payload of this length.
const fn udp_length(payload: usize) -> usize {
    UDP_BYTES + BEHIND_UDP + payload + padding(payload) + ICRC_BYTES
}
/// TTL of probes.
const TTL: u8 = 64;

/// The addresses of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameAddresses {
    /// MAC address of the NIC.
    pub src_mac: [u8; 6],
    /// MAC address of the next hop.
    pub dst_mac: [u8; 6],
    /// IP address of the sending NIC.
    pub src: IpAddr,
    /// IP address of the receiving NIC, of the same family.
    pub dst: IpAddr,
    /// UDP destination port.
    pub udp_dst_port: u16,
    /// Queue pair of the sending NIC.
    pub src_qpn: u32,
    /// Queue pair of the receiving NIC.
    pub dst_qpn: u32,
}

/// The queue pair that a NIC without one has in frames.
pub(crate) fn made_up_qpn(nic: NicIndex) -> u32 {
    FIRST_PROBE_QPN + u32::from(nic.0)
}

/// Writes the frame of a datagram.
pub fn write(frame: &mut Vec<u8>, addresses: &FrameAddresses, outgoing: &Outgoing) {
    frame.clear();
    let payload = Payload::from(outgoing);
    let message = payload.write_message();
    let payload_bytes = LEN + message.map_or(0, |message| message.len());
    let udp_length = udp_length(payload_bytes);
    let (ether_type, ttl) = (
        match addresses.src {
            IpAddr::V4(_) => EtherType::IPV4,
            IpAddr::V6(_) => EtherType::IPV6,
        },
        match outgoing.kind {
            crate::types::DatagramKind::Trace { ttl, .. } => ttl,
            _ => TTL,
        },
    );
    let ethernet = Ethernet2Header {
        source: addresses.src_mac,
        destination: addresses.dst_mac,
        ether_type,
    };
    frame.extend_from_slice(&ethernet.to_bytes());
    match (addresses.src, addresses.dst) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let mut header = Ipv4Header {
                total_len: (IPV4_BYTES + udp_length) as u16,
                // Six bits: never too large.
                dscp: IpDscp::try_new(outgoing.dscp & 0x3f).unwrap_or_default(),
                identification: icmp::identification(outgoing.kind),
                dont_fragment: true,
                time_to_live: ttl,
                protocol: IpNumber::UDP,
                source: source.octets(),
                destination: destination.octets(),
                ..Ipv4Header::default()
            };
            header.header_checksum = header.calc_header_checksum();
            frame.extend_from_slice(&header.to_bytes());
        }
        (source, destination) => {
            let header = Ipv6Header {
                traffic_class: outgoing.dscp << 2,
                payload_length: udp_length as u16,
                next_header: IpNumber::UDP,
                hop_limit: ttl,
                source: octets(source),
                destination: octets(destination),
                ..Ipv6Header::default()
            };
            frame.extend_from_slice(&header.to_bytes());
        }
    }
    let udp = UdpHeader {
        source_port: outgoing.port,
        destination_port: addresses.udp_dst_port,
        length: udp_length as u16,
        // As RDMA NICs send it: the ICRC covers more.
        checksum: 0,
    };
    frame.extend_from_slice(&udp.to_bytes());
    let bth_at = frame.len();
    let mut bth = Bth::new(
        Opcode::UD_SEND_ONLY,
        Qpn::new(addresses.dst_qpn),
        Psn::new(outgoing.sequence.0 as u32 & 0xff_ffff),
    );
    bth.pad_bytes = padding(payload_bytes) as u8;
    frame.extend_from_slice(&bth.write());
    let deth = Deth {
        queue_key: QUEUE_KEY,
        src_qpn: Qpn::new(addresses.src_qpn),
    };
    frame.extend_from_slice(&deth.write());
    frame.extend_from_slice(&payload.write());
    frame.extend_from_slice(message.as_ref().map_or(&[][..], |message| message));
    frame.extend_from_slice([0; 3].get(..padding(payload_bytes)).unwrap_or_default());
    let (headers, transport) = frame.split_at(bth_at);
    let crc = headers
        .get(ETHERNET_BYTES..)
        .and_then(|headers| icrc::compute(headers, transport))
        .unwrap_or_default();
    frame.extend_from_slice(&crc);
}

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// The content of a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivedFrame {
    /// A datagram of an agent, whether it is intact, and its source and destination, if they are readable.
    Datagram(Payload, bool, Option<(IpAddr, IpAddr)>),
    /// The answer of a router.
    Answer(Answer),
    /// A datagram to the port with a wrong ICRC and no readable source.
    Unreadable,
    /// RoCEv2, but not from an agent.
    Stranger,
    /// Anything else.
    Other,
}

/// Parses a received frame.
#[must_use]
pub fn read(frame: &[u8], udp_dst_port: u16) -> ReceivedFrame {
    let lengths = FrameLengths::whole(frame.len() as u32);
    let ports = [udp_dst_port, 0, 0, 0];
    let Class::Roce(packet) = decode(frame, LinkType::Ethernet, lengths, ports) else {
        return match icmp::read(frame) {
            Some(answer) => ReceivedFrame::Answer(answer),
            // The damage may be in a length or an opcode.
            None => match own(frame) {
                Some((payload, port)) if port == udp_dst_port => ReceivedFrame::Datagram(payload, false, None),
                _ => ReceivedFrame::Other,
            },
        };
    };
    let is_intact = icrc::verify(frame, &packet) == Icrc::Verified;
    let payload = frame.get(packet.payload_at()..).and_then(Payload::read);
    match payload {
        Some(payload) => {
            let address = |octets: [u8; 16]| Ipv6Addr::from(octets).to_canonical();
            let ends = (address(packet.flow.src), address(packet.flow.dst));
            ReceivedFrame::Datagram(payload, is_intact, Some(ends))
        }
        None if is_intact => ReceivedFrame::Stranger,
        None => ReceivedFrame::Unreadable,
    }
}

/// Parses a frame of [`write()`] that the kernel returns with its departure time: the payload and the UDP destination
/// port.
#[must_use]
pub fn own(frame: &[u8]) -> Option<(Payload, u16)> {
    let ip_bytes = match frame.get(ETHERNET_BYTES)? >> 4 {
        4 => IPV4_BYTES,
        6 => 40,
        _ => return None,
    };
    let udp = frame.get(ETHERNET_BYTES + ip_bytes..)?;
    let [high, low] = *udp.get(2..)?.first_chunk()?;
    let payload = Payload::read(udp.get(UDP_BYTES + BEHIND_UDP..)?)?;
    Some((payload, u16::from_be_bytes([high, low])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::receipt_message::{Arrivals, Inquiry, Receipt};
    use crate::types::{DatagramKind, Nanos, NicIndex, Sequence};
    use etherparse::{NetSlice, SlicedPacket, TransportSlice};
    use proptest::prelude::*;

    fn addresses(is_v6: bool) -> FrameAddresses {
        let address = |last: u8| -> IpAddr {
            if is_v6 {
                [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last].into()
            } else {
                [10, 0, 0, last].into()
            }
        };
        FrameAddresses {
            src_mac: [2, 0, 0, 0, 0, 1],
            dst_mac: [2, 0, 0, 0, 0, 2],
            src: address(1),
            dst: address(2),
            udp_dst_port: 4791,
            src_qpn: made_up_qpn(NicIndex(1)),
            dst_qpn: made_up_qpn(NicIndex(2)),
        }
    }

    fn outgoing(kind: DatagramKind) -> Outgoing {
        Outgoing {
            src: NicIndex(1),
            dst: NicIndex(2),
            port: 0xc123,
            dscp: 26,
            sequence: Sequence(0x1_2345_6789),
            kind,
            remote: None,
            sent: Nanos(1_795_228_209_000_000_001),
            agent: 7,
        }
    }

    fn written(is_v6: bool, kind: DatagramKind) -> Vec<u8> {
        let mut frame = Vec::new();
        write(&mut frame, &addresses(is_v6), &outgoing(kind));
        frame
    }

    #[test]
    fn a_written_frame_is_read_back_and_passes_its_icrc() {
        for is_v6 in [false, true] {
            let kinds = [
                DatagramKind::Probe,
                DatagramKind::Trace { id: 2_047, ttl: 31 },
                DatagramKind::Question,
                DatagramKind::Answer { held_ns: 0x1234_5678 },
            ];
            for kind in kinds {
                let frame = written(is_v6, kind);
                let payload = Payload::from(&outgoing(kind));
                let ends = (addresses(is_v6).src, addresses(is_v6).dst);
                assert_eq!(read(&frame, 4791), ReceivedFrame::Datagram(payload, true, Some(ends)));
                assert_eq!(own(&frame), Some((payload, 4791)));
                assert_eq!(frame.len(), if is_v6 { 138 } else { 118 });
            }
        }
    }

    #[test]
    fn a_probe_to_another_host_and_its_answer_have_a_word() {
        let receipt = Receipt {
            since_ms: 5_000,
            arrivals: Some(Arrivals {
                newest: 9,
                arrived: 3,
                answered: 1,
            }),
        };
        let kinds = [
            DatagramKind::PeerProbe(Inquiry {
                about: 8,
                address: 9,
                dscp: 26,
            }),
            DatagramKind::PeerAnswer {
                held_ns: 77,
                receipt: Some(receipt),
            },
        ];
        for (is_v6, kind) in [(false, kinds[0]), (true, kinds[0]), (false, kinds[1]), (true, kinds[1])] {
            let frame = written(is_v6, kind);
            let ends = (addresses(is_v6).src, addresses(is_v6).dst);
            let payload = Payload::from(&outgoing(kind));
            assert_eq!(read(&frame, 4791), ReceivedFrame::Datagram(payload, true, Some(ends)));
            assert_eq!(own(&frame), Some((payload, 4791)));
            assert_eq!(frame.len(), if is_v6 { 162 } else { 142 });
        }
    }

    /// `etherparse` is an independent parser.
    #[test]
    fn lengths_checksum_and_ttl_are_right() {
        let frame = written(false, DatagramKind::Trace { id: 3, ttl: 5 });
        let packet = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(NetSlice::Ipv4(ip)) = packet.net else {
            panic!("IPv4");
        };
        let header = ip.header().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        assert_eq!((header.time_to_live, header.identification), (5, 3 << 5 | 5));
        let Some(TransportSlice::Udp(udp)) = packet.transport else {
            panic!("UDP");
        };
        assert_eq!(usize::from(udp.length()), udp_length(LEN));
        assert_eq!((udp.source_port(), udp.destination_port()), (0xc123, 4791));
    }

    proptest! {
        #[test]
        fn a_flipped_bit_that_no_router_may_change_is_always_detected(at in 14usize..118, bit in 0u8..8) {
            let mut frame = written(false, DatagramKind::Probe);
            frame[at] ^= 1 << bit;
            // TOS, TTL, the checksums, and the byte of FECN and BECN may change.
            let free = [15, 22, 24, 25, 40, 41, 46];
            let is_intact = matches!(read(&frame, 4791), ReceivedFrame::Datagram(_, true, _));
            prop_assert_eq!(is_intact, free.contains(&at));
        }

        #[test]
        fn arbitrary_frames_never_panic(frame: Vec<u8>, port: u16) {
            let _ = read(&frame, port);
            let _ = own(&frame);
        }

        /// The answer of a router: it quotes the IP header, eight bytes, and perhaps more.
        #[test]
        fn answers_match_whatever_they_quote(
            id in 0u16..2_048, ttl in 1u8..32, quoted in 28usize..100, is_v6: bool
        ) {
            let kind = DatagramKind::Trace { id, ttl };
            let ours = written(is_v6, kind);
            let quoted = if is_v6 { ours.len() - 14 } else { quoted };
            let mut frame = ours[..14].to_vec();
            let quote = &ours[14..14 + quoted];
            if is_v6 {
                let header = Ipv6Header {
                    payload_length: (8 + quote.len()) as u16,
                    next_header: IpNumber::IPV6_ICMP,
                    hop_limit: 60,
                    source: [9; 16],
                    destination: [8; 16],
                    ..Ipv6Header::default()
                };
                frame.extend_from_slice(&header.to_bytes());
                frame.extend_from_slice(&[3, 0, 0, 0, 0, 0, 0, 0]);
            } else {
                let mut header = Ipv4Header::new((8 + quote.len()) as u16, 60, IpNumber::ICMP, [9; 4], [8; 4]).unwrap();
                header.header_checksum = header.calc_header_checksum();
                frame.extend_from_slice(&header.to_bytes());
                frame.extend_from_slice(&[11, 0, 0, 0, 0, 0, 0, 0]);
            }
            frame.extend_from_slice(quote);
            let ReceivedFrame::Answer(answer) = read(&frame, 4791) else {
                panic!("an answer");
            };
            prop_assert!(answer.exceeded);
            prop_assert_eq!(answer.kind, Some(kind));
            prop_assert_eq!((answer.src, answer.dst), (addresses(is_v6).src, addresses(is_v6).dst));
            prop_assert_eq!((answer.src_port, answer.dst_port), (0xc123, 4791));
        }
    }
}
