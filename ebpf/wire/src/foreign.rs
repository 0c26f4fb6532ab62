//! The protocol of a frame that is not RoCEv2: what a mirror carries instead, or a tunnel that is not read.

use bytemuck::{Pod, Zeroable};

/// A number of a registry, and which one it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Foreign(u32);

impl Foreign {
    /// No protocol.
    pub const NONE: Self = Self(0);

    const ETHERTYPE: u32 = 1;
    const IP: u32 = 2;
    const GRE: u32 = 3;
    const UDP: u32 = 4;

    /// An ethertype.
    #[must_use]
    #[inline(always)]
    pub const fn ethertype(number: u16) -> Self {
        Self(Self::ETHERTYPE << 16 | number as u32)
    }

    /// A protocol in IP.
    #[must_use]
    #[inline(always)]
    pub const fn ip(number: u8) -> Self {
        Self(Self::IP << 16 | number as u32)
    }

    /// A protocol in GRE: an ethertype.
    #[must_use]
    #[inline(always)]
    pub const fn gre(number: u16) -> Self {
        Self(Self::GRE << 16 | number as u32)
    }

    /// A UDP destination port.
    #[must_use]
    #[inline(always)]
    pub const fn udp(port: u16) -> Self {
        Self(Self::UDP << 16 | port as u32)
    }

    /// Whether it is none.
    #[must_use]
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether it is this one.
    #[must_use]
    #[inline(always)]
    pub const fn is(self, other: Self) -> bool {
        self.0 == other.0
    }

    /// The slot of a table of `1 << bits` slots.
    #[must_use]
    #[inline(always)]
    pub const fn hash(self, bits: u32) -> u32 {
        self.0.wrapping_mul(0x9e37_79b1) >> (32 - bits)
    }
}

impl core::fmt::Display for Foreign {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let number = self.0 & 0xffff;
        match self.0 >> 16 {
            // Below 0x0600 the field is a length (IEEE 802.3).
            Self::ETHERTYPE if number < 0x0600 => out.write_str("LLC frames, such as spanning tree"),
            Self::ETHERTYPE => write!(out, "Ethernet type {number:#06x}{}", name(ETHERTYPES, number)),
            Self::IP => write!(out, "IP protocol {number}{}", name(PROTOCOLS, number)),
            Self::GRE => write!(out, "GRE protocol {number:#06x}{}", name(ETHERTYPES, number)),
            Self::UDP => write!(out, "UDP port {number}{}", name(PORTS, number)),
            _ => out.write_str("none"),
        }
    }
}

const ETHERTYPES: &[(u32, &str)] = &[
    (0x0806, " (ARP)"),
    (0x8808, " (pause)"),
    (0x8809, " (LACP)"),
    (0x8863, " (PPPoE)"),
    (0x8864, " (PPPoE)"),
    (0x88cc, " (LLDP)"),
    (0x88e5, " (MACsec, encrypted)"),
    (0x88e7, " (PBB)"),
    (0x88f7, " (PTP)"),
    (0x8906, " (FCoE)"),
    (0x894f, " (NSH)"),
    (0x9000, " (loop detection)"),
];

const PROTOCOLS: &[(u32, &str)] = &[
    (1, " (ICMP)"),
    (6, " (TCP)"),
    (47, " (GRE)"),
    (50, " (ESP, encrypted)"),
    (58, " (ICMPv6)"),
    (89, " (OSPF)"),
    (97, " (EtherIP)"),
    (115, " (L2TP)"),
    (137, " (MPLS)"),
];

const PORTS: &[(u32, &str)] = &[
    (53, " (DNS)"),
    (319, " (PTP)"),
    (320, " (PTP)"),
    (443, " (QUIC)"),
    (2152, " (GTP)"),
    (3784, " (BFD)"),
    (4754, " (GRE)"),
    (4789, " (VXLAN)"),
    (4790, " (VXLAN-GPE)"),
    (6081, " (Geneve)"),
    (6343, " (sFlow)"),
    (6635, " (MPLS)"),
    (37008, " (TZSP)"),
];

fn name(names: &'static [(u32, &'static str)], number: u32) -> &'static str {
    names
        .iter()
        .find(|(known, _)| *known == number)
        .map_or("", |(_, name)| name)
}
