//! Decodes one frame, and passes the result through ICRC and connection management.

use super::bytes::Bytes;
use rocescope_wire::cm::Mad;
use rocescope_wire::decode::walk;
use rocescope_wire::{Class, FrameLengths, LinkType, Packet, Qpn, ROCE_UDP_PORT, decode as decode_frame, icrc};

const LINKS: [LinkType; 4] = [
    LinkType::Ethernet,
    LinkType::Raw,
    LinkType::LinuxCooked,
    LinkType::LinuxCooked2,
];

/// How the lengths of a frame are chosen.
const WHOLE: u8 = 0;
const SNAPPED: u8 = 1;

/// Input: link type, kind of lengths, another UDP port, two lengths (10 bytes in all), then the frame.
pub fn run(input: &[u8]) {
    let mut bytes = Bytes(input);
    let link = LINKS[usize::from(bytes.u8()) % LINKS.len()];
    let lengths = bytes.u8();
    let ports = [ROCE_UDP_PORT, bytes.u16(), 0, 0];
    let (one, two) = (bytes.u16(), bytes.u32());
    let frame = bytes.0;
    let captured = frame.len() as u32;
    let lengths = match lengths % 3 {
        WHOLE => FrameLengths::whole(captured),
        SNAPPED => FrameLengths {
            captured,
            original: captured.saturating_add(u32::from(one)),
        },
        // Any value, as from a broken writer.
        _ => FrameLengths {
            captured: u32::from(one),
            original: two,
        },
    };
    let class = decode_frame(frame, link, lengths, ports);
    assert_eq!(
        class,
        walk(frame, link, lengths, ports),
        "the straight path and the walk differ"
    );
    if let Class::Roce(packet) = class {
        check(frame, lengths, &packet);
    }
}

fn check(frame: &[u8], lengths: FrameLengths, packet: &Packet) {
    assert!(packet.network_at < packet.bth_at && packet.bth_at + 12 <= frame.len());
    if lengths == FrameLengths::whole(frame.len() as u32) && !packet.truncated && !packet.is_trimmed() {
        let end = packet.payload_at() + packet.payload_bytes as usize + usize::from(packet.bth.pad_bytes()) + 4;
        assert!(end <= frame.len(), "the packet ends {end} in {}", frame.len());
        assert!(!packet.snapped);
    }
    // Any result is valid.
    let _ = icrc::verify(frame, packet);
    if packet.bth.dst_qpn() == Qpn::GSI
        && let Some(payload) = frame.get(packet.payload_at()..)
        && let Ok(mad) = Mad::read(payload)
    {
        assert_eq!(Mad::read(&mad.write()), Ok(mad));
    }
}
