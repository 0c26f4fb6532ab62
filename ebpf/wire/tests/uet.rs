//! UET packets written by hand, byte by byte, from the layouts that `rocescope_wire::uet` names: no real wire was seen.
#![expect(clippy::unwrap_used, reason = "it is a test")]

mod by_hand;

use by_hand::hex;
use bytemuck::Zeroable;
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::uet::{self, Kind, NackCode, Pds, Prologue, Sack, Ses, UetPacket};
use rocescope_wire::{Class, FlowKey, FrameLengths, Inner, LinkType, NotRoce, Packet, decode_into};

const PORTS: [u16; 4] = [4791, 0, 0, 0];

/// On UDP port 4793.
fn on_udp(pds: &[u8]) -> Vec<u8> {
    by_hand::on_udp(4793, pds)
}

/// As IP protocol 253, behind 16 bits of entropy and 16 reserved ones.
fn on_ip(pds: &[u8]) -> Vec<u8> {
    by_hand::on_ip(253, &[&[0xbe, 0xef, 0, 0][..], pds].concat())
}

fn class(frame: &[u8]) -> (Class, Kind) {
    let (mut packet, mut inner) = (Packet::zeroed(), Inner::zeroed());
    let lengths = FrameLengths::whole(frame.len() as u32);
    let class = decode_into(frame, LinkType::Ethernet, lengths, PORTS, &mut packet, &mut inner).map(|packet| *packet);
    (class, Kind::from_number(inner.uet))
}

fn kind(frame: &[u8]) -> Kind {
    let (class, kind) = class(frame);
    assert_eq!(class, Class::NotRoce(NotRoce::Uet, Encapsulation::None));
    kind
}

