//! Decodes one frame, and passes the result through ICRC and connection management.

use super::bytes::Bytes;
use rocescope_wire::cm::Mad;
use rocescope_wire::decode::walk;
use rocescope_wire::mrc::{Neth, Seth};
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::uet::{self, Prologue, UetPacket};
use rocescope_wire::{
    Class, FlowKey, FrameLengths, Inner, LinkType, NotRoce, Operation, Packet, Qpn, ROCE_UDP_PORT,
    decode as decode_frame, decode_into, icrc,
};

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
    match class {
        Class::Roce(packet) => check(frame, lengths, &packet),
        Class::NotRoce(NotRoce::Uet, encapsulation) => {
            let (mut packet, mut inner) = (Packet::zeroed(), Inner::zeroed());
            let _ = decode_into(frame, link, lengths, ports, &mut packet, &mut inner);
            assert_ne!(inner.uet, 0);
            check_uet(frame, &inner, encapsulation);
        }
        _ => {}
    }
}

/// Headers that were read are those at their place.
fn check_uet(frame: &[u8], inner: &Inner, encapsulation: Encapsulation) {
    let (mut flow, mut packet): (FlowKey, UetPacket) = bytemuck::Zeroable::zeroed();
    if uet::read_into(frame, inner, encapsulation, &mut flow, &mut packet) == 0 {
        return;
    }
    let prologue = packet.prologue();
    assert_eq!(Prologue::read(prologue.write()), prologue);
    assert!((2..15).contains(&prologue.kind));
    assert_eq!(
        packet.acknowledged().is_some(),
        prologue.is_ack() && prologue.flags & Prologue::PROBE == 0
    );
    assert!(packet.sack().is_none() || matches!(prologue.kind, 8 | 9));
    assert!(!packet.has(UetPacket::SES) || prologue.is_request());
    assert!(!packet.has(UetPacket::TRIMMED) || prologue.is_request());
}

fn check(frame: &[u8], lengths: FrameLengths, packet: &Packet) {
    assert!(packet.network_at < packet.bth_at && packet.bth_at + 12 <= frame.len());
    if lengths == FrameLengths::whole(frame.len() as u32) && !packet.truncated && !packet.is_trimmed() {
        let end = packet.payload_at() + packet.payload_bytes as usize + usize::from(packet.bth.pad_bytes()) + 4;
        assert!(end <= frame.len(), "the packet ends {end} in {}", frame.len());
        assert!(!packet.snapped);
    }
    // The headers of MRC are read back as they are written.
    let rest = frame
        .get(packet.payload_at().saturating_sub(Seth::LEN)..)
        .unwrap_or(&[]);
    match packet.opcode().operation() {
        Operation::SelectiveAcknowledge => {
            if let Some(bytes) = rest.first_chunk::<{ Seth::LEN }>() {
                let seth = Seth::read(*bytes);
                assert_eq!(Seth::read(seth.write()), seth);
            }
        }
        Operation::NegativeAcknowledge => {
            if let Some(bytes) = rest.first_chunk::<{ Neth::LEN }>() {
                let neth = Neth::read(*bytes);
                assert_eq!(Neth::read(neth.write()), neth);
            }
        }
        _ => {}
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
