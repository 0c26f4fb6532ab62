//! MRC packets written by hand, byte by byte, from the layouts that `rocescope_wire::mrc` names: no real wire was seen.
#![expect(clippy::panic, reason = "it is a test")]

mod by_hand;

use by_hand::{hex, on_udp};
use rocescope_wire::extension::{Aeth, Reth, Syndrome};
use rocescope_wire::mrc::{Meth, NackReason, Neth, Seth, Tseth};
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::{
    Class, FrameLengths, LinkType, Malformed, Opcode, Operation, Packet, Position, Psn, Stream, Transport, decode,
};

fn frame(transport: &[u8]) -> Vec<u8> {
    on_udp(4791, transport)
}

fn class(frame: &[u8]) -> Class {
    let lengths = FrameLengths::whole(frame.len() as u32);
    decode(frame, LinkType::Ethernet, lengths, [4791, 0, 0, 0])
}

fn packet(frame: &[u8]) -> Packet {
    match class(frame) {
        Class::Roce(packet) => packet,
        other => panic!("{other:?}"),
    }
}

/// A retransmitted RDMA WRITE MIDDLE with a timestamp and eight bytes of payload.
fn write() -> Vec<u8> {
    frame(&hex("
        c7 00 ffff        ; BTH: MRC RDMA WRITE MIDDLE, no pad, default partition
        00 00012a         ; destination QP 0x12a
        30 00000a         ; retransmission 0x20 and timestamp 0x10, PSN 10
        0003 0009         ; METH: request MSN 3, MSN 9
        1234 8001         ; TSETH: timestamp 0x1234, response wanted, type 1
        00007f0000001000  ; RETH: address
        00000063 00002000 ; key 99, DMALen 8,192
        0102030405060708  ; payload
        deadbeef          ; ICRC
    "))
}

#[test]
fn a_write_has_a_reth_in_every_packet_and_may_have_a_timestamp() {
    let frame = write();
    let packet = packet(&frame);
    assert_eq!(packet.opcode().name(), Some("MRC_RDMA_WRITE_MIDDLE"));
    assert_eq!(packet.opcode().transport(), Transport::Mrc);
    let meaning = packet.meaning;
    assert_eq!(
        (meaning.operation, meaning.position()),
        (Operation::RdmaWrite, Position::Middle)
    );
    assert_eq!((packet.stream(), packet.psn().get()), (Stream::Request, 10));
    assert_eq!((packet.payload_bytes, packet.msn_or_dma_length), (8, 8_192));
    assert_eq!(packet.payload_at(), frame.len() - 12);
    assert!(packet.is_marked_retransmission() && !packet.bth.ack_request());
    assert_eq!((packet.flow.udp_src_port, packet.flow.dst_qpn), (0xc0de, 0x12a));
    assert_eq!((packet.traffic_class.dscp(), packet.congestion_experienced), (4, false));
    let at = packet.bth_at + 12;
    let bytes = |from: usize| frame[at + from..].first_chunk().copied().unwrap();
    assert_eq!(Meth::read(bytes(0)), Meth { request_msn: 3, msn: 9 });
    let tseth = Tseth {
        timestamp: 0x1234,
        respond: true,
        kind: 1,
    };
    assert_eq!(Tseth::read(bytes(4)), tseth);
    let reth = Reth::read(frame[at + 8..].first_chunk().copied().unwrap());
    assert_eq!((reth.virtual_address, reth.remote_key), (0x7f00_0000_1000, 99));
    // Without the timestamp bit the four bytes are payload.
    let mut plain = frame;
    plain[packet.bth_at + 8] = 0;
    let plain = self::packet(&plain);
    assert_eq!((plain.payload_bytes, plain.is_marked_retransmission()), (12, false));
}

#[test]
fn a_selective_acknowledgement_has_a_cumulative_psn_and_a_bitmap() {
    let frame = frame(&hex("
        dc 00 ffff 00 00012b 00 000014 ; BTH: MRC SACK to QP 0x12b, PSN 20
        00 22 0003        ; SETH: skip the path once (1 << 5), answer to a probe (2), offset of the PSN 3
        beefc0de          ; entropy of the packet
        0007 0008         ; source and destination
        00 000014         ; everything up to PSN 20 has arrived
        20 01 0001        ; congestion control of type 2, range 1, bitmap from PSN 20 + 1
        0000000000000006  ; bitmap: 22 and 23, not 21
        00aa 0001 80 000400 ; state of the congestion control
        deadbeef          ; ICRC
    "));
    let packet = packet(&frame);
    assert_eq!(packet.opcode().name(), Some("MRC_SACK"));
    assert_eq!((packet.stream(), packet.psn().get()), (Stream::Acknowledge, 20));
    assert_eq!((packet.syndrome, packet.payload_bytes), (Syndrome::ACK, 0));
    let seth = Seth::read(frame[packet.bth_at + 12..].first_chunk().copied().unwrap());
    assert_eq!((seth.path_advice, seth.probe_response, seth.psn_offset), (1, true, 3));
    assert_eq!((seth.entropy, seth.cumulative_psn.get()), (0xbeef_c0de, 20));
    let has = [21, 22, 23, 24].map(|psn| seth.has(Psn::new(psn)));
    assert_eq!(has, [Some(false), Some(true), Some(true), Some(false)]);
    assert_eq!(seth.congestion_state, 0x00aa_0001_8000_0400);
}

#[test]
fn a_negative_acknowledgement_names_its_reason() {
    let frame = frame(&hex("
        dd 00 ffff 00 00012b 00 000015 ; BTH: MRC NACK to QP 0x12b, PSN 21
        00 00 02 05       ; NETH: trimmed at the last hop, manufacturer's 5
        beefc0de          ; entropy of the packet
        0007 0008         ; source and destination
        00 000015         ; PSN 21
        20 00 1234        ; congestion control of type 2, timestamp
        deadbeef          ; ICRC
    "));
    let packet = packet(&frame);
    assert_eq!(packet.opcode().name(), Some("MRC_NACK"));
    assert_eq!((packet.stream(), packet.psn().get()), (Stream::Acknowledge, 21));
    assert!(!packet.syndrome.is_ack());
    let neth = Neth::read(frame[packet.bth_at + 12..].first_chunk().copied().unwrap());
    assert_eq!(
        (neth.reason, neth.psn.get(), neth.timestamp),
        (NackReason::TRIMMED_LAST_HOP, 21, 0x1234)
    );
    assert_eq!(
        (packet.msn_or_dma_length, neth.reason.name()),
        (2, "nack_trimmed_last_hop")
    );
}

#[test]
fn acknowledgements_probes_and_messages_of_endpoints_have_names_and_no_payload() {
    let of = |opcode: u8, extension: usize| {
        let mut transport = hex("00 00 ffff 00 00012b 00 000005");
        transport[0] = opcode;
        transport.extend(
            Aeth {
                syndrome: Syndrome::ACK,
                msn: 4,
            }
            .write(),
        );
        transport.resize(12 + extension + 4, 0);
        let packet = packet(&frame(&transport));
        assert_eq!(packet.payload_bytes, 0);
        (packet.opcode().name().unwrap(), packet.stream())
    };
    assert_eq!(of(0xd1, 4), ("MRC_ACKNOWLEDGE", Stream::Acknowledge));
    assert_eq!(of(0xd8, 16), ("MRC_ENDPOINT_REQUEST", Stream::Control));
    assert_eq!(of(0xd9, 36), ("MRC_ENDPOINT_RESPONSE", Stream::Control));
    assert_eq!(of(0xde, 16), ("MRC_PROBE", Stream::Control));
    // What MRC does not define is the manufacturer's.
    assert_eq!(Opcode(0xd2).transport(), Transport::Vendor);
    assert_eq!(Opcode(0xe6).transport(), Transport::Vendor);
}

/// A switch that trims a packet sends its beginning on. It may or may not correct the length of the IP header; it leaves
/// the length of the UDP header, which belongs to the transport.
#[test]
fn a_trimmed_write_is_not_damaged_and_has_not_arrived() {
    let whole = write();
    let kept = whole.len() - 8;
    let mut cut = whole[..kept].to_vec();
    let mut corrected = cut.clone();
    let bytes = (kept as u16 - 54).to_be_bytes();
    corrected[18..20].copy_from_slice(&bytes);
    for frame in [&cut, &corrected] {
        let packet = packet(frame);
        assert!(packet.is_trimmed() && packet.stream() == Stream::Trimmed);
        assert_eq!((packet.payload_bytes, packet.frame_bytes), (0, kept as u32));
        assert!(!packet.truncated && !packet.snapped && packet.is_marked_retransmission());
        assert_eq!((packet.psn().get(), packet.msn_or_dma_length), (10, 8_192));
    }
    // Cut inside the RETH it is still known by its BTH.
    let short = packet(&whole[..80]);
    assert!(short.is_trimmed() && !short.snapped);
    // In an SRv6 fabric the switch corrects the outer header alone.
    let inside = (corrected.len() as u16 - 14).to_be_bytes();
    let outer = [&[0x60, 0, 0, 0, inside[0], inside[1], 41, 9][..], &[0xfd; 32]].concat();
    let mut nested = cut.clone();
    nested.splice(14..14, outer);
    let packet = packet(&nested);
    assert_eq!((packet.encapsulation, packet.is_trimmed()), (Encapsulation::Ipv6, true));
    assert_eq!(packet.frame_bytes, nested.len() as u32);
    // No switch trims an acknowledgement: a mirror has cut it, or it is damaged.
    cut[62] = 0xd1;
    assert!(matches!(class(&cut), Class::Roce(packet) if packet.truncated && !packet.is_trimmed()));
    corrected[62] = 0x0a;
    assert!(matches!(class(&corrected), Class::Malformed(Malformed::UdpLength, _)));
}

/// Each write by hand: every packet has a METH and a RETH, the ones with immediate data four bytes more.
#[test]
fn every_write_has_its_position_and_its_payload() {
    let writes = [
        ("c6", "MRC_RDMA_WRITE_FIRST", Position::First, ""),
        ("c7", "MRC_RDMA_WRITE_MIDDLE", Position::Middle, ""),
        ("c8", "MRC_RDMA_WRITE_LAST", Position::Last, ""),
        ("c9", "MRC_RDMA_WRITE_LAST_WITH_IMMEDIATE", Position::Last, "00000007"),
        ("ca", "MRC_RDMA_WRITE_ONLY", Position::Only, ""),
        ("cb", "MRC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", Position::Only, "00000007"),
    ];
    for (opcode, name, position, immediate) in writes {
        let transport = hex(&format!(
            "{opcode} 00 ffff 00 00012a 00 00000a  0003 0009  00007f0000001000 00000063 00002000 {immediate}
             0102030405060708 deadbeef"
        ));
        let packet = packet(&frame(&transport));
        assert_eq!(
            (packet.opcode().name(), packet.opcode().position()),
            (Some(name), position)
        );
        assert_eq!((packet.payload_bytes, packet.msn_or_dma_length), (8, 8_192), "{name}");
        assert_eq!((packet.psn().get(), packet.stream()), (10, Stream::Request), "{name}");
    }
}
