//! Chains of IPv6 extension headers, in tunnels too: a frame is decoded from its first [`REACH`] bytes, as the kernel's
//! program holds them, to the same result as from all its bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use rocescope_wire::ip::EXTENSIONS_END;
use rocescope_wire::octets::REACH;
use rocescope_wire::{Bth, Class, FrameLengths, LinkType, Malformed, Octets, Opcode, Psn, Qpn, decode};

const HOP_BY_HOP: u8 = 0;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const UDP: u8 = 17;
const GRE: u8 = 47;
const IPV6: u8 = 41;

/// The beginning of a frame, as the kernel's program reads it.
struct Head<'a>(&'a [u8]);

impl Octets for Head<'_> {
    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        if at + N > self.0.len().min(REACH) {
            return None;
        }
        self.0.read(self.settle(at))
    }

    fn settle(&self, at: usize) -> usize {
        at & (REACH - 1)
    }
}

fn class_of(frame: &(impl Octets + ?Sized), bytes: usize) -> Class {
    decode(
        frame,
        LinkType::Ethernet,
        FrameLengths::whole(bytes as u32),
        [4791, 0, 0, 0],
    )
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xc0, 1];
    bytes.extend(port.to_be_bytes());
    bytes.extend((8 + payload.len() as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(payload);
    bytes
}

fn roce() -> Vec<u8> {
    let mut bth = Bth::new(Opcode::RC_ACKNOWLEDGE, Qpn::new(17), Psn::new(7))
        .write()
        .to_vec();
    bth.extend([0; 8]);
    udp(4791, &bth)
}

/// An extension header: its protocol number and its length field.
type Header = (u8, u8);

/// An Ethernet frame with an IPv6 packet of these extension headers and `payload`.
fn ethernet(headers: &[Header], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut chain = Vec::new();
    let nexts = headers.iter().skip(1).map(|(kind, _)| *kind).chain([protocol]);
    for (&(kind, units), next) in headers.iter().zip(nexts) {
        let bytes = match kind {
            FRAGMENT => 8,
            AUTHENTICATION => (usize::from(units) + 2) * 4,
            _ => (usize::from(units) + 1) * 8,
        };
        let begin = chain.len();
        chain.extend([next, if kind == FRAGMENT { 0 } else { units }]);
        chain.resize(begin + bytes, 0);
    }
    chain.extend(payload);
    let mut frame = vec![2; 12];
    frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
    frame.extend((chain.len() as u16).to_be_bytes());
    frame.extend([headers.first().map_or(protocol, |(kind, _)| *kind), 64]);
    frame.extend([0xfe; 32]);
    frame.extend(chain);
    frame
}

/// What is around a packet.
#[derive(Clone, Copy, Debug)]
enum Around {
    Vxlan,
    Gre,
    Ipv6,
}

/// Packets with these extension headers, each inside the next.
fn nested(layers: &[(Vec<Header>, Around)]) -> Vec<u8> {
    let (mut protocol, mut payload, mut frame) = (UDP, roce(), Vec::new());
    for (headers, around) in layers {
        frame = ethernet(headers, protocol, &payload);
        (protocol, payload) = match around {
            Around::Vxlan => (UDP, udp(4789, &[&[8, 0, 0, 0, 0, 0, 1, 0][..], &frame].concat())),
            Around::Gre => (GRE, [&[0, 0, 0x65, 0x58][..], &frame].concat()),
            Around::Ipv6 => (IPV6, frame[14..].to_vec()),
        };
    }
    frame
}

fn header() -> impl Strategy<Value = Header> {
    let kind = prop::sample::select(vec![HOP_BY_HOP, 43, FRAGMENT, AUTHENTICATION, 60, 135, 139, 140]);
    (kind, prop_oneof![4 => 0..8u8, 2 => 0..64u8, 1 => any::<u8>()])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_chain_has_the_same_class_in_the_kernel(
        layers in vec(
            (vec(header(), 0..8), prop::sample::select(vec![Around::Vxlan, Around::Gre, Around::Ipv6])),
            1..4,
        ),
        cut in prop_oneof![3 => Just(usize::MAX), 1 => 14..2_000usize],
        change in proptest::option::of((14..1_200usize, any::<u8>())),
    ) {
        let mut frame = nested(&layers);
        frame.truncate(cut);
        if let Some((at, byte)) = change
            && let Some(place) = frame.get_mut(at)
        {
            *place = byte;
        }
        prop_assert_eq!(class_of(&Head(&frame), frame.len()), class_of(frame.as_slice(), frame.len()));
    }
}

/// A chain may fill the frame up to the limit; with eight bytes more it is malformed, and the reason is the chain.
#[test]
fn the_longest_chain_is_decoded_and_a_longer_one_is_malformed() {
    let chain_of = |units: u8| ethernet(&[(60, 0), (AUTHENTICATION, 2), (HOP_BY_HOP, units)], UDP, &roce());
    // Ethernet and IPv6, two headers of 8 and 16 bytes.
    let units = (EXTENSIONS_END - 14 - 40 - 24) / 8 - 1;
    let frame = chain_of(u8::try_from(units).unwrap());
    assert!(matches!(class_of(frame.as_slice(), frame.len()), Class::Roce(packet) if packet.psn().get() == 7));
    for more in 1..60 {
        let frame = chain_of(u8::try_from(units + more).unwrap());
        let class = class_of(frame.as_slice(), frame.len());
        assert!(
            matches!(class, Class::Malformed(Malformed::Ipv6Extension, _)),
            "{more}: {class:?}"
        );
    }
}
