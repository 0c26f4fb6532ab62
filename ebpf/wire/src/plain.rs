//! The way down that nearly every packet takes, with offsets that are constants.
//!
//! It is the decoder of [`decode`](mod@crate::decode) with everything left out that a fabric seldom
//! carries; what it reads it reads by the same functions, and what it does not know it leaves to it.

use crate::decode::Inner;
use crate::ip::{self, Ip};
use crate::link::{NO_VLAN, Network};
use crate::octets::Octets;
use crate::packet::{FrameLengths, Packet};
use crate::transport;
use crate::tunnel::Encapsulation;

/// Reads a frame with nothing but an Ethernet header, at most one VLAN tag, and an IP header
/// without options before its UDP header. `false` when it is any other, or no RoCEv2 packet, or
/// one with an extension header before the one that a record keeps: then
/// [`decode_into`](crate::decode_into) says what.
///
/// `VERSION` is that of IP; its header lies at `AT`, which is 14, or 18 behind a tag. The caller has
/// looked at the ethertypes.
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
    let vlan = if AT == 18 {
        frame.be16(14)? & 0x0fff
    } else {
        NO_VLAN
    };
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
