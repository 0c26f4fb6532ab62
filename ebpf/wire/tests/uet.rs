//! UET packets written by hand, byte by byte, from the layouts that `rocescope_wire::uet` names: no real wire was seen.
#![expect(clippy::unwrap_used, reason = "it is a test")]

use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::uet::{Kind, NackCode, Pds, Ses};
use rocescope_wire::{Class, FrameLengths, Inner, LinkType, NotRoce, Packet, decode_into};

const PORTS: [u16; 4] = [4791, 0, 0, 0];

/// Bytes from hexadecimal digits, with comments behind `;`.
fn hex(text: &str) -> Vec<u8> {
    let digits: String = text
        .lines()
        .filter_map(|line| line.split(';').next())
        .flat_map(str::split_whitespace)
        .collect();
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Ethernet and IPv4 of this protocol before `payload`.
fn frame(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = hex("
        02 00 00 00 00 02  02 00 00 00 00 01  0800  ; Ethernet
        45 00 0000 0000 4000 40 00 0000             ; IPv4; length and protocol below
        0a000001 0a000002                           ; 10.0.0.1 to 10.0.0.2
    ");
    let bytes = (20 + payload.len() as u16).to_be_bytes();
    frame[16..18].copy_from_slice(&bytes);
    frame[23] = protocol;
    frame.extend(payload);
    frame
}

/// On UDP port 4793.
fn on_udp(pds: &[u8]) -> Vec<u8> {
    let bytes = (8 + pds.len() as u16).to_be_bytes();
    let udp = [&[0xc0, 0xde, 0x12, 0xb9][..], &bytes, &[0, 0], pds].concat();
    frame(17, &udp)
}

/// As IP protocol 253, behind 16 bits of entropy and 16 reserved ones.
fn on_ip(pds: &[u8]) -> Vec<u8> {
    frame(253, &[&[0xbe, 0xef, 0, 0][..], pds].concat())
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
    other[37] = 0xba;
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
