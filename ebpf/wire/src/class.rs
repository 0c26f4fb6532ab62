//! What a frame is, and the reason why where it is no RoCEv2 packet.

use crate::packet::Packet;
use crate::tunnel::Encapsulation;

macro_rules! reasons {
    ($(#[$doc:meta])* $name:ident { $($(#[$help:meta])* $variant:ident = $number:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum $name { $($(#[$help])* $variant = $number,)* }

        impl $name {
            /// The name of each reason, in the order of their numbers.
            pub const NAMES: [&str; [$($text),*].len()] = [$($text),*];

            /// The name, as counters and JSON show it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    };
}

reasons! {
    /// Why a frame is not RoCEv2, though nothing is wrong with it.
    NotRoce {
        /// ARP, LLDP and the like.
        NotIp = 0 "not_ip",
        /// TCP, ICMP and the like.
        NotUdp = 1 "not_udp",
        /// UDP to another port.
        OtherPort = 2 "other_udp_port",
        /// RoCE v1, which has no IP header.
        RoceV1 = 3 "roce_v1",
        /// A tunnel inside a tunnel inside a tunnel.
        DeepTunnel = 4 "deep_tunnel",
        /// Of a link layer that we do not read, on one interface of several.
        LinkType = 5 "link_type",
        /// Ultra Ethernet Transport: see [`uet`](crate::uet).
        Uet = 6 "uet",
    }
}

reasons! {
    /// What is wrong with a frame.
    Malformed {
        /// The frame ends inside the Ethernet header or a VLAN tag.
        Link = 0 "link_header",
        /// The frame ends inside the IP header.
        IpShort = 1 "ip_short",
        /// A field of the IP header contradicts another.
        IpHeader = 2 "ip_header",
        /// The IP header promises more bytes than the frame has.
        IpLength = 3 "ip_length",
        /// The chain of IPv6 extension headers is wrong or too long: it has more than six, or ends beyond
        /// [`EXTENSIONS_END`](crate::ip::EXTENSIONS_END).
        Ipv6Extension = 4 "ipv6_extension",
        /// The frame ends inside the UDP header.
        UdpShort = 5 "udp_short",
        /// The UDP length disagrees with the IP header.
        UdpLength = 6 "udp_length",
        /// The frame ends inside a tunnel header.
        Tunnel = 7 "tunnel_header",
        /// Too short for a BTH and an ICRC.
        Bth = 8 "bth_short",
        /// Too short for the headers, the pad and the ICRC that its opcode requires.
        Extension = 9 "extension_short",
    }
}

/// The class of a frame. `P` is the decoded RoCEv2 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class<P = Packet> {
    /// A RoCEv2 packet.
    Roce(P),
    /// Not RoCEv2.
    NotRoce(NotRoce, Encapsulation),
    /// Damaged or inconsistent.
    Malformed(Malformed, Encapsulation),
    /// A fragment of a UDP packet: RoCEv2 forbids fragments (A17.9.1).
    Fragment(Encapsulation),
    /// Truncated by the capture before it could be classified.
    Snapped(Encapsulation),
}

impl<P> Class<P> {
    /// The same class around `f` of the packet.
    #[inline(always)]
    pub fn map<Q>(self, f: impl FnOnce(P) -> Q) -> Class<Q> {
        match self {
            Self::Roce(packet) => Class::Roce(f(packet)),
            Self::NotRoce(reason, outer) => Class::NotRoce(reason, outer),
            Self::Malformed(reason, outer) => Class::Malformed(reason, outer),
            Self::Fragment(outer) => Class::Fragment(outer),
            Self::Snapped(outer) => Class::Snapped(outer),
        }
    }
}