#[test]
fn a_request_has_a_message_and_a_job() {
    let pds = hex("
        11 98 0000        ; PDS: type 2 (RUD request), next header 3 (standard SES), flags 0x18: RETX, ACK requested
        00000010          ; PSN 16
        0007 0009         ; from PDC 7 to PDC 9
        05 03 0102        ; SES: SEND, SOM and EOM, message 0x102
        00 00abcd         ; generation 0, job 0xabcd
    ");
    for frame in [on_udp(&pds), on_ip(&pds)] {
        let kind = kind(&frame);
        assert_eq!((kind.pds_type(), kind.is_retransmission()), (2, true));
        assert!(!kind.is_ecn_echo() && !kind.is_nack_trimmed());
    }
    let header = Pds::read(*pds.first_chunk().unwrap());
    let prologue = header.prologue;
    assert_eq!((prologue.kind, prologue.next, prologue.flags), (2, 3, 0x18));
    assert_eq!((header.psn, header.src_pdc, header.dst_pdc), (16, 7, 9));
    let ses = Ses::read(pds[Pds::LEN..].first_chunk().copied().unwrap());
    assert_eq!((ses.operation(), ses.starts, ses.ends), ("send", true, true));
    assert_eq!((ses.message, ses.job), (0x102, 0xabcd));
}

#[test]
fn an_ack_echoes_a_congestion_mark() {
    // Type 8 (ACK_CC) << 11, next header 4 (response) << 7, flags 0x20; offset 1, cumulative PSN 16, PDC 9 to 7.
    let pds = hex("42 20 0001 00000010 0009 0007 00 01 0000 0000000000000000 0000000000000000");
    let kind = kind(&on_udp(&pds));
    assert_eq!(
        (kind.pds_type(), kind.is_ecn_echo(), kind.is_retransmission()),
        (8, true, false)
    );
    let header = Pds::read(*pds.first_chunk().unwrap());
    assert_eq!((header.psn, header.second, header.nack_code()), (16, 1, None));
}

#[test]
fn a_nack_names_its_code() {
    // Type 10 << 11, no next header, no flags; code 2, manufacturer's 0; PSN 17, PDC 9 to 7, payload.
    let mut pds = hex("50 00 02 00 00000011 0009 0007 00000000");
    let kind = kind(&on_udp(&pds));
    assert_eq!((kind.pds_type(), kind.is_nack_trimmed()), (10, true));
    let header = Pds::read(*pds.first_chunk().unwrap());
    assert_eq!(header.nack_code().map(NackCode::name), Some("trimmed_last_hop"));
    pds[2] = 0x0d;
    assert!(!self::kind(&on_udp(&pds)).is_nack_trimmed());
}

#[test]
fn what_is_no_uet() {
    let request = hex("11 80 0000 00000010 0007 0009");
    // Another port; another protocol for experiments, whose first bits are no PDS type; a frame without a prologue.
    let mut other = on_udp(&request);
    other[57] = 0xba;
    assert_eq!(class(&other).0, Class::NotRoce(NotRoce::OtherPort, Encapsulation::None));
    assert_eq!(
        class(&on_ip(&hex("f800 0000"))).0,
        Class::NotRoce(NotRoce::NotUdp, Encapsulation::None)
    );
    assert_eq!(
        class(&on_ip(&[])).0,
        Class::NotRoce(NotRoce::NotUdp, Encapsulation::None)
    );
    // A port that carries RoCEv2 is RoCEv2.
    let frame = on_udp(&request);
    let (mut packet, mut inner) = (Packet::zeroed(), Inner::zeroed());
    let lengths = FrameLengths::whole(frame.len() as u32);
    let ports = [4793, 0, 0, 0];
    let class = decode_into(
        frame.as_slice(),
        LinkType::Ethernet,
        lengths,
        ports,
        &mut packet,
        &mut inner,
    );
    assert!(!matches!(class, Class::NotRoce(..)), "{class:?}");
}

/// What a record keeps of a frame; `None` if it is encrypted, or cut before its headers.
fn read(frame: &[u8], lengths: FrameLengths) -> Option<(FlowKey, UetPacket)> {
    let (mut packet, mut inner) = (Packet::zeroed(), Inner::zeroed());
    let class = decode_into(frame, LinkType::Ethernet, lengths, PORTS, &mut packet, &mut inner).map(|packet| *packet);
    assert_eq!(class, Class::NotRoce(NotRoce::Uet, Encapsulation::None));
    let (mut flow, mut uet): (FlowKey, UetPacket) = Zeroable::zeroed();
    (uet::read_into(frame, &inner, Encapsulation::None, &mut flow, &mut uet) != 0).then_some((flow, uet))
}

fn whole(frame: &[u8]) -> UetPacket {
    read(frame, FrameLengths::whole(frame.len() as u32)).unwrap().1
}

/// Every PDS type by hand: type, what follows, flags, PSN, PDCs, and the SES header of requests.
#[test]
fn every_pds_type_is_read() {
    // Type in the upper five bits, next header or control type in the next four, flags in the last seven.
    let packets = [
        // RUD request: SES standard, WRITE, ends, job 5. Clear PSN offset -2.
        (
            "1188 fffe 00000064 0007 0009  01 02 0001 00 000005",
            2,
            3,
            0x08,
            0x64,
            (7, 9),
            Some(("write", 5, true)),
        ),
        // ROD request: SES medium, always a whole message.
        (
            "1900 0000 00000065 0007 0009  05 00 0400 00 000006",
            3,
            2,
            0x00,
            0x65,
            (7, 9),
            Some(("send", 6, true)),
        ),
        // RUDI request and response: a number in place of the PSN. The sources disagree about where SES begins.
        ("2190 0000 0000abcd", 4, 3, 0x10, 0xabcd, (0, 0), None),
        ("2a00 0000 0000abcd", 5, 4, 0x00, 0xabcd, (0, 0), None),
        // UUD request: nothing before SES but the prologue.
        (
            "3180 0000  07 03 0001 00 000007",
            6,
            3,
            0x00,
            0,
            (0, 0),
            Some(("datagram_send", 7, true)),
        ),
        // ACK of PSN 0x66, cumulative 0x64, with the echo of a mark.
        ("3a20 0002 00000064 0009 0007", 7, 4, 0x20, 0x64, (9, 7), None),
        // ACK_CC and ACK_CCX: the SACK follows.
        (
            "4200 0000 00000064 0009 0007  00 80 0001 8000000000000005 0000000000000000",
            8,
            4,
            0,
            0x64,
            (9, 7),
            None,
        ),
        (
            "4a00 0000 00000064 0009 0007  00 80 0001 8000000000000005 0000000000000000 0000000000000000",
            9,
            4,
            0,
            0x64,
            (9, 7),
            None,
        ),
        // NACK: code 6, and NACK_CCX: code 1.
        ("5000 0600 00000067 0009 0007 00000000", 10, 0, 0, 0x67, (9, 7), None),
        (
            "6010 0100 00000067 0009 0007 00000000 0000000000000000 0000000000000000",
            12,
            0,
            0x10,
            0x67,
            (9, 7),
            None,
        ),
        // Control: type 4 closes the PDC.
        ("5a08 0000 00000068 0007 0009 00000000", 11, 4, 0x08, 0x68, (7, 9), None),
        // Requests with congestion state: four bytes more before SES. The first packet has no PDC of the destination.
        (
            "6984 0000 00000066 0007 0002 00000000  02 03 0001 00 000008",
            13,
            3,
            0x04,
            0x66,
            (7, 2),
            Some(("read", 8, true)),
        ),
        (
            "7180 0000 00000066 0007 0009 00000000  03 01 0001 00 000009",
            14,
            3,
            0,
            0x66,
            (7, 9),
            Some(("atomic", 9, false)),
        ),
    ];
    for (text, kind, next, flags, psn, pdcs, ses) in packets {
        let pds = hex(text);
        for frame in [on_udp(&pds), on_ip(&pds)] {
            let packet = whole(&frame);
            assert_eq!(packet.prologue(), Prologue { kind, next, flags }, "{text}");
            assert_eq!((packet.psn, (packet.src_pdc, packet.dst_pdc)), (psn, pdcs), "{text}");
            assert_eq!(packet.frame_bytes, frame.len() as u32);
            assert_eq!(packet.has(UetPacket::SES), ses.is_some(), "{text}");
            if let Some((operation, job, ends)) = ses {
                let opcode = Ses {
                    opcode: packet.opcode,
                    starts: false,
                    ends: false,
                    message: 0,
                    job: 0,
                };
                assert_eq!((opcode.operation(), packet.job), (operation, job), "{text}");
                assert_eq!(packet.has(UetPacket::ENDS_MESSAGE), ends, "{text}");
            }
            let acknowledged = matches!(kind, 7..=9).then(|| psn + if kind == 7 { 2 } else { 0 });
            assert_eq!(packet.acknowledged(), acknowledged, "{text}");
            let sack = matches!(kind, 8 | 9).then_some((0x65, 0x8000_0000_0000_0005));
            assert_eq!(packet.sack(), sack, "{text}");
            assert!(!packet.has(UetPacket::TRIMMED));
        }
    }
    // Of the first: addresses, and the entropy in place of a port.
    let frame = on_udp(&hex(packets[0].0));
    let (flow, packet) = read(&frame, FrameLengths::whole(frame.len() as u32)).unwrap();
    assert_eq!(
        (flow.src[0], flow.src[15], flow.dst[15], flow.udp_src_port),
        (0xfd, 1, 2, 0xc0de)
    );
    assert_eq!((packet.ttl, packet.traffic_class >> 2), (64, 4));
    // Encrypted packets have no headers that can be read.
    let frame = on_udp(&hex("0c00 0000 00000064 0007 0009"));
    assert_eq!(read(&frame, FrameLengths::whole(frame.len() as u32)), None);
}

/// One operation of each family.
#[test]
fn every_operation_has_a_name() {
    let names = [
        "no_op",
        "write",
        "read",
        "atomic",
        "fetching_atomic",
        "send",
        "rendezvous_send",
        "datagram_send",
        "deferrable_send",
        "tagged_send",
        "rendezvous_tagged_send",
        "deferrable_tagged_send",
        "ready_to_restart",
        "tagged_send_atomic",
        "tagged_send_fetching_atomic",
        "message_error",
        "sync_write",
        "sync_atomic",
        "reserved",
    ];
    for (opcode, name) in (0u8..).zip(names) {
        let mut pds = hex("1180 0000 00000010 0007 0009  00 03 0102 00 00abcd");
        pds[12] = opcode;
        let packet = whole(&on_udp(&pds));
        let ses = Ses {
            opcode: packet.opcode,
            starts: false,
            ends: true,
            message: 0,
            job: 0,
        };
        assert_eq!((packet.opcode, ses.operation()), (opcode, name));
    }
}

#[test]
fn a_trimmed_request_is_known_by_its_lengths() {
    let pds = [
        &hex("1180 0000 00000010 0007 0009  01 03 0102 00 00abcd")[..],
        &[0; 100],
    ]
    .concat();
    let frame = on_udp(&pds);
    let mut cut = frame[..frame.len() - 90].to_vec();
    let mut corrected = cut.clone();
    let bytes = (cut.len() as u16 - 54).to_be_bytes();
    corrected[18..20].copy_from_slice(&bytes);
    for frame in [&cut, &corrected] {
        let packet = whole(frame);
        assert!(packet.has(UetPacket::TRIMMED) && packet.has(UetPacket::SES));
        assert_eq!(packet.frame_bytes, frame.len() as u32);
    }
    // An ACK is not trimmed: it is damaged, or a switch did what none does.
    cut[62] = 0x3a;
    assert!(!whole(&cut).has(UetPacket::TRIMMED));
    // What the capture cut is not trimmed.
    let lengths = FrameLengths {
        captured: 82,
        original: frame.len() as u32,
    };
    let (_, packet) = read(&frame[..82], lengths).unwrap();
    assert!(!packet.has(UetPacket::TRIMMED) && packet.has(UetPacket::SES));
    let lengths = FrameLengths {
        captured: 72,
        ..lengths
    };
    assert_eq!(read(&frame[..72], lengths), None, "the PDCs are missing");
    // On IP alone only a switch that leaves the length of the IP header shows.
    let frame = on_ip(&pds);
    assert!(whole(&frame[..frame.len() - 90]).has(UetPacket::TRIMMED));
}

#[test]
fn a_bitmap_begins_at_its_offset() {
    let sack = Sack {
        offset: -1,
        bitmap: 0b101,
    };
    assert_eq!(Sack::read(sack.write()), sack);
    let packet = UetPacket {
        psn: 0,
        ..Zeroable::zeroed()
    };
    assert_eq!(packet.with_sack(sack).sack(), Some((u32::MAX, 0b101)));
    assert_eq!(packet.sack(), None);
}
