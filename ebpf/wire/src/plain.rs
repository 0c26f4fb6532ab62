//! The fast path of nearly every packet, with constant offsets.
//!
//! The decoder of [`decode`](mod@crate::decode) without the rare cases: it uses the same functions and
//! leaves all other frames to that decoder.

use crate::decode::Inner;
use crate::ip::{self, Ip};
use crate::link::{NO_VLAN, Network};
use crate::octets::Octets;
use crate::packet::{FrameLengths, Packet};
use crate::transport;
use crate::tunnel::Encapsulation;

/// Reads a frame with nothing but an Ethernet header, at most one VLAN tag, and an IP header
/// without options before its UDP header. `false` for any other frame, for one that is not RoCEv2, or
/// with an extension header before the one that a record keeps: then
/// [`decode_into`](crate::decode_into) determines the class.
///
/// `VERSION` is that of IP; its header is at `AT`: 14, or 18 after a tag. The caller has
/// checked the ethertypes.
#[inline(always)]
pub fn plain_into<const VERSION: u8, const AT: usize, O: Octets + ?Sized>(
    frame: &O,
    lengths: FrameLengths,
    ports: &[u16; 4],
    packet: &mut Packet,
) -> bool {
    read::<VERSION, AT, O>(frame, lengths, ports, packet).is_some()
}

#[inline(always)]
fn read<const VERSION: u8, const AT: usize, O: Octets + ?Sized>(
    frame: &O,
    lengths: FrameLengths,
    ports: &[u16; 4],
    packet: &mut Packet,
) -> Option<()> {
    packet.encapsulation = Encapsulation::None;
    packet.truncated = false;
    let vlan = if AT == 18 { frame.be16(14)? & 0x0fff } else { NO_VLAN };
    let ip = if VERSION == 6 {
        ip::v6_header(frame.read::<40>(AT)?, AT).ok()?
    } else {
        let head = frame.read::<20>(AT)?;
        if head[0] != 0x45 {
            return None;
        }
        Ip {
            payload_at: AT + 20,
            ..ip::v4_header(head, AT).ok()?
        }
    };
    let network = Network {
        at: AT,
        ethertype: 0,
        vlan,
        inner_vlan: NO_VLAN,
    };
    let inner = Inner {
        lengths,
        network,
        ip,
        ..Inner::zeroed()
    };
    transport::read::<VERSION, O>(frame, ports, packet, &inner).ok()
}
