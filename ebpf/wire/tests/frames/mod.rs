//! Frames to parse: Ethernet, tags, IP and UDP written with etherparse, the rest with `wire`.

use etherparse::{
    EtherType, Ethernet2Header, IpAuthHeader, IpFragOffset, IpHeaders, IpNumber, Ipv4Extensions, Ipv4Header,
    Ipv6Extensions, Ipv6FragmentHeader, Ipv6Header, Ipv6RawExtHeader, Ipv6RoutingExtensions, UdpHeader,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use rocescope_wire::extension::{Aeth, AtomicAckEth, AtomicEth, Cnp, Deth, Feth, Ieth, ImmDt, Reth, Syndrome, XrcEth};
use rocescope_wire::mrc::{Meth, NackReason, Neth, Seth, Tseth};
use rocescope_wire::{Bth, Opcode, Operation, Packet, Position, Psn, Qpn, ROCE_UDP_PORT, Stream, Suffix, Transport};

/// The payload of the UDP header, written with `wire`.
#[derive(Clone, Debug)]
pub(crate) struct Transported {
    bth: Bth,
    queue: (u32, u32),
    reth: (u64, u32, u32),
    aeth: (u8, u32),
    payload_bytes: usize,
}

impl Transported {
    /// The headers between BTH and payload, in the order of the specification.
    fn extension(&self) -> Vec<u8> {
        let opcode = self.bth.opcode;
        let mut bytes = Vec::new();
        if opcode.transport() == Transport::Xrc && opcode.stream() == Stream::Request {
            let srqn = Qpn::new(self.queue.1);
            bytes.extend(XrcEth { srqn }.write());
        }
        if opcode.stream() == Stream::Datagram {
            let (queue_key, src_qpn) = self.queue;
            bytes.extend(
                Deth {
                    queue_key,
                    src_qpn: Qpn::new(src_qpn),
                }
                .write(),
            );
        }
        let (virtual_address, remote_key, dma_length) = self.reth;
        let reth = Reth {
            virtual_address,
            remote_key,
            dma_length,
        }
        .write();
        let (syndrome, msn) = self.aeth;
        let aeth = Aeth {
            syndrome: Syndrome(syndrome),
            msn,
        }
        .write();
        if opcode.transport() == Transport::Mrc {
            return self.mrc_extension(&reth, &aeth);
        }
        match (opcode.operation(), opcode.position()) {
            (Operation::RdmaWrite, Position::First | Position::Only)
            | (Operation::RdmaReadRequest | Operation::AtomicWrite, _) => bytes.extend(reth),
            (Operation::Flush, _) => {
                bytes.extend(
                    Feth {
                        placement: 1,
                        selectivity: 2,
                    }
                    .write(),
                );
                bytes.extend(reth);
            }
            (Operation::CompareSwap | Operation::FetchAdd, _) => bytes.extend(
                AtomicEth {
                    virtual_address,
                    remote_key,
                    swap_or_add: 1,
                    compare: 2,
                }
                .write(),
            ),
            (Operation::Acknowledge, _)
            | (Operation::RdmaReadResponse, Position::First | Position::Last | Position::Only) => {
                bytes.extend(aeth);
            }
            (Operation::AtomicAcknowledge, _) => {
                bytes.extend(aeth);
                bytes.extend(
                    AtomicAckEth {
                        original: virtual_address,
                    }
                    .write(),
                );
            }
            (Operation::Cnp, _) => bytes.extend(Cnp.write()),
            _ => {}
        }
        match opcode.suffix() {
            Suffix::None => {}
            Suffix::Immediate => bytes.extend(ImmDt([1, 2, 3, 4]).write()),
            Suffix::Invalidate => bytes.extend(Ieth { remote_key }.write()),
        }
        bytes
    }

    fn has_timestamp(&self) -> bool {
        self.bth.opcode.transport() == Transport::Mrc
            && self.bth.opcode.operation() == Operation::RdmaWrite
            && self.bth.reserved7 & 0x10 != 0
    }

    fn mrc_extension(&self, reth: &[u8], aeth: &[u8]) -> Vec<u8> {
        let (entropy, psn) = (self.queue.0, self.bth.psn);
        match self.bth.opcode.operation() {
            Operation::RdmaWrite => {
                let mut bytes = Meth { request_msn: 3, msn: 9 }.write().to_vec();
                if self.has_timestamp() {
                    let tseth = Tseth {
                        timestamp: 5,
                        respond: true,
                        kind: 1,
                    };
                    bytes.extend(tseth.write());
                }
                bytes.extend(reth);
                if self.bth.opcode.suffix() == Suffix::Immediate {
                    bytes.extend(ImmDt([1, 2, 3, 4]).write());
                }
                bytes
            }
            Operation::Acknowledge => aeth.to_vec(),
            Operation::SelectiveAcknowledge => {
                let seth = Seth {
                    path_advice: 1,
                    probe_response: false,
                    psn_offset: 4,
                    entropy,
                    cumulative_psn: psn,
                    bitmap_offset: 1,
                    bitmap: self.reth.0,
                    congestion_state: 8,
                };
                seth.write().to_vec()
            }
            Operation::NegativeAcknowledge => {
                let neth = Neth {
                    reason: NackReason(self.aeth.0),
                    vendor: 1,
                    entropy,
                    psn,
                    timestamp: 7,
                };
                neth.write().to_vec()
            }
            _ => vec![7; self.bth.opcode.extension_bytes() as usize],
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.bth.write().to_vec();
        bytes.extend(self.extension());
        bytes.extend(vec![0x5a; self.payload_bytes + usize::from(self.bth.pad_bytes) + 4]);
        bytes
    }

    fn check_mrc(&self, packet: &Packet) {
        let expected = match self.bth.opcode.operation() {
            Operation::RdmaWrite => (0, self.reth.2),
            Operation::Acknowledge => (self.aeth.0, self.aeth.1),
            Operation::SelectiveAcknowledge => (Syndrome::ACK.0, 0),
            Operation::NegativeAcknowledge => (0xff, u32::from(self.aeth.0)),
            _ => (0, 0),
        };
        assert_eq!((packet.syndrome.0, packet.msn_or_dma_length), expected);
        let is_write = self.bth.opcode.operation() == Operation::RdmaWrite;
        assert_eq!(
            packet.is_marked_retransmission(),
            is_write && self.bth.reserved7 & 0x20 != 0
        );
        assert_eq!(packet.payload_at(), packet.bth_at + 12 + self.extension().len());
    }

    /// That `packet` is this.
    pub(crate) fn check(&self, packet: &Packet) {
        let opcode = self.bth.opcode;
        assert_eq!(packet.bth.unpack(), self.bth);
        assert_eq!(packet.flow.dst_qpn, self.bth.dst_qpn.get());
        assert_eq!(packet.payload_bytes as usize, self.payload_bytes);
        let timestamp_bytes = if self.has_timestamp() { 4 } else { 0 };
        assert_eq!(
            self.extension().len() as u32,
            opcode.extension_bytes() + timestamp_bytes
        );
        if opcode.transport() == Transport::Mrc {
            return self.check_mrc(packet);
        }
        let has_aeth = matches!(
            opcode.operation(),
            Operation::Acknowledge | Operation::AtomicAcknowledge | Operation::RdmaReadResponse
        ) && opcode.position() != Position::Middle;
        let has_reth = matches!(
            opcode.operation(),
            Operation::RdmaReadRequest | Operation::AtomicWrite | Operation::Flush
        ) || opcode.operation() == Operation::RdmaWrite
            && matches!(opcode.position(), Position::First | Position::Only);
        if has_aeth {
            assert_eq!(packet.syndrome, Syndrome(self.aeth.0));
            assert_eq!(packet.msn_or_dma_length, self.aeth.1);
        } else if has_reth {
            assert_eq!(packet.msn_or_dma_length, self.reth.2);
        } else {
            assert_eq!((packet.syndrome.0, packet.msn_or_dma_length), (0, 0));
        }
        let datagram = opcode.stream() == Stream::Datagram;
        let src_qpn = if datagram { self.queue.1 } else { 0 };
        assert_eq!(packet.src_qpn, Qpn::new(src_qpn));
    }
}

prop_compose! {
    pub(crate) fn transported()(
        opcode in prop_oneof![1 => Just(0x81u8), 1 => 0xc6..=0xdeu8, 2 => any::<u8>()],
        flags: u16,
        numbers: (u32, u32),
        queue: (u32, u32),
        reth: (u64, u32, u32),
        aeth in (any::<u8>(), 0u32..1 << 24),
        payload_bytes in 0usize..200,
    ) -> Transported {
        let mut bth = Bth::new(Opcode(opcode), Qpn::new(numbers.0), Psn::new(numbers.1));
        bth.solicited_event = flags & 1 != 0;
        bth.migrated = flags & 2 != 0;
        bth.becn = flags & 4 != 0;
        bth.fecn = flags & 8 != 0;
        bth.ack_request = flags & 16 != 0;
        bth.partition_key = flags;
        bth.pad_bytes = (payload_bytes.next_multiple_of(4) - payload_bytes) as u8;
        Transported { bth, queue, reth, aeth, payload_bytes }
    }
}

/// An IP header with all that may follow it.
pub(crate) fn ip() -> impl Strategy<Value = IpHeaders> {
    let raw = |bytes: usize| vec(any::<u8>(), bytes * 8 + 6);
    let raw = move || of((0usize..4).prop_flat_map(raw));
    let v4 = (any::<(u8, u8)>(), any::<([u8; 4], [u8; 4])>(), 0usize..=10).prop_map(
        |((ttl, traffic_class), (source, destination), option_words)| {
            let mut header = Ipv4Header {
                time_to_live: ttl,
                dscp: (traffic_class >> 2).try_into().unwrap(),
                ecn: (traffic_class & 3).try_into().unwrap(),
                source,
                destination,
                ..Default::default()
            };
            header.options = vec![1; option_words * 4][..].try_into().unwrap();
            IpHeaders::Ipv4(header, Ipv4Extensions::default())
        },
    );
    let v6 = (
        any::<(u8, u8)>(),
        any::<([u8; 16], [u8; 16])>(),
        (raw(), raw(), raw(), raw()),
        of((0u16..4, any::<bool>())),
        any::<bool>(),
    )
        .prop_map(
            |((hop_limit, traffic_class), (source, destination), raws, fragment, auth)| {
                let header = Ipv6Header {
                    traffic_class,
                    hop_limit,
                    source,
                    destination,
                    ..Default::default()
                };
                let raw = |payload: Option<Vec<u8>>| {
                    payload.map(|payload| Ipv6RawExtHeader::new_raw(IpNumber::UDP, &payload).unwrap())
                };
                let (hop_by_hop, destination, routing, last) = raws;
                let extensions = Ipv6Extensions {
                    hop_by_hop_options: raw(hop_by_hop),
                    destination_options: raw(destination),
                    routing: raw(routing).map(|routing| Ipv6RoutingExtensions {
                        routing,
                        final_destination_options: raw(last),
                    }),
                    fragment: fragment.map(|(offset, more)| {
                        let offset = IpFragOffset::try_from(offset).unwrap();
                        Ipv6FragmentHeader::new(IpNumber::UDP, offset, more, 7)
                    }),
                    auth: auth.then(|| IpAuthHeader::new(IpNumber::UDP, 1, 2, &[3; 8]).unwrap()),
                };
                IpHeaders::Ipv6(header, extensions)
            },
        );
    prop_oneof![v4, v6]
}

pub(crate) fn ethernet(tags: &[(u8, u16)], ip: &IpHeaders, src_port: u16, payload: &[u8]) -> Vec<u8> {
    let mut ip = ip.clone();
    let udp = UdpHeader::without_ipv4_checksum(src_port, ROCE_UDP_PORT, payload.len()).unwrap();
    // Behind the headers the length counts, and the extensions are in it.
    ip.set_payload_len(8 + payload.len()).unwrap();
    // What this answers is IPv4 for both in etherparse 0.21.
    ip.set_next_headers(IpNumber::UDP);
    let network = match ip {
        IpHeaders::Ipv4(..) => EtherType::IPV4,
        IpHeaders::Ipv6(..) => EtherType::IPV6,
    };
    let mut types: Vec<EtherType> = tags
        .iter()
        .map(|(kind, _)| {
            [
                EtherType::VLAN_TAGGED_FRAME,
                EtherType::PROVIDER_BRIDGING,
                EtherType::VLAN_DOUBLE_TAGGED_FRAME,
            ][usize::from(kind % 3)]
        })
        .collect();
    types.push(network);
    let mut frame = Vec::new();
    let link = Ethernet2Header {
        source: [2; 6],
        destination: [4; 6],
        ether_type: types[0],
    };
    link.write(&mut frame).unwrap();
    for ((_, tag), next) in tags.iter().zip(&types[1..]) {
        frame.extend(tag.to_be_bytes());
        frame.extend(next.0.to_be_bytes());
    }
    ip.write(&mut frame).unwrap();
    udp.write(&mut frame).unwrap();
    frame.extend(payload);
    frame
}
